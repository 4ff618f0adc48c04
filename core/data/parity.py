"""k-sparse parity on the corners of the hypercube (telgarsky22, Figure 1 has k = 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from core.data.dataset import (
    EXACT_TEST_DIMENSION,
    TEST_POINTS,
    Array,
    Dataset,
    Distribution,
    TestSet,
)


@final
@dataclass(frozen=True, slots=True)
class Parity(Distribution):
    """x uniform on {+-1/sqrt(d)}^d and y = d^(k/2) x_1 ... x_k.

    >>> data = Parity(d=3, n=5, k=2).sample(np.random.default_rng(0))
    >>> bool(np.allclose(data.y, 3 * data.x[:, 0] * data.x[:, 1]))
    True
    """

    d: int
    n: int
    k: int

    def labels(self, corners: Array) -> Array:
        """The parity of the first k signs, for corners in {-1, +1}^d."""
        return np.asarray(np.prod(corners[:, : self.k], axis=1), dtype=np.float64)

    def _draw(self, generator: np.random.Generator, n: int) -> tuple[Array, Array]:
        corners: Array = generator.choice([-1, 1], (n, self.d)).astype(np.float64)
        return corners / np.sqrt(self.d), self.labels(corners)

    def sample(self, generator: np.random.Generator) -> Dataset:
        x, y = self._draw(generator, self.n)
        return Dataset(x, y)

    def test_set(self, generator: np.random.Generator, training: Dataset) -> TestSet:
        if self.d > EXACT_TEST_DIMENSION:
            x, y = self._draw(generator, TEST_POINTS)
            return TestSet(x, y, exact=False)
        bits = (np.arange(2**self.d)[:, None] >> np.arange(self.d)) & 1
        corners: Array = np.asarray(1.0 - 2.0 * bits)
        return TestSet(corners / np.sqrt(self.d), self.labels(corners), exact=True)
