"""Extremal vectors: directions that neurons of a small start approach before the loss falls.

While f is about 0, dv_j/dt = a_j D(v_j) with D(w) = (1/n) sum_k s_k y_k x_k, where s_k is the slope
of phi at <w, x_k>, al or 1, and any number between them at 0. D is extremal if D is in D(u) and
D = G(u) u for some |u| = 1, G(w) = (1/n) sum_k y_k phi(<w, x_k>): u is a critical point of G on the
sphere (Maennel, Bousquet and Gelly 2018; Boursier and Flammarion, JMLR 2025).

The enumeration is exact. A sign vector s of the <u, x_k>, with zeros B, leaves one candidate: the
projection g of D0 = (1/n) sum_(k not in B) s_k y_k x_k on the null space of X_B; u = +-g/|g|. It is
extremal if the part of D0 in the span of X_B is minus a point of the zonotope
sum_B [al, 1] y_k x_k/n.

On the circle from u towards a unit z orthogonal to it, G(u cos t + z sin t) = G(u) cos t + h(z) sin
t near u, with h(z) = <D0, z> + (1/n) sum_B y_k phi(<z, x_k>). So G rises where h(z) > 0, falls
where h(z) < 0, and follows -G(u) where h(z) = 0, as for every z orthogonal to X_B.

In the span of X_B both the zonotope's facets and h are known from the rays, the lines in which the
hyperplanes <z, x_k> = 0 meet: facets have rays as normals, and h is linear on cones between rays.
So no linear program is solved, which at a boundary of [al, 1] would end with an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.network.activation import LEAKY, RELU
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken

Array = NDArray[np.float64]
Signs = NDArray[np.int8]

MOST_PATTERNS = 4_000_000  # sign vectors that are examined: about a minute
# Inner products below this fraction of |x_k| count as zero: a projection's rounding is about 1e-15
# times a few hundred, and data in general position are far above.
ZERO = 1e-10
SLACK = 1e-8  # tolerance of eta in [al, 1]
ROUNDING = 1e-13  # of sum_k |y_k| |x_k| / n: the error of an inner product with D0
LATE = "The extremal vectors were not all found within the time limit; allow more time."
MAXIMUM, MINIMUM, SADDLE = "maximum", "minimum", "saddle"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Extremal:
    """Extremal vector D = value * u.

    `u` (d,) has length 1 and `value` is G(u), with y as given; `signs` (n,) are those of <u, x_k>.
    `kind` classifies u as a critical point of G on the unit sphere of R^d, in which neurons move: a
    maximum, a minimum or a saddle.
    """

    u: Array
    value: float
    signs: Signs
    kind: str

    @property
    def D(self) -> Array:
        """Extremal vector, (d,)."""
        return self.value * self.u


def has_extremal(problem: Problem) -> bool:
    """Return True if extremal vectors are defined for a problem.

    Its targets are real, f = sum_j a_j phi(<v_j, x~>) with phi a ReLU or leaky ReLU, and both
    layers are trained directly.
    """
    network = problem.network
    if not isinstance(network, TwoLayer) or not problem.dataset.real or network.k > 1:
        return False
    has_both = network.direct and not network.fixed and network.plain_sum and network.degree == 2
    phi = network.activation
    return has_both and phi.code in (RELU, LEAKY) and 0.0 <= phi.slope < 1.0


def growth_rate(u: Array, X: Array, y: Array, slope: float = 0.0) -> Array:
    """Return the growth rate G(u) = (1/n) sum_k y_k phi(<u, x_k>), phi(z) = max(z, slope z).

    Parameters
    ----------
    u : array (..., d)
        Directions.
    X : array (n, d)
        Inputs.
    y : array (n,)
        Targets.
    slope : float
        Slope of phi on the left.

    Returns
    -------
    array (...)
        G at each direction.

    Examples
    --------
    >>> X = np.array([[2.0, 0.0], [-1.0, 0.0]])
    >>> float(growth_rate(np.array([1.0, 0.0]), X, np.ones(2), 0.5))
    0.75
    """
    z = u @ X.T
    return np.asarray(np.maximum(z, slope * z) @ y / len(y))


def extremal_vectors(
    X: Array,
    y: Array,
    slope: float = 0.0,
    every_pattern: bool = False,
    watch: CancelToken | None = None,
) -> tuple[Extremal, ...]:
    """Return all extremal vectors, by increasing value.

    The examined sign vectors are those around the rays of the arrangement of hyperplanes
    <u, x_k> = 0: each cell, and each face of one, has a ray at its boundary.

    Parameters
    ----------
    X : array (n, d)
        Inputs.
    y : array (n,)
        Real targets.
    slope : float
        Slope of phi on the left, in [0, 1).
    every_pattern : bool
        Examine all 3^n sign vectors instead, as another route to the same vectors.
    watch : CancelToken, optional
        Cancellation, and the time limit.

    Returns
    -------
    tuple of Extremal
        Extremal vectors.

    Raises
    ------
    InputError
        More than MOST_PATTERNS sign vectors, `slope` outside [0, 1), or the time limit is over.

    Examples
    --------
    One point x with y > 0: u = x/|x|, G = y |x|.

    >>> (only,) = extremal_vectors(np.array([[3.0, 4.0]]), np.array([2.0]))
    >>> only.u.round(12).tolist(), round(only.value, 12), only.kind
    ([0.6, 0.8], 10.0, 'maximum')
    """
    if not 0.0 <= slope < 1.0:
        raise InputError(f"Extremal vectors need a slope from 0 to below 1, not {slope:g}.")
    # Points without weight in G do not bend it, and a copy of 0 has no sign.
    indices = np.flatnonzero((y != 0.0) & (X != 0.0).any(axis=1))
    if not indices.size:
        return ()
    basis = _row_space(X[indices])
    rows, targets = X[indices] @ basis, y[indices] / len(y)
    watch = watch or CancelToken(np.inf)
    patterns = _all_patterns(len(indices)) if every_pattern else _patterns_at_rays(rows, watch)
    vectors = [
        Extremal(basis @ u, value, _signs(X, basis @ u), kind)
        for u, value, kind in _accept_candidates(rows, targets, slope, patterns, X.shape[1], watch)
    ]
    return tuple(sorted(vectors, key=lambda one: one.value))


def bound_pattern_count(X: Array, y: Array) -> int:
    """Return an upper bound of the number of sign vectors that `extremal_vectors` tries.

    For rows X (n, d) in general position; rows that are 0 or have target y = 0 do not count.

    >>> bound_pattern_count(np.eye(3), np.ones(3))
    54
    """
    is_used = (y != 0.0) & (X != 0.0).any(axis=1)
    if not is_used.any():
        return 0
    rank = _row_space(X[is_used]).shape[1]
    return int(2 * comb(int(is_used.sum()), rank - 1) * 3 ** (rank - 1))


def _row_space(X: Array) -> Array:
    """Return an orthonormal basis (d, rank) of the span of the rows, which contains every D."""
    _, singular, Vt = np.linalg.svd(X, full_matrices=False)
    rank = int((singular > max(X.shape) * np.finfo(float).eps * singular[0]).sum())
    return np.asarray(Vt[:rank].T)


def _too_many(count: int, n: int, d: int) -> InputError:
    return InputError(
        f"The extremal vectors of {n} points in {d} dimensions need a search of {count:.2g} sign "
        f"vectors, more than {MOST_PATTERNS:.0e}; choose fewer points or dimensions."
    )


def _check(watch: CancelToken) -> None:
    """Raise CancelledError if cancelled, and InputError if the time limit is over."""
    watch.check()
    if watch.timed_out:
        raise InputError(LATE)


def _all_patterns(n: int) -> Signs:
    """Return all 3^n vectors of signs -1, 0 and 1. Raises InputError for too many."""
    if 3**n > MOST_PATTERNS:
        raise _too_many(3**n, n, n)
    return np.array([*product((-1, 0, 1), repeat=n)], dtype=np.int8)


def _patterns_at_rays(X: Array, watch: CancelToken) -> Signs:
    """Return the sign vectors of all cells and faces of the arrangement, (count, n)."""
    n, d = X.shape
    if (count := 2 * comb(n, d - 1) * 3 ** (d - 1)) > MOST_PATTERNS:
        raise _too_many(count, n, d)
    patterns: set[bytes] = set()
    visited: set[bytes] = set()
    for ray in _rays(X):
        _check(watch)
        if ray.tobytes() in visited:
            continue
        visited.add(ray.tobytes())
        zeros = np.flatnonzero(ray == 0)
        # In special position more than d - 1 points are on the hyperplanes through a ray.
        if len(patterns) + 3 ** len(zeros) > MOST_PATTERNS:
            raise _too_many(len(patterns) + 3 ** len(zeros), n, d)
        around = np.tile(ray, (3 ** len(zeros), 1))
        around[:, zeros] = _all_patterns(len(zeros))
        patterns.update(map(bytes, around))
    return np.array([np.frombuffer(one, dtype=np.int8) for one in sorted(patterns)])


def _signs(X: Array, u: Array) -> Signs:
    """Return the signs of <u, x_k> for directions u (..., d), (..., n)."""
    products = u @ X.T
    zero = np.abs(products) <= ZERO * np.linalg.norm(X, axis=1)
    return np.where(zero, 0, np.sign(products)).astype(np.int8)


def _lines(X: Array) -> Iterator[Array]:
    """Yield a unit vector along each line in which d - 1 of the hyperplanes meet."""
    n, d = X.shape
    for chosen in combinations(range(n), d - 1):
        _, singular, Vt = np.linalg.svd(X[list(chosen)], full_matrices=True)
        if d > 1 and singular[-1] <= ZERO * singular[0]:
            continue  # linearly dependent points; other sets give the rays here
        yield Vt[-1]


def _rays(X: Array) -> Iterator[Signs]:
    """Yield the signs of <u, x_k>, (n,), for u along each line, both ways; some more than once."""
    for line in _lines(X):
        signs = _signs(X, line)
        yield signs
        yield -signs


def _accept_candidates(
    X: Array, w: Array, slope: float, patterns: Signs, d: int, watch: CancelToken
) -> Iterator[tuple[Array, float, str]]:
    """Yield u, G(u) and the kind for each sign vector whose candidate is extremal.

    `w` are y_k/n, and X the points in coordinates of their span in R^d.
    """
    lengths = np.linalg.norm(X, axis=1)
    zero = patterns == 0
    order = np.lexsort(zero.T)
    starts = np.flatnonzero(np.r_[True, (np.diff(zero[order].astype(np.int8), axis=0) != 0).any(1)])
    for rows in np.split(order, starts[1:]):
        _check(watch)
        B = np.flatnonzero(zero[rows[0]])
        signs = patterns[rows]
        null = _null_space(X[B], X.shape[1])
        if null.shape[1] == 0:
            continue
        weights = np.where(signs > 0, 1.0, slope) * (signs != 0) * w
        D0 = weights @ X
        g = D0 @ null
        sizes = np.linalg.norm(g, axis=1)
        scale = np.abs(weights) @ lengths
        kinks = None
        for sign in (1.0, -1.0):
            u = sign * (g / np.where(sizes > 0.0, sizes, 1.0)[:, None]) @ null.T
            is_same = _signs(X, u) == signs
            for index in np.flatnonzero((sizes > ZERO * scale) & is_same.all(axis=1)):
                kinks = kinks or _Kinks(X[B], w[B], slope, ROUNDING * float(np.abs(w) @ lengths))
                if kinks.cancel(D0[index]):
                    value = sign * float(sizes[index])
                    yield u[index], value, kinks.kind(D0[index], value, d)


def _null_space(part: Array, d: int) -> Array:
    """Return an orthonormal basis (d, r) of the orthogonal complement of some rows."""
    if not len(part):
        return np.eye(d)
    _, singular, Vt = np.linalg.svd(part, full_matrices=True)
    rank = int((singular > ZERO * singular[0]).sum())
    return np.asarray(Vt[rank:].T)


@final
class _Kinks:
    """Points B with <u, x_k> = 0, and the rays of their hyperplanes in their span."""

    def __init__(self, part: Array, w: Array, slope: float, rounding: float) -> None:
        lines = basis = np.empty((0, part.shape[1]))
        if len(part):
            _, singular, Vt = np.linalg.svd(part, full_matrices=False)
            basis = Vt[singular > ZERO * singular[0]]
            lines = np.array([*_lines(_distinct_directions(part @ basis.T))]) @ basis
        self._rank, self._rays = len(basis), np.concatenate([lines, -lines])
        products = self._rays @ part.T
        self._bent = np.maximum(products, slope * products) @ w  # sum_B w_k phi(<z, x_k>)
        ends = w * products
        self._most = np.maximum(ends, slope * ends).sum(axis=1)
        self._noise = SLACK * np.abs(ends).sum(axis=1) + rounding

    def cancel(self, D0: Array) -> bool:
        """Return True if some eta in [slope, 1] has <D0 + sum_B eta_k w_k x_k, z> = 0 for all z."""
        return bool((-(self._rays @ D0) <= self._most + self._noise).all())

    def kind(self, D0: Array, value: float, d: int) -> str:
        """Return MAXIMUM, MINIMUM or SADDLE: u with G(u) = `value` on the unit sphere of R^d.

        D0 (r,) is sum_k w_k phi'(<u, x_k>) x_k over the points that are not in B.
        """
        h = self._rays @ D0 + self._bent
        flat = self._rank < d - 1 or bool((np.abs(h) <= self._noise).any())
        up = bool((h > self._noise).any()) or (flat and value < 0.0)
        down = bool((h < -self._noise).any()) or (flat and value > 0.0)
        if up and down:
            return SADDLE
        # In one dimension no direction is orthogonal to u: only the sign of G counts.
        return MINIMUM if up or (not down and value < 0.0) else MAXIMUM


def _distinct_directions(X: Array) -> Array:
    """Return one row of each set of parallel rows; no row is 0."""
    units = X / np.linalg.norm(X, axis=1)[:, None]
    chosen: list[int] = []
    for index, unit in enumerate(units):
        cosines = units[chosen] @ unit
        rejections = unit - cosines[:, None] * units[chosen]
        if not (np.linalg.norm(rejections, axis=1) <= ZERO).any():
            chosen.append(index)
    return np.asarray(units[chosen])
