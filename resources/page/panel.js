// One panel: title, key, and two canvases, of which the lower one is drawn only when it changes.

import { cosineAt, drawKernel, prepareKernel } from "./kernel.js";
import { pieced, numberText } from "./numbers.js";
import { drawNeurons, neuronAxes, nodePlace, nodeValues, prepareNeurons } from "./neurons.js";
import { SHAPES, drawAxes, frameOf, mark, placer, ring } from "./plot.js";
import { drawSorted, prepareSorted, sortedPlaces } from "./sorted.js";
import { drawLevels, drawRest, drawTraces, nearTrace } from "./traces.js";
import { SVG, fill, made, plainText, widthOf, write } from "./text.js";
import { columnAt, drawWaves, prepareWaves, waveLines, wavePlace } from "./waves.js";

const UNIT = 8; // letters of so many pixels have lines as wide as figures give in points
const NO_CURVES = ["neurons", "rotations", "norms", "kernel", "waves", "phases"];
const REACH = 14; // pixels from the pointer within which something is meant

function sample(entry, dark) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  const put = (tag, values) => {
    const part = svg.appendChild(document.createElementNS(SVG, tag));
    for (const [name, value] of Object.entries(values)) part.setAttribute(name, value);
  };
  if (entry.markers.length) {
    svg.setAttribute("viewBox", `-.6 -.6 ${1.2 * entry.markers.length} 1.2`);
    svg.setAttribute("width", `${0.95 * entry.markers.length}em`);
    entry.markers.forEach((name, k) => {
      const [shape, x, fill] = [SHAPES[name], 1.2 * k, entry.colours[dark][k]];
      if (shape) put("path", { d: shape, transform: `translate(${x})`, fill });
      else put("circle", { cx: x, r: 0.5, fill });
    });
  } else {
    const dashes = { solid: "none", dashed: "5 2", dotted: "1.4 1.7" }[entry.dash];
    svg.setAttribute("viewBox", "0 0 17 8");
    svg.setAttribute("width", "1.7em");
    const stroke = { stroke: entry.colours[dark][0], "stroke-width": 1.4 };
    put("path", { d: "M0 4H17", "stroke-dasharray": dashes, fill: "none", ...stroke });
  }
  return svg;
}

export class PanelView {
  constructor(panel, kind, row) {
    Object.assign(this, { panel, kind, row, stop: -1, size: 12, frame: null });
    this.element = made("figure", "panel");
    const head = this.element.appendChild(made("figcaption"));
    const title = head.appendChild(made("div", "title"));
    title.append(made("b", "", panel.letter), " ", fill(document.createElement("span"), panel.title));
    this.key = head.appendChild(made("div", "key"));
    this.plot = this.element.appendChild(made("div", "plot"));
    this.base = this.plot.appendChild(document.createElement("canvas"));
    this.ink = this.plot.appendChild(document.createElement("canvas"));
    this.base.setAttribute("aria-hidden", "true");
    this.ink.setAttribute("role", "img");
    const strips = (panel.curves ?? []).map((curve) => plainText(curve.name)).reverse().join(", ");
    const axes = `${plainText(panel.y.label) || strips} over ${plainText(panel.x.label)}`;
    this.ink.setAttribute("aria-label", `${plainText(panel.title)} of ${row.name}: ${axes}`);
    this.traced = !NO_CURVES.includes(kind);
    this.waved = ["waves", "phases"].includes(kind);
    if (kind === "neurons") this.made = prepareNeurons(panel, row);
    else if (this.waved) this.made = prepareWaves(panel, row, kind);
    else if (kind === "kernel") this.made = prepareKernel(panel);
    else if (!this.traced) this.made = prepareSorted(panel, row, kind);
  }

  // As large as there is room, in letters of a size.
  resize(width, height, size) {
    const ratio = window.devicePixelRatio || 1;
    this.size = size;
    for (const canvas of [this.base, this.ink]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.room = { width, height };
    this.based = "";
  }

  look(theme, dark, marked) {
    return { theme, dark, marked, size: this.size, unit: this.size / UNIT };
  }

  // The key above the panel, in the colours of a theme.
  drawKey(dark) {
    const { key } = this.panel;
    this.key.replaceChildren();
    if (Array.isArray(key)) {
      for (const entry of key) {
        const item = this.key.appendChild(made("span", "entry"));
        item.append(sample(entry, dark), fill(document.createElement("span"), entry.text));
      }
      return;
    }
    const strip = made("span", "strip");
    for (const [k, colour] of key.colours[dark].entries()) {
      const cell = strip.appendChild(made("span", "cell"));
      cell.append(made("span", "", key.texts[k]), made("i"));
      cell.lastChild.style.background = colour;
    }
    this.key.append(made("span", "", key.name), strip);
    this.fitKey();
  }

  // Leave out texts that would touch the next one, and bring long keys closer together.
  fitKey() {
    let edge = Infinity;
    for (const cell of [...this.key.querySelectorAll(".cell")].reverse()) {
      const text = cell.firstChild;
      const [middle, half] = [cell.offsetLeft + cell.offsetWidth / 2, text.offsetWidth / 2];
      const fits = middle + half < edge;
      text.style.visibility = fits ? "" : "hidden";
      if (fits) edge = middle - half - 2;
    }
    this.key.classList.remove("tight");
    this.key.classList.toggle("tight", this.key.scrollWidth > this.key.clientWidth);
  }

  axes() {
    const { panel, stop } = this;
    if (this.kind !== "neurons") return panel;
    const guess = this.frame ?? { width: this.room.width, height: this.room.height };
    const ctx = this.base.getContext("2d");
    const first = neuronAxes(panel, stop, guess);
    // The frame is as wide as the ticks leave it; it keeps its place while the range glides.
    if (!this.frame || this.frame.size !== this.size) {
      const { width, height } = this.room;
      const wide = { ticks: [[0, [["\u221200.0", ""]]]] };
      this.frame = { ...frameOf(ctx, wide, width, height, this.size), size: this.size };
      return neuronAxes(panel, stop, this.frame);
    }
    return first;
  }

  // What the panel shows at a stop, with rings around some nodes.
  draw(stop, theme, dark, marked) {
    this.stop = stop;
    if (this.kind === "neurons" && !this.based) this.frame = null;
    const look = this.look(theme, dark, marked);
    const { x, y } = this.axes();
    const base = this.base.getContext("2d");
    const { width, height } = this.room;
    if (this.kind !== "neurons") this.frame = frameOf(base, y, width, height, this.size);
    const at = placer(this.frame, x, y);
    this.at = at;
    const state = `${dark} ${x.low} ${x.high} ${plainText(x.label)}`;
    if (this.based !== state) {
      this.based = state;
      base.clearRect(0, 0, width, height);
      drawAxes(base, this.frame, x, y, this.panel, theme, this.size);
      if (this.traced) {
        drawLevels(base, this.panel, this.frame, y, at, look);
        drawRest(base, this.panel, this.frame, at, look);
      }
      if (this.kind === "neurons") this.showData();
    }
    this.drawInk(stop, at, y, look);
  }

  drawInk(stop, at, y, look) {
    const ctx = this.ink.getContext("2d");
    const { panel, row, frame, room } = this;
    ctx.clearRect(0, 0, room.width, room.height);
    ctx.save();
    ctx.beginPath();
    ctx.rect(frame.left, frame.top, frame.width, frame.height);
    ctx.clip();
    let { note } = panel;
    let [marks, rings] = [[], []];
    if (this.traced) {
      ({ note, marks } = drawTraces(ctx, panel, row, stop, frame, y, at, look));
    } else if (this.kind === "neurons") {
      rings = drawNeurons(ctx, panel, this.made, row, stop, at, look);
    } else if (this.kind === "kernel") {
      note = drawKernel(ctx, panel, this.made, stop, at, look);
    } else if (this.waved) {
      ({ rings, note } = drawWaves(ctx, panel, this.made, row, stop, at, look));
    } else {
      ({ rings, note } = drawSorted(ctx, panel, this.made, row, stop, at, look));
    }
    ctx.restore();
    for (const [shape, x, y, area, colour] of marks) mark(ctx, shape, x, y, area, look.unit, colour);
    // Not cut at the frame, but only of nodes within it.
    const within = (value, low, length) => value >= low - 1 && value <= low + length + 1;
    for (const [node, x, y] of rings) {
      const seen = within(x, frame.left, frame.width) && within(y, frame.top, frame.height);
      if (seen) ring(ctx, x, y, node, look, x > room.width - 3 * look.size);
    }
    if (note) this.drawNote(ctx, note, look);
  }

  // A ring around the point of a curve that is read.
  drawNear(near, theme) {
    if (near.x === undefined) return;
    const { unit } = this.look(theme, this.dark, []);
    mark(this.ink.getContext("2d"), "ring", near.x, near.y, 34, unit, near.colour, near.colour);
  }

  // Why there is nothing, in lines in the middle.
  drawNote(ctx, note, look) {
    const { frame, size } = this;
    const lines = note.replaceAll("$", "").split("\n");
    const middle = frame.left + frame.width / 2;
    lines.forEach((line, k) => {
      const y = frame.top + frame.height / 2 + (k - (lines.length - 1) / 2 + 0.3) * 1.3 * size;
      const wide = widthOf(ctx, [[line, ""]], size) + size;
      ctx.fillStyle = look.theme.background;
      ctx.fillRect(middle - wide / 2, y - size, wide, 1.35 * size);
      ctx.fillStyle = look.theme.muted;
      write(ctx, [[line, ""]], middle, y, size, "center");
    });
  }

  // What the data are multiplied by, which goes with the range.
  showData() {
    const words = this.key.querySelector(".entry > span");
    if (words) fill(words, this.panel.states[this.panel.state[this.stop]].data);
  }

  // The node nearest to a place, if any is near.
  nodeAt(x, y) {
    const absent = this.kind === "kernel" || (this.waved && !this.made.waves);
    if (this.traced || !this.at || absent) return null;
    if (this.kind === "waves") {
      const within = y >= this.frame.top && y <= this.frame.top + this.frame.height;
      return within ? columnAt(this.made, this.row, this.stop, this.at.unx(x)) : null;
    }
    let best = { distance: REACH, node: null };
    const look = (node, across, up) => {
      const distance = Math.hypot(across - x, up - y);
      if (distance < best.distance) best = { distance, node };
    };
    if (this.kind === "neurons") {
      for (let node = 0; node < this.row.m; node += 1) {
        const [a, b] = nodePlace(this.panel, this.made, this.row, this.stop, node);
        look(node, this.at.x(a), this.at.y(b));
      }
    } else if (this.waved) {
      for (let node = 0; node < this.row.m; node += 1) {
        const [a, b] = wavePlace(this.made, this.row, this.stop, node);
        look(node, this.at.x(a), this.at.y(b));
      }
    } else {
      for (const [rank, value, node] of sortedPlaces(this.made, this.row, this.stop)) {
        look(node, this.at.x(rank), this.at.y(value));
      }
    }
    return best.node;
  }

  // What is read of a place that is neither a node's nor a curve's, as lines; null for nothing.
  readPlace(x, y) {
    if (this.kind !== "kernel" || !this.at) return null;
    const cosine = cosineAt(this.panel, this.made, this.stop, this.at.unx(x), this.at.uny(y));
    return cosine === null ? null : [pieced(`cosine: ${numberText(cosine, 2)}`)];
  }

  // What is read of a node here, as lines.
  readNode(node) {
    if (this.kind === "kernel") return [];
    if (this.kind === "neurons") {
      const { states, state, directed } = this.panel;
      const values = nodeValues(this.panel, this.made, this.row, this.stop, node);
      const labels = [this.panel.x, this.panel.y].map(({ label }) => plainText(label));
      const plain = (text) => text.replace(/ \(.*\)$/, "");
      return values.map((value, k) => {
        const words = plain(directed ? labels[k] : plainText(states[state[this.stop]]["xy"[k]]));
        return pieced(`${words}: ${numberText(value)}`);
      });
    }
    if (this.waved) return waveLines(this.made, this.row, this.stop, node);
    const value = this.made.values[this.stop * this.row.m + node];
    const words = { rotations: "rotation", norms: "relative norm" }[this.kind];
    const text = this.kind === "rotations" ? numberText(value, 4) : numberText(value);
    return [pieced(`${words}: ${text}`)];
  }

  // The curve or level at a place; null where there is none.
  traceAt(x, y) {
    if (!this.traced || !this.at) return null;
    return nearTrace(this.panel, x, y, this.at, this.dark, REACH);
  }

  // Where a place lies along the curves: the number of points up to it, or -1 outside.
  pointAt(x) {
    if (!this.traced || !this.at) return -1;
    const value = this.at.unx(x);
    let found = 0;
    for (let k = 0; k < this.panel.along.length; k += 1) {
      if (this.panel.along[k] <= value) found = k + 1;
    }
    return found;
  }
}
