// The panel of margins over time, as core/figures/margin_curves.py has it.

import { numberPieces } from "./axes.js";
import { linearTicks } from "./numbers.js";

const MARGIN_TICKS = 5;
const MARGINS = [
  { key: "smoothed_margin", name: [["smoothed", ""]], factor: 1, dash: "dashed", width: 1.2 },
  { key: "hard_margin", name: [["hard", ""]], factor: 1, dash: "solid", width: 1.6 },
  { key: "l1_margin", name: [["\u2113", ""], ["1", "_"], [" / 2", ""]], factor: 0.5, dash: "dotted", width: 1.2 },
];

export function marginPanel(content) {
  const { palettes, network } = content;
  const timeline = content.timeline();
  const { along, counts } = timeline;
  const inks = palettes.map((palette) => [palette.references[0], palette.foreground, palette.references[1]]);
  const all = MARGINS.map(({ key, factor }) => content.values[key].map((value) => factor * value));
  const curves = MARGINS.map(({ name, dash, width }, k) => ({
    name, dash, width, y: all[k], colours: inks.map((ink) => ink[k]), reads: "value",
  }));
  const why = network.rules.unknown ? "f is not known,\nas its activation is not" : "the network is 0";
  const notes = ["", "only t = 0,\nwhich a logarithmic\naxis cannot show", `no margin:\n${why}`];
  let [point, hasMargin, hasPlace] = [0, false, false];
  const state = counts.map((count) => {
    for (; point < count; point += 1) {
      hasMargin ||= all.some((values) => Number.isFinite(values[point]));
      hasPlace ||= Number.isFinite(along[point]);
    }
    return hasMargin ? (hasPlace ? 0 : 1) : 2;
  });
  const key = [1, 0, 2].map((k) => ({
    text: MARGINS[k].name, colours: inks.map((ink) => [ink[k]]), dash: MARGINS[k].dash, markers: [],
  }));
  const zero = { value: 0, foot: null, align: "right", band: [], label: [], reading: "0", dash: "solid" };
  return {
    ...timeline,
    title: [["margins", ""]],
    y: marginAxis(all, along),
    key,
    note: notes[state.at(-1)],
    curves,
    levels: [{ ...zero, colours: palettes.map((palette) => palette.muted) }],
    feet: true,
    notes, state,
  };
}

// From as far below 0 as the late margins reach above, so that the first ones hide nothing.
function marginAxis(all, along) {
  const known = [...along].filter(Number.isFinite);
  const [start, end] = known.length ? [known[0], known.at(-1)] : [0, 0];
  let [top, least, late] = [0, 0, 0];
  for (const values of all) {
    values.forEach((value, k) => {
      if (!Number.isFinite(value)) return;
      [top, least] = [Math.max(top, value), Math.min(least, value)];
      if (along[k] >= 0.25 * start + 0.75 * end) late = Math.min(late, value);
    });
  }
  const reach = Math.max(top, -late);
  let bottom = Math.max(least, -reach);
  if (reach === 0) [top, bottom] = [0.01, -0.01];
  const pad = 0.06 * (top - bottom);
  const ticks = linearTicks(bottom - pad, top + pad, MARGIN_TICKS).map(([place, text]) => [place, numberPieces(text)]);
  return { low: bottom - pad, high: top + pad, ticks, label: [["normalised margin", ""]], shows: "plain" };
}
