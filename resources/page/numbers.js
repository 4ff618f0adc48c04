// Numbers as people read them, and ticks: as core/figures/numbers.py and core/figures/ticks.py
// have them, to which tests compare them.

const MINUS = "\u2212";
const LARGE = 1e4;
const SMALL = 1e-4;
const LEAST_SPAN = 1e-280; // of ticks: their step has a reciprocal

function droppedZero(text) {
  const sign = text.startsWith("-") ? MINUS : "";
  const digits = text.replace(/^-/, "");
  return sign + (digits.startsWith("0.") ? digits.slice(1) : digits);
}

// Python rounds what lies exactly between two to the even one, JavaScript away from 0: the text to
// `length` signs, of one that was written far beyond them.
function even(long, length) {
  const tie = /^50*$/.test(long.slice(length).replace(/\./, ""));
  return tie && Number(long.slice(0, length).replace(/\.$/, "").at(-1)) % 2 === 0;
}

function inFigures(value, digits) {
  const long = Math.abs(value).toExponential(50);
  const length = digits === 1 ? 1 : digits + 1; // with the point
  if (!even(long.split("e")[0], length)) return value.toExponential(digits - 1);
  return `${value < 0 ? "-" : ""}${long.slice(0, length)}e${long.split("e")[1]}`;
}

function inDecimals(value, decimals) {
  const long = Math.abs(value).toFixed(Math.min(decimals + 50, 100));
  const point = long.indexOf(".");
  const length = decimals ? point + 1 + decimals : point;
  if (point < 0 || !even(long, length)) return value.toFixed(decimals);
  return (value < 0 ? "-" : "") + long.slice(0, length);
}

function fixed(value, decimals) {
  let text = inDecimals(value, decimals);
  if (text.includes(".")) text = text.replace(/0+$/, "").replace(/\.$/, "");
  return text === "-0" ? "0" : text;
}

// A number with so many significant digits, trailing zeros dropped.
export function numberText(value, digits = 3) {
  if (Number.isNaN(value)) return "none";
  if (!Number.isFinite(value)) return value > 0 ? "infinite" : MINUS + "infinite";
  if (value === 0) return "0";
  const rounded = Number(inFigures(value, digits));
  const [mantissa, exponent] = rounded.toExponential().split("e");
  if (Math.abs(rounded) >= SMALL && Math.abs(rounded) < LARGE) {
    return droppedZero(fixed(rounded, Math.max(digits - 1 - Number(exponent), 0)));
  }
  const first = droppedZero(fixed(Number(mantissa), digits - 1));
  return (first === "1" ? "" : first + " ") + "10^" + Number(exponent);
}

// 10 to a power, as any number.
function power(exponent, digits = 3, padded = false) {
  exponent += 1e-9;
  const small = exponent >= Math.log10(SMALL) && exponent < Math.log10(LARGE);
  let whole = small ? 0 : Math.floor(exponent);
  let value = Number(inFigures(10 ** (exponent - whole), digits));
  if (!small && value >= 10) [value, whole] = [value / 10, whole + 1];
  const decimals = Math.max(digits - 1 - Math.floor(Math.log10(value) + 1e-12), 0);
  const text = droppedZero((padded ? inDecimals : fixed)(value, decimals));
  if (small) return text;
  return text === "1" ? `10^${whole}` : `${text} 10^${whole}`;
}

// A moment by log10 of t, which is -Infinity at t = 0; `padded` with zeros to three digits.
export function timeText(time, padded = false) {
  if (time === -Infinity) return "t = 0";
  if (Math.abs(time) >= 1000) return `log10 t = ${numberText(time, 4)}`;
  return `t = ${power(time, 3, padded)}`;
}

export function niceStep(span, most) {
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= rough * (1 - 1e-9));
}

// Ticks in [low, high] at multiples of a nice step, with their texts; none where there is no such
// range of floats.
export function linearTicks(low, high, most = 5) {
  if (!(high - low >= LEAST_SPAN && high - low < Infinity)) return [];
  const step = niceStep(high - low, most);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const long = step >= LARGE || step < SMALL;
  const ticks = [];
  // Counted from 0: above 2^53 a number plus 1 is the number itself.
  for (let k = 0; k <= last - first; k += 1) {
    const exact = (first + k) * step;
    const place = decimals < 100 ? Number(inDecimals(exact, decimals)) : exact;
    ticks.push([place, long ? numberText(place) : droppedZero(fixed(place, decimals))]);
  }
  return ticks;
}

// Ticks of an axis that shows signed roots, in terms of the quantity.
export function rootedTicks(low, high, most = 5) {
  return linearTicks(low, high, most).map(([place]) => [
    place,
    numberText(place ? Math.sign(place) * place * place : 0),
  ]);
}

// The pieces of such a text: powers raised, t slanted. A piece is a text and its style.
export function pieced(text) {
  const result = [];
  for (const [part] of text.matchAll(/\^\([^)]*\)|\^[^\s]+|log10 t|\bt(?= =)|[^^lt]+|./g)) {
    if (part.startsWith("^")) result.push([part.slice(1).replace(/^\(|\)$/g, ""), "^"]);
    else if (part === "log10 t") result.push(["log", ""], ["10", "_"], ["\u2009", ""], ["t", "i"]);
    else if (part === "t") result.push(["t", "i"]);
    else result.push([part.replace(/(\d) (?=10$)/, "$1 \u00d7 "), ""]);
  }
  return result;
}
