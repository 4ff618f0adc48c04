"""The largest eigenvalues of a symmetric operator that is known by its products, with a bound.

Lanczos with every vector kept and orthogonalised against all before it, twice: without that,
rounding brings copies of eigenvalues that have been found. The residual of a Ritz vector is
|beta s|, s its last entry, and some eigenvalue lies within that of its Ritz value; steps are taken
until it is below a share of the value. The top is then found as well, but for starts that are
orthogonal to it, which chance does not give.

Vectors may stand for others, v for N v, whose inner products are v' G w with a metric G = N' N;
an operator in those is symmetric where G times it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Of a vector that is left over, against the operator's size: below it nothing is left but rounding.
SPENT, SPENT_IN_METRIC = 1e-13, 1e-6  # lengths from inner products have half the digits


@final
@dataclass(frozen=True, slots=True, eq=False)
class Top:
    """The largest eigenvalues, from the largest on, unit vectors (count, size) to them, bounds on
    the distance of each value to an eigenvalue, and how many products it took."""

    values: Array
    vectors: Array
    bounds: Array
    products: int

    @property
    def largest(self) -> float:
        return float(self.values[0])


def top_eigenvalues(
    product: Callable[[Array], Array],
    size: int,
    count: int = 1,
    tolerance: float = 1e-4,
    start: Array | None = None,
    most: int = 300,
    metric: Callable[[Array], Array] | None = None,
) -> Top:
    """The `count` algebraically largest eigenvalues of v -> product(v), v (size,).

    With a metric, v -> G v, those of v -> product(G v), and vectors are of length 1 in it.

    Ends when each residual is at most `tolerance` times the largest Ritz value in size, when the
    whole space has been searched, or after `most` products: `bounds` say how far it came. `start`
    is where to begin, such as the sum of the vectors of a nearby operator; by default a fixed
    random direction.

    >>> D = np.array([5.0, 3.0, 3.0, -7.0, 0.0])
    >>> top_eigenvalues(lambda v: D * v, 5, count=3, tolerance=1e-10).values.round(9).tolist()
    [5.0, 3.0, 3.0]
    """
    search = _Search((product, metric), size, min(count, size), start, most)
    while not search.ended(tolerance):
        search.step()
    return search.found()


@final
class _Search:
    """The vectors so far, orthonormal, and the tridiagonal matrix of the operator among them.

    Where the space of a start is spent, `ahead` is rounding: what eigenvalues of it are is known,
    but copies of them, and what the start had nothing of, lie outside, where a new start begins a
    block of its own.
    """

    def __init__(
        self,
        operator: tuple[Callable[[Array], Array], Callable[[Array], Array] | None],
        size: int,
        count: int,
        start: Array | None,
        most: int,
    ) -> None:
        self._size, self._count = size, count
        self._product, self._metric = operator
        self._nothing = SPENT if self._metric is None else SPENT_IN_METRIC
        self._generator = np.random.default_rng(0)
        self._basis = np.empty((max(count, min(most, size)), size))
        self._dual = self._basis if self._metric is None else np.empty_like(self._basis)  # G v
        self._diagonal, self._beside = np.zeros((2, len(self._basis)))
        self._next = self._chance() if start is None else np.array(start, dtype=np.float64)
        self._begins = True  # `next` is a start, and not what is left over of a product
        self._steps = self._block = 0
        self._scale, self._ahead, self._finite = 0.0, 1.0, True

    def _chance(self) -> Array:
        return self._generator.standard_normal(self._size)

    def step(self) -> None:
        """One product."""
        k = self._steps
        if self._begins:
            size = self._take(self._next)
            if not self._take(self._outside(self._next)) > self._nothing * size:
                self._take(self._outside(self._chance()))  # a start that is nothing
            self._begins = False
        self._basis[k] = self._next / self._ahead
        if self._metric is not None:
            self._dual[k] = self._next_dual / self._ahead
        image = self._product(self._dual[k])
        self._steps += 1
        self._finite = bool(np.isfinite(image).all())
        if not self._finite:
            return
        along = self._dual[k] @ image
        self._diagonal[k] = along
        self._beside[k] = self._take(self._outside(image))
        before = self._beside[k - 1] if k else 0.0
        self._scale = max(self._scale, math.hypot(before, along, self._ahead))

    def _take(self, v: Array) -> float:
        """Go on from v, whose length is `ahead`."""
        self._next = v
        self._next_dual = v if self._metric is None else self._metric(v)
        self._ahead = math.sqrt(max(float(v @ self._next_dual), 0.0))
        return self._ahead

    def _outside(self, v: Array) -> Array:
        """v less its part in the span so far; twice, for the rounding of the first."""
        basis, dual = self._basis[: self._steps], self._dual[: self._steps]
        for _ in range(2):
            v = v - (dual @ v) @ basis
        return v

    def _spent(self) -> bool:
        return self._ahead <= self._nothing * self._scale

    def _ritz(self, first: int = 0, end: int | None = None) -> tuple[Array, Array]:
        """Values, decreasing, and vectors of a part of the tridiagonal matrix."""
        from scipy.linalg.lapack import dstevd  # slow to load

        end = self._steps if end is None else end
        beside = self._beside[first : max(end - 1, first + 1)]  # LAPACK wants one, if beside none
        values, rows, _ = dstevd(self._diagonal[first:end], beside)
        return values[::-1], rows[:, ::-1]

    def ended(self, tolerance: float) -> bool:
        """Whether the bounds are kept, or there is nowhere to go on. With a metric, which may be
        singular, no second block is begun: copies of eigenvalues are left out."""
        if not self._finite or self._steps == len(self._basis):
            return True
        if self._steps == 0:
            return False
        if self._spent():
            return self._metric is not None or self._nothing_new()
        if self._steps < self._count:
            return False
        values, rows = self._ritz()
        bounds = self._ahead * np.abs(rows[-1, : self._count])
        return bool((bounds <= tolerance * np.abs(values).max()).all())

    def _nothing_new(self) -> bool:
        """A block is complete: begin another, unless this one had nothing among the largest, as
        then no further one has. (Of chance a start has a part in every eigenspace.)"""
        largest = self._ritz(self._block)[0][0]
        if self._block >= self._count:
            known = self._ritz(end=self._block)[0]
            if largest <= known[self._count - 1] + SPENT * self._scale:
                return True
        self._beside[self._steps - 1] = 0.0
        self._block = self._steps
        self._next, self._begins = self._chance(), True
        return False

    def found(self) -> Top:
        """The largest so far."""
        count = self._count
        if not self._finite:
            nothing = np.full(count, np.nan)
            return Top(nothing, np.full((count, self._size), np.nan), nothing, self._steps)
        values, rows = self._ritz()
        bounds = self._ahead * np.abs(rows[-1, :count])
        vectors = rows[:, :count].T @ self._basis[: self._steps]
        return Top(values[:count].copy(), vectors, bounds, self._steps)
