"""gamma_ntk: the margin of the network's tangent at its initial law (telgarsky22, Assumption 1.3).

The expectation over nodes is a mean over N of them, drawn here from a generator of their own. With
g_ij = y_i (relu(<v_j, x_i>), a_j 1[<v_j, x_i> > 0] x_i), zero where |w_j| >= 2, minimax says

    max over |theta_j| <= 1 of min_i mean_j <theta_j, g_ij>
        = min over q in the simplex of mean_j |sum_i q_i g_ij|.

Iteratively reweighted least squares: with n_j = |sum_i q_i g_ij| the right side is q' K q with
K = mean_j g_j g_j'/n_j; the next q minimises that form. theta_j = sum_i q_i g_ij/n_j gives min_i
(K q)_i on the left side, so that every round has a certified bracket.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from core.data.dataset import Array
from core.problem import Problem
from core.reference.hull import coordinates, nearest
from core.reference.margin import Bracket, Reference, absent
from core.reference.sample import binary, data_key, refusal
from core.reference.watch import Watch

NODES = 4000
SEED = 13  # of the nodes
CUTOFF = 2.0
MOST_EXAMPLES = 1500
ENOUGH, ROUNDS = 1e-4, 60
CHUNK = 2**22  # values of a piece of V


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
        """n_j = |sum_i q_i g_ij|, (N,)."""
        weighted = self.inner * q
        squares = (self.outer @ q) ** 2 + ((weighted @ self.gram) * weighted).sum(axis=1)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def form(self, lengths: Array) -> Array:
        """K = mean_j g_j g_j'/n_j, (n, n); nodes of length 0 have theta = 0."""
        positive = lengths > 0.0
        scale = np.zeros_like(lengths)
        scale[positive] = 1.0 / (lengths[positive] * lengths.size)
        outer = self.outer.T @ (scale[:, None] * self.outer)
        inner = self.inner.T @ (scale[:, None] * self.inner)
        return np.asarray(outer + inner * self.gram)


def sampled(x: Array, y: Array, count: int = NODES, seed: int = SEED) -> Nodes:
    """`count` nodes a ~ N(0, 1), v ~ N(0, I/d); those with |(a, v)| >= 2 are zero."""
    generator = np.random.default_rng(seed)
    n, d = x.shape
    a = generator.standard_normal(count)
    z, squares = np.empty((count, n)), a * a
    step = max(1, CHUNK // d)
    for begin in range(0, count, step):
        part = slice(begin, min(begin + step, count))
        v = generator.standard_normal((part.stop - begin, d)) / np.sqrt(d)
        z[part] = v @ x.T
        squares[part] += (v * v).sum(axis=1)
    kept = (squares < CUTOFF**2)[:, None]
    active = (z > 0.0) & kept
    return Nodes(np.where(active, z, 0.0) * y, np.where(active, a[:, None], 0.0) * y, x @ x.T)


def bracket(nodes: Nodes, watch: Watch, enough: float = ENOUGH) -> tuple[float, float, int]:
    """(lower, upper, rounds) of the margin for these nodes.

    One point x = 1 and a node (a, v) = (1, 1) have g = (1, 1), so the margin is sqrt(2):

    >>> one = np.ones((1, 1))
    >>> lower, upper, _ = bracket(Nodes(one, one, one), Watch())
    >>> round(lower, 9), round(upper, 9)
    (1.414213562, 1.414213562)
    """
    n = nodes.gram.shape[0]
    q = np.full(n, 1.0 / n)
    lower, upper, turn = -np.inf, np.inf, 0
    while turn < ROUNDS:
        turn += 1
        watch.look()
        lengths = nodes.lengths(q)
        mean = float(lengths.mean())
        K = nodes.form(lengths)
        lower, upper = max(lower, float((K @ q).min())), min(upper, mean)
        if upper <= 0.0 or upper - lower <= enough * upper or watch.late:
            break
        floor = np.maximum(lengths, 1e-6 * mean)  # keeps the form finite where a node hits a kink
        q = nearest(coordinates(nodes.form(floor))).q
    return lower, upper, turn


@final
class TangentMargin(Reference):
    """gamma_ntk for N sampled nodes."""

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
    where = (
        "networks without biases that have both layers (standard, scalar, normalised), two classes"
    )

    def applies(self, problem: Problem) -> bool:
        kinds = ("standard", "scalar", "normalised")
        return binary(problem) and problem.network.kind in kinds

    def key(self, problem: Problem) -> str:
        return data_key(problem, NODES, SEED)

    def compute(self, problem: Problem, watch: Watch) -> Bracket:
        data = problem.dataset
        sentence = refusal(problem)
        if not sentence and data.n > MOST_EXAMPLES:
            sentence = (
                f"gamma_ntk is computed for up to {MOST_EXAMPLES} examples; here n = {data.n}."
            )
        if sentence:
            return absent(sentence)
        watch.look()
        try:
            lower, upper, rounds = bracket(sampled(data.x, data.y), watch)
        except ArithmeticError as error:
            return absent(str(error))
        if lower <= 0.0 or upper <= 1e-12 * float(np.abs(data.x).max(initial=0.0)):
            return absent(
                f"No positive tangent margin was found for {NODES} sampled nodes (it is at most "
                f"{max(upper, 0.0):.2g})."
            )
        method = (
            f"for N = {NODES} sampled nodes (sampling adds 1-2 %): dual and primal by reweighted "
            f"least squares, {rounds} rounds; relative gap {(upper - lower) / upper:.1e}"
        )
        lower = min(lower, upper)
        return Bracket(lower, upper, 0.5 * (lower + upper), True, method)
