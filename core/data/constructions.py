"""Small constructions: D of wei19, intervals, dyadic, three points, near-orthogonal sets."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from pydantic import model_validator

from core.data.dataset import (
    EXACT_TEST_DIMENSION,
    Array,
    Dataset,
    Directions,
    Distribution,
    Law,
    TestSet,
)
from core.data.parity import all_corners
from core.data.section import D_MEANING, MAX_D, MAX_N, N_MEANING, DataSection, set_sizes
from core.errors import InputError, RuleError
from core.settings import MAX_SEED, SEED_MEANING, setting


@final
class Wei19Data(DataSection, Law):
    """Distribution D of wei19 (2.1), with the label in two coordinates.

    y = +1 with x_1 = +-1, x_2 = 0; y = -1 with x_1 = 0, x_2 = +-1. The four cases are equally
    likely, the other d - 2 coordinates are uniform bits +-1, so |x|^2 = d - 1; `scaled` divides by
    sqrt(d - 1).
    """

    title: ClassVar[str] = "distribution D: the signal in two coordinates, random bits in the rest"
    source: ClassVar[str] = "wei19, equation (2.1) and Theorem 2.1"

    words: ClassVar[str] = "distribution of Wei et al."
    kind: Literal["wei19"] = "wei19"
    d: int = setting(20, meaning=D_MEANING, ge=2, le=MAX_D)
    n: int = setting(100, meaning=N_MEANING, ge=1, le=MAX_N)
    scaled: bool = setting(
        False,
        meaning="true: divided by sqrt(d - 1), so that |x| = 1; false: as in the paper, where "
        "|x| = sqrt(d - 1)",
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    def _point(self, corners: Array) -> tuple[Array, Array]:
        """Return (x, y) of corners of the cube: s_1 is the label, s_2 the sign of the signal."""
        # One corner per point, so that the exact test set of all corners has equally many of each
        # case.
        y, x = corners[:, 0].copy(), corners.copy()
        x[:, 0] = np.where(y > 0, corners[:, 1], 0.0)
        x[:, 1] = np.where(y > 0, 0.0, corners[:, 1])
        return x / np.sqrt(self.d - 1.0) if self.scaled else x, y

    def draw(self, generator: Generator, count: int, directions: Directions) -> tuple[Array, Array]:
        return self._point(generator.choice([-1, 1], (count, self.d)).astype(np.float64))

    def test_set(self, generator: Generator, training: Dataset) -> TestSet:
        if self.d > EXACT_TEST_DIMENSION:
            return super().test_set(generator, training)
        x, y = self._point(all_corners(self.d))
        return TestSet(x, y, exact=True)


@final
class IntervalsData(DataSection, Law):
    """Points uniform on the pieces of [-1, 1] by length, labelled -1, +1, -1, ... from left."""

    title: ClassVar[str] = "points of [-1, 1] whose labels alternate from break to break"
    source: ClassVar[str] = "wei19, section F.4 (which leaves its points open)"
    own: ClassVar[tuple[str, ...]] = ("d",)

    kind: Literal["intervals"] = "intervals"
    d: int = setting(1, meaning="always 1", ge=1, le=1, advanced=True)
    n: int = setting(20, meaning=N_MEANING, ge=2, le=MAX_N)
    breaks: tuple[float, ...] = setting(
        (-0.5, 0.0, 0.5), meaning="points where the label changes, in increasing order"
    )
    gap: float = setting(0.1, meaning="no point is closer than half of this to a break", ge=0, lt=2)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _room(self) -> IntervalsData:
        breaks = ", ".join(f"{place:g}" for place in self.breaks)
        if not self.breaks:
            raise RuleError(
                "breaks is empty, so all points have one class; give at least one break",
                keys=("breaks",),
            )
        if list(self.breaks) != sorted(set(self.breaks)):
            raise RuleError(
                f"breaks = {breaks} must increase; sort them, and list each once", keys=("breaks",)
            )
        if any(high <= low for low, high in self.pieces()):
            raise RuleError(
                f"breaks = {breaks} with gap = {self.gap:g} leave no room for points in an "
                "interval of [-1, 1]; lower gap, or move the breaks apart and inside (-1, 1)",
                keys=("breaks", "gap"),
            )
        return self

    def pieces(self) -> list[tuple[float, float]]:
        """Return the intervals that points are drawn from, left to right."""
        half = self.gap / 2.0
        lows = [-1.0, *(place + half for place in self.breaks)]
        highs = [*(place - half for place in self.breaks), 1.0]
        return list(zip(lows, highs, strict=True))

    def draw(self, generator: Generator, count: int, directions: Directions) -> tuple[Array, Array]:
        low, high = np.array(self.pieces()).T
        ends = np.cumsum(high - low)
        way = generator.random(count) * ends[-1]
        piece = np.searchsorted(ends, way, side="right")
        x = high[piece] - (ends[piece] - way)
        return x[:, None], np.where(piece % 2 == 1, 1.0, -1.0)


@final
class DyadicData(DataSection, Distribution):
    """Points (2^-j e_j, +1) and (-2^-j e_j, -1), j = 1, ..., d (batchnorm, Definition 1.1).

    >>> DyadicData(d=2).sample(np.random.default_rng(0)).x.tolist()
    [[0.5, 0.0], [0.0, 0.25], [-0.5, -0.0], [-0.0, -0.25]]
    """

    title: ClassVar[str] = "2^-j e_j labelled +1 and -2^-j e_j labelled -1, j = 1, ..., d"
    source: ClassVar[str] = "batchnorm, Definition 1.1 and Proposition 1.1"
    own: ClassVar[tuple[str, ...]] = ("n",)

    kind: Literal["dyadic"] = "dyadic"
    # 4^-500 is still a normal number: variances and squared norms do not underflow.
    d: int = setting(8, meaning=D_MEANING, ge=1, le=500)
    n: int = setting(16, meaning="always 2 d; set from d if omitted", ge=2, advanced=True)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, table: Any) -> Any:
        # Before the fields are validated, so that an axis over d needs no n beside it.
        if isinstance(table, dict) and "d" in table and "n" not in table:
            try:
                return {**table, "n": 2 * int(table["d"])}
            except (TypeError, ValueError):
                return table  # the validation of d reports the error
        return table

    @model_validator(mode="after")
    def _two_each(self) -> DyadicData:
        """Raise RuleError unless n = 2 d: two examples in each dimension."""
        set_sizes(self, {"n": 2 * self.d}, "the dyadic set has 2 d = {size} examples", "d")
        return self

    def sample(self, generator: Generator) -> Dataset:
        half = np.diag(2.0 ** -np.arange(1.0, self.d + 1.0))
        return Dataset(np.vstack([half, -half]), np.repeat([1.0, -1.0], self.d))


@final
class ThreePointData(DataSection, Distribution):
    """Three points (-1,0,0), (eps, sqrt(1-eps^2), 0), (0,0,1) with y = -1, +1, +1.

    Source: frei23, Lemma B.8. At slope 1/2 and as many positive as negative outer weights the limit
    has lambda = (8/(4 eps + 5), 8/(4 eps + 5), 8/5), and is not the linear max-margin predictor.
    """

    title: ClassVar[str] = "three points whose leaky ReLU limit is not the linear max-margin one"
    source: ClassVar[str] = "frei23, Lemma B.8: (-1,0,0)-, (eps,sqrt(1-eps^2),0)+, (0,0,1)+"
    own: ClassVar[tuple[str, ...]] = ("d", "n")

    kind: Literal["three_point"] = "three_point"
    d: int = setting(3, meaning="always 3", ge=3, le=3, advanced=True)
    n: int = setting(3, meaning="always 3", ge=3, le=3, advanced=True)
    eps: float = setting(
        0.01, meaning="-<x_1, x_2>; Theorem 3.2 at slope 1/2 needs at most 1/72", gt=0, lt=1
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    def sample(self, generator: Generator) -> Dataset:
        second = [self.eps, np.sqrt(1.0 - self.eps**2), 0.0]
        return Dataset(
            np.array([[-1.0, 0.0, 0.0], second, [0.0, 0.0, 1.0]]), np.array([-1.0, 1.0, 1.0])
        )


@final
class NearOrthogonalData(DataSection, Distribution):
    """Unit vectors of R^d with a prescribed random Gram matrix (frei23, Theorem 3.2's setting).

    Off-diagonal entries are uniform on [-1, 1] and then scaled, so that the largest is `coherence`;
    X is the Gram matrix's Cholesky factor in a random orthonormal frame of n directions. Labels:
    n - floor(n/2) times +1, the rest -1, in random order. Raises InputError where no vectors have
    that Gram matrix.
    """

    title: ClassVar[str] = "unit vectors of prescribed Gram matrix: |<x_i, x_j>| <= coherence"
    source: ClassVar[str] = "frei23, Theorem 3.2 (which needs 3 n coherence <= gamma^3)"
    own: ClassVar[tuple[str, ...]] = ("d", "n")

    words: ClassVar[str] = "nearly orthogonal inputs"
    kind: Literal["near_orthogonal"] = "near_orthogonal"
    d: int = setting(40, meaning=f"{D_MEANING}, at least n", ge=2, le=4096)
    n: int = setting(20, meaning=f"{N_MEANING}, half of each class", ge=2, le=4096)
    coherence: float = setting(
        0.002, meaning="the largest |<x_i, x_j>|, attained by one pair", ge=0, lt=1
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _room(self) -> NearOrthogonalData:
        if self.n > self.d:
            raise RuleError(
                f"n = {self.n} linearly independent vectors do not fit into d = {self.d} "
                "dimensions; raise d or lower n",
                keys=("n", "d"),
            )
        return self

    def gram(self, generator: Generator) -> Array:
        """Draw the Gram matrix.

        Parameters
        ----------
        generator : Generator
            Source of randomness.

        Returns
        -------
        array (n, n)
            Unit diagonal, off-diagonal entries of at most `coherence`; perhaps indefinite.
        """
        upper = np.triu(generator.uniform(-1.0, 1.0, (self.n, self.n)), 1)
        products = upper + upper.T
        return np.asarray(np.eye(self.n) + products * (self.coherence / np.abs(products).max()))

    def sample(self, generator: Generator) -> Dataset:
        try:
            root = np.linalg.cholesky(self.gram(generator))
        except np.linalg.LinAlgError as error:
            raise InputError(
                f"data.coherence = {self.coherence:g}: no n = {self.n} vectors have the sampled "
                "Gram matrix, which is not positive definite; lower coherence or n."
            ) from error
        frame, _ = np.linalg.qr(generator.standard_normal((self.d, self.n)))
        y = np.ones(self.n)
        y[generator.permutation(self.n)[: self.n // 2]] = -1.0
        return Dataset(root @ frame.T, y)
