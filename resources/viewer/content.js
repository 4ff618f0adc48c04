// Content of a page of one run, as core/figures/page_data.py writes it, computed from the run file.

import { TimeAxis, inPieces, momentsOf, numberPieces, range, spaced } from "./axes.js";
import { classColours, roundEven, shades } from "./colours.js";
import { curvesPanel, quantitiesOf } from "./curves.js";
import { marginPanel } from "./margins.js";
import { linearTicks, numberText, timeText } from "./numbers.js";
import { shorten } from "./text.js";

const MOST_STOPS = 400;
const MOST_CURVE = 800;
const MOST_NUMBERS = 20_000_000; // of nodes
const MOST_PRODUCTS = 4e9; // of the outputs at all points of the curves
const LONGEST_TRAIL = 128;
const SHORTEST_TRAIL = 12;
const MOST_POINTS = 100_000; // of all trails
const DATA_REACH = 0.84;
const CROWD = 24;
const OPACITY = 0.9;
const SAMPLES = 9;
const SIDE = 0.04;
const TICKS = 5;

// Evenly chosen frames from the first to the last, at most so many.
export function thinned(count, most) {
  return [...new Set(spaced(0, count - 1, Math.min(most, count)).map(roundEven))];
}

function unitPower(log10Extent) {
  const power = Number.isFinite(log10Extent) ? Math.floor(log10Extent) : 0;
  return power >= 4 || power <= -3 ? power : 0;
}

const threeDigits = (x) => Number(x.toPrecision(3));

function largestOf(values) {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Math.abs(value));
  return largest;
}

export class Content {
  // A checked file, its network, the palettes and words of the program, a listener to progress, and
  // the most frames that are drawn.
  constructor(run, network, rules, watch = () => {}, most = MOST_CURVE) {
    Object.assign(this, { run, network, rules, watch });
    this.palettes = [rules.palettes.light, rules.palettes.dark];
    const { m, d, n, k } = run.meta.sizes;
    const stops = Math.max(2, Math.floor(MOST_NUMBERS / (5 * m)));
    this.stops = thinned(run.frames, Math.min(MOST_STOPS, most, stops));
    const points = Math.max(2, Math.floor(MOST_PRODUCTS / (n * m * (d + k))));
    this.curve = thinned(run.frames, Math.min(most, points));
    const counted = run.meta.recorded && run.index.steps.every((step, place) => {
      const time = run.index.times[place];
      return step > 0 ? Math.abs(time - Math.log10(step)) < 1e-12 : time === -Infinity;
    });
    this.axis = new TimeAxis(run.index.times, counted);
    const marks = run.meta.experiment.recording?.log10_times;
    this.moments = momentsOf(run.index.times, this.axis, Array.isArray(marks) ? marks : []);
    this.moving = this.moments.frames(run.index.times);
    this.measure();
  }

  // Every number of every frame that some panel shows, each frame read once.
  measure() {
    const { run, network } = this;
    const { m } = run.meta.sizes;
    const [stops, curve, moving] = [this.stops, this.curve, this.moving].map((some) => new Set(some));
    const count = this.stops.length;
    this.norms = new Float64Array(count * m);
    this.rotations = new Float64Array(count * m);
    this.points = new Float64Array(2 * count * m);
    this.kinds = new Uint16Array(count * m);
    this.values = {}; // of each measure, at each frame of the curves
    this.sorted = { rotations: [], norms: [] };
    let [stop, point] = [0, 0];
    for (let index = 0; index < run.frames; index += 1) {
      if (!stops.has(index) && !curve.has(index) && !moving.has(index)) continue;
      const nodes = network.nodes(run.parameters(index));
      const rho = run.index.rho[index];
      if (curve.has(index)) {
        for (const [name, value] of Object.entries(network.measures(nodes, rho))) {
          this.values[name] ??= new Float64Array(this.curve.length);
          this.values[name][point] = value;
        }
        point += 1;
      }
      const [norms, rotations] = [network.relativeNorms(nodes), network.rotations(nodes)];
      if (stops.has(index)) {
        this.norms.set(norms, stop * m);
        this.rotations.set(rotations, stop * m);
        this.points.set(network.places(nodes, rho), 2 * stop * m);
        this.kinds.set(network.kinds(nodes), stop * m);
        stop += 1;
      }
      if (moving.has(index)) {
        this.sorted.norms.push(norms.slice().sort());
        this.sorted.rotations.push(rotations.slice().sort());
      }
      this.watch(index, run.frames);
    }
  }

  content() {
    const { run, axis } = this;
    const { m } = run.meta.sizes;
    const trail = Math.min(Math.max(Math.floor(MOST_POINTS / m), SHORTEST_TRAIL), LONGEST_TRAIL);
    const crowd = Math.min(1, 4 / Math.sqrt(m));
    const track = this.track();
    const panels = {
      neurons: this.neurons(track),
      rotations: this.sortedPanel("rotations"),
      norms: this.sortedPanel("norms"),
      ...(run.real ? {} : { margins: marginPanel(this) }),
      curves: curvesPanel(this, quantitiesOf(run, this.network.rules, this.rules.curves).drawn),
    };
    Object.keys(panels).forEach((kind, k) => { panels[kind].letter = "abcde"[k]; });
    const row = {
      heading: this.heading(),
      name: `m = ${m}`,
      at: Uint16Array.from(this.stops, (_, k) => k),
      stops: Float64Array.from(this.stops),
      m,
      pins: [],
      nodes: {
        norms: this.norms,
        rotations: this.rotations,
        points: track.points,
        reach: new Float64Array(this.stops.length).fill(1),
        kinds: this.kinds,
        shades: this.palettes.map((palette) => shades(run.classes, palette)),
        trail: Math.ceil(this.stops.length / trail),
        widths: [0, 1].map((root) => (0.45 + 0.55 * crowd) * (0.8 + 0.6 * root)),
        areas: [0, 1].map((root) => (3.5 + 9 * crowd) * (0.5 + 0.9 * root)),
      },
      panels,
    };
    const words = ["background", "foreground", "muted", "grid"];
    return {
      title: [[shorten(run.meta.title, 300) || "Marginscope", ""]],
      kinds: Object.keys(panels),
      moments: this.stops.map((index) => {
        const text = timeText(run.index.times[index], true);
        return axis.steps ? [[`step ${run.index.steps[index]}`, ""]] : inPieces(text);
      }),
      rows: [row],
      themes: this.palettes.map((palette) => ({
        ...Object.fromEntries(words.map((name) => [name, palette[name]])), accent: palette.positive,
      })),
      caption: [0, 1].map((dark) => [[[this.source(), ""]], this.caption(dark)]),
      start: "system",
    };
  }

  // What all curves share: the axis of time, places on it, and the points up to each stop.
  timeline() {
    const { run, axis, curve } = this;
    const times = curve.map((index) => run.index.times[index]);
    const counts = [];
    let point = 0;
    for (const index of this.stops) {
      while (point < curve.length && curve[point] <= index) point += 1;
      counts.push(point);
    }
    return {
      x: axis.axis(),
      centred: false,
      along: Float64Array.from(times, (time) => axis.place(time)),
      keys: Float64Array.from(times),
      against: axis.steps ? "step" : "log10_time",
      counts,
    };
  }

  heading() {
    const { reason } = this.run.meta;
    const ending = reason && reason !== "completed" ? `, ${reason.replaceAll("_", " ")}` : "";
    return [["m", "i"], [` = ${this.run.meta.sizes.m}${ending}`, ""]];
  }

  source() {
    const { source, program } = this.run.meta;
    const origin = source ? `Source: ${shorten(source, 200)}. ` : "";
    return `${origin}Recorded by Marginscope ${shorten(program, 40)}.`;
  }

  caption(dark) {
    const kind = this.run.real ? "real" : this.run.classes > 2 ? "several" : "two";
    const { degree, tex, nodePower, product } = this.network.rules;
    const norms = (product ?? [tex]).flatMap((name, k) => [
      [`${k ? "\u2009" : ""}\u2016`, ""], [name, "i"], ["\u2016", ""],
    ]);
    const power = degree === 1 || product ? [] : [[String(degree), "^"]];
    const norm = nodePower
      ? [["\u2211", ""], ["j", "_i"], ["|\u03b8", ""], ["j", "_i"], ["|", ""], ["3", "^"]]
      : [...norms, ...power];
    const pieces = this.rules.captions[kind][dark];
    return pieces.flatMap(([text, style]) => {
      const [before, ...after] = text.split("NORM");
      return after.length ? [[before, style], ...norm, [after.join(""), style]] : [[text, style]];
    });
  }

  // ------------------------------------------------------------------------------------- neurons

  track() {
    const size = 2 * this.run.meta.sizes.m;
    const points = this.points.map((value) =>
      Number.isNaN(value) ? 0 : Math.min(Math.max(value, -1e300), 1e300));
    const extents = this.stops.map((_, k) => largestOf(points.subarray(k * size, (k + 1) * size)));
    const extent = largestOf(extents);
    const power = unitPower(Math.log10(extent));
    const scale = 10 ** -power;
    return {
      points: points.map((value) => value * scale),
      logs: extents.map((value) => Math.log10(value)),
      power,
      extent: extent * scale,
    };
  }

  data() {
    const { run } = this;
    const { n, d } = run.meta.sizes;
    const places = Array.from({ length: run.classes }, () => new Map());
    for (let i = 0; i < n; i += 1) {
      const label = run.classes === 2 ? Number(run.y[i] > 0) : run.y[i];
      // Corners that differ by rounding are one position.
      const point = [0, 1].map((axis) => (axis < d ? roundEven(run.x[i * d + axis] * 1e9) / 1e9 : 0));
      const key = point.map((value) => value + 0).join(" ");
      const found = places[label].get(key);
      places[label].set(key, { point, count: (found?.count ?? 0) + 1 });
    }
    return places.map((some) =>
      [...some.values()].sort((a, b) => a.point[0] - b.point[0] || a.point[1] - b.point[1]));
  }

  neurons(track) {
    const { run } = this;
    const { d, n } = run.meta.sizes;
    const extent = largestOf(range(0, n - 1).flatMap((i) => [run.x[i * d], d > 1 ? run.x[i * d + 1] : 0]));
    const factorOf = (reach) => (extent === 0 || reach === 0 ? 1 : threeDigits((DATA_REACH * reach) / extent));
    const factor = factorOf(track.extent);
    const places = this.data();
    const data = places.flatMap((some, number) => {
      if (!some.length) return [];
      const colours = this.palettes.map((palette) => classColours(run.classes, palette)[number]);
      const area = some.length > CROWD ? 6 : 14;
      return [{
        x: some.map(({ point }) => factor * point[0]),
        y: some.map(({ point }) => factor * point[1]),
        colours,
        alpha: Math.round(255 * OPACITY) / 255,
        areas: some.map(({ count }) => Math.min(Math.max(area * Math.sqrt(count), 6), 60)),
        marker: run.classes === 2 && number === 0 ? "cross" : "plus",
        name: "data",
      }];
    });
    const farthest = largestOf(places.flat().flatMap(({ point }) => point));
    const labels = [0, 1].map((axis) => (axis < d ? `coordinate ${axis + 1}` : `no coordinate ${axis + 1} (d = 1)`));
    const named = (label, power) => {
      const unit = power ? [[" (10", ""], [String(power).replace("-", "\u2212"), "^"], [")", ""]] : [];
      return [[label, ""], ...unit];
    };
    const dataWords = (value) => [["data \u00d7 ", ""], ...numberPieces(numberText(value))];
    const view = new Float64Array(4 * this.stops.length);
    const scale = new Float64Array(this.stops.length);
    const [states, state, known] = [[], [], new Map()];
    let half = 1;
    this.stops.forEach((_, place) => {
      const seen = this.follow(track, place);
      const own = factorOf(seen.extent);
      half = 1.1 * Math.max(seen.extent, own * farthest) || 1;
      view.set([-half, half, -half, half], 4 * place);
      scale[place] = own / factor;
      const times = own * 10 ** seen.power;
      const key = `${seen.power} ${times}`;
      if (!known.has(key)) {
        known.set(key, states.length);
        const [x, y] = labels.map((label) => named(label, seen.power));
        states.push({ power: seen.power, x, y, data: dataWords(times) });
      }
      state.push(known.get(key));
    });
    half = 1.1 * Math.max(track.extent, factor * farthest) || 1;
    const [x, y] = labels.map((label) => ({
      low: -half, high: half, ticks: [], label: named(label, track.power), shows: "plain",
    }));
    return {
      title: [["neurons |", ""], ["a", "i"], ["j", "_i"], ["|\u2009", ""], ["v", "i"], ["j", "_i"]],
      x, y,
      centred: true,
      key: [{
        text: dataWords(factor * 10 ** track.power),
        colours: this.palettes.map((_, dark) => data.map((one) => one.colours[dark])),
        dash: "solid",
        markers: data.map((one) => one.marker),
      }],
      note: track.extent > 0 ? "" : "all neurons are 0",
      power: track.power, rooted: false, directed: false,
      data, states, state, view, scale,
    };
  }

  // The extent and its power of ten, as the camera that follows the nodes sees them at a stop.
  follow(track, place) {
    const now = track.logs[place];
    const last = this.stops.length - 1;
    const side = Math.max(SIDE * last, 1);
    let reach = 0;
    spaced(-side, side, SAMPLES).forEach((away, k) => {
      const sample = Math.min(Math.max(roundEven(place + away), 0), last);
      const weight = Math.min(k + 1, SAMPLES - k) / ((SAMPLES + 1) / 2) ** 2;
      reach += weight * Math.max(track.logs[sample], now);
    });
    if (!Number.isFinite(now)) return track;
    const power = unitPower(reach);
    return { power, extent: 10 ** (reach - power) };
  }

  // ---------------------------------------------------------------------- sorted rotations and norms

  sortedPanel(kind) {
    const { run, moments, rules } = this;
    const { m } = run.meta.sizes;
    const [title, label] = { rotations: ["rotations, sorted", "rotation"], norms: ["relative norms, sorted", "relative norm"] }[kind];
    let low = 0;
    if (kind === "rotations") {
      const values = this.sorted.rotations.map((one) => one[0]).filter(Number.isFinite);
      const least = values.length ? Math.min(...values) : 0;
      low = Math.max(-1, Math.min(Math.floor(10 * least) / 10, 0.9));
    }
    const pad = 0.025 * (1 - low);
    const ticked = (ticks) => ticks.map(([place, text]) => [place, [[text, ""]]]);
    const times = this.moving.map((index) => run.index.times[index]);
    const keyTimes = times.length > 1 ? times.filter(Number.isFinite) : times;
    const colours = (some) =>
      this.palettes.map((palette) => some.map((time) => moments.colour(time, palette, rules.viridis)));
    const values = new Float64Array(this.moving.length * m);
    this.sorted[kind].forEach((one, k) => values.set(one, k * m));
    return {
      title: [[title, ""]],
      x: { low: 0, high: 1.02, ticks: ticked(linearTicks(0, 1, TICKS)), label: [["rank / ", ""], ["m", "i"]], shows: "plain" },
      y: { low: low - pad, high: 1 + pad, ticks: ticked(linearTicks(low, 1, TICKS)), label: [[label, ""]], shows: "plain" },
      centred: false,
      key: { name: this.axis.name, texts: keyTimes.map((time) => this.axis.text(time)), colours: colours(keyTimes) },
      note: "",
      frames: this.moving,
      values,
      colours: colours(times),
      now: colours(this.stops.map((index) => run.index.times[index])),
    };
  }
}
