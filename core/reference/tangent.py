"""gamma_ntk: the margin of the network's tangent at its initial law (telgarsky22, Assumption 1.3).

A neuron w = (a, v) has g_i = y_i (relu(<v, x_i>), a 1[<v, x_i> > 0] x_i), zero where |w| >= 2, and
minimax says

    gamma_ntk = max over |theta(w)| <= 1 of min_i E <theta(w), g_i(w)>
              = min over q in the simplex of E |sum_i q_i g_i(w)|.

With v = r u, |u| = 1, and D(u) = sum_i q_i y_i 1[<u, x_i> > 0] x_i the length of the sum is
|D| sqrt(a^2 + r^2 c^2), c = <u, D>/|D|, so that a and r integrate out (`neuron_means`):

    Phi(q) = E_u |D| (k1 + c k2) >= gamma_ntk,
    e_i = E_u y_i 1[<u, x_i> > 0] (k1 <D, x_i>/|D| + k2 <u, x_i>),    min_i e_i <= gamma_ntk,

the e_i of theta = (sum_i q_i g_i)/|sum_i q_i g_i|. Where D is 0 on some cell of directions, that
theta is not defined, so it is multiplied by |D|/sqrt(|D|^2 + floor^2), which keeps |theta| <= 1.

q is found by reweighted least squares (core.reference.tangent_weights). For d <= 2 the directions
that see the same examples form arcs, over which both means are integrated: the bracket is proved up
to rounding. Beyond, both are means over directions that q knows nothing of, with two controls whose
means are arc-cosine kernels: y_i 1[.] <D, x_i> and y_i relu(<u, x_i>) <u, D>.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from core.data.dataset import Array
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.directions import Directions, draw_directions, quadrature_of_plane
from core.reference.hull import explain_no_margin, gram_coordinates
from core.reference.margin import Bracket, SampleMargin, data_key, unresolved_bracket, zero_bracket
from core.reference.neuron_means import TABLE_ERROR, NeuronMeans, neuron_means
from core.reference.tangent_weights import Weights, find_example_weights

SEED = 13  # seed of the directions for q; the next two are for the pilot and the bracket
WORK, OVERHEAD = 1e10, 20  # limit of n (d + OVERHEAD) times the directions of the bracket
FEWEST, MOST = 2**14, 2**21
TARGET = 3e-3  # relative to the margin: target error of either end by the draw, if WORK allows
SEARCHED, MOST_SEARCHED = 2**22, 2**16  # values <u, x_i>, and directions, in the search for q
PILOT = 2**16  # directions of the pilot, for up to 64 examples
FAILURE = 1e-6  # probability that the bracket misses
MOST_EXAMPLES = 1500
CHUNK = 2**18  # values per piece of directions times examples
LARGEST_FACTOR = 0.5


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Examples in coordinates of their span, and the law of the directions.

    `rows` (n, r) have the inner products of the examples, and `outside` is d - r.
    """

    rows: Array
    y: Array
    outside: int

    @property
    def d(self) -> int:
        return int(self.rows.shape[1]) + self.outside

    @property
    def size(self) -> float:
        """Largest |x_i|."""
        return float(np.linalg.norm(self.rows, axis=1).max())


def make_sample(x: Array, y: Array) -> Sample:
    """Return the sample of examples x (n, d) with labels y (n,): for d > n and d > 2, in R^n."""
    n, d = x.shape
    return Sample(x, y, 0) if d <= max(n, 2) else Sample(gram_coordinates(x @ x.T), y, d - n)


def search_stages(sample: Sample) -> list[Directions]:
    """Return the directions of each stage of the search: arcs of the plane, or drawn ones."""
    rows, n = sample.rows, sample.y.size
    if sample.d <= 2:
        count = int(np.clip(SEARCHED // (2 * n * n), 2, 16))
        return [quadrature_of_plane(rows, sample.y, None, count)]
    generator = np.random.default_rng(SEED)
    n_directions = int(np.clip(SEARCHED // n, FEWEST, MOST_SEARCHED))
    return [
        Directions(
            draw_directions(rows, sample.outside, count, generator), np.full(count, 1 / count)
        )
        for count in (n_directions // 8, n_directions)
    ]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Values in N directions: |D| (k1 + c k2) of each, and the parts of each example's e_i.

    `aligned` (N, n) is y_i 1[.] <D, x_i> and `along` (N, n) y_i relu(<u, x_i>); `length` (N,) is
    |D| (k1 + c k2), `squared` |D|^2 and `height` <u, D>. e_i = first aligned + second along.
    """

    aligned: Array
    along: Array
    length: Array
    squared: Array
    height: Array
    first: Array
    second: Array


def evaluate_directions(z: Array, sample: Sample, weights: Weights, means: NeuronMeans) -> Values:
    """Return the values of directions with z (N, n) = <u, x_i>."""
    rows, q = sample.rows, weights.q
    active_labels = np.where(z > 0.0, sample.y, 0.0)
    D = (active_labels * q) @ rows
    squared = np.einsum("jk,jk->j", D, D)
    size = np.sqrt(squared)
    active = active_labels * z
    height = active @ q
    cosine = np.divide(height, size, out=np.zeros_like(size), where=size > 0.0)
    k1, k2 = means(cosine)
    floored = np.sqrt(squared + weights.floor**2)
    aligned = D @ rows.T
    aligned *= active_labels
    return Values(
        aligned,
        active,
        size * k1 + height * k2,
        squared,
        height,
        k1 / floored,
        k2 * np.divide(size, floored, out=np.zeros_like(size), where=floored > 0.0),
    )


# ------------------------------------------------------------------------------------ d <= 2


def integrate_plane(sample: Sample, weights: Weights, watch: CancelToken) -> Bracket:
    """Return the bracket of weights for examples in R or R^2, by quadrature over all directions."""
    means, n = neuron_means(sample.d), sample.y.size
    sums_by_level = []
    for count in (16, 32):  # nodes of an arc; the difference bounds the error of the second
        directions = quadrature_of_plane(sample.rows, sample.y, weights.q, count)
        sums = np.zeros(n + 1)
        for z, mass in directions.chunks(max(1, CHUNK // n)):
            watch.check()
            values = evaluate_directions(z, sample, weights, means)
            e = values.first[:, None] * values.aligned + values.second[:, None] * values.along
            sums += np.r_[mass @ values.length, mass @ e]
        sums_by_level.append(sums)
    error = np.abs(sums_by_level[1] - sums_by_level[0]).max() + 2.0 * TABLE_ERROR * sample.size
    upper, lower = float(sums_by_level[1][0] + error), float(sums_by_level[1][1:].min() - error)
    method = "integrated over all directions"
    if not lower > 0.0:
        return unresolved_bracket(upper, sample.size, True, method)
    value = min(max(float(sums_by_level[1][0]), lower), upper)
    return Bracket(lower, upper, value, True, method)


# ------------------------------------------------------------------------------------ d >= 3


@final
@dataclass(frozen=True, slots=True, eq=False)
class Controls:
    """Coefficients (2, n + 1) of the two controls of each mean, and the controls' own means.

    The first column is of |D| (k1 + c k2), whose controls are |D|^2 and <u, D>^2.
    """

    coefficients: Array
    means: Array

    def subtract(self, values: Values) -> Array:
        """Return each value without its controls, (N, n + 1)."""
        first, second = self.coefficients
        reduced = np.empty((values.length.size, first.size))
        reduced[:, 0] = values.length - first[0] * values.squared - second[0] * values.height**2
        e = reduced[:, 1:]
        np.subtract(values.first[:, None], first[1:], out=e)
        e *= values.aligned
        remainder = values.second[:, None] - values.height[:, None] * second[1:]
        remainder *= values.along
        e += remainder
        return reduced

    def expected_values(self) -> Array:
        """Return the expected values of what was subtracted, (n + 1,)."""
        return np.asarray((self.coefficients * self.means).sum(axis=0))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pilot:
    """Means and variances of the values without controls, from separate directions."""

    controls: Controls
    means: Array
    variances: Array
    plain_means: Array  # of the values themselves, controls included
    plain_variances: Array

    def prune(self, sample: Sample, weights: Weights, means: NeuronMeans, count: int) -> Pilot:
        """Return the pilot without the controls that widen a mean's deviation.

        Where D is almost always 0 the coefficients are huge, and with them what a value may be.
        """
        none = replace(self.controls, coefficients=np.zeros_like(self.controls.coefficients))
        plain = replace(self, controls=none, means=self.plain_means, variances=self.plain_variances)
        variances = [
            expected_deviation(one.variances, bound_excess(sample, weights, one, means), count)
            for one in (self, plain)
        ]
        is_useful = variances[0] < variances[1]
        coefficients = np.where(is_useful, self.controls.coefficients, 0.0)
        return replace(
            self,
            controls=replace(self.controls, coefficients=coefficients),
            means=np.where(is_useful, self.means, self.plain_means),
            variances=np.where(is_useful, self.variances, self.plain_variances),
        )


def control_means(weights: Weights) -> Array:
    """Return the exact means of both controls of each value, (2, n + 1)."""
    means = np.array([kernel @ weights.q for kernel in weights.kernels])
    return np.asarray(np.c_[means @ weights.q, means])


def run_pilot(
    sample: Sample, weights: Weights, means: NeuronMeans, count: int, watch: CancelToken
) -> Pilot:
    """Regress each value on its controls, by `count` directions."""
    n = sample.y.size
    generator = np.random.default_rng(SEED + 1)
    # Means of value, first and second control, and means of their products.
    sums, products = np.zeros((3, n + 1)), np.zeros((3, 3, n + 1))
    step = max(1, CHUNK // n)
    for start in range(0, count, step):
        watch.check()
        z = draw_directions(sample.rows, sample.outside, min(step, count - start), generator)
        values = evaluate_directions(z, sample, weights, means)
        e = values.first[:, None] * values.aligned + values.second[:, None] * values.along
        parts = (
            np.c_[values.length, e],
            np.c_[values.squared, values.aligned],
            np.c_[values.height**2, values.height[:, None] * values.along],
        )
        for i, one in enumerate(parts):
            sums[i] += one.sum(axis=0)
            for k in range(i + 1):
                products[i, k] += np.einsum("ji,ji->i", one, parts[k])
    centre = sums / count
    covariance = np.array([[products[max(i, k), min(i, k)] for k in range(3)] for i in range(3)])
    covariance = covariance / count - centre[:, None] * centre[None, :]
    own, cross = np.moveaxis(covariance[1:, 1:], 2, 0), covariance[1:, 0].T
    # A constant control, as with one example, has no coefficient.
    coefficients = np.einsum("ikl,il->ki", np.linalg.pinv(own, rcond=1e-9, hermitian=True), cross)
    residual = covariance[0, 0] - (coefficients * cross.T).sum(axis=0)
    controls = Controls(coefficients, control_means(weights))
    without = centre[0] - (coefficients * centre[1:]).sum(axis=0)
    plain = np.maximum(covariance[0, 0], 0.0)
    return Pilot(controls, without, np.maximum(residual, 0.0), centre[0], plain)


def bound_excess(sample: Sample, weights: Weights, pilot: Pilot, means: NeuronMeans) -> Array:
    """Return bounds on how far a value without controls is beyond the pilot's mean, (n + 1,).

    Above it for |D| (k1 + c k2), below it for each e_i. |D| is at most half of
    |sum_i q_i y_i x_i| + sqrt(lambda_max(sum_i q_i x_i x_i')), <u, D> at most |D|, and so on.
    """
    rows, q = sample.rows, weights.q
    largest = float(np.linalg.eigvalsh(rows.T @ (q[:, None] * rows))[-1])
    largest_norm = (float(np.linalg.norm((q * sample.y) @ rows)) + np.sqrt(max(largest, 0.0))) / 2.0
    k1, k2, length = means.largest
    first, second = pilot.controls.coefficients
    above = length * largest_norm - (min(first[0], 0.0) + min(second[0], 0.0)) * largest_norm**2
    # k1 |D|/sqrt(|D|^2 + floor^2) and first |D| have the same sign: the larger bounds |difference|.
    parts = [
        np.where(b >= 0.0, np.maximum(k, b * largest_norm), k - b * largest_norm)
        for k, b in ((k1, first[1:]), (k2, second[1:]))
    ]
    below = np.linalg.norm(rows, axis=1) * (parts[0] + parts[1])
    return np.asarray(np.r_[above - pilot.means[0], below + pilot.means[1:]])


def deviation_factors(variances: Array, ranges: Array, count: int) -> Array:
    """Return the parameter b of each mean that makes its `bound_deviations` small."""
    logarithm = np.log(ranges.size / FAILURE)
    squares = np.maximum(variances, 1e-12 * ranges**2) * count
    return np.asarray(np.minimum(LARGEST_FACTOR, ranges * np.sqrt(2.0 * logarithm / squares)))


def bound_deviations(b: Array, squares: Array, ranges: Array, count: int) -> Array:
    """Return bounds on the errors of all means at once, each on one side."""
    logarithm = np.log(ranges.size / FAILURE)
    spread = -(np.log1p(-b) + b) * squares / ranges**2
    return np.asarray(ranges * (logarithm + spread) / (b * count))


def expected_deviation(variances: Array, ranges: Array, count: int) -> Array:
    """Return `bound_deviations` with the variances in place of observed squares."""
    b = deviation_factors(variances, ranges, count)
    return bound_deviations(b, variances * count, ranges, count)


def bound_by_draws(sample: Sample, weights: Weights, watch: CancelToken) -> Bracket:
    """Return the bracket that weights give on directions drawn afresh.

    For a bounded value X >= m - R, m fixed before, and 0 <= b < 1, Fan, Grama and Liu (2015,
    (4.12)) have exp(b xi + (ln(1 - b) + b) xi^2) <= 1 + b xi, xi = (X - m)/R, so that the mean of N
    draws exceeds E X by more than R (ln(1/p) - (ln(1 - b) + b) sum xi^2)/(b N) with probability p
    at most. m, b and N come from the pilot. A watch that has timed out ends it early.
    """
    n, r = sample.rows.shape
    means = neuron_means(sample.d)
    largest = int(np.clip(WORK / (n * (r + OVERHEAD)), FEWEST, MOST))
    pilot = run_pilot(sample, weights, means, max(FEWEST, PILOT * 64 // max(n, 64)), watch)
    pilot = pilot.prune(sample, weights, means, largest)
    ranges = bound_excess(sample, weights, pilot, means)
    count, enough = FEWEST, TARGET * float(pilot.means[0] + pilot.controls.expected_values()[0])
    while count < largest and expected_deviation(pilot.variances, ranges, count).max() > enough:
        count = min(2 * count, largest)
    b = deviation_factors(pilot.variances, ranges, count)
    generator = np.random.default_rng(SEED + 2)
    sums, squares = np.zeros(n + 1), np.zeros(n + 1)
    step = max(1, CHUNK // n)
    for start in range(0, count, step):
        watch.check()
        if watch.timed_out and start >= FEWEST:
            count = start
            break
        z = draw_directions(sample.rows, sample.outside, min(step, count - start), generator)
        residual = pilot.controls.subtract(evaluate_directions(z, sample, weights, means))
        residual -= pilot.means
        sums += residual.sum(axis=0)
        squares += np.einsum("ji,ji->i", residual, residual)
    estimates = sums / count + pilot.means + pilot.controls.expected_values()
    deviations = bound_deviations(b, squares, ranges, count) + 2.0 * TABLE_ERROR * sample.size
    upper, lower = float(estimates[0] + deviations[0]), float((estimates - deviations)[1:].min())
    method = (
        f"{count} random directions: holds except with probability 10^{round(np.log10(FAILURE))} "
        "over the draw"
    )
    if not lower > 0.0:
        return unresolved_bracket(upper, sample.size, False, f"by {method}")
    return Bracket(lower, upper, min(max(float(estimates[0]), lower), upper), False, method)


def bracket_of(sample: Sample, weights: Weights, watch: CancelToken) -> Bracket:
    """Return the bracket of gamma_ntk that weights of the examples give."""
    bound = integrate_plane if sample.d <= 2 else bound_by_draws
    return bound(sample, weights, watch)


@final
class TangentMargin(SampleMargin):
    """gamma_ntk of the law of the neurons."""

    name = "gamma_ntk"
    title = "tangent margin"
    formula = (
        "max over theta of min_i E <theta(w), d_w p_i(w)>, w = (a, v), a ~ N(0, 1), "
        "v ~ N(0, I/d), d_w p_i = y_i (relu(<v, x_i>), a 1[<v, x_i> > 0] x_i); theta(w) = 0 for "
        "|w| >= 2 and |theta(w)| <= 1 at every w (not printed in Assumption 1.3, used in "
        "its Appendix A). Not comparable with margins divided by |W|^2"
    )
    source = "telgarsky22, Assumption 1.3 and Appendix A"
    label = "gamma_ntk"
    plain_relu = True
    failure = FAILURE
    version = 5
    most_examples = MOST_EXAMPLES
    too_many = "gamma_ntk is computed for up to {most} examples; here n = {n}."
    where = (
        "networks without biases that have both layers (standard, scalar, normalised), two classes"
    )

    def key(self, problem: Problem) -> str:
        return data_key(problem, SEED, WORK)

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        data = problem.dataset
        reason = explain_no_margin(data.x, data.y)
        if reason:
            return zero_bracket(f"gamma_ntk is 0: {reason}")
        sample = make_sample(data.x, data.y)
        stages = search_stages(sample)
        weights = find_example_weights(sample.rows, sample.y, sample.d, stages, watch)
        law = bracket_of(sample, weights, watch)
        words = (
            f"{law.method}; weights of the examples by reweighted least squares on "
            f"{stages[-1].count} directions, {weights.rounds} rounds"
        )
        return replace(law, method=words if law.exists else law.method)
