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
const MONOTONE = { exponential, logistic, cross_entropy: logistic };

// l^-1(sum_i l(p_i)) of scores (n,), or (n, k - 1) for cross-entropy; NaN for other losses.
export function smoothedMargin(kind, scores, each) {
  if (!Object.hasOwn(MONOTONE, kind)) return NaN;
  const { logValue, inverse } = MONOTONE[kind];
  const values = new Float64Array(scores.length / each);
  for (let i = 0; i < values.length; i += 1) {
    if (kind === "cross_entropy") {
      const own = scores.subarray(i * each, (i + 1) * each);
      values[i] = logValue(-logSumExp(own.map((score) => -score)));
    } else values[i] = logValue(scores[i]);
  }
  return inverse(logSumExp(values));
}
