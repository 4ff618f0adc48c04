// Colours of nodes and moments, as core/figures/palette.py has them.

const SHADES = 64; // colours per class, by the square root of the norm

export function interpolate(x, places, values) {
  if (Number.isNaN(x)) return NaN;
  if (x <= places[0]) return values[0];
  const last = places.length - 1;
  if (x >= places[last]) return values[last];
  let k = 0;
  while (places[k + 1] <= x) k += 1;
  const slope = (values[k + 1] - values[k]) / (places[k + 1] - places[k]);
  return slope * (x - places[k]) + values[k];
}

// To the nearest whole number, of two the even one.
export function roundEven(x) {
  const low = Math.floor(x);
  if (x - low !== 0.5) return Math.round(x);
  return low % 2 === 0 ? low : low + 1;
}

const rgb = (colour) => [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));

function css(channels) {
  const bytes = channels.map((value) => roundEven(Math.min(Math.max(value, 0), 255)));
  return `#${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

// The colour of a share of the time, 0 the earliest and 1 the latest.
export function timeColour(fraction, palette, viridis) {
  const [first, last] = palette.time;
  const place = first + (last - first) * Math.min(Math.max(fraction, 0), 1);
  const knots = viridis.map((_, k) => k / (viridis.length - 1));
  return css([0, 1, 2].map((channel) => interpolate(place, knots, viridis.map((row) => row[channel]))));
}

// A colour for each class; beyond six they repeat.
export function classColours(classes, palette) {
  const colours = [palette.negative, palette.positive, ...(classes > 2 ? palette.references : [])];
  return Array.from({ length: classes }, (_, number) => colours[number % colours.length]);
}

// The colours of the nodes of each class, and of none, from a norm of 0 to 1.
export function shades(classes, palette) {
  const [ground, extreme] = [rgb(palette.background), rgb(palette.extreme)];
  return [...classColours(classes, palette), palette.muted].map((colour) => {
    const base = rgb(colour);
    const mix = (end, share) => base.map((value, k) => value + share * (end[k] - value));
    const stops = [mix(ground, palette.weak), base, mix(extreme, palette.strong)];
    return Array.from({ length: SHADES + 1 }, (_, k) => {
      const strength = Math.sqrt((k / SHADES) ** 2);
      return css([0, 1, 2].map((channel) => interpolate(strength, [0, 0.5, 1], stops.map((stop) => stop[channel]))));
    });
  });
}
