// Sorted rotations and norms: a curve for each moment that has passed, and that of this one.

import { mark } from "./plot.js";

const EMPTY = { rotations: "no neuron has a direction", norms: "all neurons are 0" };

export function prepareSorted(panel, row, kind) {
  return {
    kind,
    values: row.nodes[kind],
    chosen: row.nodes.chosen ? new Set(row.nodes.chosen) : null,
    order: { stop: -1, nodes: [] },
  };
}

// The nodes in the order of their values at a stop; those without a value last.
export function sortedNodes(made, row, stop) {
  if (made.order.stop !== stop) {
    const values = made.values.subarray(stop * row.m, (stop + 1) * row.m);
    const key = (node) => (Number.isNaN(values[node]) ? Infinity : values[node]);
    const nodes = Array.from({ length: row.m }, (_, node) => node);
    nodes.sort((a, b) => (key(a) === key(b) ? a - b : key(a) - key(b)));
    made.order = { stop, nodes };
  }
  return made.order.nodes;
}

// rank / m and value of the nodes in their order.
export function sortedPlaces(made, row, stop) {
  return sortedNodes(made, row, stop).map((node, rank) => [
    (rank + 1) / row.m,
    made.values[stop * row.m + node],
    node,
  ]);
}

function stroke(ctx, at, m, value) {
  let begun = false;
  ctx.beginPath();
  for (let rank = 0; rank < m; rank += 1) {
    const height = value(rank);
    if (Number.isNaN(height)) {
      begun = false;
      continue;
    }
    const [x, y] = [at.x((rank + 1) / m), at.y(height)];
    if (begun) ctx.lineTo(x, y);
    else ctx.moveTo(x, y);
    begun = true;
  }
  ctx.stroke();
}

export function drawSorted(ctx, panel, made, row, stop, at, look) {
  const { m } = row;
  const { unit } = look;
  const rings = [];
  const frame = row.stops[stop];
  const places = sortedPlaces(made, row, stop);
  const past = panel.frames.map((_, k) => k).filter((k) => panel.frames[k] < frame);
  const now = (panel.dim ?? panel.now)[look.dark][stop];
  ctx.lineJoin = "round";
  ctx.lineCap = "round";
  for (const k of past) {
    ctx.strokeStyle = panel.colours[look.dark][k];
    ctx.lineWidth = 0.9 * unit;
    stroke(ctx, at, m, (rank) => panel.values[k * m + rank]);
  }
  ctx.strokeStyle = now;
  ctx.lineWidth = 1.7 * unit;
  stroke(ctx, at, m, (rank) => places[rank][1]);
  if (m <= 2 && !made.chosen) { // a curve through one point is invisible
    for (const k of past) {
      for (let rank = 0; rank < m; rank += 1) {
        const [x, y] = [at.x((rank + 1) / m), at.y(panel.values[k * m + rank])];
        if (!Number.isNaN(y)) mark(ctx, "disc", x, y, 14, unit, panel.colours[look.dark][k]);
      }
    }
  }
  for (const [x, value, node] of places) {
    if (Number.isNaN(value)) continue;
    const [across, up] = [at.x(x), at.y(value)];
    if (made.chosen?.has(node)) mark(ctx, "disc", across, up, 9, unit, panel.now[look.dark][stop]);
    else if (m <= 2 && !made.chosen) mark(ctx, "disc", across, up, 14, unit, now);
    if (look.marked.includes(node)) rings.push([node, across, up]);
  }
  const note = places.every(([, value]) => Number.isNaN(value)) ? EMPTY[made.kind] : "";
  return { rings, note };
}
