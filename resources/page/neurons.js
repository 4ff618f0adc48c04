// The nodes on a plane: trails up to the moment, in a range that follows them.

import { DASHES, mark, ranged } from "./plot.js";
import { write } from "./text.js";

const NEAR = 0.7; // pixels: points of a trail that lie closer are one
const TICKS = 6;
const SHADES = 64;
const MANY = 1000; // examples, which are squares then: their shapes could not be told apart

// What is drawn again and again, made once.
export function prepareNeurons(panel, row) {
  const { nodes, m } = row;
  const points = new Float64Array(nodes.points.length);
  const each = 2 * m;
  for (let k = 0; k < points.length; k += 1) {
    points[k] = nodes.points[k] * nodes.reach[Math.floor(k / each)];
  }
  const chosen = nodes.chosen ? new Set(nodes.chosen) : null;
  return { points, chosen };
}

// The axes at a stop: a unit is as long on both, so that the shorter side of the frame decides.
export function neuronAxes(panel, stop, frame) {
  const [left, right, bottom, top] = panel.view.subarray(4 * stop, 4 * stop + 4);
  const state = panel.states[panel.state[stop]];
  const unit = Math.max((right - left) / frame.width, (top - bottom) / frame.height);
  const ends = (low, high, side) => {
    const middle = (low + high) / 2;
    return [middle - (unit * side) / 2, middle + (unit * side) / 2];
  };
  const x = { ...panel.x, label: state.x };
  const y = { ...panel.y, label: state.y };
  return {
    x: ranged(x, ...ends(left, right, frame.width), TICKS),
    y: ranged(y, ...ends(bottom, top, frame.height), TICKS),
  };
}

function spreadOf(panel, stop) {
  const factor = 10 ** (panel.power - panel.states[panel.state[stop]].power);
  if (!panel.rooted) return (value) => value * factor;
  return (value) => Math.sign(value) * Math.sqrt(Math.abs(value * factor));
}

// Where a node stands on the axes.
export function nodePlace(panel, made, row, stop, node) {
  const spread = spreadOf(panel, stop);
  const first = 2 * (stop * row.m + node);
  return [spread(made.points[first]), spread(made.points[first + 1])];
}

// The coordinates of a node in the run's own units.
export function nodeValues(panel, made, row, stop, node) {
  const first = 2 * (stop * row.m + node);
  const unit = 10 ** panel.power;
  return [made.points[first] * unit, made.points[first + 1] * unit];
}

function drawData(ctx, panel, stop, at, unit, look) {
  const scale = panel.scale[stop];
  for (const dots of panel.data) {
    ctx.globalAlpha = dots.alpha;
    const colour = dots.colours[look.dark];
    const many = dots.x.length > MANY;
    ctx.fillStyle = colour;
    for (let k = 0; k < dots.x.length; k += 1) {
      const [x, y] = [at.x(scale * dots.x[k]), at.y(scale * dots.y[k])];
      if (many) {
        const side = Math.sqrt(dots.areas[k]) * unit;
        ctx.fillRect(x - side / 2, y - side / 2, side, side);
        continue;
      }
      mark(ctx, dots.marker, x, y, dots.areas[k], unit, colour, look.theme.background);
    }
  }
  ctx.globalAlpha = 1;
}

// Extremal vectors with their values, and the borders of cells, in units of the axes.
function drawRays(ctx, rays, at, look) {
  const { unit, size, theme } = look;
  for (const line of rays.lines) {
    const colour = line.colours[look.dark];
    ctx.globalAlpha = line.alpha;
    ctx.strokeStyle = colour;
    ctx.lineWidth = line.width * unit;
    ctx.setLineDash(DASHES[line.dash].map((part) => part * ctx.lineWidth));
    ctx.beginPath();
    ctx.moveTo(at.x(line.x[0]), at.y(line.y[0]));
    ctx.lineTo(at.x(line.x[1]), at.y(line.y[1]));
    ctx.stroke();
    ctx.setLineDash([]);
    if (line.tip) mark(ctx, "disc", at.x(line.x[1]), at.y(line.y[1]), 12, unit, colour, theme.background);
  }
  ctx.globalAlpha = 1;
  ctx.fillStyle = theme.foreground;
  for (const { x, y, text, align, below } of rays.words) {
    const away = { left: 0.7, center: 0, right: -0.7 }[align] * size;
    write(ctx, text, at.x(x) + away, at.y(y) + (below ? 1.1 : -0.5) * size, size * 0.92, align);
  }
}

function strokeTrail(ctx, made, row, stop, node, at, spread) {
  const { points } = made;
  const { trail } = row.nodes;
  let [lastX, lastY, begun] = [0, 0, false];
  ctx.beginPath();
  const visit = (place) => {
    const first = 2 * (place * row.m + node);
    const x = at.x(spread(points[first]));
    const y = at.y(spread(points[first + 1]));
    if (Number.isNaN(x) || Number.isNaN(y)) {
      begun = false; // a gap
      return;
    }
    if (!begun) ctx.moveTo(x, y);
    else if (place < stop && Math.abs(x - lastX) + Math.abs(y - lastY) < NEAR) return;
    else ctx.lineTo(x, y);
    [lastX, lastY, begun] = [x, y, true];
  };
  for (let place = 0; place < stop; place += trail) visit(place);
  visit(stop);
  ctx.stroke();
}

// Trails and nodes, the weakest first, and below them those that are not selected.
export function drawNeurons(ctx, panel, made, row, stop, at, look) {
  const { nodes, m } = row;
  const { unit, theme } = look;
  const spread = spreadOf(panel, stop);
  const norms = nodes.norms.subarray(stop * m, stop * m + m);
  const strength = Float64Array.from(norms, (norm) => (norm > 0 ? Math.min(norm, 1) : 0));
  const level = (node) => strength[node] - (made.chosen && !made.chosen.has(node) ? 2 : 0);
  const order = Array.from({ length: m }, (_, node) => node);
  order.sort((a, b) => level(a) - level(b) || a - b);
  const colourOf = (node) => {
    const kind = nodes.kinds[stop * m + node];
    const dim = made.chosen && !made.chosen.has(node);
    const table = (dim ? nodes.dim : nodes.shades)[look.dark][kind];
    return table[Math.round(SHADES * Math.sqrt(strength[node]))];
  };
  const along = ([low, high], node) => low + (high - low) * Math.sqrt(strength[node]);
  if (panel.rays) drawRays(ctx, panel.rays, at, look);
  ctx.lineJoin = "round";
  ctx.lineCap = "round";
  for (const node of order) {
    ctx.strokeStyle = colourOf(node);
    ctx.lineWidth = along(nodes.widths, node) * unit;
    strokeTrail(ctx, made, row, stop, node, at, spread);
  }
  drawData(ctx, panel, stop, at, unit, look);
  for (const node of order) {
    const [x, y] = nodePlace(panel, made, row, stop, node);
    if (Number.isNaN(x) || Number.isNaN(y)) continue;
    const area = along(nodes.areas, node);
    mark(ctx, "disc", at.x(x), at.y(y), area, unit, colourOf(node), theme.background);
  }
  for (const node of look.marked) {
    ctx.strokeStyle = theme.foreground;
    ctx.lineWidth = 0.8 * unit;
    strokeTrail(ctx, made, row, stop, node, at, spread);
  }
  return look.marked.map((node) => {
    const [x, y] = nodePlace(panel, made, row, stop, node);
    return [node, at.x(x), at.y(y)];
  });
}
