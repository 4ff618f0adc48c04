"""The point of a convex hull nearest to the origin: every linear hard-margin problem is that one.

max over |w| = 1 of min_i <G_i, w> = min over q in the simplex of |G' q|, where the left side is
positive. Lawson and Hanson: u >= 0 closest to e_(d+1) in |[G'; 1'] u - e_(d+1)|, q = u / sum u.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from core.data.dataset import Array
from core.reference.degenerate import rounding

MOST_POINTS = 4000
MOST_EXACT = 40  # rows and columns of an elimination in rational numbers
TURNS = 2
NO_END = "The active-set method did not come to an end on these data."


@final
@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """lower <= margin <= upper; w (d,) unit with lower = min_i <G_i, w>; q with |G' q| = upper.

    Both are good to `slack`, the rounding of these sums. `farkas` says that q is proved to be
    within rounding of weights with G' q = 0 exactly, so that no w is right on every row.
    """

    lower: float
    upper: float
    w: Array
    q: Array
    scale: float
    farkas: bool

    @property
    def slack(self) -> float:
        return rounding(sum(self.w.shape), self.scale)

    @property
    def separable(self) -> bool:
        return self.lower > self.slack


def coordinates(K: Array) -> Array:
    """Rows G with G G' = K for a positive semidefinite K (n, n), up to rounding."""
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def nearest(G: Array) -> Separation:
    """The separation of the rows of G (n, d).

    Raises ArithmeticError where the active-set method does not end.

    >>> best = nearest(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> round(best.lower, 12), round(best.upper, 12), best.q.round(12).tolist()
    (0.707106781187, 0.707106781187, [0.5, 0.5])
    """
    count, d = G.shape
    scale = float(np.sqrt((G * G).sum(axis=1).max()))
    if scale == 0.0:
        return Separation(0.0, 0.0, np.zeros(d), np.full(count, 1.0 / count), 0.0, True)
    rows = G / scale
    basis = None
    if d > count:  # only the span of the rows matters
        basis, R = np.linalg.qr(rows.T)
        rows = R.T
    q = _weights(rows)
    # Both: on degenerate data the support is not the optimum's, and solving on it anew can be
    # worse.
    bracket = _bracket(rows, q)
    polished = _polished(rows, q)
    if polished is not None:
        bracket = _better(_better(bracket, _bracket(rows, polished[3])), polished)
    lower, upper, w, q = bracket
    w = w if basis is None else basis @ w
    return Separation(lower * scale, upper * scale, w, q, scale, lower <= 0.0 and _farkas(rows, q))


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


def _polished(rows: Array, q: Array) -> tuple[float, float, Array, Array] | None:
    """The bracket of q solved anew on its support: the point of its affine hull nearest to 0.

    From one row g_0 it is g_0 + sum_i z_i (g_i - g_0), least squares in z: differences of rows keep
    the digits that a Gram matrix loses where the margin is small. w is made orthogonal to them once
    more, for the point is only good to eps, and the margins of its direction to eps/margin.
    """
    support = np.flatnonzero(q > 0.0)
    first, chosen = rows[support[0]], rows[support[1:]] - rows[support[0]]
    if not len(chosen):
        return None
    z = np.linalg.lstsq(chosen.T, -first, rcond=None)[0]
    # One step of refinement: the residual of the first solution is known better than the solution.
    z += np.linalg.lstsq(chosen.T, -(first + z @ chosen), rcond=None)[0]
    solution = np.r_[1.0 - z.sum(), z]
    if not np.isfinite(solution).all() or (solution < 0.0).any():
        return None
    better = np.zeros_like(q)
    better[support] = solution / solution.sum()
    w = better @ rows
    length = float(np.linalg.norm(w))
    for _ in range(TURNS if length > 0.0 else 0):
        w = w / np.linalg.norm(w)
        w -= np.linalg.lstsq(chosen, chosen @ w, rcond=None)[0]
        if not w.any():
            return None
    w = w / max(float(np.linalg.norm(w)), 1e-300)
    return float((rows @ w).min()), length, w, better


def _farkas(rows: Array, q: Array) -> bool:
    """Whether weights q' >= 0 with G' q' = 0 exactly exist near q.

    [G'; 1'] has a right inverse of norm 1/s, s its least singular value, where that is not 0; q is
    off by the residual r, so that some q' with |q' - q| <= |r|/s solves it, and q' >= 0 where no
    weight of the support is smaller than that.
    """
    kept = rows.any(axis=0)
    support = np.flatnonzero(q > 0.0)
    matrix = np.vstack([rows[support][:, kept].T, np.ones(support.size)])
    if matrix.shape[0] > matrix.shape[1]:
        return _exactly(rows[support], q[support])
    least = float(np.linalg.svd(matrix, compute_uv=False)[-1])
    least -= rounding(sum(matrix.shape), float(np.linalg.norm(matrix)))
    residual = matrix @ q[support]
    residual[-1] -= 1.0
    error = float(np.linalg.norm(residual)) + rounding(support.size, np.sqrt(matrix.shape[0]))
    near = least > 0.0 and error < least * float(q[support].min())
    return near or _exactly(rows[support], q[support])


def _exactly(rows: Array, q: Array) -> bool:
    """The same in rational numbers, for few rows: degenerate data, such as corners of a cube."""
    kept = rows[:, rows.any(axis=0)]
    if max(kept.shape) > MOST_EXACT:
        return False
    left = [[Fraction(float(value)) for value in column] for column in kept.T]
    pivots: list[int] = []
    for place in range(len(rows)):  # reduced echelon form of G'
        top = len(pivots)
        pivot = next((k for k in range(top, len(left)) if left[k][place]), None)
        if pivot is None:
            continue
        left[top], left[pivot] = left[pivot], left[top]
        head = left[top] = [value / left[top][place] for value in left[top]]
        for k, row in enumerate(left):
            if k != top and row[place]:
                factor = row[place]
                left[k] = [a - factor * b for a, b in zip(row, head, strict=True)]
        pivots.append(place)
    free = [k for k in range(len(rows)) if k not in pivots]
    weights = [Fraction(float(q[k])) for k in free]
    bound = [
        -sum((left[k][f] * u for f, u in zip(free, weights, strict=True)), Fraction(0))
        for k in range(len(pivots))
    ]
    return bool(free) and min(bound, default=Fraction(0)) >= 0


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
