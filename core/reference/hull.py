"""Hard margins in linear spaces: hull point nearest to the origin, and data without a margin."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

# ---------------------------------------------------------- data on the edge of having no margin
#
# For predictors f(x) = sum_j w_j s_j relu(<v_j, x>), |v_j| = 1, sum |w_j| <= 1, and their limits
# (gamma_gl, gamma_ntk and the tangent kernel's margin). Such an f is positively
# homogeneous and 1-Lipschitz, f(0) = 0, and its odd part (f(x) - f(-x))/2 is linear, since
# relu(z) - relu(-z) = z.

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
ALIKE = 12  # decimals: directions that agree to them are compared exactly
BLOCK = 2**21  # pairs per block
CLOSEST = 200  # pairs whose distance is computed without cancellation


def rounding_bound(terms: int, size: float) -> float:
    """Return the error bound of a sum of products of `terms` terms, at most `size` in all.

    (terms + 8) eps size: n eps is the usual bound of a dot product, and 8 covers the operations
    before and after it.
    """
    return (terms + 8) * EPS * size


def explain_no_margin(x: Array, y: Array) -> str:
    """Return a proof, as a sentence, that no network without biases has a positive margin.

    "" if none is found.

    Compared exactly: a point at 0, two points on one ray with opposite labels, or antipodes of
    opposite labels whose sum of y_i x_i is 0.
    """
    lengths = np.linalg.norm(x, axis=1)
    if not lengths.all():
        index = int(np.argmin(lengths))
        return (
            f"point {index} is x = 0, where every network without biases is 0. Remove it, or use a "
            "network with biases."
        )
    # In rational numbers: "no margin" requires a proof, and near-duplicates do have a margin.
    for i, k in _opposed_pairs(x / lengths[:, None], y):
        if are_on_one_ray(x[i], x[k]):
            return (
                f"points {i} and {k} are equal up to a positive factor and have opposite labels, "
                "which no network without biases separates."
            )
    if _has_zero_odd_sum(x, y):
        return (
            "no network without biases separates these data: examples come with their antipodes "
            "and opposite labels, where a network acts as a linear function, and sum_i y_i x_i = 0 "
            "over them."
        )
    return ""


def _opposed_pairs(unit: Array, y: Array) -> Iterator[tuple[int, int]]:
    """Yield pairs of opposite labels, y_i = 1, whose directions agree to ALIKE decimals."""
    rays = np.round(unit, ALIKE) + 0.0  # + 0.0 turns -0.0 into 0.0
    _, ray, count = np.unique(rays, axis=0, return_inverse=True, return_counts=True)
    ray = ray.ravel()
    for group in np.flatnonzero(count > 1):
        members = np.flatnonzero(ray == group)
        for i in members[y[members] > 0.0]:
            for k in members[y[members] < 0.0]:
                yield int(i), int(k)


def are_on_one_ray(a: Array, b: Array) -> bool:
    """Return True if b = s a for some s > 0, exactly, for nonzero vectors.

    >>> a = np.array([0.1, 0.3])
    >>> others = (2.0 * a, -a, a + np.array([0.0, 1e-16]))
    >>> tuple(are_on_one_ray(a, one) for one in others)
    (True, False, False)
    """
    pivot = int(np.abs(a).argmax())
    if a[pivot] * b[pivot] <= 0.0:
        return False
    left, right = a[pivot] * b, a * b[pivot]
    # In floating point first: rational numbers are slow, and most pairs clearly are not on one ray.
    is_near = np.abs(left - right) <= 4.0 * EPS * np.maximum(np.abs(left), np.abs(right))
    if not is_near.all():
        return False
    p, q = Fraction(float(a[pivot])), Fraction(float(b[pivot]))
    return all(p * Fraction(float(t)) == q * Fraction(float(s)) for s, t in zip(a, b, strict=True))


def _has_zero_odd_sum(x: Array, y: Array) -> bool:
    """Return True if points with an antipode of the opposite label have sum_i y_i x_i = 0, exactly.

    With f odd on them up to its even part, sum_i y_i f(x_i) = 2 sum over pairs of a linear function
    of y_i x_i, and so 0: no f is positive on all.
    """
    places = {row.tobytes(): k for k, row in enumerate(x + 0.0)}
    # 0.0 - x and x + 0.0 have only zeros +0.0, so that equal rows have equal bytes.
    antipodes = {i: places.get((0.0 - x[i]).tobytes(), i) for i in places.values()}
    indices = [i for i, k in antipodes.items() if y[k] == -y[i]]
    if not indices:
        return False
    signed = y[indices, None] * x[indices]
    # fsum rounds once, at the end: it is 0 only if the exact sum is.
    return all(math.fsum(column) == 0.0 for column in signed.T)


def pair_bound(x: Array, y: Array) -> float:
    """Return an upper bound of gamma_gl from the two nearest rays of opposite labels, x (n, d).

    With weights t and 1 - t on x_i and x_k the price is at most |t x_i - (1 - t) x_k|, because relu
    is 1-Lipschitz: half the distance of two near-duplicates. Infinite with one label only.

    >>> round(1e9 * pair_bound(np.array([[1.0, 0.0], [1.0, 1e-9]]), np.array([1.0, -1.0])), 4)
    0.5
    """
    plus, minus = x[y > 0.0], x[y < 0.0]
    if not len(plus) or not len(minus):
        return math.inf
    best = math.inf
    a, b = np.square(plus).sum(axis=1), np.square(minus).sum(axis=1)
    step = max(1, BLOCK // len(minus))
    for first in range(0, len(plus), step):
        part = slice(first, first + step)
        squares = _squared_distances(a[part, None], b, plus[part] @ minus.T)
        few = min(CLOSEST, squares.size) - 1
        # Squared distances from products identify near pairs, but cancel: recompute those of near
        # pairs.
        closest = np.argpartition(squares, few, axis=None)[: few + 1]
        rows, columns = np.unravel_index(closest, squares.shape)
        best = min(best, float(_distances(plus[part][rows], minus[columns]).min()))
    slack = rounding_bound(x.shape[1], math.sqrt(float(max(a.max(), b.max()))))
    return best + slack


def _squared_distances(a: Array, b: Array, inner: Array) -> Array:
    """Return min over t of |t x_i - (1 - t) x_k|^2 from |x_i|^2, |x_k|^2, <x_i, x_k>; cancels."""
    share = np.clip((b + inner) / np.maximum(a + b + 2.0 * inner, 1e-300), 0.0, 1.0)
    return np.asarray(share**2 * a - 2.0 * share * (1.0 - share) * inner + (1.0 - share) ** 2 * b)


def _distances(p: Array, r: Array) -> Array:
    """Return the square root of `_squared_distances` for rows p and r (k, d), to full accuracy."""
    total = p + r
    squares = np.maximum((total * total).sum(axis=1), 1e-300)
    share = np.clip((r * total).sum(axis=1) / squares, 0.0, 1.0)[:, None]
    return np.asarray(np.linalg.norm(share * p - (1.0 - share) * r, axis=1))


# ----------------------------------------------------------------------------- the nearest point
#
# max over |w| = 1 of min_i <G_i, w> = min over q in the simplex of |G' q|, where the left side is
# positive. Lawson and Hanson: u >= 0 closest to e_(d+1) in |[G'; 1'] u - e_(d+1)|, q = u / sum u.

MOST_POINTS = 4000
MOST_EXACT = 40  # rows and columns of an elimination in rational numbers
TURNS = 2
NO_END = "The active-set method did not converge on these data."


@final
@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """Bracket of a hard margin: lower <= margin <= upper, with witnesses.

    w (d,) is a unit vector with lower = min_i <G_i, w>, and |G' q| = upper. Both are good to
    `slack`, the rounding of these sums; `scale` is the length of the longest row. `farkas` is true
    if q is proved to be within rounding of weights with G' q = 0 exactly, so that no w is right on
    every row.
    """

    lower: float
    upper: float
    w: Array
    q: Array
    scale: float
    farkas: bool

    @property
    def slack(self) -> float:
        return rounding_bound(sum(self.w.shape), self.scale)

    @property
    def separable(self) -> bool:
        return self.lower > self.slack


def gram_coordinates(K: Array) -> Array:
    """Return rows G with G G' = K, up to rounding.

    Parameters
    ----------
    K : array (n, n)
        Positive semidefinite matrix.

    Returns
    -------
    array (n, n)
        G, with eigenvalues below 0 taken as 0.
    """
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def separate_from_origin(G: Array) -> Separation:
    """Return the separation of the rows of G (n, d) from the origin.

    Raises ArithmeticError where the active-set method does not end.

    >>> best = separate_from_origin(np.array([[1.0, 0.0], [0.0, 1.0]]))
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
    # Try both: on degenerate data the support differs from the optimum's, and solving on it can be
    # worse.
    bracket = _bracket(rows, q)
    polished = _solve_on_support(rows, q)
    if polished is not None:
        bracket = _tighter_bracket(_tighter_bracket(bracket, _bracket(rows, polished[3])), polished)
    lower, upper, w, q = bracket
    w = w if basis is None else basis @ w
    return Separation(
        lower * scale, upper * scale, w, q, scale, lower <= 0.0 and _has_farkas_weights(rows, q)
    )


def _weights(rows: Array) -> Array:
    """Return q in the simplex with nearly the least |G' q|, by active-set least squares."""
    from scipy.optimize import nnls  # slow to load

    count, d = rows.shape
    try:
        u, _ = nnls(
            np.vstack([rows.T, np.ones(count)]), np.r_[np.zeros(d), 1.0], maxiter=30 * count + 100
        )
    except RuntimeError as error:
        raise ArithmeticError(NO_END) from error
    return np.asarray(u / u.sum())


def _solve_on_support(rows: Array, q: Array) -> tuple[float, float, Array, Array] | None:
    """Return the bracket of q solved again on its support.

    It is that of the point of the support's affine hull nearest to 0. From one row g_0 it is g_0 +
    sum_i z_i (g_i - g_0), least squares in z: differences of rows keep the digits that a Gram
    matrix loses where the margin is small. w is orthogonalised to them a second time, since the
    point is only good to eps, and the margins of its direction to eps/margin.
    """
    support = np.flatnonzero(q > 0.0)
    first, chosen = rows[support[0]], rows[support[1:]] - rows[support[0]]
    if not len(chosen):
        return None
    z = np.linalg.lstsq(chosen.T, -first, rcond=None)[0]
    # One step of refinement: the residual is more accurate than the solution.
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


def _has_farkas_weights(rows: Array, q: Array) -> bool:
    """Return True if weights q' >= 0 with G' q' = 0 exactly exist near q.

    [G'; 1'] has a right inverse of norm 1/s, s its least singular value, if that is not 0; q is off
    by the residual r, so that some q' with |q' - q| <= |r|/s solves it, and q' >= 0 if no weight of
    the support is smaller than that.
    """
    nonzero = rows.any(axis=0)
    support = np.flatnonzero(q > 0.0)
    matrix = np.vstack([rows[support][:, nonzero].T, np.ones(support.size)])
    if matrix.shape[0] > matrix.shape[1]:
        return _is_farkas_exact(rows[support], q[support])
    least = float(np.linalg.svd(matrix, compute_uv=False)[-1])
    least -= rounding_bound(sum(matrix.shape), float(np.linalg.norm(matrix)))
    residual = matrix @ q[support]
    residual[-1] -= 1.0
    error = float(np.linalg.norm(residual)) + rounding_bound(support.size, np.sqrt(matrix.shape[0]))
    is_near = least > 0.0 and error < least * float(q[support].min())
    return is_near or _is_farkas_exact(rows[support], q[support])


def _is_farkas_exact(rows: Array, q: Array) -> bool:
    """Decide `_has_farkas_weights` in rational numbers, for few rows, such as cube corners."""
    nonzero = rows[:, rows.any(axis=0)]
    if max(nonzero.shape) > MOST_EXACT:
        return False
    left = [[Fraction(float(value)) for value in column] for column in nonzero.T]
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
    """Return (min_i <G_i, w>, |G' q|, w, q) with w in the direction of G' q."""
    point = rows.T @ q
    length = float(np.linalg.norm(point))
    if length == 0.0:
        return 0.0, 0.0, np.zeros(rows.shape[1]), q
    w = point / length
    return float((rows @ w).min()), length, w, q


def _tighter_bracket(
    one: tuple[float, float, Array, Array], two: tuple[float, float, Array, Array]
) -> tuple[float, float, Array, Array]:
    """Return the larger lower end with its w and the smaller upper end with its q, in order."""
    lower, w = max(((one[0], one[2]), (two[0], two[2])), key=lambda pair: pair[0])
    upper, q = min(((one[1], one[3]), (two[1], two[3])), key=lambda pair: pair[0])
    return min(lower, upper), upper, w, q
