"""gamma_glinf: largest margin of two-layer ReLU networks over m max |W|_inf^2, of any width m.

It is the margin of measures of mass 1 on the cube |v|_inf <= 1. Where the pieces on which a neuron
is linear have few vertices in the cube (core.reference.vertices) it is one linear program.
Elsewhere the lower end is a network whose neurons a local search has found, and the upper end the
smaller of

- gamma_gl of the points D^-1/2 x_i, D diagonal of trace 1, since v'Dv <= 1 in the cube, and
- the largest price in the cube of some weights q of the points, by a tree search.
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.corners import find_corner_parity
from core.reference.cube_price import close_bracket
from core.reference.cube_search import CubeGeneration
from core.reference.ellipsoids import find_saddle, square_roots
from core.reference.global_margin import global_margin
from core.reference.hull import explain_no_margin, pair_bound, rounding_bound
from core.reference.margin import (
    NO_NETWORK,
    Bracket,
    exact_bracket,
    unresolved_bracket,
    zero_bracket,
)
from core.reference.norms import NormMargin
from core.reference.vertices import MOST_VERTICES, count_systems, cube_vertices, find_best_network

Array = NDArray[np.float64]
MOST_EXAMPLES, MOST_DIMENSIONS = 500, 100
SADDLE_SHARE, SEARCH_SHARE, PROOF_SHARE = 0.15, 0.2, 0.3  # of the time limit
OFF = 1e-9  # relative error of 1/sqrt(D_jj)


def _make_bracket(lower: float, upper: float, near: float, size: float, method: str) -> Bracket:
    """Return the certified bracket; an unresolved one if no network has a positive margin."""
    upper = min(upper, near)
    if not lower > 0.0:
        return unresolved_bracket(upper, size, True, NO_NETWORK)
    bracket = Bracket(lower, max(lower, upper), lower, True, method)
    return replace(bracket, method=f"{method}; gap {bracket.gap:.1e}")


def bracket_by_vertices(x: Array, y: Array, near: float, watch: CancelToken) -> Bracket:
    """Return the bracket by one linear program over all vertices in the cube, for few of them.

    Parameters
    ----------
    x : array (n, d)
        Points, without columns of zeros.
    y : array (n,)
        Labels +-1.
    near : float
        Proved upper bound, which the bracket's upper end never exceeds.
    watch : CancelToken
        Cancellation token.

    Returns
    -------
    Bracket
        Certified; unresolved if no network with a positive margin was found.
    """
    size = float(np.abs(x).sum(axis=1).max())
    vertices = cube_vertices(x, watch)
    best = find_best_network(vertices.V, x, y, watch)
    error = rounding_bound(sum(x.shape) + best.weights.size, size)
    upper = best.upper + vertices.error * float(np.linalg.norm(x, axis=1).max()) + error
    method = f"linear program over {len(vertices.V)} vertices"
    return _make_bracket(best.lower - error, upper, near, size, method)


def bracket_by_search(x: Array, y: Array, near: float, watch: CancelToken) -> Bracket:
    """Return the bracket by a network, an ellipsoid around the cube, and a tree search.

    Parameters
    ----------
    x : array (n, d)
        Points, without columns of zeros.
    y : array (n,)
        Labels +-1.
    near : float
        Proved upper bound, which the bracket's upper end never exceeds.
    watch : CancelToken
        Cancellation, and the time limit.

    Returns
    -------
    Bracket
        Certified; unresolved if no network with a positive margin was found.
    """
    size = float(np.abs(x).sum(axis=1).max())
    rows = x / size
    saddle = find_saddle(rows, y, watch.with_timeout(SADDLE_SHARE * watch.limit), diagonal=True)
    generation = CubeGeneration(rows, y, saddle)
    search = generation.run(watch.with_timeout(SEARCH_SHARE * watch.limit))
    root, inverse = square_roots(saddle.Lam)
    part = watch.with_timeout(PROOF_SHARE * watch.limit)
    bracket = global_margin(rows @ inverse, y, part, columns=saddle.V @ root).bracket
    upper = bracket.upper * (1.0 + OFF) if bracket.certified else np.inf
    method = "a network, and gamma_gl of transformed points"
    if search.lower > 0.0:
        D, least = np.diag(saddle.Lam).copy(), min(upper, near / size)
        search, proved = close_bracket(rows, y, D, generation, least, watch)
        if proved < least:
            upper, method = proved, "a network, and a tree search over the cube"
    error = rounding_bound(sum(x.shape) + search.n_neurons, size)
    return _make_bracket(size * search.lower - error, size * upper + error, near, size, method)


def maximum_bracket(x: Array, y: Array, watch: CancelToken) -> Bracket:
    """Return the bracket of gamma_glinf.

    Parameters
    ----------
    x : array (n, d)
        Inputs.
    y : array (n,)
        Labels +-1.
    watch : CancelToken
        Cancellation, and the time limit.

    Returns
    -------
    Bracket
        Certified, in units of |x|. Zero if no predictor separates the data, unresolved if no
        network with a positive margin was found.

    Examples
    --------
    >>> x, y = np.array([[1.0], [-2.0]]), np.array([1.0, -1.0])
    >>> round(maximum_bracket(x, y, CancelToken()).value, 9)  # masses 2/3, 1/3
    0.666666667
    """
    sentence = explain_no_margin(x, y)
    if sentence:
        return zero_bracket(f"gamma_glinf is 0: {sentence}")
    parity = find_corner_parity(x, y)
    if parity is not None:
        return exact_bracket(parity.margin, f"closed form of {parity.k} bits on all corners")
    x = x[:, x.any(axis=0)]
    n, d = x.shape
    near = np.sqrt(d) * pair_bound(x, y)  # |v| <= sqrt(d) in the cube
    few = count_systems(n, d) <= MOST_VERTICES
    return (bracket_by_vertices if few else bracket_by_search)(x, y, near, watch)


@final
class GlobalMaximumMargin(NormMargin):
    """gamma_glinf of the training data, a property of the data alone."""

    name = "gamma_glinf"
    title = "global margin in the maximum norm"
    formula = (
        "gamma_glinf = max over |v_j|_inf = 1, sum_j |a_j| <= 1 and all widths of min_i y_i sum_j "
        "a_j relu(<v_j, x_i>): bounds margin_linf, the margin over m max |W|_inf^2, which sign "
        "descent raises"
    )
    source = "our derivation (docs/theory.md, 5.7)"
    label = "gamma_glinf"
    where = "data of two classes, standard, scalar and normalised networks"
    norm = "sign"
    plain_relu = True
    most_examples = MOST_EXAMPLES

    def of_sample(self, problem: Problem, watch: CancelToken) -> Bracket:
        return maximum_bracket(problem.dataset.x, problem.dataset.y, watch)
