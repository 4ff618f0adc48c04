"""Narrow cones: neural collapse, and the two cones of Proposition 2.6 (telgarsky22)."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from pydantic import model_validator

from core.data.dataset import Array, Dataset, Directions, Law
from core.data.geometry import max_margin
from core.data.section import D_MEANING, MAX_N, N_MEANING, DataSection
from core.errors import RuleError
from core.settings import MAX_SEED, SEED_MEANING, setting


def simplex(r: int, d: int) -> Array:
    """Return the corners of a regular simplex around the origin.

    Parameters
    ----------
    r : int
        Number of corners, at most d + 1.
    d : int
        Dimension.

    Returns
    -------
    array (r, d)
        Unit rows with <b_k, b_l> = -1/(r - 1).

    Examples
    --------
    >>> corners = simplex(3, 2)
    >>> (corners @ corners.T).round(6).tolist()
    [[1.0, -0.5, -0.5], [-0.5, 1.0, -0.5], [-0.5, -0.5, 1.0]]
    """
    corners = np.zeros((r, d))
    if r == 1:
        corners[0, 0] = 1.0
        return corners
    for k in range(r - 1):  # corner k + 1 uses one coordinate more than corner k
        corners[k, k] = np.sqrt(1.0 - corners[k, :k] @ corners[k, :k])
        remainder = (-1.0 / (r - 1) - corners[k + 1 :, :k] @ corners[k, :k]) / corners[k, k]
        corners[k + 1 :, k] = remainder
    return corners


def draw_across(generator: Generator, axes: Array) -> Array:
    """Draw points uniformly from the unit balls orthogonal to some axes.

    Parameters
    ----------
    generator : Generator
        Source of randomness.
    axes : array (n, d)
        Unit rows.

    Returns
    -------
    array (n, d)
        One point for each axis.
    """
    count, d = axes.shape
    if d == 1:
        return np.zeros((count, 1))
    normal = generator.standard_normal((count, d))
    normal -= (normal * axes).sum(axis=1, keepdims=True) * axes
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    # The ball of radius s has the fraction s^(d - 1) of the unit ball's volume in d - 1 dimensions.
    return np.asarray(normal * generator.random((count, 1)) ** (1.0 / (d - 1)))


APART = 135.0  # degrees: <x_i, x_j> <= -1/sqrt 2 between the two cones


@final
class ConesData(DataSection, Law):
    """Neural collapse (telgarsky22, Assumption 3.1, corrected as stated here).

    An example of cone k, k uniform on r: x = s beta_k + w with s uniform on [gamma_nc,
    sqrt(1 - o^2)] and w uniform across beta_k, |w| <= o = gamma_nc sqrt(eps/2). beta are the
    corners of a simplex, so <beta_k, x> >= gamma_nc in the own cone, <beta_l, x> <= -eps for the
    others (the study's section has checked that), and |x| <= 1. Labels: +1, or by cone +1, -1, +1,
    ...
    """

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
        meaning="<beta_l, x> <= -eps for all other cones; each example is within gamma_nc "
        "sqrt(eps/2) of its axis",
        gt=0,
        lt=1,
    )
    labels: Literal["single", "mixed"] = setting(
        "mixed", meaning="single: all +1; mixed: the cones are +1, -1, +1, ..."
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=MAX_SEED)

    @property
    def single(self) -> bool:
        return self.labels == "single"

    @property
    def offset(self) -> float:
        """Largest distance of an example from its axis: gamma_nc sqrt(eps/2)."""
        return self.gamma_nc * math.sqrt(self.eps / 2.0)

    @model_validator(mode="after")
    def _possible(self) -> ConesData:
        if self.r > self.d + 1:
            raise RuleError(
                f"r = {self.r} cones that exclude each other do not exist in d = {self.d} "
                "dimensions: a simplex has at most d + 1 corners; lower r or raise d",
                keys=("r", "d"),
            )
        if self.labels == "mixed" and self.r < 2:
            raise RuleError(
                'labels = "mixed" needs two cones; raise r, or use labels = "single"',
                keys=("labels", "r"),
            )
        if self.eps >= self.gamma_nc:
            raise RuleError(
                f"eps = {self.eps:g} must be below gamma_nc = {self.gamma_nc:g}; lower eps",
                keys=("eps", "gamma_nc"),
            )
        if math.hypot(self.gamma_nc, self.offset) > 1.0:
            raise RuleError(
                f"gamma_nc = {self.gamma_nc:g} with eps = {self.eps:g} leaves the unit ball; "
                "lower gamma_nc",
                keys=("gamma_nc", "eps"),
            )
        self._exclude()
        return self

    def _exclude(self) -> None:
        """Raise RuleError unless a cone's least favourable point is in the polar of the others."""
        if self.r < 2:
            return
        slope = 1.0 / (self.r - 1)
        sideways = math.sqrt(1.0 - slope**2)
        # The point nearest to another cone has the least length along its axis and the largest
        # distance from it.
        reach = self.gamma_nc * slope - self.offset * sideways
        if reach < self.eps:
            raise RuleError(
                f"with r = {self.r}, gamma_nc = {self.gamma_nc:g} and eps = {self.eps:g} the "
                f"cones only reach <beta_l, x> <= {-reach:.3g}, not -eps = {-self.eps:g}; lower "
                "eps or r, or raise gamma_nc",
                keys=("r", "gamma_nc", "eps"),
            )

    def directions(self, generator: Generator) -> dict[str, Array]:
        return {"axes": simplex(self.r, self.d)}

    def draw(self, generator: Generator, count: int, directions: Directions) -> tuple[Array, Array]:
        cone = generator.integers(self.r, size=count)
        axes = directions["axes"][cone]
        height = generator.uniform(self.gamma_nc, np.sqrt(1.0 - self.offset**2), (count, 1))
        x = height * axes + self.offset * draw_across(generator, axes)
        return x, np.where((cone % 2 == 1) & (self.labels == "mixed"), -1.0, 1.0)


@final
class TwoConesData(DataSection, Law):
    """Sets S_1, S_2 and x' of Proposition 2.6 (telgarsky22; appendix B has the construction).

    Unit vectors: ceil((n - 1)/2) within `spread` degrees of the first axis, the others of the
    second, `separation` away; the last one is x' = alpha v_0 - sqrt(1 - alpha^2) v_1, where u is
    the linear separator of S_1 and S_2, v_1 its support vector in S_1 and v_0 the direction of u
    across v_1. Every label is +1. In the plane the linear margin is sin(asin(alpha)/2) whenever x'
    is beyond S_2. Test and fresh examples are x' with probability 1/n, else of either cone.

    >>> data = TwoConesData(n=5, spread=0.0).sample(np.random.default_rng(0))
    >>> round(max_margin(data.x)[0], 6), round(float(np.sin(np.arcsin(0.3) / 2)), 6)
    (0.151758, 0.151758)
    """

    title: ClassVar[str] = "two narrow cones and one point x' that spoils the linear predictor"
    source: ClassVar[str] = "telgarsky22, Proposition 2.6 and Figure 2; every label is +1"

    kind: Literal["two_cones"] = "two_cones"
    d: int = setting(2, meaning=D_MEANING, ge=2, le=1000)
    n: int = setting(21, meaning=f"{N_MEANING}: n - 1 in the cones, and x'", ge=3, le=100_000)
    alpha: float = setting(
        0.3,
        meaning="x' = alpha v_0 - sqrt(1 - alpha^2) v_1; the smaller, the worse the linear margin",
        gt=0,
        # Up to this angle <-v_1, x'> >= 1/sqrt 2, as two ReLUs need it (appendix B, item 2).
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
        return True

    @model_validator(mode="after")
    def _check_distance(self) -> TwoConesData:
        low, high = self.separation - 2 * self.spread, self.separation + 2 * self.spread
        if low < APART:
            raise RuleError(
                f"separation = {self.separation:g} with spread = {self.spread:g} brings the cones "
                f"within {low:g} degrees; Proposition 2.6 needs {APART:g}: lower spread",
                keys=("separation", "spread"),
            )
        if high >= 180.0:
            raise RuleError(
                f"separation = {self.separation:g} with spread = {self.spread:g} spans {high:g} "
                "degrees, where no linear predictor classifies both cones correctly; stay below "
                "180",
                keys=("separation", "spread"),
            )
        return self

    def _axes(self) -> Array:
        axes = np.zeros((2, self.d))
        axes[:, 0] = np.cos(math.radians(self.separation) / 2.0)
        axes[:, 1] = np.sin(math.radians(self.separation) / 2.0) * np.array([-1.0, 1.0])
        return axes

    def _in_cones(self, generator: Generator, cone: Array) -> Array:
        """Draw a point (n, d) in each of the cones with these numbers, (n,)."""
        axes = self._axes()[cone.astype(np.int64)]
        sideways, spread = draw_across(generator, axes), math.radians(self.spread)
        # The position in the ball gives the angle, as a fraction of the spread, and its direction.
        angle = np.linalg.norm(sideways, axis=1, keepdims=True)
        sideways /= np.where(angle > 0, angle, 1.0)
        return np.asarray(np.cos(spread * angle) * axes + np.sin(spread * angle) * sideways)

    def sample(self, generator: Generator) -> Dataset:
        first = self.n // 2  # ceil((n - 1) / 2)
        cone = np.repeat([0.0, 1.0], [first, self.n - 1 - first])
        x = self._in_cones(generator, cone)
        _, u, support = max_margin(x)
        v_1 = x[support[support < first][0]]
        v_0 = u - (u @ v_1) * v_1
        v_0 /= np.linalg.norm(v_0)
        spoiler = self.alpha * v_0 - np.sqrt(1.0 - self.alpha**2) * v_1
        directions = {"axes": self._axes(), "spoiler": spoiler[None, :]}
        return Dataset(np.vstack([x, spoiler]), np.ones(self.n), directions=directions)

    def draw(self, generator: Generator, count: int, directions: Directions) -> tuple[Array, Array]:
        x = self._in_cones(generator, generator.integers(2, size=count).astype(np.float64))
        x[generator.random(count) < 1.0 / self.n] = directions["spoiler"][0]
        return x, np.ones(count)
