// Observables over time as strips, each on its own axis, as core/figures/trace_panels.py and
// core/figures/strips.py have them.

import { numberPieces, logTicks } from "./axes.js";
import { isKnown } from "./losses.js";
import { linearTicks } from "./numbers.js";
import { entry } from "./text.js";

const WIDE = 100; // ratio of largest to smallest value, above which log10 is shown
const AIR = 0.06;
const FLAT = 1e-12;
const FARTHEST_END = 1e100;
const FEW = 3; // ticks of a strip
const LEAST_TICKS = 5; // of the stack
const MOST_TRIED = 6;
const TITLE_SHARE = 0.1;
const MOST_TITLE = 0.45;
// A line of text of 7 points, as a share of a panel 100 mm high.
const TEXT_LINE = (1.45 * 7 * (25.4 / 72)) / 100;
const REAL = "the targets are numbers, not labels";
const NO_VALUE = "no value at any frame";

// Title and reason for the curves of theory, which a run file does not have.
const OF_THEORY = [
  [["curves of theory", ""]],
  "a run file has none; where theory predicts such a run, the window and marginscope-core page draw its " +
    "curve over the measured one",
];

// Whether theory may predict curves of a run, as `suits` of core/observables/prediction.py says.
function mayBePredicted(run) {
  const { data, network } = run.meta.experiment;
  if (network.kind === "linear") return run.real;
  const isTaught = data.kind === "regression" && data.units > 0 && (entry(data, "neurons") ?? "relu") === "relu";
  return network.kind === "standard" && !(entry(network, "slope") > 0) && isTaught && !run.meta.recorded;
}

// The quantities that a page computes of a run, and what it cannot show, by title, with the reason.
export function quantitiesOf(run, networkRules, quantities) {
  const reasons = {};
  if (!isKnown(run.meta.experiment.loss.kind)) reasons.log10_risk = "the loss is not known";
  if (networkRules.unknown) {
    for (const name of ["log10_risk", "train_error"]) reasons[name] = "the activation is not known";
  }
  if (run.real) reasons.train_error = REAL;
  const missing = quantities.filter(({ key }) => Object.hasOwn(reasons, key));
  return {
    drawn: quantities.filter((one) => !missing.includes(one)),
    missing: [
      ...(run.real ? [[[["margins", ""]], REAL]] : []),
      ...missing.map(({ key, title }) => [title, reasons[key]]),
      ...(mayBePredicted(run) ? [OF_THEORY] : []),
    ],
  };
}

// Ends of the values that the axis of time shows; places are NaN at t = 0.
function extentOf(values, along) {
  let [low, high] = [Infinity, -Infinity];
  values.forEach((value, k) => {
    if (!Number.isFinite(value) || !Number.isFinite(along[k])) return;
    [low, high] = [Math.min(low, value), Math.max(high, value)];
  });
  return [low, high];
}

function withAir(low, high) {
  const [span, size] = [high - low, Math.max(Math.abs(low), Math.abs(high))];
  const isFlat = span <= Math.max(FLAT * size, 1 / FARTHEST_END);
  const air = isFlat ? 0.5 * size || 0.5 : AIR * span;
  return [low - air, high + air];
}

// From the top down; each strip takes 1 of the stack, and a single one has its own units.
function stackStrips(quantities, extents) {
  const count = quantities.length;
  const head = Math.min(TITLE_SHARE * count, MOST_TITLE);
  return quantities.map(({ key }, k) => {
    let [low, high] = extents[k];
    const takesLog = !key.startsWith("log10_") && low > 0 && low < Infinity && high > WIDE * low;
    if (takesLog) [low, high] = [Math.log10(low), Math.log10(high)];
    [low, high] = low <= high ? withAir(low, high) : [0, 1];
    const first = count - k - 1;
    const [start, top, end] = count === 1
      ? [low, high, low + (high - low) / (1 - head)]
      : [first, first + 1 - head, first + 1];
    return { start, top, end, low, high, takesLog, unit: (top - start) / (high - low) };
  });
}

function heightsOf(strip, values) {
  return values.map((value) => {
    const shown = strip.takesLog ? (value > 0 ? Math.log10(value) : NaN) : value;
    return strip.unit * shown + (strip.start - strip.unit * strip.low);
  });
}

function stripTicks(strips, bottom, top) {
  const room = Math.max(FEW * strips.length, LEAST_TICKS);
  const ticks = strips.flatMap((strip) => {
    if (!(strip.unit > 0 && strip.unit < Infinity)) return [];
    const last = strip.low + (strip.top - strip.start) / strip.unit;
    const visible = (most) =>
      (strip.takesLog ? logTicks : linearTicks)(strip.low, last, most)
        .filter(([place]) => place >= strip.low && place <= last);
    const fit = Math.trunc(Math.min(Math.max((room * (strip.top - strip.start)) / (top - bottom), 2), 8));
    let most = fit;
    let places = visible(most);
    while (places.length < 2 && most < MOST_TRIED) {
      most += 1; // one tick gives no scale
      places = visible(most);
    }
    if (fit === 2 && places.length > 2) places = [places[0], places.at(-1)];
    return places.map(([value, text]) => [strip.start + (value - strip.low) * strip.unit, text]);
  });
  return ticks
    .filter(([place]) => place >= bottom && place <= top)
    .sort((a, b) => a[0] - b[0])
    .map(([place, text]) => [place, numberPieces(text)]);
}

// The titles of strips, and the lines between them.
function stripLevels(strips, quantities, colours, palettes, line) {
  const bare = { value: null, foot: null, align: "right", band: [], label: [], reading: "", dash: "solid" };
  return strips.flatMap((strip, k) => {
    const title = { ...bare, foot: strip.end - line, align: "left", label: quantities[k].title, colours: colours[k] };
    const border = { ...bare, value: strip.start, colours: palettes.map((palette) => palette.muted) };
    return k < strips.length - 1 ? [border, title] : [title];
  });
}

export function curvesPanel(content, quantities) {
  const { palettes } = content;
  const timeline = content.timeline();
  const { along, counts } = timeline;
  const all = quantities.map(({ key }) => content.values[key]);
  const strips = stackStrips(quantities, all.map((values) => extentOf(values, along)));
  const [bottom, top] = [strips.at(-1).start, strips[0].end];
  const heights = all.map((values, k) => heightsOf(strips[k], values));
  const colours = quantities.map((_, k) => palettes.map((palette) => {
    const inks = [palette.foreground, ...palette.references, palette.positive];
    return inks[k % inks.length];
  }));
  const first = along.findIndex(Number.isFinite);
  const known = Math.min(...heights.map((one) => one.findIndex(Number.isFinite)).map((k) => (k < 0 ? Infinity : k)));
  const hasValue = (count) => known < count && first >= 0 && first < count;
  const state = counts.map((count) => (hasValue(count) ? 0 : 1));
  const notes = ["", NO_VALUE];
  return {
    ...timeline,
    title: [["curves", ""]],
    y: { low: bottom, high: top, ticks: stripTicks(strips, bottom, top), label: [], shows: "plain" },
    key: [],
    note: notes[state.at(-1)],
    curves: quantities.map(({ name }, k) => ({
      name, y: heights[k], values: all[k], colours: colours[k], width: 1.2, dash: "solid", reads: "value",
    })).reverse(), // the first one above the others
    levels: stripLevels(strips, quantities, colours, palettes, TEXT_LINE * (top - bottom)),
    feet: false,
    notes, state,
  };
}
