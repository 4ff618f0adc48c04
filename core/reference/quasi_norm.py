"""Largest margins of diagonal and deep linear networks over |W|^L.

By the inequality of the means |W|^2 >= L sum_i |beta_i|^(2/L) for beta = u_1 * ... * u_L, with
equality for equal |u_l|; for u^2 - w^2 |W|^2 >= |beta|_1; and for W_L ... W_1
|W|^2 >= L |beta|^(2/L) (docs/theory.md, 5.8). So these margins are linear ones over |beta|_p, with
p = 2/L, 1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from math import comb
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.network.deep_linear import DeepLinear
from core.network.diagonal import DiagonalLinear
from core.network.linear import Linear
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.hull import MOST_POINTS, separate_from_origin
from core.reference.linear import bracket_of
from core.reference.linear_norms import HYPERPLANE, bracket_linear_margin
from core.reference.margin import (
    Bracket,
    SampleMargin,
    absent_bracket,
    data_key,
    has_binary_labels,
    signed_inputs,
)

Array = NDArray[np.float64]
MOST_BASES = 2_000_000
BLOCK = 20_000  # systems in one call
# Of rows of length 1: the condition is at most 2/|det|. Below the first number a system is taken
# for singular, below the second its solution is not trusted.
SINGULAR, DOUBTFUL = 1e-14, 1e-9
# Solutions that satisfy <G_i, b> >= 1 - SLACK count for the upper end, which grows by as much.
SLACK = 1e-6


def bracket_quasi_norm_margin(G: Array, p: float, watch: CancelToken) -> Bracket:
    """Return the bracket of max over |b|_p <= 1 of min_i <G_i, b>, 0 < p < 1.

    The largest margin is 1/|b|_p for the least |b|_p with <G_i, b> >= 1 for all i. On an orthant
    |b|_p^p is concave, so the least value is at a vertex: d of the n + d equations <G_i, b> = 1 and
    b_j = 0 hold there, and all C(n + d, d) systems are solved. The lower end is the margin of the b
    that is found.

    Parameters
    ----------
    G : array (n, d)
        Rows y_i x_i.
    p : float
        Exponent.
    watch : CancelToken
        Cancellation token.

    Returns
    -------
    Bracket
        Certified, except where a system is nearly singular.

    Examples
    --------
    >>> bracket = bracket_quasi_norm_margin(np.diag([0.5, 0.25]), 0.5, CancelToken())
    >>> round(float(bracket.value * (np.sqrt(2.0) + np.sqrt(4.0)) ** 2), 9)
    1.0
    """
    n, d = G.shape
    count = comb(n + d, d)
    if count > MOST_BASES:
        return absent_bracket(
            f"This margin's exact method solves one system for each of {count:.2g} choices of "
            f"{d} equations; it solves at most {MOST_BASES:.0e}. Use fewer examples or coordinates."
        )
    convex = bracket_linear_margin(G, 1.0, watch)  # |b|_p >= |b|_1
    if not convex.exists:
        return convex
    unit = float(np.abs(G).max())
    rows, best, highest, doubtful = G / unit, 0.0, 0.0, 0
    for places, b, unsure in _iterate_vertices(rows, watch):
        doubtful += unsure
        margins = (b @ rows[:, places].T).min(axis=1)
        norms = (np.abs(b) ** p).sum(axis=1) ** (1.0 / p)
        best = max(best, float((margins / norms).max(initial=0.0)))
        inside = margins >= 1.0 - SLACK
        highest = max(highest, float((1.0 / norms[inside]).max(initial=0.0)))
    lower = best * unit * (1.0 - 1e-12)
    upper = max(min(highest * unit * (1.0 + 1e-9), convex.upper), lower)
    method = f"all {count} vertices; gap {upper - lower:.1e}"
    if doubtful:
        method += f"; {doubtful} nearly singular ones are not decided"
    return Bracket(lower, upper, lower, doubtful == 0, method)


def _iterate_vertices(rows: Array, watch: CancelToken) -> Iterator[tuple[Array, Array, int]]:
    """Yield the vertices b, <row, b> = 1 for s rows and 0 beside s coordinates, by blocks.

    Each block has the coordinates (s,), the solutions b (N, s) of its regular systems there, and
    the number of doubtful systems, which are not solved. Those counted as singular are left out.
    """
    n, d = rows.shape
    for size in range(1, min(n, d) + 1):
        for chosen in combinations(range(d), size):
            places, sets = np.array(chosen), combinations(range(n), size)
            while block := list(islice(sets, BLOCK)):
                watch.check()
                A = rows[np.array(block)][:, :, places]
                lengths = np.linalg.norm(A, axis=2)
                lengths[lengths == 0.0] = 1.0
                sizes = np.abs(np.linalg.det(A / lengths[:, :, None]))
                regular = sizes > DOUBTFUL
                unsure = int(((sizes > SINGULAR) & ~regular).sum())
                right = np.ones((int(regular.sum()), size, 1))
                yield places, np.linalg.solve(A[regular], right)[:, :, 0], unsure


@final
class DiagonalMargin(SampleMargin):
    """Largest margin of diagonal linear networks over |W|^L."""

    name = "gamma_diagonal"
    title = "largest margin of diagonal linear networks"
    formula = (
        "max over W of min_i p_i/|W|^L = L^(-L/2) max over |b|_(2/L) = 1 of min_i y_i <b, x_i>; "
        "for u^2 - w^2 the same over |b|_1 = 1, not divided"
    )
    source = "our derivation (docs/theory.md, 5.8)"
    label = "gamma_diagonal"
    factor = 1.0
    most_examples = MOST_POINTS
    where = 'network.kind = "diagonal_linear", data of two classes'

    def applies(self, problem: Problem) -> bool:
        return has_binary_labels(problem) and isinstance(problem.network, DiagonalLinear)

    def key(self, problem: Problem) -> str:
        network = problem.network
        assert isinstance(network, DiagonalLinear)
        return data_key(problem, network.degree, network.squares)

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        network = problem.network
        assert isinstance(network, DiagonalLinear)
        G, depth = np.unique(signed_inputs(problem), axis=0), network.degree
        if depth > 2:
            margin, divisor = (
                bracket_quasi_norm_margin(G, 2.0 / depth, watch),
                depth ** (depth / 2.0),
            )
        else:
            margin, divisor = bracket_linear_margin(G, 1.0, watch), 1.0 if network.squares else 2.0
        return divide_bracket(margin, divisor)


@final
class DeepLinearMargin(SampleMargin):
    """Largest margin of fully connected linear networks over |W|^L."""

    name = "gamma_deep"
    title = "largest margin of deep linear networks"
    formula = "max over W of min_i p_i/|W|^L = gamma_linear / L^(L/2), at any width"
    source = "our derivation (docs/theory.md, 5.8)"
    label = "gamma_deep"
    factor = 1.0
    most_examples = MOST_POINTS
    where = 'network.kind = "linear", or "deep_linear" with rows = 1, data of two classes'

    def applies(self, problem: Problem) -> bool:
        network = problem.network
        if isinstance(network, DeepLinear) and network.rows > 1:
            return False
        return has_binary_labels(problem) and isinstance(network, Linear | DeepLinear)

    def key(self, problem: Problem) -> str:
        return data_key(problem, problem.network.degree)

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        depth = problem.network.degree
        G = np.unique(signed_inputs(problem), axis=0)
        return bracket_of(separate_from_origin(G), HYPERPLANE, depth ** (depth / 2.0))


def divide_bracket(bracket: Bracket, divisor: float) -> Bracket:
    """Return a bracket with all its numbers divided."""
    numbers = (bracket.lower, bracket.upper, bracket.value)
    lower, upper, value = (number / divisor for number in numbers)
    return Bracket(lower, upper, value, bracket.certified, bracket.method)
