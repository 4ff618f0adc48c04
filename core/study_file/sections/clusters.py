"""Data in clusters and cones: mixtures, XOR, neural collapse, near-orthogonal sets."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from pydantic import model_validator

from core.study_file.sections.data import D_MEANING, MAX_D, MAX_N, MAX_SEED, N_MEANING
from core.study_file.settings import SEED_MEANING, Section, setting

APART = 135.0  # degrees: <x_i, x_j> <= -1/sqrt 2 between the two cones


class MixtureData(Section):
    title: ClassVar[str] = "two Gaussian clusters x = y mu + z, z ~ N(0, I), with label flips"
    source: ClassVar[str] = "frei23, equation (4) and section F.1"

    kind: Literal["gaussian_mixture"] = "gaussian_mixture"
    d: int = setting(1000, meaning=D_MEANING, ge=1, le=MAX_D)
    n: int = setting(100, meaning=f"{N_MEANING}, half of them in each cluster", ge=2, le=MAX_N)
    mean_exponent: float = setting(
        0.26, meaning="|mu| = d^this; mu has equal positive entries", ge=-2, le=2
    )
    flips: float = setting(
        0.15,
        meaning="share of wrong labels in each cluster: exactly so many, rounded up or down at "
        "random (7 or 8 of 50); test labels are wrong with this probability",
        ge=0,
        le=0.5,
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)


class XorData(Section):
    title: ClassVar[str] = "noisy 2-XOR: x = z + N(0, I), z one of +-mu_1, +-mu_2"
    source: ClassVar[str] = "frei23, section 5"

    kind: Literal["xor"] = "xor"
    d: int = setting(1000, meaning=D_MEANING, ge=2, le=MAX_D)
    n: int = setting(100, meaning=N_MEANING, ge=2, le=MAX_N)
    mean_exponent: float = setting(
        0.26, meaning="|mu_1| = |mu_2| = d^this; mu_1 along e_1 and mu_2 along e_2", ge=-2, le=2
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)


class NearOrthogonalData(Section):
    title: ClassVar[str] = "unit vectors of prescribed Gram matrix: |<x_i, x_j>| <= coherence"
    source: ClassVar[str] = "frei23, Theorem 3.2 (which needs 3 n coherence <= gamma^3)"
    own: ClassVar[tuple[str, ...]] = ("d", "n")

    kind: Literal["near_orthogonal"] = "near_orthogonal"
    d: int = setting(40, meaning=f"{D_MEANING}, at least n", ge=2, le=4096)
    n: int = setting(20, meaning=f"{N_MEANING}, half of each class", ge=2, le=4096)
    coherence: float = setting(
        0.002, meaning="the largest |<x_i, x_j>|, which one pair reaches", ge=0, lt=1
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _room(self) -> NearOrthogonalData:
        if self.n > self.d:
            raise ValueError(
                f"n = {self.n} linearly independent vectors do not fit into d = {self.d} "
                "dimensions; raise d or lower n"
            )
        return self


class ConesData(Section):
    title: ClassVar[str] = "neural collapse: narrow cones around the r corners of a simplex"
    source: ClassVar[str] = "telgarsky22, Assumption 3.1 (with the sign of its own cone only)"

    kind: Literal["cones"] = "cones"
    d: int = setting(10, meaning=D_MEANING, ge=1, le=10_000)
    n: int = setting(64, meaning=N_MEANING, ge=1, le=MAX_N)
    r: int = setting(4, meaning="number of cones, at most d + 1", ge=1, le=10_001)
    gamma_nc: float = setting(
        0.5, meaning="<beta_k, x> is at least this in the cone around beta_k", gt=0, le=1
    )
    eps: float = setting(
        0.05,
        meaning="<beta_l, x> <= -eps for all other cones; an example lies at most "
        "gamma_nc sqrt(eps/2) off its axis",
        gt=0,
        lt=1,
    )
    labels: Literal["single", "mixed"] = setting(
        "mixed", meaning="single: all +1; mixed: the cones are +1, -1, +1, ..."
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @property
    def single(self) -> bool:
        """Whether one class is intended."""
        return self.labels == "single"

    @property
    def offset(self) -> float:
        """How far from its axis an example may lie: gamma_nc sqrt(eps/2)."""
        return self.gamma_nc * math.sqrt(self.eps / 2.0)

    @model_validator(mode="after")
    def _possible(self) -> ConesData:
        if self.r > self.d + 1:
            raise ValueError(
                f"r = {self.r} cones that exclude each other do not exist in d = {self.d} "
                "dimensions: a simplex has at most d + 1 corners; lower r or raise d"
            )
        if self.labels == "mixed" and self.r < 2:
            raise ValueError('labels = "mixed" needs two cones; raise r, or use labels = "single"')
        if self.eps >= self.gamma_nc:
            raise ValueError(
                f"eps = {self.eps:g} must be below gamma_nc = {self.gamma_nc:g}; lower eps"
            )
        if math.hypot(self.gamma_nc, self.offset) > 1.0:
            raise ValueError(
                f"gamma_nc = {self.gamma_nc:g} with eps = {self.eps:g} leaves the unit ball; "
                "lower gamma_nc"
            )
        self._exclude()
        return self

    def _exclude(self) -> None:
        """The least favourable point of a cone must lie in the polar of the others."""
        if self.r < 2:
            return
        slope = 1.0 / (self.r - 1)
        sideways = math.sqrt(1.0 - slope**2) if self.d > 1 else 0.0
        reach = self.gamma_nc * slope - self.offset * sideways
        if reach < self.eps:
            raise ValueError(
                f"with r = {self.r}, gamma_nc = {self.gamma_nc:g} and eps = {self.eps:g} the cones "
                f"only reach <beta_l, x> <= {-reach:.3g}, and -eps = {-self.eps:g} is needed; "
                "lower eps or r, or raise gamma_nc"
            )


class TwoConesData(Section):
    title: ClassVar[str] = "two narrow cones and one point x' that spoils the linear predictor"
    source: ClassVar[str] = "telgarsky22, Proposition 2.6 and Figure 2; every label is +1"

    kind: Literal["two_cones"] = "two_cones"
    d: int = setting(2, meaning=D_MEANING, ge=2, le=1000)
    n: int = setting(21, meaning=f"{N_MEANING}: n - 1 in the cones, and x'", ge=3, le=100_000)
    alpha: float = setting(
        0.3,
        meaning="x' = alpha v_0 - sqrt(1 - alpha^2) v_1; the smaller, the worse the linear margin",
        gt=0,
        le=math.sqrt(0.5),
    )
    separation: float = setting(
        140.0, meaning="angle between the axes of the cones", unit="degrees", ge=APART, lt=180
    )
    spread: float = setting(
        2.5, meaning="angle between a cone's axis and its edge", unit="degrees", ge=0, lt=22.5
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @property
    def single(self) -> bool:
        """One class is the point of the construction."""
        return True

    @model_validator(mode="after")
    def _apart(self) -> TwoConesData:
        low, high = self.separation - 2 * self.spread, self.separation + 2 * self.spread
        if low < APART:
            raise ValueError(
                f"separation = {self.separation:g} with spread = {self.spread:g} brings the cones "
                f"within {low:g} degrees; Proposition 2.6 needs {APART:g}: lower spread"
            )
        if high >= 180.0:
            raise ValueError(
                f"separation = {self.separation:g} with spread = {self.spread:g} spans {high:g} "
                "degrees, where no linear predictor is right on both cones; stay below 180"
            )
        return self
