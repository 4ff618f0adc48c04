"""k-sparse parity on the corners of the hypercube (telgarsky22, Figure 1 has k = 2)."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from pydantic import model_validator

from core.data.dataset import EXACT_TEST_DIMENSION, Array, Dataset, Directions, Law, TestSet
from core.data.section import D_MEANING, MAX_D, MAX_N, N_MEANING, DataSection
from core.errors import RuleError
from core.settings import MAX_SEED, SEED_MEANING, setting


@final
class ParityData(DataSection, Law):
    """x on {+-1/sqrt(d)}^d and y = d^(k/2) x_1 ... x_k.

    With s = sqrt(d) x the laws on the corners are: `uniform`; `biased`, P(s_i = 1) = bias for
    each i alone; `markov`, s_1 uniform and P(s_i = s_(i-1)) = bias; `decoy`, uniform but for
    P(s_(k+1) = y) = bias (homogeneity, Example 4.1: any law on the corners). With `freeze`
    s_d = 1: then the points no longer come in pairs x, -x, and odd k has a positive margin.

    >>> data = ParityData(d=3, n=5, k=2).sample(np.random.default_rng(0))
    >>> bool(np.allclose(data.y, 3 * data.x[:, 0] * data.x[:, 1]))
    True
    """

    title: ClassVar[str] = "k-sparse parity on {+-1/sqrt(d)}^d: y = d^(k/2) x_1...x_k"
    source: ClassVar[str] = (
        "telgarsky22, section 1.3 and Figure 1; support-only: homogeneity, Example 4.1"
    )

    kind: Literal["parity"] = "parity"
    d: int = setting(20, meaning=D_MEANING, ge=1, le=MAX_D)
    n: int = setting(64, meaning=N_MEANING, ge=1, le=MAX_N)
    k: int = setting(2, meaning="number of coordinates whose parity is the label", ge=1)
    law: Literal["uniform", "biased", "markov", "decoy"] = setting(
        "uniform",
        advanced=True,
        meaning="law on the corners; uniform: all alike; biased: each coordinate is positive with "
        "probability bias; markov: each equals the one before with probability bias; decoy: "
        "coordinate k + 1 has the label's sign with probability bias",
        source="homogeneity, Example 4.1 (any law on the corners)",
    )
    bias: float = setting(
        0.75,
        meaning="the probability that the law names; the uniform law has none",
        advanced=True,
        gt=0,
        lt=1,
    )
    freeze: bool = setting(
        False,
        advanced=True,
        meaning="true: the last coordinate is held at +1/sqrt(d), which lets a network without "
        "biases learn odd k >= 3",
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _k_fits_d(self) -> ParityData:
        if self.k > self.d:
            raise RuleError(
                f"k = {self.k} is larger than d = {self.d}; k may be 1 to d", keys=("k", "d")
            )
        needed, why = self.k + self.freeze, "a frozen coordinate" if self.freeze else ""
        if self.law == "decoy":
            needed, why = needed + 1, f"a decoy and {why}" if why else "a decoy"
        if needed > self.d:
            raise RuleError(
                f"k = {self.k} with {why} needs d >= {needed}, and d = {self.d}; raise d",
                keys=("k", "d"),
            )
        return self

    def labels(self, corners: Array) -> Array:
        """The parity of the first k signs, for corners in {-1, +1}^d."""
        return np.asarray(np.prod(corners[:, : self.k], axis=1), dtype=np.float64)

    def _corners(self, generator: Generator, n: int) -> Array:
        if self.law == "biased":
            corners = self._agreeing(generator, (n, self.d))
        elif self.law == "markov":
            corners = self._agreeing(generator, (n, self.d))
            corners[:, 0] = generator.choice([-1.0, 1.0], n)
            # Column i says whether s_i agrees with the one before, so the product of them is s_i.
            corners = np.asarray(np.cumprod(corners, axis=1))
        else:
            # Figures of single seeds hold with these very draws alone (docs/theory.md, 7.1).
            corners = generator.choice([-1, 1], (n, self.d)).astype(np.float64)
        if self.law == "decoy":
            corners[:, self.k] = self.labels(corners) * self._agreeing(generator, (n,))
        if self.freeze:
            corners[:, -1] = 1.0
        return corners

    def _agreeing(self, generator: Generator, shape: tuple[int, ...]) -> Array:
        """+1 with probability `bias`, else -1."""
        return np.where(generator.random(shape) < self.bias, 1.0, -1.0)

    def draw(self, generator: Generator, count: int, known: Directions) -> tuple[Array, Array]:
        corners = self._corners(generator, count)
        return corners / np.sqrt(self.d), self.labels(corners)

    def test_set(self, generator: Generator, training: Dataset) -> TestSet:
        # Only under the uniform law are all corners equally likely, as an exact test set has them.
        if self.d > EXACT_TEST_DIMENSION or self.law != "uniform":
            return super().test_set(generator, training)
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
