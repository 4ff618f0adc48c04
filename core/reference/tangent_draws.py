"""Bracket of gamma_ntk by random directions, for d >= 3 (core.reference.tangent).

Two controls of each mean, whose own means are arc-cosine kernels, narrow the draw. A pilot with
separate directions finds their coefficients, and the number of directions that the bracket needs.

For a bounded value X >= m - R, m fixed before, and 0 <= b < 1, Fan, Grama and Liu (2015, (4.12))
have exp(b xi + (ln(1 - b) + b) xi^2) <= 1 + b xi, xi = (X - m)/R. So the mean of N draws exceeds
E X by more than R (ln(1/p) - (ln(1 - b) + b) sum xi^2)/(b N) with probability p at most. m, b and N
come from the pilot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from core.data.dataset import Array
from core.reference.cancel_token import CancelToken
from core.reference.directions import draw_directions
from core.reference.margin import Bracket, unresolved_bracket
from core.reference.neuron_means import TABLE_ERROR, NeuronMeans, neuron_means
from core.reference.tangent_values import CHUNK, Sample, Values, evaluate_directions
from core.reference.tangent_weights import Weights

SEED = 13  # seed of the directions for q; the next two are for the pilot and the bracket
WORK, OVERHEAD = 1e10, 20  # limit of n (d + OVERHEAD) times the directions of the bracket
FEWEST, MOST = 2**14, 2**21
TARGET = 3e-3  # relative to the margin: target error of either end by the draw, if WORK allows
PILOT = 2**16  # directions of the pilot, for up to 64 examples
FAILURE = 1e-6  # probability that the bracket misses
LARGEST_FACTOR = 0.5


@final
@dataclass(frozen=True, slots=True, eq=False)
class Controls:
    """Coefficients (2, n + 1) of the two controls of each mean, and the controls' own means.

    The first column is of |D| (k1 + c k2), whose controls are |D|^2 and <u, D>^2.
    """

    coefficients: Array
    means: Array

    def subtract(self, values: Values) -> Array:
        """Return each value without its controls.

        Parameters
        ----------
        values : Values
            Values of N directions.

        Returns
        -------
        array (N, n + 1)
            Of |D| (k1 + c k2), and of each e_i.
        """
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
        """Return the expected values of what `subtract` removes.

        Returns
        -------
        array (n + 1,)
            Exact means of the controls times their coefficients.
        """
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

        Parameters
        ----------
        sample : Sample
            Examples.
        weights : Weights
            Weights q of the examples.
        means : NeuronMeans
            Table of k1 and k2.
        count : int
            Number of directions for which deviations are compared.

        Returns
        -------
        Pilot
            Each of the n + 1 values has both controls or none.
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
    """Return the exact means of both controls of each value.

    Parameters
    ----------
    weights : Weights
        Weights q of the examples, and both arc-cosine kernels.

    Returns
    -------
    array (2, n + 1)
        Means of |D|^2 and <u, D>^2, and those of the controls of each e_i.
    """
    means = np.array([kernel @ weights.q for kernel in weights.kernels])
    return np.asarray(np.c_[means @ weights.q, means])


def run_pilot(
    sample: Sample, weights: Weights, means: NeuronMeans, count: int, watch: CancelToken
) -> Pilot:
    """Regress each value on its controls, by directions that the bracket does not use.

    Parameters
    ----------
    sample : Sample
        Examples.
    weights : Weights
        Weights q of the examples, and both arc-cosine kernels.
    means : NeuronMeans
        Table of k1 and k2.
    count : int
        Number of directions.
    watch : CancelToken
        Cancellation token; its time limit has no effect.

    Returns
    -------
    Pilot
        Coefficients by least squares; means and variances of the values with and without controls.
    """
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
    """Return bounds on how far a value without controls is beyond the pilot's mean.

    |D| is at most half of |sum_i q_i y_i x_i| + sqrt(lambda_max(sum_i q_i x_i x_i')), <u, D> at
    most |D|, and so on.

    Parameters
    ----------
    sample : Sample
        Examples.
    weights : Weights
        Weights q of the examples.
    pilot : Pilot
        Controls, and means of the values without them.
    means : NeuronMeans
        Table of k1 and k2, with their largest values.

    Returns
    -------
    array (n + 1,)
        Above the mean for |D| (k1 + c k2), below it for each e_i, in units of |x_i|.
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
    """Return the parameter b of each mean that makes its `bound_deviations` small.

    Parameters
    ----------
    variances : array (n + 1,)
        Variances of one value each, as the pilot estimates them.
    ranges : array (n + 1,)
        Bounds on a value's excess, by `bound_excess`.
    count : int
        Number N of directions.

    Returns
    -------
    array (n + 1,)
        0 < b <= LARGEST_FACTOR. Any such b fixed before the draw is valid.
    """
    logarithm = np.log(ranges.size / FAILURE)
    squares = np.maximum(variances, 1e-12 * ranges**2) * count
    return np.asarray(np.minimum(LARGEST_FACTOR, ranges * np.sqrt(2.0 * logarithm / squares)))


def bound_deviations(b: Array, squares: Array, ranges: Array, count: int) -> Array:
    """Return bounds on the errors of all means at once, each on one side.

    Parameters
    ----------
    b : array (n + 1,)
        Parameters in (0, 1), fixed before the draw.
    squares : array (n + 1,)
        Sums over the draw of (X - m)^2.
    ranges : array (n + 1,)
        Bounds R on a value's excess.
    count : int
        Number N of directions.

    Returns
    -------
    array (n + 1,)
        Errors of the means, all of which hold together except with probability FAILURE.

    Notes
    -----
    The bound of the module's docstring, with p = FAILURE/(n + 1) for each mean.
    """
    logarithm = np.log(ranges.size / FAILURE)
    spread = -(np.log1p(-b) + b) * squares / ranges**2
    return np.asarray(ranges * (logarithm + spread) / (b * count))


def expected_deviation(variances: Array, ranges: Array, count: int) -> Array:
    """Return `bound_deviations` with the variances in place of observed squares.

    Parameters
    ----------
    variances : array (n + 1,)
        Variances of one value each.
    ranges : array (n + 1,)
        Bounds on a value's excess.
    count : int
        Number of directions.

    Returns
    -------
    array (n + 1,)
        Half-widths that a bracket of so many directions will have, up to chance.
    """
    b = deviation_factors(variances, ranges, count)
    return bound_deviations(b, variances * count, ranges, count)


def bound_by_draws(sample: Sample, weights: Weights, watch: CancelToken) -> Bracket:
    """Return the bracket that weights give on directions drawn afresh.

    Parameters
    ----------
    sample : Sample
        Examples.
    weights : Weights
        Weights q of the examples, and the floor of |D|.
    watch : CancelToken
        Cancellation token. Once it has timed out, the draw ends with at least FEWEST directions.

    Returns
    -------
    Bracket
        Not certified: it holds except with probability FAILURE over the draw, whose seed is fixed.
        Unresolved if the lower end is not positive.
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
