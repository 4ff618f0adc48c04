// A pair of axes on a canvas: where they stand, and what of them does not move with the nodes.

import { linearTicks, pieced, rootedTicks } from "./numbers.js";
import { widthOf, write } from "./text.js";

// Red, green and blue of a colour #rrggbb, 0 to 255.
export function bytesOf(colour) {
  return [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));
}

export const DASHES = { solid: [], dashed: [4, 1.6], dotted: [1, 1.2] };
const MAKERS = { plain: linearTicks, roots: rootedTicks };

// An axis over another range, with ticks of its own.
export function ranged(axis, low, high, most) {
  const ticks = (MAKERS[axis.shows] ?? linearTicks)(low, high, most);
  return { ...axis, low, high, ticks: ticks.map(([place, text]) => [place, pieced(text)]) };
}

// The rectangle between the axes, of a canvas so wide and high, in letters of a size.
export function frameOf(ctx, y, width, height, size) {
  const texts = y.ticks.map(([, text]) => widthOf(ctx, text, size * 0.92));
  const left = Math.ceil(Math.max(...texts, 2 * size) + 2.1 * size);
  const top = Math.ceil(0.6 * size);
  const bottom = Math.ceil(3.1 * size);
  const right = Math.ceil(0.9 * size);
  return {
    left,
    top,
    width: Math.max(width - left - right, 10),
    height: Math.max(height - top - bottom, 10),
  };
}

// Where values stand on a canvas.
export function placer(frame, x, y) {
  const across = frame.width / (x.high - x.low);
  const up = frame.height / (y.high - y.low);
  const foot = frame.top + frame.height;
  return {
    across,
    up,
    x: (value) => frame.left + (value - x.low) * across,
    y: (value) => foot - (value - y.low) * up,
    unx: (pixel) => x.low + (pixel - frame.left) / across,
    uny: (pixel) => y.low + (foot - pixel) / up,
  };
}

function ticksThatFit(ctx, ticks, place, size) {
  let edge = -Infinity;
  return ticks.map(([value, text]) => {
    const half = widthOf(ctx, text, size) / 2;
    const middle = place(value);
    if (middle - half < edge) return false;
    edge = middle + half + 0.5 * size;
    return true;
  });
}

// Grid, ticks, texts and lines of a pair of axes.
export function drawAxes(ctx, frame, x, y, panel, theme, size) {
  const at = placer(frame, x, y);
  const small = size * 0.92;
  const foot = frame.top + frame.height;
  const end = frame.left + frame.width;
  const inside = (axis, value) => value >= axis.low && value <= axis.high;
  const line = (x0, y0, x1, y1) => {
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
  };
  const xs = x.ticks.filter(([value]) => inside(x, value));
  const ys = y.ticks.filter(([value]) => inside(y, value));
  ctx.lineWidth = size / 14;
  ctx.strokeStyle = theme.grid;
  const grid = panel.centred
    ? [[[0]].filter(([value]) => inside(x, value)), [[0]].filter(([value]) => inside(y, value))]
    : [xs, ys];
  for (const [value] of grid[0]) line(at.x(value), frame.top, at.x(value), foot);
  for (const [value] of grid[1]) line(frame.left, at.y(value), end, at.y(value));
  ctx.strokeStyle = theme.muted;
  line(frame.left, frame.top, frame.left, foot);
  line(frame.left, foot, end, foot);
  ctx.fillStyle = theme.foreground;
  const fits = ticksThatFit(ctx, xs, at.x, small);
  xs.forEach(([value, text], k) => {
    line(at.x(value), foot, at.x(value), foot + 0.3 * size);
    if (fits[k]) write(ctx, text, at.x(value), foot + 1.35 * size, small, "center");
  });
  let before = Infinity;
  for (const [value, text] of ys) {
    const place = at.y(value);
    line(frame.left - 0.3 * size, place, frame.left, place);
    if (before - place < 1.1 * small) continue;
    before = place;
    write(ctx, text, frame.left - 0.5 * size, place + 0.35 * small, small, "right");
  }
  const fitted = (label, room) => size * Math.min(1, room / widthOf(ctx, label, size));
  const middle = frame.left + frame.width / 2;
  write(ctx, x.label, middle, foot + 2.75 * size, fitted(x.label, frame.width), "center");
  ctx.save();
  ctx.translate(size, frame.top + frame.height / 2);
  ctx.rotate(-Math.PI / 2);
  write(ctx, y.label, 0, 0, fitted(y.label, frame.height + 2 * size), "center");
  ctx.restore();
}

const PLUS = "M-.167-.5h.334v.333H.5v.334H.167V.5h-.334V.167H-.5v-.334h.333z";
const CROSS = "M-.25-.5 0-.25 .25-.5 .5-.25 .25 0 .5 .25 .25 .5 0 .25-.25 .5-.5 .25-.25 0-.5-.25z";
const DOWN = "M-.5-.5H.5L0 .5z";
export const SHAPES = { plus: PLUS, cross: CROSS, down: DOWN };
const PATHS = Object.fromEntries(
  Object.entries(SHAPES).map(([name, shape]) => [name, new Path2D(shape)]),
);

// A marker of an area in square points: a disc, a ring, or one of the shapes.
export function mark(ctx, name, x, y, area, unit, fill, edge = null) {
  const side = Math.sqrt(area) * unit;
  ctx.fillStyle = fill;
  if (edge) ctx.strokeStyle = edge;
  if (name === "disc" || name === "ring") {
    ctx.beginPath();
    ctx.arc(x, y, side / 2, 0, 2 * Math.PI);
    ctx.lineWidth = (name === "ring" ? 0.9 : 0.35) * unit;
    if (name === "disc") ctx.fill();
    if (edge) ctx.stroke();
    return;
  }
  ctx.save();
  ctx.translate(x, y);
  ctx.scale(side, side);
  const shape = PATHS[name];
  ctx.fill(shape);
  if (edge) {
    ctx.lineWidth = (0.35 * unit) / side;
    ctx.stroke(shape);
  }
  ctx.restore();
}

// The ring of a node with its number, at its right unless there is no room.
export function ring(ctx, x, y, node, look, left) {
  const { unit, size, theme } = look;
  mark(ctx, "ring", x, y, 34, unit, theme.foreground, theme.foreground);
  ctx.fillStyle = theme.foreground;
  const away = left ? -0.6 * size : 0.6 * size;
  const foot = y < 1.4 * size ? y + 1.1 * size : y - 0.35 * size;
  write(ctx, [[String(node), ""]], x + away, foot, size * 0.92, left ? "right" : "left");
}
