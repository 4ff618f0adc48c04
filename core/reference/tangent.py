"""gamma_ntk: margin of the network's tangent at its initial law (telgarsky22, Assumption 1.3).

For N nodes from a separate generator in place of the law, with
g_ij = y_i (relu(<v_j, x_i>), a_j 1[<v_j, x_i> > 0] x_i), zero where |w_j| >= 2, minimax says

    max over |theta_j| <= 1 of min_i mean_j <theta_j, g_ij>
        = min over q in the simplex of mean_j |sum_i q_i g_ij|.

Iteratively reweighted least squares: with n_j = |sum_i q_i g_ij| the right side is q' K q with
K = mean_j g_j g_j'/n_j; the next q minimises that form. theta_j = sum_i q_i g_ij/n_j gives min_i
(K q)_i on the left side, so that every round has a bracket for these nodes.

The law itself has no closed form in 1 + d dimensions. For the q found, then fixed, E |sum_i q_i
g_i| is at least gamma_ntk, and min_i E <theta, g_i> of its theta at most. Both are estimated as
means over other nodes, within the error that the inequality of Maurer and Pontil allows (2009,
Theorem 4: bounded values, by their sample variance), but for a probability of FAILURE over the
draw.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from core.data.dataset import Array
from core.problem.problem import Problem
from core.reference.hull import coordinates, nearest, why_not
from core.reference.margin import Bracket, SampleMargin, data_key, nothing, unresolved
from core.reference.watch import Watch

# As many give it to 1 or 2 % on Figure 1's data (docs/theory.md, 7.3).
NODES = 4000
SEED = 13  # of the nodes that q is found on, and one more of those that bound it
WORK, OVERHEAD = 2.5e9, 20  # n (d + OVERHEAD) for each of the nodes that bound it
FEWEST, MOST = 2**14, 2**19
FAILURE = 1e-6
# |theta| <= 1 at every w and theta = 0 beyond the cutoff: the first is not printed in Assumption
# 1.3, but used in appendix A (docs/theory.md, 8.2).
CUTOFF = 2.0
MOST_EXAMPLES = 1500
ENOUGH, ROUNDS = 1e-4, 60
CHUNK = 2**21  # values of a piece of V, or of what is taken of nodes and examples


@final
@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Signed features of N nodes: relu (N, n), y 1[> 0] a (N, n), and <x_i, x_k> (n, n).

    g_ij' g_kj = outer_ji outer_jk + inner_ji inner_jk <x_i, x_k>.
    """

    outer: Array
    inner: Array
    gram: Array

    def lengths(self, q: Array) -> Array:
        """Return the lengths n_j = |sum_i q_i g_ij|.

        Parameters
        ----------
        q : array (n,)
            Weights of the examples.

        Returns
        -------
        array (N,)
            Lengths.
        """
        weighted = self.inner * q
        squares = (self.outer @ q) ** 2 + ((weighted @ self.gram) * weighted).sum(axis=1)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def form(self, lengths: Array) -> Array:
        """Return the quadratic form K = mean_j g_j g_j'/n_j.

        Parameters
        ----------
        lengths : array (N,)
            n_j; nodes of length 0 have theta = 0.

        Returns
        -------
        array (n, n)
            K.
        """
        positive = lengths > 0.0
        scale = np.zeros_like(lengths)
        scale[positive] = 1.0 / (lengths[positive] * lengths.size)
        outer = self.outer.T @ (scale[:, None] * self.outer)
        inner = self.inner.T @ (scale[:, None] * self.inner)
        return np.asarray(outer + inner * self.gram)

    def along(self, q: Array, x: Array) -> tuple[Array, Array]:
        """Return the lengths n_j and products <theta_j, g_ij>, theta_j = sum_i q_i g_ij/n_j.

        Parameters
        ----------
        q : array (n,)
            Weights of the examples.
        x : array (n, r)
            Examples, or rows with their Gram matrix.

        Returns
        -------
        tuple of arrays
            Lengths (N,) and products (N, n).
        """
        first, inner = self.outer @ q, (self.inner * q) @ x
        lengths = np.sqrt(first**2 + np.einsum("jk,jk->j", inner, inner))
        second = inner @ x.T
        scale = np.zeros_like(lengths)
        np.divide(1.0, lengths, out=scale, where=lengths > 0.0)
        second *= self.inner
        second += first[:, None] * self.outer
        second *= scale[:, None]
        return lengths, second


def sampled(x: Array, y: Array, count: int = NODES, seed: int = SEED) -> Nodes:
    """Draw nodes a ~ N(0, 1), v ~ N(0, I/d); those with |(a, v)| >= 2 are zero.

    Parameters
    ----------
    x : array (n, d)
        Examples.
    y : array (n,)
        Labels +-1.
    count : int
        Number of nodes N.
    seed : int
        Seed of a separate generator.

    Returns
    -------
    Nodes
        Features of the nodes.
    """
    return drawn(x, y, count, np.random.default_rng(seed))


def drawn(
    x: Array, y: Array, count: int, generator: np.random.Generator, outside: int = 0
) -> Nodes:
    """Draw nodes as `sampled` does, from a given generator.

    The part of v outside the space of x meets no example: only its length counts, of chi-squared
    law.

    Parameters
    ----------
    x : array (n, r)
        Examples, perhaps in a space of r = d - `outside` dimensions.
    y : array (n,)
        Labels +-1.
    count : int
        Number of nodes N.
    generator : Generator
        Source of randomness; its state advances.
    outside : int
        Number of dimensions that x leaves out.

    Returns
    -------
    Nodes
        Features of the nodes.
    """
    n, r = x.shape
    d = r + outside
    a = generator.standard_normal(count)
    z, squares = np.empty((count, n)), a * a
    if outside > 0:
        squares += generator.chisquare(outside, count) / d
    # By pieces: all v of all nodes would take 320 MB at d = 10^4.
    step = max(1, CHUNK // r)
    for begin in range(0, count, step):
        part = slice(begin, min(begin + step, count))
        v = generator.standard_normal((part.stop - begin, r)) / np.sqrt(d)
        z[part] = v @ x.T
        squares[part] += (v * v).sum(axis=1)
    kept = (squares < CUTOFF**2)[:, None]
    active = (z > 0.0) & kept
    return Nodes(np.where(active, z, 0.0) * y, np.where(active, a[:, None], 0.0) * y, x @ x.T)


@final
@dataclass(frozen=True, slots=True, eq=False)
class NodeBracket:
    """Bracket of the margin for some nodes, after some rounds, and the q of `upper`."""

    lower: float
    upper: float
    rounds: int
    q: Array


def bracket(nodes: Nodes, watch: Watch, enough: float = ENOUGH) -> NodeBracket:
    """Return the bracket of the margin for given nodes.

    Parameters
    ----------
    nodes : Nodes
        Features.
    watch : Watch
        Cancellation; the search stops when the watch is late.
    enough : float
        Relative gap at which to stop.

    Returns
    -------
    NodeBracket
        Bracket after at most ROUNDS rounds.

    Examples
    --------
    One point x = 1 and a node (a, v) = (1, 1) have g = (1, 1), so the margin is sqrt(2):

    >>> one = np.ones((1, 1))
    >>> best = bracket(Nodes(one, one, one), Watch())
    >>> round(best.lower, 9), round(best.upper, 9)
    (1.414213562, 1.414213562)
    """
    n = nodes.gram.shape[0]
    q = best = np.full(n, 1.0 / n)
    lower, upper, turn = -np.inf, np.inf, 0
    while turn < ROUNDS:
        turn += 1
        watch.look()
        lengths = nodes.lengths(q)
        mean = float(lengths.mean())
        K = nodes.form(lengths)
        lower = max(lower, float((K @ q).min()))
        if mean < upper:
            upper, best = mean, q
        if upper <= 0.0 or upper - lower <= enough * upper or watch.late:
            break
        floor = np.maximum(lengths, 1e-6 * mean)  # keeps the form finite where a node hits a kink
        # The minimum of a quadratic form over the simplex is the nearest point of a hull.
        q = nearest(coordinates(nodes.form(floor))).q
    return NodeBracket(lower, upper, turn, best)


def of_law(x: Array, y: Array, q: Array, watch: Watch, seed: int = SEED + 1) -> Bracket:
    """Return the bracket of the law's margin for weights q, from nodes independent of q.

    |g_i| <= 2 |x_i|, so that |sum_i q_i g_i| is in [0, 2 X] and <theta, g_i> in [-2 X, 2 X],
    X = max |x_i|.

    Parameters
    ----------
    x : array (n, d)
        Examples.
    y : array (n,)
        Labels +-1.
    q : array (n,)
        Weights in the simplex, fixed before the draw.
    watch : Watch
        Cancellation; a late watch ends the draw with fewer nodes.
    seed : int
        Seed of the nodes; not the seed of those that q was found on.

    Returns
    -------
    Bracket
        Uncertified bracket that holds with probability 1 - FAILURE over the draw.
    """
    n, d = x.shape
    count = int(np.clip(WORK / (n * (min(n, d) + OVERHEAD)), FEWEST, MOST))
    rows = x if d <= n else coordinates(x @ x.T)  # only their products matter
    # Drawn after q was fixed: on its own nodes q would look better than it is.
    generator = np.random.default_rng(seed)
    sums, squares = np.zeros(n + 1), np.zeros(n + 1)
    step = max(1, CHUNK // n)
    for begin in range(0, count, step):
        watch.look()
        if watch.late and begin >= FEWEST:
            count = begin
            break
        some = drawn(rows, y, min(step, count - begin), generator, max(d - n, 0))
        lengths, aligned = some.along(q, rows)
        sums += np.r_[lengths.sum(), aligned.sum(axis=0)]
        squares += np.r_[lengths @ lengths, np.einsum("ji,ji->i", aligned, aligned)]
    means = sums / count
    # From sums, which cancel where all nodes agree: not below 0.
    variances = np.maximum(squares - count * means**2, 0.0) / (count - 1)
    size = float(np.linalg.norm(x, axis=1).max())
    # n + 1 means at once, with one side each; the 2 is the inequality's own.
    logarithm = np.log(2.0 * (n + 1) / FAILURE)
    ranges = np.r_[2.0, np.full(n, 4.0)] * size
    deviations = np.sqrt(2.0 * variances * logarithm / count) + 7.0 * ranges * logarithm / (
        3.0 * (count - 1)
    )
    upper, lower = float(means[0] + deviations[0]), float((means - deviations)[1:].min())
    method = (
        f"{count} nodes drawn at random: holds but for a chance of "
        f"10^{round(np.log10(FAILURE))} over the draw"
    )
    if not lower > 0.0:
        return unresolved(upper, size, False, f"by {method}")
    return Bracket(lower, upper, min(max(float(means[0]), lower), upper), False, method)


@final
class TangentMargin(SampleMargin):
    """gamma_ntk of the law of the nodes."""

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
    version = 4
    most_examples = MOST_EXAMPLES
    too_many = "gamma_ntk is computed for up to {most} examples; here n = {n}."
    where = (
        "networks without biases that have both layers (standard, scalar, normalised), two classes"
    )

    def key(self, problem: Problem) -> str:
        return data_key(problem, NODES, SEED, WORK)

    def of_sample(self, problem: Problem, watch: Watch) -> Bracket:
        data = problem.dataset
        why = why_not(data.x, data.y)
        if why:
            return nothing(f"gamma_ntk is 0: {why}")
        sample = bracket(sampled(data.x, data.y), watch)
        law = of_law(data.x, data.y, sample.q, watch)
        words = (
            f"{law.method}; weights of the examples by reweighted least squares on {NODES} other "
            f"nodes, {sample.rounds} rounds"
        )
        return replace(law, method=words if law.exists else law.method)
