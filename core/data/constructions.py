"""Small constructions: D of wei19, intervals, dyadic, three points, near-orthogonal sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from core.data.dataset import (
    EXACT_TEST_DIMENSION,
    Array,
    Dataset,
    Distribution,
    Law,
    TestSet,
)
from core.data.parity import all_corners
from core.errors import InputError


@final
@dataclass(frozen=True, slots=True)
class Wei19(Law):
    """D of wei19 (2.1): y = +1 with x_1 = +-1, x_2 = 0; y = -1 with x_1 = 0, x_2 = +-1.

    The four cases are alike, the other d - 2 coordinates are uniform bits +-1, so |x|^2 = d - 1;
    `scaled` divides by sqrt(d - 1).
    """

    d: int
    n: int
    scaled: bool

    def _point(self, corners: Array) -> tuple[Array, Array]:
        """(x, y) of corners of the cube: s_1 is the label, s_2 the sign of the signal."""
        y, x = corners[:, 0].copy(), corners.copy()
        x[:, 0] = np.where(y > 0, corners[:, 1], 0.0)
        x[:, 1] = np.where(y > 0, 0.0, corners[:, 1])
        return x / np.sqrt(self.d - 1.0) if self.scaled else x, y

    def draw(
        self, generator: np.random.Generator, count: int, known: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        return self._point(generator.choice([-1, 1], (count, self.d)).astype(np.float64))

    def test_set(self, generator: np.random.Generator, training: Dataset) -> TestSet:
        if self.d > EXACT_TEST_DIMENSION:
            return super(Wei19, self).test_set(generator, training)
        x, y = self._point(all_corners(self.d))
        return TestSet(x, y, exact=True)


@final
@dataclass(frozen=True, slots=True)
class Intervals(Law):
    """x uniform on the pieces of [-1, 1] (by length), labelled -1, +1, -1, ... from the left."""

    n: int
    pieces: tuple[tuple[float, float], ...]
    d: int = 1

    def draw(
        self, generator: np.random.Generator, count: int, known: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        low, high = np.array(self.pieces).T
        ends = np.cumsum(high - low)
        way = generator.random(count) * ends[-1]
        piece = np.minimum(np.searchsorted(ends, way, side="right"), ends.size - 1)
        x = high[piece] - (ends[piece] - way)
        return x[:, None], np.where(piece % 2 == 1, 1.0, -1.0)


@final
@dataclass(frozen=True, slots=True)
class Dyadic(Distribution):
    """(2^-j e_j, +1) and (-2^-j e_j, -1), j = 1, ..., d (batchnorm, Definition 1.1).

    >>> Dyadic(2).sample(np.random.default_rng(0)).x.tolist()
    [[0.5, 0.0], [0.0, 0.25], [-0.5, -0.0], [-0.0, -0.25]]
    """

    d: int

    def sample(self, generator: np.random.Generator) -> Dataset:
        half = np.diag(2.0 ** -np.arange(1.0, self.d + 1.0))
        return Dataset(np.vstack([half, -half]), np.repeat([1.0, -1.0], self.d))

    def test_set(self, generator: np.random.Generator, training: Dataset) -> TestSet | None:
        return None


@final
@dataclass(frozen=True, slots=True)
class ThreePoint(Distribution):
    """x = (-1,0,0), (eps, sqrt(1-eps^2), 0), (0,0,1) with y = -1, +1, +1 (frei23, Lemma B.8).

    At slope 1/2 and as many positive as negative outer weights the limit has
    lambda = (8/(4 eps + 5), 8/(4 eps + 5), 8/5), and is not the linear max-margin predictor.
    """

    eps: float

    def sample(self, generator: np.random.Generator) -> Dataset:
        second = [self.eps, np.sqrt(1.0 - self.eps**2), 0.0]
        return Dataset(
            np.array([[-1.0, 0.0, 0.0], second, [0.0, 0.0, 1.0]]), np.array([-1.0, 1.0, 1.0])
        )

    def test_set(self, generator: np.random.Generator, training: Dataset) -> TestSet | None:
        return None


@final
@dataclass(frozen=True, slots=True)
class NearOrthogonal(Distribution):
    """n unit vectors of R^d with a prescribed random Gram matrix (frei23, Theorem 3.2's setting).

    Off-diagonal entries are uniform on [-1, 1] and then scaled, so that the largest is `coherence`;
    X is the Gram matrix's Cholesky factor in a random orthonormal frame of n directions. Labels:
    n - floor(n/2) times +1, the rest -1, in random order. Raises InputError where no vectors have
    that Gram matrix.
    """

    d: int
    n: int
    coherence: float

    def gram(self, generator: np.random.Generator) -> Array:
        """The Gram matrix (n, n), drawn."""
        upper = np.triu(generator.uniform(-1.0, 1.0, (self.n, self.n)), 1)
        off = upper + upper.T
        return np.asarray(np.eye(self.n) + off * (self.coherence / np.abs(off).max()))

    def sample(self, generator: np.random.Generator) -> Dataset:
        try:
            root = np.linalg.cholesky(self.gram(generator))
        except np.linalg.LinAlgError as error:
            raise InputError(
                f"data.coherence = {self.coherence:g}: no n = {self.n} vectors have the Gram "
                "matrix that was drawn, which is not positive definite; lower coherence or n."
            ) from error
        frame, _ = np.linalg.qr(generator.standard_normal((self.d, self.n)))
        y = np.ones(self.n)
        y[generator.permutation(self.n)[: self.n // 2]] = -1.0
        return Dataset(root @ frame.T, y)

    def test_set(self, generator: np.random.Generator, training: Dataset) -> TestSet | None:
        return None
