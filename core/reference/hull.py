"""The point of a convex hull nearest to the origin: every linear hard-margin problem is that one.

max over |w| = 1 of min_i <G_i, w> = min over q in the simplex of |G' q|, where the left side is
positive. Lawson and Hanson: u >= 0 closest to e_(d+1) in |[G'; 1'] u - e_(d+1)|, q = u / sum u.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from core.data.dataset import Array

MOST_POINTS = 4000
TOO_MANY = f"There are more than {MOST_POINTS} examples, too many for this margin's exact method."
ROUNDING = 1e-12  # a margin below this part of the longest row is not told from none
NO_END = "The active-set method did not come to an end on these data."


@final
@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """lower <= margin <= upper; w (d,) unit with lower = min_i <G_i, w>; q with |G' q| = upper.

    Where the hull holds the origin `lower` is not positive, and q shows it: G' q = 0 (Farkas).
    """

    lower: float
    upper: float
    w: Array
    q: Array
    scale: float

    @property
    def separable(self) -> bool:
        return self.lower > ROUNDING * self.scale


def coordinates(K: Array) -> Array:
    """Rows G with G G' = K for a positive semidefinite K (n, n), up to rounding."""
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def nearest(G: Array) -> Separation:
    """The separation of the rows of G (n, d).

    Raises ArithmeticError where the active-set method does not end.

    >>> found = nearest(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> round(found.lower, 12), round(found.upper, 12), found.q.round(12).tolist()
    (0.707106781187, 0.707106781187, [0.5, 0.5])
    """
    count, d = G.shape
    scale = float(np.sqrt((G * G).sum(axis=1).max()))
    if scale == 0.0:
        return Separation(0.0, 0.0, np.zeros(d), np.full(count, 1.0 / count), 0.0)
    rows = G / scale
    basis = None
    if d > count:  # only the span of the rows matters
        basis, R = np.linalg.qr(rows.T)
        rows = R.T
    q = _weights(rows)
    found = _bracket(rows, q)
    for candidate in _polished(rows, q):
        found = _better(found, _bracket(rows, candidate))
    lower, upper, w, q = found
    w = w if basis is None else basis @ w
    return Separation(lower * scale, upper * scale, w, q, scale)


def _weights(rows: Array) -> Array:
    from scipy.optimize import nnls  # slow to load

    count, d = rows.shape
    try:
        u, _ = nnls(
            np.vstack([rows.T, np.ones(count)]), np.r_[np.zeros(d), 1.0], maxiter=30 * count + 100
        )
    except RuntimeError as error:
        raise ArithmeticError(NO_END) from error
    return np.asarray(u / u.sum())


def _polished(rows: Array, q: Array) -> list[Array]:
    """q solved anew on its support, where all constraints are tight: K q = const."""
    support = np.flatnonzero(q > 0.0)
    chosen = rows[support]
    solution = np.linalg.lstsq(chosen @ chosen.T, np.ones(support.size), rcond=None)[0]
    if not np.isfinite(solution).all() or (solution < 0.0).any() or solution.sum() <= 0.0:
        return []
    better = np.zeros_like(q)
    better[support] = solution / solution.sum()
    return [better]


def _bracket(rows: Array, q: Array) -> tuple[float, float, Array, Array]:
    """(min_i <G_i, w>, |G' q|, w, q) with w in the direction of G' q."""
    point = rows.T @ q
    length = float(np.linalg.norm(point))
    if length == 0.0:
        return 0.0, 0.0, np.zeros(rows.shape[1]), q
    w = point / length
    return float((rows @ w).min()), length, w, q


def _better(
    one: tuple[float, float, Array, Array], two: tuple[float, float, Array, Array]
) -> tuple[float, float, Array, Array]:
    """The better end of each side; rounding must not turn them around."""
    lower, w = max(((one[0], one[2]), (two[0], two[2])), key=lambda pair: pair[0])
    upper, q = min(((one[1], one[3]), (two[1], two[3])), key=lambda pair: pair[0])
    return min(lower, upper), upper, w, q
