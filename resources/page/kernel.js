// The tangent kernel: cosines between the gradients of the examples, as an image.

import { DASHES, bytesOf } from "./plot.js";

const UNRELATED = 127; // the byte of a cosine of 0

export function prepareKernel(panel) {
  const { examples, changes } = panel;
  const pairs = changes ? (examples * (examples + 1)) / 2 : 0;
  // Each stop from the one before; bytes wrap around by themselves.
  for (let k = pairs; k < (changes?.length ?? 0); k += 1) changes[k] += changes[k - pairs];
  return { pairs, levels: changes, picture: document.createElement("canvas"), drawn: "" };
}

// The cosines of a stop as pixels, the first example at the foot; made once for each.
function paintKernel(panel, made, stop, look) {
  const state = `${stop} ${look.dark}`;
  if (made.drawn === state) return;
  made.drawn = state;
  const count = panel.examples;
  const ground = bytesOf(look.theme.background);
  const inks = panel.colours[look.dark].map(bytesOf);
  const image = new ImageData(count, count);
  let pair = stop * made.pairs;
  for (let i = 0; i < count; i += 1) {
    for (let k = 0; k <= i; k += 1, pair += 1) {
      const cosine = (made.levels[pair] - UNRELATED) / UNRELATED;
      const ink = inks[cosine > 0 ? 1 : 0];
      const depth = Math.abs(cosine);
      for (const [column, row] of [[i, k], [k, i]]) {
        const pixel = 4 * ((count - 1 - row) * count + column);
        for (let part = 0; part < 3; part += 1) {
          image.data[pixel + part] = ground[part] + depth * (ink[part] - ground[part]);
        }
        image.data[pixel + 3] = 255;
      }
    }
  }
  Object.assign(made.picture, { width: count, height: count });
  made.picture.getContext("2d").putImageData(image, 0, 0);
}

export function drawKernel(ctx, panel, made, stop, at, look) {
  if (!made.pairs) return panel.note;
  const count = panel.examples;
  paintKernel(panel, made, stop, look);
  const [left, top] = [at.x(0), at.y(count)];
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(made.picture, left, top, at.x(count) - left, at.y(0) - top);
  ctx.strokeStyle = look.theme.foreground;
  ctx.lineWidth = 0.6 * look.unit;
  ctx.setLineDash(DASHES.solid);
  ctx.beginPath();
  for (const place of panel.borders) {
    ctx.moveTo(at.x(place), at.y(0));
    ctx.lineTo(at.x(place), at.y(count));
    ctx.moveTo(at.x(0), at.y(place));
    ctx.lineTo(at.x(count), at.y(place));
  }
  ctx.stroke();
  return "";
}

// The cosine of the two examples at a place; null outside.
export function cosineAt(panel, made, stop, x, y) {
  const [i, k] = [Math.floor(x), Math.floor(y)].sort((a, b) => b - a);
  if (!made.pairs || k < 0 || i >= panel.examples) return null;
  return (made.levels[stop * made.pairs + (i * (i + 1)) / 2 + k] - UNRELATED) / UNRELATED;
}
