"""Largest eigenvalues of a symmetric operator known by its products, with an error bound.

Lanczos keeps every vector and orthogonalises each new one twice against all before it: without
that, rounding brings copies of eigenvalues that have been found. The residual of a Ritz vector is
|beta s|, s its last entry, and *some* eigenvalue lies within that of its Ritz value.

A residual does not show which eigenvalue that is. A start without a part in an eigenvector never
finds it, and of equal eigenvalues one start finds one. So Ritz vectors Q with small residuals are
locked, and a second Lanczos process searches what is orthogonal to them, A = P H P with
P = 1 - Q Q', from a Gaussian vector g that is independent of H and Q. Two facts bound what both
can have missed:

1. Let pi_k be the k-th orthonormal polynomial of its tridiagonal matrix, and b = |P g|. Then
   pi_k(A) P g / b is a unit vector, so that |<q, g>| <= b / pi_k(mu) for an eigenvector q of A to
   mu, and pi_k increases above its largest root. As <q, g> is normal with variance 1, an eigenvalue
   above x has a probability of at most (2/pi)^(1/2) b / pi_k(x). The search ends where that is
   `MISS`. (Van Dorsselaer, Hochstenbach and van der Vorst, SIAM J. Matrix Anal. Appl. 22, 2000,
   with a start that is uniform on the sphere. What Kuczynski and Wozniakowski, same journal 13,
   1992, bound before any product is taken asks for hundreds of them at 1e-4.)

2. With E = P H Q, the eigenvalues of H differ from those of Q'HQ and A together by at most |E|
   (Weyl), which the residuals give. Ritz values are never above eigenvalues of the same rank
   (Cauchy).

Where the search finds something larger instead, its vectors are locked too, and another begins.

Vectors may stand for others, v for N v, whose inner products are v' G w with a metric G = N' N;
an operator in those is symmetric where G times it is. A metric has no second search: its caller
has a proof (core.dynamics.example_span).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.dynamics.eigenvalues import Top

Array = NDArray[np.float64]
Product = Callable[[Array], Array]

MISS = 1e-9  # largest probability of an eigenvalue above the bound of one search
ROUNDS = 16  # searches: each but the last locks at least one vector
# Entropy of random starts. Data and weights use small seeds; equal normal numbers would make g
# depend on the operator.
ENTROPY = 0x9E3779B97F4A7C15
# Length of a remaining vector, relative to the operator, below which it is rounding.
SPENT, SPENT_IN_METRIC = 1e-13, 1e-6  # lengths from inner products have half the digits
ROUNDING = 1e-12  # relative to the operator: limit of the requested accuracy
WARM = 10.0  # length of a start relative to its random part
TINY = float(np.finfo(float).tiny)


def top_eigenvalues(
    product: Product,
    size: int,
    count: int = 1,
    tolerance: float = 1e-4,
    start: Array | None = None,
    max_products: int = 300,
    metric: Product | None = None,
) -> Top:
    """Return the `count` algebraically largest eigenvalues of v -> product(v), v (size,).

    Parameters
    ----------
    product : callable
        A symmetric operator. With a metric, v -> G v, the operator is v -> product(G v), and
        vectors have length 1 in the metric.
    size, count : int
        Length of a vector, and number of eigenvalues.
    tolerance : float
        Wanted error of each value, relative to the largest.
    start : ndarray, optional
        First vector; by default a random one. Without a metric a random vector of a tenth of its
        length is added, and the bounds hold whatever the start is.
    max_products : int
        Products of one Lanczos process. Where they do not suffice, `bounds` are larger.
    metric : callable, optional
        v -> G v. Then `bounds` are only on the distance of each value to some eigenvalue, and equal
        eigenvalues are found once.

    Returns
    -------
    Top
        Values within `bounds` of the eigenvalues of the same rank, but for a probability of `MISS`
        a process.

    Examples
    --------
    >>> D = np.array([5.0, 3.0, 3.0, -7.0, 0.0])
    >>> top_eigenvalues(lambda v: D * v, 5, count=3, tolerance=1e-10).values.round(9).tolist()
    [5.0, 3.0, 3.0]
    """
    count = min(count, size)
    generator = np.random.default_rng(ENTROPY)
    process = _Lanczos((product, metric), size, generator, max_products, start=start)
    if metric is not None:
        process.run(count, tolerance)
        return process.top(count)
    if count == 1:
        return process.run_until_largest(tolerance)
    process.run(count, 0.5 * tolerance)
    locked = _LockedVectors(size, count, tolerance)
    locked.lock_vectors(process, 0.5)
    for round_ in range(ROUNDS):
        if locked.is_complete or not locked.finite:
            break
        process = _Lanczos((product, None), size, generator, max_products, locked.vectors)
        if locked.search(process, 0.5 ** (3 + round_)):
            break
    return locked.top()


@final
class _LockedVectors:
    """Locked Ritz pairs: orthonormal `vectors` (l, size), decreasing `values` (l,), and bounds.

    The bounds are on the eigenvalues of A outside the vectors, and on the coupling |E|. `count`
    eigenvalues are wanted; `finite` turns False where a product was not finite.
    """

    def __init__(self, size: int, count: int, tolerance: float) -> None:
        self._count, self._tolerance = count, tolerance
        self.values, self.vectors = np.empty(0), np.empty((0, size))
        self._coupling = 0.0  # bound on |E|
        self._above = math.inf  # bound on the eigenvalues of A
        self._products, self._scale, self.finite = 0, 0.0, True

    @property
    def is_complete(self) -> bool:
        """True if the vectors span the whole space."""
        return len(self.values) == self.vectors.shape[1]

    def goal(self, process: _Lanczos) -> float:
        """Return the absolute error that each value may have, at the scale of both."""
        return max(process.goal(self._tolerance), self._goal())

    def _goal(self) -> float:
        largest = float(self.values[0]) if len(self.values) else 0.0
        return max(self._tolerance * abs(largest), ROUNDING * self._scale, TINY)

    def search(self, process: _Lanczos, share: float) -> bool:
        """Run a process outside the vectors; return True if all others are bounded after it.

        Where a value is above the bound, its vectors are locked once their residuals are `share`
        of the goal. A process that runs out of steps before is the last one: it bounds what was
        outside, and so what is outside the vectors that it adds.
        """
        is_known = len(self.values) >= self._count
        x = float(self.values[self._count - 1]) + 0.25 * self._goal() if is_known else -math.inf
        n_missing = max(1, self._count - len(self.values))
        while not process.is_finished:
            process.step()
            if not is_known or process.exceeds(x):
                near = process.steps >= n_missing and process.finite
                if near and process.residual(n_missing) <= 0.5 * share * self.goal(process):
                    break
            elif process.probability(x) <= MISS:
                break
        if not process.finite or not is_known or process.exceeds(x):
            coupling = self._coupling
            self.lock_vectors(process, share)
            if not process.is_finished or process.is_invariant:
                return not self.finite
            self._coupling = coupling
            self._above = process.upper_bound(process.largest())
            return True
        self._above = x if process.is_invariant else process.upper_bound(x)
        self._products += process.steps
        return True

    def lock_vectors(self, process: _Lanczos, share: float) -> None:
        """Lock the Ritz vectors of a process whose residuals are a share of the goal together."""
        self._products += process.steps
        self.finite &= process.finite
        if not self.finite:
            return
        self._scale = max(self._scale, process.scale)
        values, vectors, residuals = process.ritz()
        goal = self.goal(process)
        together = np.sqrt(np.cumsum(residuals**2))
        few = max(1, self._count - len(self.values))
        number = max(int((together <= share * goal).sum()), min(few, len(values)))
        self._coupling += float(together[number - 1])
        locked_values = np.concatenate([self.values, values[:number]])
        order = np.argsort(-locked_values, kind="stable")
        self.values = locked_values[order]
        self.vectors = np.concatenate([self.vectors, vectors(number)])[order]

    def top(self) -> Top:
        """Return the `count` largest locked pairs with their bounds; NaN if not finite."""
        count, size = self._count, self.vectors.shape[1]
        if not self.finite:
            return Top.unknown(count, size, self._products)
        values = self.values[:count].copy()
        slack = np.zeros(count) if self.is_complete else np.maximum(self._above - values, 0.0)
        return Top(values, self.vectors[:count].copy(), slack + self._coupling, self._products)


@final
class _Lanczos:
    """One Lanczos process: orthonormal vectors, and the operator's tridiagonal matrix in them.

    All vectors are orthogonal to the rows of `locked`. The first has the direction of g, or of a
    start plus g: for a fixed vector w the probability of |<q, w + g>| <= t is not above that of
    |<q, g>| <= t.
    """

    def __init__(
        self,
        operator: tuple[Product, Product | None],
        size: int,
        generator: np.random.Generator,
        max_products: int,
        locked: Array | None = None,
        start: Array | None = None,
    ) -> None:
        self._product, self._metric = operator
        self._nothing = SPENT if self._metric is None else SPENT_IN_METRIC
        self._locked = np.empty((0, size)) if locked is None else locked
        self._whole = size - len(self._locked)  # largest number of steps until nothing remains
        room = min(max_products, self._whole)
        self._basis = np.empty((room, size))
        self._dual = self._basis if self._metric is None else np.empty_like(self._basis)  # G v
        self._diagonal, self._beside = np.zeros((2, room))
        self.steps, self.scale, self.finite = 0, 0.0, True
        self._polynomial: list[float] = []  # pi_j(x), at the last requested x
        self._at = math.nan
        first = generator.standard_normal(size)
        length = 0.0 if start is None else float(np.linalg.norm(start))
        if start is not None and 0.0 < length < math.inf:
            share = WARM * math.sqrt(size) / length
            first = start if self._metric is not None else share * start + first
        if (
            not self._set_vector(self._orthogonalise(first)) > 0.0
        ):  # the start has length 0 in the metric
            self._set_vector(self._orthogonalise(generator.standard_normal(size)))
        self._length = self._ahead  # b

    def run(self, count: int, tolerance: float) -> None:
        """Step until the `count` largest have residuals within tolerance, or no step is left."""
        while not self.is_finished:
            self.step()
            if self.steps >= count and self.residual(count) <= self.goal(tolerance):
                break

    def run_until_largest(self, tolerance: float) -> Top:
        """Step until an eigenvalue above the bound has a probability of at most `MISS`.

        Returns the largest Ritz value with its bound: about `goal(tolerance)`, relative to the
        value, but larger if the steps ran out, and NaN if a product was not finite.
        """
        x = -math.inf
        while not self.is_finished:
            self.step()
            if x > -math.inf and not self.exceeds(x) and self.probability(x) <= MISS:
                break
            if (x == -math.inf or self.exceeds(x)) and self.residual(1) <= self.goal(tolerance):
                x = self.largest() + 0.75 * self.goal(tolerance)
        top = self.top(1)
        if self.finite:
            x = top.largest if self.is_invariant else self.upper_bound(max(x, top.largest))
            top.bounds[0] = max(x - top.largest, ROUNDING * self.scale)
        return top

    def goal(self, tolerance: float) -> float:
        """Return the absolute error for a relative tolerance; at least that of rounding."""
        return max(tolerance * abs(self.largest()), ROUNDING * self.scale, TINY)

    def _set_vector(self, v: Array) -> float:
        """Set v as the next vector and return its length."""
        self._next = v
        self._next_dual = v if self._metric is None else self._metric(v)
        self._ahead = math.sqrt(max(float(v @ self._next_dual), 0.0))
        return self._ahead

    def _orthogonalise(self, v: Array) -> Array:
        """Return v without its part in all vectors so far, subtracted twice because of rounding."""
        basis, dual, locked = self._basis[: self.steps], self._dual[: self.steps], self._locked
        for _ in range(2):
            if len(locked):
                v = v - (locked @ v) @ locked
            v = v - (dual @ v) @ basis
        return v

    def step(self) -> None:
        """Take one product and add one vector; clear `finite` if the product is not finite."""
        k = self.steps
        self._basis[k] = self._next / self._ahead
        if self._metric is not None:
            self._dual[k] = self._next_dual / self._ahead
        image = self._product(self._dual[k])
        self.steps += 1
        self.finite = bool(np.isfinite(image).all())
        if not self.finite:
            return
        diagonal = self._dual[k] @ image
        self._diagonal[k] = diagonal
        self._beside[k] = self._set_vector(self._orthogonalise(image))
        before = self._beside[k - 1] if k else 0.0
        self.scale = max(self.scale, math.hypot(before, diagonal, self._ahead))

    @property
    def is_invariant(self) -> bool:
        """True if the space of the start is invariant: the remainder is rounding."""
        is_full = self._metric is None and self.steps == self._whole
        return is_full or (self.steps > 0 and self._ahead <= self._nothing * self.scale)

    @property
    def is_finished(self) -> bool:
        """True if no further step can be taken."""
        return not self.finite or self.steps == len(self._basis) or self.is_invariant

    def _tridiagonal(self) -> tuple[Array, Array]:
        """Return Ritz values, decreasing, and their eigenvectors of the tridiagonal matrix.

        The eigenvectors are the columns of a square array.
        """
        from scipy.linalg.lapack import dstevd  # slow to load

        off_diagonal = self._beside[
            : max(self.steps - 1, 1)
        ]  # LAPACK requires one even if none is used
        values, rows, _ = dstevd(self._diagonal[: self.steps], off_diagonal)
        return values[::-1], rows[:, ::-1]

    def residual(self, count: int) -> float:
        """Return the Euclidean norm of the residuals of the `count` largest Ritz values."""
        return self._ahead * float(np.linalg.norm(self._tridiagonal()[1][-1, :count]))

    def ritz(self) -> tuple[Array, Callable[[int], Array], Array]:
        """Return decreasing Ritz values, a function for their vectors, and residuals.

        The function returns the vectors of the first `number` values, (number, size).
        """
        values, rows = self._tridiagonal()
        basis = self._basis[: self.steps]
        return values, lambda number: rows[:, :number].T @ basis, self._ahead * np.abs(rows[-1])

    def largest(self) -> float:
        """Return the largest Ritz value of the steps so far, at least one."""
        return float(self._tridiagonal()[0][0])

    def top(self, count: int) -> Top:
        """Return the `count` largest Ritz values, with residuals as bounds; NaN if not finite."""
        if not self.finite:
            return Top.unknown(count, self._basis.shape[1], self.steps)
        values, vectors, residuals = self.ritz()
        return Top(values[:count].copy(), vectors(count), residuals[:count], self.steps)

    def _evaluate(self, x: float) -> list[float]:
        """Return pi_0(x), ..., pi_k(x), k the number of steps; cached for the last x."""
        if x != self._at:
            self._at, self._polynomial = x, [1.0]
        polynomial = self._polynomial
        for j in range(len(polynomial) - 1, self.steps):
            before = self._beside[j - 1] * polynomial[j - 1] if j else 0.0
            off_diagonal = max(self._beside[j], TINY)
            polynomial.append(
                float(((x - self._diagonal[j]) * polynomial[j] - before) / off_diagonal)
            )
        return polynomial

    def exceeds(self, x: float) -> bool:
        """Return True if a Ritz value is above x: then some pi_j(x) is not positive (Sturm)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return not min(self._evaluate(x)) > 0.0

    def probability(self, x: float) -> float:
        """Return a bound on the probability of an eigenvalue above x, x above the Ritz values."""
        with np.errstate(over="ignore", invalid="ignore"):
            last = self._evaluate(x)[-1]
            return math.sqrt(2.0 / math.pi) * self._length / last if last > 0.0 else 1.0

    def upper_bound(self, x: float) -> float:
        """Return the least number tried from x on with a probability of at most `MISS`, or inf."""
        shares: list[float] = [0.0, *np.geomspace(1e-6, 4.0, 45).tolist()]
        far = (x + share * self.scale for share in shares)
        return next((one for one in far if self.probability(one) <= MISS), math.inf)
