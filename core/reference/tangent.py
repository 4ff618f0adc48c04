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

from dataclasses import replace
from typing import final

import numpy as np

from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.directions import Directions, draw_directions, quadrature_of_plane
from core.reference.hull import explain_no_margin
from core.reference.margin import Bracket, SampleMargin, data_key, unresolved_bracket, zero_bracket
from core.reference.neuron_means import TABLE_ERROR, neuron_means
from core.reference.tangent_draws import FAILURE, FEWEST, SEED, WORK, bound_by_draws
from core.reference.tangent_values import CHUNK, Sample, evaluate_directions, make_sample
from core.reference.tangent_weights import Weights, find_example_weights

SEARCHED, MOST_SEARCHED = 2**22, 2**16  # values <u, x_i>, and directions, in the search for q
MOST_EXAMPLES = 1500


def search_stages(sample: Sample) -> list[Directions]:
    """Return the directions of each stage of the search for q.

    Parameters
    ----------
    sample : Sample
        Examples, none of them 0.

    Returns
    -------
    list of Directions
        For d <= 2 one stage with nodes on all arcs; else two, of drawn directions, the second with
        eight times as many as the first. Equal for equal samples.
    """
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


def integrate_plane(sample: Sample, weights: Weights, watch: CancelToken) -> Bracket:
    """Return the bracket of weights for examples in R or R^2, by quadrature over all directions.

    Parameters
    ----------
    sample : Sample
        Examples, with d <= 2.
    weights : Weights
        Weights q of the examples, and the floor of |D|.
    watch : CancelToken
        Cancellation token; its time limit has no effect.

    Returns
    -------
    Bracket
        Certified up to rounding; unresolved if the lower end is not positive. The difference of 16
        and 32 nodes for each arc bounds the error of the quadrature.
    """
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


def bracket_of(sample: Sample, weights: Weights, watch: CancelToken) -> Bracket:
    """Return the bracket of gamma_ntk that weights of the examples give.

    Parameters
    ----------
    sample : Sample
        Examples.
    weights : Weights
        Weights q of the examples, and the floor of |D|. Good weights make a narrow bracket; it
        holds for all weights.
    watch : CancelToken
        Cancellation, and the time limit of `bound_by_draws`.

    Returns
    -------
    Bracket
        By `integrate_plane` for d <= 2, else by `bound_by_draws`.
    """
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
