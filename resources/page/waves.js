// Nodes as waves: their amplitude at each frequency, and how their phases go together.

import { numberText, pieced } from "./numbers.js";
import { DASHES, bytesOf, mark } from "./plot.js";

const SMALLEST = 3; // areas of nodes among the phases, in square points
const LARGEST = 26;

export function prepareWaves(panel, row, kind) {
  return {
    kind,
    waves: row.waves,
    inks: panel.colours,
    picture: document.createElement("canvas"),
    drawn: "",
  };
}

// The nodes from left to right at a stop.
function orderAt(made, row, stop) {
  return made.waves.order.subarray(stop * row.m, (stop + 1) * row.m);
}

// The amplitudes of a stop as pixels, the lowest frequency at the foot; made once for each.
function paint(made, row, stop, look) {
  const state = `${stop} ${look.dark}`;
  if (made.drawn === state) return;
  made.drawn = state;
  const { m } = row;
  const [inks, ground] = [made.inks[look.dark].map(bytesOf), bytesOf(look.theme.background)];
  const rows = inks.length;
  const image = new ImageData(m, rows);
  const order = orderAt(made, row, stop);
  for (let k = 0; k < rows; k += 1) {
    const first = (stop * rows + k) * m;
    for (let place = 0; place < m; place += 1) {
      const depth = made.waves.strength[first + order[place]] / 255;
      const pixel = 4 * ((rows - 1 - k) * m + place);
      for (let part = 0; part < 3; part += 1) {
        image.data[pixel + part] = ground[part] + depth * (inks[k][part] - ground[part]);
      }
      image.data[pixel + 3] = 255;
    }
  }
  Object.assign(made.picture, { width: m, height: rows });
  made.picture.getContext("2d").putImageData(image, 0, 0);
}

// Where a node stands on the axes: among the waves in the row of its frequency.
export function wavePlace(made, row, stop, node) {
  const first = stop * row.m + node;
  if (made.kind === "phases") {
    return [made.waves.points[2 * first], made.waves.points[2 * first + 1]];
  }
  return [orderAt(made, row, stop).indexOf(node) + 0.5, made.waves.frequency[first]];
}

// The node of the column in which a place lies; null outside.
export function columnAt(made, row, stop, x) {
  const place = Math.floor(x);
  return place >= 0 && place < row.m ? orderAt(made, row, stop)[place] : null;
}

// What is read of a node.
export function waveLines(made, row, stop, node) {
  const first = stop * row.m + node;
  const [w, sum] = made.waves.points.subarray(2 * first, 2 * first + 2);
  return [
    pieced(`frequency: ${made.waves.frequency[first]}`),
    pieced(`ϑw / π: ${numberText(w)}`),
    pieced(`(ϑu + ϑv) / π: ${numberText(sum)}`),
  ];
}

function drawPhases(ctx, made, row, stop, at, look) {
  const { unit, theme, dark } = look;
  const { m } = row;
  const { waves } = made;
  ctx.strokeStyle = theme.muted;
  ctx.lineWidth = 0.8 * unit;
  ctx.setLineDash(DASHES.dashed.map((part) => part * ctx.lineWidth));
  ctx.beginPath();
  ctx.moveTo(at.x(-1.05), at.y(-1.05));
  ctx.lineTo(at.x(1.05), at.y(1.05));
  ctx.stroke();
  ctx.setLineDash([]);
  const size = (node) => waves.size[stop * m + node];
  const nodes = Array.from({ length: m }, (_, node) => node);
  nodes.sort((a, b) => size(a) - size(b) || a - b); // the largest on top
  for (const node of nodes) {
    const [x, y] = wavePlace(made, row, stop, node);
    const area = SMALLEST + (LARGEST - SMALLEST) * size(node) ** 2;
    const ink = made.inks[dark][waves.frequency[stop * m + node]];
    mark(ctx, "disc", at.x(x), at.y(y), area, unit, ink, theme.background);
  }
}

export function drawWaves(ctx, panel, made, row, stop, at, look) {
  if (!made.waves) return { rings: [], note: panel.note };
  const sizes = made.waves.size.subarray(stop * row.m, (stop + 1) * row.m);
  const note = sizes.every((size) => !(size > 0)) ? "all neurons are 0" : "";
  if (made.kind === "waves") {
    paint(made, row, stop, look);
    const rows = made.inks[0].length;
    const [left, top] = [at.x(0), at.y(rows - 0.5)];
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(made.picture, left, top, at.x(row.m) - left, at.y(-0.5) - top);
  } else if (!note) {
    drawPhases(ctx, made, row, stop, at, look);
  }
  const rings = note ? [] : look.marked.map((node) => {
    const [x, y] = wavePlace(made, row, stop, node);
    return [node, at.x(x), at.y(y)];
  });
  return { rings, note };
}
