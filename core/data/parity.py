"""k-sparse parity on the corners of the hypercube (telgarsky22, Figure 1 has k = 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from core.data.dataset import (
    EXACT_TEST_DIMENSION,
    Array,
    Dataset,
    Distribution,
    TestSet,
    points_at,
)

CornerLaw = Literal["uniform", "biased", "markov", "decoy"]


@final
@dataclass(frozen=True, slots=True)
class Parity(Distribution):
    """x on {+-1/sqrt(d)}^d and y = d^(k/2) x_1 ... x_k.

    With s = sqrt(d) x the laws on the corners are: `uniform`; `biased`, P(s_i = 1) = bias for
    each i alone; `markov`, s_1 uniform and P(s_i = s_(i-1)) = bias; `decoy`, uniform but for
    P(s_(k+1) = y) = bias (homogeneity, Example 4.1: any law on the corners). With `freeze`
    s_d = 1: then the points no longer come in pairs x, -x, and odd k has a positive margin.

    >>> data = Parity(d=3, n=5, k=2).sample(np.random.default_rng(0))
    >>> bool(np.allclose(data.y, 3 * data.x[:, 0] * data.x[:, 1]))
    True
    """

    d: int
    n: int
    k: int
    law: CornerLaw = "uniform"
    bias: float = 0.75
    freeze: bool = False

    def labels(self, corners: Array) -> Array:
        """The parity of the first k signs, for corners in {-1, +1}^d."""
        return np.asarray(np.prod(corners[:, : self.k], axis=1), dtype=np.float64)

    def _corners(self, generator: np.random.Generator, n: int) -> Array:
        if self.law == "biased":
            corners = self._agreeing(generator, (n, self.d))
        elif self.law == "markov":
            corners = self._agreeing(generator, (n, self.d))
            corners[:, 0] = generator.choice([-1.0, 1.0], n)
            corners = np.asarray(np.cumprod(corners, axis=1))
        else:
            corners = generator.choice([-1, 1], (n, self.d)).astype(np.float64)
        if self.law == "decoy":
            corners[:, self.k] = self.labels(corners) * self._agreeing(generator, (n,))
        if self.freeze:
            corners[:, -1] = 1.0
        return corners

    def _agreeing(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """+1 with probability `bias`, else -1."""
        return np.where(generator.random(shape) < self.bias, 1.0, -1.0)

    def _draw(self, generator: np.random.Generator, n: int) -> tuple[Array, Array]:
        corners = self._corners(generator, n)
        return corners / np.sqrt(self.d), self.labels(corners)

    def sample(self, generator: np.random.Generator) -> Dataset:
        x, y = self._draw(generator, self.n)
        return Dataset(x, y)

    def fresh(
        self, generator: np.random.Generator, count: int, training: Dataset
    ) -> tuple[Array, Array]:
        return self._draw(generator, count)

    def test_set(self, generator: np.random.Generator, training: Dataset) -> TestSet:
        if self.d > EXACT_TEST_DIMENSION or self.law != "uniform":
            x, y = self._draw(generator, points_at(self.d))
            return TestSet(x, y, exact=False)
        corners = all_corners(self.d)
        if self.freeze:
            corners = corners[corners[:, -1] > 0]
        return TestSet(corners / np.sqrt(self.d), self.labels(corners), exact=True)


def all_corners(d: int) -> Array:
    """The 2^d points of {-1, +1}^d, (2^d, d).

    >>> all_corners(2).tolist()
    [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]
    """
    bits = (np.arange(2**d)[:, None] >> np.arange(d)) & 1
    return np.asarray(1.0 - 2.0 * bits)
