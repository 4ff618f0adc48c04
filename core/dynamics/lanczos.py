"""The largest eigenvalues of a symmetric operator that is known by its products, with a bound.

Lanczos with every vector kept and orthogonalised against all before it, twice: without that,
rounding brings copies of eigenvalues that have been found. The residual of a Ritz vector is
|beta s|, s its last entry, and some eigenvalue lies within that of its Ritz value; steps are taken
until it is below a share of the value. The top is then found as well, but for starts that are
orthogonal to it, which chance does not give.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

Array = NDArray[np.float64]
# Of a vector that is left over, against the operator's size: below it nothing is left but rounding.
SPENT = 1e-13


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
) -> Top:
    """The `count` algebraically largest eigenvalues of v -> product(v), v (size,).

    Ends when each residual is at most `tolerance` times the largest Ritz value in size, when the
    whole space has been searched, or after `most` products: `bounds` say how far it came. `start`
    is where to begin, such as the sum of the vectors of a nearby operator; by default a fixed
    random direction.

    >>> D = np.array([5.0, 3.0, 3.0, -7.0, 0.0])
    >>> top_eigenvalues(lambda v: D * v, 5, count=3, tolerance=1e-10).values.round(9).tolist()
    [5.0, 3.0, 3.0]
    """
    search = _Search(product, size, min(count, size), start, most)
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
        product: Callable[[Array], Array],
        size: int,
        count: int,
        start: Array | None,
        most: int,
    ) -> None:
        self._product, self._size, self._count = product, size, count
        self._generator = np.random.default_rng(0)
        self._basis = np.empty((max(count, min(most, size)), size))
        self._diagonal, self._beside = np.zeros((2, len(self._basis)))
        self._next = self._chance() if start is None else np.array(start, dtype=np.float64)
        self._begins = True  # `next` is a start, and not what is left over of a product
        self._steps = self._block = 0
        self._scale, self._ahead, self._finite = 0.0, 1.0, True

    def _chance(self) -> Array:
        return self._generator.standard_normal(self._size)

    def step(self) -> None:
        """One product."""
        k, before = self._steps, self._basis[: self._steps]
        v = self._next
        if self._begins:
            size, v = np.linalg.norm(v), _outside(before, v)
            if not np.linalg.norm(v) > SPENT * size:
                v = _outside(before, self._chance())  # a start that is nothing
            self._begins = False
        self._basis[k] = v / np.linalg.norm(v)
        image = self._product(self._basis[k])
        self._steps += 1
        self._finite = bool(np.isfinite(image).all())
        if not self._finite:
            return
        self._diagonal[k] = float(self._basis[k] @ image)
        self._scale = max(self._scale, float(np.linalg.norm(image)))
        self._next = _outside(self._basis[: k + 1], image)
        self._ahead = float(np.linalg.norm(self._next))
        self._beside[k] = self._ahead

    def _spent(self) -> bool:
        return self._ahead <= SPENT * self._scale

    def _ritz(self, first: int = 0) -> tuple[Array, Array]:
        k = self._steps
        values, rows = eigh_tridiagonal(self._diagonal[first:k], self._beside[first : k - 1])
        return values[::-1], rows[:, ::-1]

    def ended(self, tolerance: float) -> bool:
        """Whether the bounds are kept, or there is nowhere to go on."""
        if not self._finite or self._steps == len(self._basis):
            return True
        if self._steps == 0:
            return False
        if self._spent():
            return self._nothing_new()
        if self._steps < self._count:
            return False
        values, rows = self._ritz()
        bounds = self._ahead * np.abs(rows[-1, : self._count])
        return bool((bounds <= tolerance * np.abs(values).max()).all())

    def _nothing_new(self) -> bool:
        """A block is complete: begin another, unless this one had nothing among the largest, as
        then no further one has. (Of chance a start has a part in every eigenspace.)"""
        largest = self._ritz(self._block)[0][0]
        before = self._diagonal[: self._block], self._beside[: max(self._block - 1, 0)]
        if self._block >= self._count:
            known = eigh_tridiagonal(*before, eigvals_only=True)[::-1]
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


def _outside(basis: Array, v: Array) -> Array:
    """v less its part in the span of orthonormal rows; twice, for the rounding of the first."""
    for _ in range(2):
        v = v - (basis @ v) @ basis
    return v
