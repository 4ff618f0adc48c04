"""Vertices of the cube |v|_inf <= 1 cut by the hyperplanes <v, x_i> = 0, and programs over them.

sum_i c_i relu(<v, x_i>) is linear on each piece, so that it is largest, and least, at a vertex.
With k coordinates at -1 or 1, a vertex is where d - k of the hyperplanes meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, product
from math import comb
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.reference.cancel_token import CancelToken
from core.reference.hull import EPS
from core.reference.master import Master

Array = NDArray[np.float64]
MOST_VERTICES = 1_000_000  # number of systems solved: 64 points in four dimensions have 384,000
CHUNK = 2**14  # systems per batch
VALUES = 2**20  # values <v, x_i> per batch
DEPENDENT = 1e-8  # least singular value, for unit rows, of a system that is solved
ADDED = 40  # columns per round
SMOOTHING = 0.85  # weight of the best q so far in the second priced q
CLOSE = 1e-9
MOST_ROUNDS = 300


def count_systems(n: int, d: int) -> int:
    """Return how many systems of equations the vertices are among.

    >>> count_systems(8, 3), count_systems(64, 4)
    (272, 383760)
    """
    return sum(comb(d, k) * 2**k * comb(n, d - k) for k in range(1, d + 1))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Vertices:
    """Points V (K, d) of the cube, the vertices among them; with v comes -v.

    Systems whose hyperplanes are parallel to rounding are left out, and others are solved with some
    rounding: sum_i c_i relu(<v, x_i>) may be larger elsewhere, by `error` sum_i |c_i x_i| at most.
    """

    V: Array
    error: float


def _systems(x: Array, free: tuple[int, ...], watch: CancelToken) -> Iterator[NDArray[np.intp]]:
    """Yield all choices of len(free) points, (count, r), in chunks."""
    choices = combinations(range(len(x)), len(free))
    while chunk := list(islice(choices, CHUNK)):
        watch.check()
        yield np.array(chunk, dtype=np.intp).reshape(len(chunk), len(free))


def cube_vertices(x: Array, watch: CancelToken) -> Vertices:
    """Return the vertices of the cube cut by the hyperplanes of points.

    Parameters
    ----------
    x : array (n, d)
        Points other than 0.
    watch : CancelToken
        Cancellation token.

    Returns
    -------
    Vertices

    Examples
    --------
    >>> found = cube_vertices(np.array([[1.0, 1.0], [1.0, -1.0]]), CancelToken())
    >>> len(np.unique(found.V, axis=0))
    4
    """
    d = x.shape[1]
    unit = np.unique(x / np.linalg.norm(x, axis=1)[:, None], axis=0)
    vertices, solved, left_out = [], 1.0, 0.0
    for k in range(1, d + 1):
        # One of each pair v, -v: its first coordinate at -1 or 1 is at 1.
        signs = np.array(list(product((1.0, -1.0), repeat=k)))[: 2 ** (k - 1)]
        for fixed in combinations(range(d), k):
            free = tuple(j for j in range(d) if j not in fixed)
            for chosen in _systems(unit, free, watch):
                rows = unit[chosen]
                A, B = rows[..., free], rows[..., fixed]
                least = np.linalg.svd(A, compute_uv=False)[:, -1] if free else np.ones(1)
                good = least > DEPENDENT
                left_out = max(left_out, float(least[~good].max(initial=0.0)))
                if not good.any():
                    continue
                solved = min(solved, float(least[good].min()))
                inner = -np.linalg.solve(A[good], B[good] @ signs.T)  # (count, r, signs)
                slack = 1e-12 + 64.0 * d * EPS / least[good]
                is_inside = np.abs(inner).max(axis=1, initial=0.0) <= 1.0 + slack[:, None]
                points, sign = np.nonzero(is_inside)
                V = np.empty((points.size, d))
                V[:, free], V[:, fixed] = inner[points, :, sign], signs[sign]
                vertices.append(np.clip(V, -1.0, 1.0))
    half = np.vstack(vertices)
    # A vertex whose systems are all skipped is at most d moves away from a solved one, each of at
    # most 2 sqrt(d) along its hyperplanes.
    error = 2.0 * d**2.5 * (left_out + 16.0 * d * EPS / solved)
    return Vertices(np.vstack([half, -half]), error)


def compute_prices(V: Array, x: Array, c: Array, watch: CancelToken) -> Array:
    """Return the prices of points of the cube.

    Parameters
    ----------
    V : array (K, d)
        Points v.
    x : array (n, d)
        Points x_i.
    c : array (n,)
        Signed weights.
    watch : CancelToken
        Cancellation token.

    Returns
    -------
    array (K,)
        sum_i c_i relu(<v, x_i>) of each row.
    """
    prices, step = np.empty(len(V)), max(1, VALUES // len(x))
    for first in range(0, len(V), step):
        watch.check()
        part = slice(first, first + step)
        prices[part] = np.maximum(V[part] @ x.T, 0.0) @ c
    return prices


@final
@dataclass(frozen=True, slots=True, eq=False)
class BestNetwork:
    """Network sum_j weights_j alpha_j relu(<V_j, x>) over some v, and weights q of the points.

    Its margin is at least `lower`, and the price of q over these v is `upper`.
    """

    alpha: Array
    V: Array
    weights: Array
    q: Array
    lower: float
    upper: float


def find_best_network(V: Array, x: Array, y: Array, watch: CancelToken) -> BestNetwork:
    """Return the network of largest margin, to 1e-9, whose inner weights are rows of V.

    Column generation over alpha_k = +-1 and the rows. It stops with the current bounds once the
    watch has timed out.

    Parameters
    ----------
    V : array (K, d)
        Inner weights to choose from; weights of the network's neurons sum to 1.
    x : array (n, d)
        Points.
    y : array (n,)
        Labels +-1.
    watch : CancelToken
        Cancellation token.

    Returns
    -------
    BestNetwork
    """
    n = len(x)
    master, unit = Master(n), float(np.abs(x).sum(axis=1).max())
    columns_, signs = np.zeros(0, dtype=np.intp), np.zeros(0)
    columns = np.zeros((0, n))
    q = best = np.full(n, 1.0 / n)
    weights, lower, upper = np.zeros(0), -np.inf, np.inf
    for _ in range(MOST_ROUNDS):
        for trial in (q, SMOOTHING * best + (1.0 - SMOOTHING) * q):
            h = compute_prices(V, x, trial * y, watch)
            size = np.abs(h)
            highest = float(size.max())
            if highest < upper:
                upper, best = highest, trial
            new = np.argpartition(-size, min(ADDED, size.size) - 1)[:ADDED]
            new = new[size[new] > max(lower, 0.0)]
            columns_, signs = np.r_[columns_, new], np.r_[signs, np.sign(h[new])]
            added = np.sign(h[new])[:, None] * y * np.maximum(V[new] @ x.T, 0.0)
            columns = np.vstack([columns, added])
            master.add(added / unit)
        if upper - lower <= CLOSE * upper or not len(columns_) or watch.timed_out:
            break
        solution = master.solve()
        q = solution.q
        margin = float((solution.weights @ columns).min())
        if margin > lower:
            lower, weights = margin, solution.weights
    support = np.flatnonzero(weights > 0.0)
    return BestNetwork(signs[support], V[columns_[support]], weights[support], best, lower, upper)
