// Curves over time: margins with their reference margins, chosen quantities, singular values.

import { numberText, pieced, timeText } from "./numbers.js";
import { DASHES, mark } from "./plot.js";
import { plainText, widthOf, write } from "./text.js";

const LINE = 1.45; // of a label, in letters
const FAINT = 0.3; // opacity of what comes after the moment, as in the window

// Lines across the panel with their brackets; on the base, since they do not move.
export function drawLevels(ctx, panel, frame, y, at, look) {
  const { unit, theme } = look;
  const size = look.size * 0.92;
  const end = frame.left + frame.width;
  const labels = [];
  let ceiling = frame.top + LINE * size;
  let [edge, next] = [frame.top, frame.top]; // of a strip, below which its name is
  for (const level of panel.levels) {
    if (level.value === null) {
      const foot = Math.max(at.y(level.foot), edge + 1.2 * size);
      labels.push([level.label, foot, level.colours[look.dark], level.align]);
      edge = next;
      continue;
    }
    const place = at.y(level.value);
    if (!level.label.length) next = place; // its lower edge comes before the name of a strip
    const colour = level.colours[look.dark];
    if (level.band.length) {
      const [low, high] = level.band.map((value) => Math.min(Math.max(value, y.low), y.high));
      ctx.globalAlpha = 0.14;
      ctx.fillStyle = colour;
      ctx.fillRect(frame.left, at.y(high), frame.width, at.y(low) - at.y(high));
      ctx.globalAlpha = 1;
    }
    if (level.value >= y.low && level.value <= y.high) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = 0.6 * unit;
      ctx.setLineDash(DASHES[level.dash].map((part) => part * 0.6 * unit));
      ctx.beginPath();
      ctx.moveTo(frame.left, place);
      ctx.lineTo(end, place);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    if (!level.label.length) continue;
    // Off one another from the top down; the share that is to be reached has its label below it.
    const away = level.dash === "dotted" ? 0.95 : -0.12;
    let foot = place + away * LINE * size;
    // Below its line where the frame or the label before leaves no room above.
    if (foot < ceiling && place >= frame.top) foot = place + 1.05 * LINE * size;
    foot = Math.max(foot, ceiling);
    ceiling = foot + LINE * size;
    labels.push([level.label, Math.min(foot, frame.top + frame.height), colour, "right"]);
  }
  for (const [label, foot, colour, align] of labels) {
    const width = widthOf(ctx, label, size);
    ctx.globalAlpha = 0.8;
    ctx.fillStyle = theme.background;
    const left = align === "left" ? frame.left + 2 : end - width - 2;
    ctx.fillRect(left, foot - size, width + 2, 1.25 * size);
    ctx.globalAlpha = 1;
    ctx.fillStyle = colour;
    write(ctx, label, align === "left" ? frame.left + 4 : end, foot, size, align);
  }
}

// Where a curve comes up through the lower edge for the last time; its last point if never.
function entry(panel, values, count, low) {
  let last = -1;
  for (let k = 0; k < count; k += 1) {
    if (values[k] < low && Number.isFinite(panel.along[k])) last = k;
  }
  if (last < 0) return null;
  const [x, value] = [panel.along[last], values[last]];
  if (last + 1 === count || !Number.isFinite(values[last + 1])) return x;
  const share = (low - value) / (values[last + 1] - value);
  return x + share * (panel.along[last + 1] - x);
}

function drawCurve(ctx, panel, curve, count, at, unit) {
  let [seen, begun, lastX, lastY] = [0, false, 0, 0];
  ctx.beginPath();
  for (let k = 0; k < count; k += 1) {
    const [x, y] = [at.x(panel.along[k]), at.y(curve.y[k])];
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      begun = false;
      continue;
    }
    if (begun) ctx.lineTo(x, y);
    else ctx.moveTo(x, y);
    [seen, begun, lastX, lastY] = [seen + 1, true, x, y];
  }
  ctx.lineWidth = curve.width * unit;
  ctx.lineCap = curve.dash === "solid" ? "round" : "butt";
  ctx.setLineDash(DASHES[curve.dash].map((part) => part * ctx.lineWidth));
  ctx.stroke();
  ctx.setLineDash([]);
  return { seen, x: lastX, y: lastY };
}

// The whole curves, faint: where they will go; on the base, since they do not move.
export function drawRest(ctx, panel, frame, at, look) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(frame.left, frame.top, frame.width, frame.height);
  ctx.clip();
  ctx.lineJoin = "round";
  ctx.globalAlpha = FAINT;
  panel.curves.forEach((curve, k) => {
    ctx.strokeStyle = panel.curves[k].colours[look.dark];
    drawCurve(ctx, panel, curve, panel.along.length, at, look.unit);
  });
  ctx.restore();
}

// Where a curve stands while it has no place on the axis yet, at t = 0: at its left end.
function start(curve, count, frame, y, at, colour) {
  const value = curve.y[count - 1];
  if (curve.ends || !Number.isFinite(value)) return [];
  const [shape, area] = value < y.low ? ["down", 12] : ["disc", 14];
  return value > y.high ? [] : [[shape, frame.left, at.y(Math.max(value, y.low)), area, colour]];
}

// Writes a curve's name above its end; one that falls there has it below its start, as in figures.
function nameCurve(ctx, panel, curve, count, at, end, size) {
  const from = end.x - widthOf(ctx, curve.ends, size);
  let [first, top] = [null, end.y];
  for (let k = 0; k < count; k += 1) {
    const [x, y] = [at.x(panel.along[k]), at.y(curve.y[k])];
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    first ??= [x, y];
    if (x >= from && x <= end.x) top = Math.min(top, y);
  }
  if (end.y - top > 2 * size) write(ctx, curve.ends, first[0] + 2, first[1] + 1.2 * size, size, "left");
  else write(ctx, curve.ends, end.x, top - 0.3 * size, size, "right");
}

export function drawTraces(ctx, panel, row, stop, frame, y, at, look) {
  const { unit, theme } = look;
  const count = panel.counts[stop];
  const marks = []; // that may reach over the edge
  ctx.lineJoin = "round";
  panel.curves.forEach((curve, k) => {
    const colour = panel.curves[k].colours[look.dark];
    ctx.strokeStyle = colour;
    const end = drawCurve(ctx, panel, curve, count, at, unit);
    if (end.seen && !curve.ends) mark(ctx, "disc", end.x, end.y, 14, unit, colour);
    if (end.seen && curve.ends) {
      ctx.fillStyle = colour;
      nameCurve(ctx, panel, curve, count, at, end, look.size * 0.92);
    }
    const foot = panel.feet && !curve.ends ? entry(panel, curve.y, count, y.low) : null;
    if (foot !== null) marks.push(["down", at.x(foot), frame.top + frame.height, 12, colour]);
    if (!end.seen) marks.push(...start(curve, count, frame, y, at, colour));
  });
  if (panel.ring && row.stops[stop] >= panel.ring[2]) {
    const [x, height] = panel.ring;
    mark(ctx, "ring", at.x(x), at.y(height), 34, unit, theme.foreground, theme.foreground);
  }
  // Where curves are to come, nothing has to be said for their not being there yet.
  return { marks, note: panel.note && panel.notes[panel.state[stop]] };
}

// What a curve says at one of its points.
export function reading(curve, point) {
  const value = curve.values ? curve.values[point] : curve.y[point];
  if (curve.reads === "none" && !curve.values) return "";
  if (curve.reads === "power" && !curve.values) return powerReading(value);
  return numberText(value);
}

function powerReading(value) {
  return Math.abs(value) < 300 ? numberText(10 ** value) : `10^${numberText(value, 4)}`;
}

// Where a point lies along the axis, in words.
export function alongText(panel, point) {
  const key = panel.keys[point];
  if (panel.against === "log10_time") return timeText(key);
  const value = key === -Infinity ? "0" : powerReading(key);
  return `${panel.against === "step" ? "step" : "|W|\u00b2 ="} ${value}`;
}

// The curve or the level that is nearest to a place, as lines of a note; null where none is near.
// Curves are read where they are faint too.
export function nearTrace(panel, x, y, at, dark, reach) {
  let best = { distance: reach, lines: null };
  panel.curves.forEach((curve, k) => {
    for (let point = 0; point < panel.along.length; point += 1) {
      const [across, up] = [at.x(panel.along[point]), at.y(curve.y[point])];
      const distance = Math.hypot(across - x, up - y);
      if (distance < best.distance) {
        const lines = [
          [...curve.name, ...pieced(` ${reading(curve, point)}`)],
          pieced(alongText(panel, point)),
        ];
        best = { distance, lines, x: across, y: up, colour: panel.curves[k].colours[dark] };
      }
    }
  });
  for (const level of panel.levels) {
    if (level.value === null) continue;
    const distance = Math.abs(at.y(level.value) - y);
    if (plainText(level.label) && distance < Math.min(best.distance, reach / 2)) {
      best = { distance, lines: [level.label, pieced(level.reading)] };
    }
  }
  return best.lines ? best : null;
}
