// Losses in the log domain, as core/losses.py has them.

const LARGE_MARGIN = 30; // ln(1 + e^-p) = e^-p to one part in 1e13 beyond this

export function logSumExp(values) {
  let largest = -Infinity;
  for (const value of values) {
    if (Number.isNaN(value)) return NaN;
    if (value > largest) largest = value;
  }
  if (!Number.isFinite(largest)) return largest;
  // The largest terms are counted: their sum would swamp the digits of the others.
  let [count, rest] = [0, 0];
  for (const value of values) {
    if (value === largest) count += 1;
    else rest += Math.exp(value - largest);
  }
  return Math.log1p(rest / count) + Math.log(count) + largest;
}

export function softplus(z) {
  return Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)));
}

const logistic = {
  logValue: (z) => (z > LARGE_MARGIN ? -z : Math.log(softplus(-Math.min(z, LARGE_MARGIN)))),
  inverse: (logS) => {
    if (logS < -15) return -logS - 0.5 * Math.exp(logS);
    const s = Math.exp(logS);
    if (s > 30) return -(s + Math.log1p(-Math.exp(-s)));
    return -Math.log(Math.expm1(s));
  },
};
const exponential = { logValue: (z) => -z, inverse: (logS) => -logS };
const squared = { logValue: (z) => 2 * Math.log(Math.abs(1 - z)) };
const scaledSquare = (factor) => ({
  fits: true, logValue: (z) => 2 * Math.log(Math.abs(z)) + Math.log(factor),
});
const LOSSES = {
  exponential, logistic, squared,
  cross_entropy: logistic, least_squares: scaledSquare(0.5), mse: scaledSquare(1),
};

// Whether values of a loss are known.
export const isKnown = (kind) => Object.hasOwn(LOSSES, kind);

// Whether scores of a loss are f - y, and not margins.
export const fitsTargets = (kind) => isKnown(kind) && LOSSES[kind].fits === true;

// ln sum_i l of scores (n,), or (n, k - 1) for cross-entropy; NaN for an unknown loss.
export function logSum(kind, scores, each) {
  if (!isKnown(kind)) return NaN;
  const { logValue } = LOSSES[kind];
  const values = new Float64Array(scores.length / each);
  for (let i = 0; i < values.length; i += 1) {
    if (kind === "cross_entropy") {
      const own = scores.subarray(i * each, (i + 1) * each);
      values[i] = logValue(-logSumExp(own.map((score) => -score)));
    } else values[i] = logValue(scores[i]);
  }
  return logSumExp(values);
}

// l^-1(sum_i l) of ln sum_i l; NaN for losses that do not fall to 0.
export function smoothedMargin(kind, sum) {
  const inverse = isKnown(kind) && LOSSES[kind].inverse;
  return inverse ? inverse(sum) : NaN;
}
