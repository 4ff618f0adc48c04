// The axis of time, and the moments of the sorted views, as core/figures/time_axis.py has them.

import { linearTicks, niceStep, numberText, pieced, timeText } from "./numbers.js";
import { interpolate, timeColour } from "./colours.js";

const MOST_MOMENTS = 8;
const MOST_TICKS = 6;
const NEAR = 0.005; // distance on the axis below which two moments count as one
const HORIZON = 10; // log10 t up to which the axis shows t
const FARTHEST = 700;

const coordinate = (x) => (x <= 1 ? x : 1 + Math.log(x));
const inverse = (u) => (u <= 1 ? u : Math.exp(u - 1));

export function range(first, last, step = 1) {
  const result = [];
  for (let k = first; k <= last; k += step) result.push(k);
  return result;
}

// Like numpy.linspace, up to the last bit.
export function spaced(low, high, count) {
  const step = (high - low) / (count - 1);
  return range(0, count - 1).map((k) => (k === count - 1 && count > 1 ? high : k * step + low));
}

function multiples(first, last, most) {
  let [step, k] = [1, 0];
  while (Math.floor((last - first) / step) >= most) {
    k += 1;
    step = [1, 2, 5][k % 3] * 10 ** Math.floor(k / 3);
  }
  return range(-Math.floor(-first / step) * step, last, step);
}

// 10 to a power, as core/numbers.py writes it.
function powerText(exponent) {
  if (Math.abs(exponent) >= 1e4) return `10^(${numberText(exponent)})`;
  const whole = Math.round(exponent);
  if (Math.abs(exponent - whole) < 1e-9 && !(whole >= -1 && whole <= 1)) return `10^${whole}`;
  return timeText(exponent).replace(/^t = /, "");
}

function decadeText(value) {
  const exponent = Math.log10(value);
  const whole = Math.round(exponent);
  return Math.abs(exponent - whole) < 1e-9 ? `10^${whole}` : numberText(value, 2);
}

const signed = (pieces) =>
  pieces.map(([text, style]) => [style === "^" ? text.replace("-", "\u2212") : text, style]);
export const inPieces = (text) => signed(pieced(text));
// A single number, which has no spaces within.
export const numberPieces = (text) =>
  inPieces(text).map(([part, style]) => [part.replace(" \u00d7 ", "\u00d7"), style]);

// Ticks of an axis that shows log10 of a quantity, in terms of the quantity.
function powerTicks(low, high, most) {
  const first = Math.ceil(low - 1e-9);
  const last = Math.floor(high + 1e-9);
  if (first >= last) return ticksBetween(low, high, most);
  const step = Math.max(1, Math.round(niceStep(Math.max(last - first, 1), most)));
  return range(-Math.floor(-first / step) * step, last, step).map((k) => [k, powerText(k)]);
}

// The same, at round numbers where the axis is short.
export const logTicks = (low, high, most) => (high - low < 1.5 ? ticksBetween : powerTicks)(low, high, most);

function ticksBetween(low, high, most) {
  if (Math.max(-low, high) > 250) { // fractions of the quantity are no floats
    return linearTicks(low, high, most).map(([place]) => [place, powerText(place)]);
  }
  const digits = high - low > 1 ? [1, 3] : high - low > 0.35 ? [1, 2, 5] : range(2, 19).map((k) => k / 2);
  const powers = range(Math.floor(low), Math.floor(high));
  const places = powers.flatMap((k) => digits.map((digit) => [Math.log10(digit) + k, digit * 10 ** k]));
  const inside = places.filter(([place]) => low <= place && place <= high);
  if (inside.length < 2) {
    const values = linearTicks(10 ** low, 10 ** high, most).filter(([value]) => value > 0);
    return values.map(([value, text]) => [Math.log10(value), text]);
  }
  const step = Math.ceil(inside.length / Math.max(most, 2));
  return inside.filter((_, k) => k % step === 0).map(([place, value]) => [place, numberText(value)]);
}

function farTicks(low, high, most) {
  const [least, largest] = [low, high].map((end) => inverse(Math.min(end, FARTHEST)));
  return linearTicks(least, largest, most)
    .filter(([time]) => least <= time && time <= largest)
    .map(([time]) => [coordinate(time), numberText(time)]);
}

export class TimeAxis {
  // log10 t of all frames; `steps` is true if t counts steps.
  constructor(times, steps) {
    let [low, high] = [Infinity, -Infinity];
    for (const time of times) {
      if (!Number.isFinite(time)) continue;
      [low, high] = [Math.min(low, time), Math.max(high, time)];
    }
    if (low > high) [low, high] = [-1, 1];
    else if (high - low < 1e-6) [low, high] = [low - 0.5, high + 0.5];
    Object.assign(this, { low, high, steps, far: high > HORIZON });
  }

  // Where a moment lies; NaN for t = 0, which a logarithmic axis cannot show.
  place(time) {
    if (time === -Infinity) return NaN;
    return this.far ? coordinate(time) : time;
  }

  get name() {
    const t = this.steps ? ["steps", ""] : ["t", "i"];
    if (!this.far) return [t];
    const log = [["log", ""], ["10", "_"]];
    return this.steps ? [...log, [" steps", ""]] : [...log, ["\u2009", ""], t];
  }

  text(time) {
    if (time === -Infinity) return this.steps ? [["0", ""]] : [["t", "i"], [" = 0", ""]];
    if (!this.far) return numberPieces(powerText(time));
    const rounded = Number(time.toExponential(1));
    return numberPieces(rounded < 1e3 ? numberText(rounded) : decadeText(rounded));
  }

  axis() {
    const [low, high] = [this.place(this.low), this.place(this.high)];
    const pad = 0.02 * (high - low);
    let ticks = this.ticks().map((time) => [this.place(time), this.text(time)]);
    if (ticks.length < 2) {
      const make = this.far ? farTicks : powerTicks;
      ticks = make(low, high, MOST_TICKS - 2).map(([place, text]) => [place, numberPieces(text)]);
    }
    const label = this.steps ? this.name : [["time ", ""], ...this.name];
    return { low: low - pad, high: high + pad, ticks, label, shows: this.far ? "far" : "powers" };
  }

  ticks() {
    const first = Math.ceil(this.low - 1e-9);
    const last = Math.floor(Math.min(this.high, 1 + 1e9) + 1e-9);
    if (!this.far) return multiples(first, last, MOST_TICKS);
    const decades = range(0, Math.floor(Math.log10(this.high) + 1e-9));
    const step = Math.max(1, Math.round(niceStep(decades.length, MOST_TICKS - 1)));
    const near = [-4, -2, 0].filter((x) => x >= this.low && step < 3);
    return [...near.slice(-2), ...decades.filter((k) => k % step === 0).map((k) => 10 ** k)];
  }
}

export class Moments {
  constructor(axis, times) {
    Object.assign(this, { axis, times });
    this.places = times.map((time) => axis.place(time));
  }

  // The frames of a run nearest to the moments, in order, up to and with the last one.
  frames(log10Times) {
    const last = log10Times.length - 1;
    const places = log10Times.map((time) => this.axis.place(time));
    if (!Number.isFinite(places[last])) return [last];
    const gaps = this.places.slice(1).map((place, k) => place - this.places[k]);
    const tolerance = gaps.length ? 0.5 * Math.min(...gaps) : 0.5;
    const chosen = new Set([last]);
    for (const place of this.places) {
      let [best, nearest] = [Infinity, -1];
      places.forEach((one, k) => {
        if (Math.abs(one - place) < best) [best, nearest] = [Math.abs(one - place), k];
      });
      if (nearest >= 0 && best <= tolerance) chosen.add(nearest);
    }
    return [...chosen].sort((a, b) => a - b);
  }

  colour(time, palette, viridis) {
    if (this.times.length < 2) return timeColour(1, palette, viridis);
    const levels = spaced(0, 1, this.times.length);
    const share = interpolate(this.axis.place(time), this.places, levels);
    return timeColour(Number.isNaN(share) ? 0 : share, palette, viridis);
  }
}

function decadesOf(low, end) {
  const first = end >= 1 ? 0 : Math.ceil(low - 1e-9);
  const decades = range(first, Math.floor(Math.min(end, HORIZON) + 1e-9));
  return new Set([...decades, end]).size < 2 ? spaced(low, end, MOST_MOMENTS) : decades;
}

function thin(times, axis) {
  let moments = [];
  for (const time of times) {
    if (moments.length && axis.place(time) - axis.place(moments.at(-1)) < NEAR) moments.pop();
    moments.push(time);
  }
  if (moments.length > MOST_MOMENTS) {
    const step = Math.ceil((moments.length - 1) / (MOST_MOMENTS - 1));
    const last = moments.length - 1;
    moments = moments.filter((_, k) => (last - k) % step === 0);
  }
  return moments;
}

// At most eight moments: the recorded marks, else decades, and the last one.
export function momentsOf(times, axis, marks) {
  const end = times.at(-1);
  if (!Number.isFinite(end)) return new Moments(axis, []);
  if (times.length - 1 <= MOST_MOMENTS) return new Moments(axis, thin(times.filter(Number.isFinite), axis));
  const met = [...new Set(marks)].filter((x) => x >= axis.low && x < end);
  const candidates = new Set(met.length ? met : decadesOf(axis.low, end));
  for (const k of axis.far ? range(0, Math.floor(Math.log10(end) + 1e-9)) : []) candidates.add(10 ** k);
  let inside = new Set([...[...candidates].filter((x) => x >= axis.low && x <= end), end]);
  if (met.length && inside.size > MOST_MOMENTS) inside = new Set([...met, end]);
  return new Moments(axis, thin([...inside].sort((a, b) => a - b), axis));
}
