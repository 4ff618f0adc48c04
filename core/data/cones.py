"""Narrow cones: neural collapse, and the two cones of Proposition 2.6 (telgarsky22)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from core.data.dataset import Array, Dataset, Law
from core.data.separator import max_margin


def simplex(r: int, d: int) -> Array:
    """r unit vectors of R^d with <b_k, b_l> = -1/(r - 1), (r, d); r <= d + 1.

    >>> corners = simplex(3, 2)
    >>> (corners @ corners.T).round(6).tolist()
    [[1.0, -0.5, -0.5], [-0.5, 1.0, -0.5], [-0.5, -0.5, 1.0]]
    """
    corners = np.zeros((r, d))
    if r == 1:
        corners[0, 0] = 1.0
        return corners
    for k in range(r - 1):  # each corner uses one coordinate more than the one before
        corners[k, k] = np.sqrt(1.0 - corners[k, :k] @ corners[k, :k])
        rest = (-1.0 / (r - 1) - corners[k + 1 :, :k] @ corners[k, :k]) / corners[k, k]
        corners[k + 1 :, k] = rest
    return corners


def across(generator: np.random.Generator, axes: Array) -> Array:
    """For each unit row of `axes` (n, d) a point of the unit ball across it, uniformly, (n, d)."""
    count, d = axes.shape
    if d == 1:
        return np.zeros((count, 1))
    normal = generator.standard_normal((count, d))
    normal -= (normal * axes).sum(axis=1, keepdims=True) * axes
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return np.asarray(normal * generator.random((count, 1)) ** (1.0 / (d - 1)))


@final
@dataclass(frozen=True, slots=True)
class Cones(Law):
    """Neural collapse (telgarsky22, Assumption 3.1, corrected as stated here).

    An example of cone k, k uniform on r: x = s beta_k + w with s uniform on [gamma_nc,
    sqrt(1 - o^2)] and w uniform across beta_k, |w| <= o = gamma_nc sqrt(eps/2). beta are the
    corners of a simplex, so <beta_k, x> >= gamma_nc in the own cone, <beta_l, x> <= -eps for the
    others (the section of the study has checked that), and |x| <= 1. Labels: +1, or by cone +1, -1,
    +1, ...
    """

    d: int
    n: int
    r: int
    gamma_nc: float
    offset: float
    mixed: bool

    def directions(self, generator: np.random.Generator) -> dict[str, Array]:
        return {"axes": simplex(self.r, self.d)}

    def draw(
        self, generator: np.random.Generator, count: int, known: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        cone = generator.integers(self.r, size=count)
        axes = known["axes"][cone]
        along = generator.uniform(self.gamma_nc, np.sqrt(1.0 - self.offset**2), (count, 1))
        x = along * axes + self.offset * across(generator, axes)
        return x, np.where((cone % 2 == 1) & self.mixed, -1.0, 1.0)


@final
@dataclass(frozen=True, slots=True)
class TwoCones(Law):
    """S_1, S_2 and x' of Proposition 2.6 (telgarsky22; appendix B has the construction).

    Unit vectors: ceil((n - 1)/2) within `spread` (radians) of the first axis, the others of the
    second, `separation` away; the last one is x' = alpha v_0 - sqrt(1 - alpha^2) v_1, where u is
    the linear separator of S_1 and S_2, v_1 its support vector in S_1 and v_0 the direction of u
    across v_1. Every label is +1. In the plane the linear margin is sin(asin(alpha)/2) whenever x'
    lies beyond S_2. Test and fresh examples are x' with probability 1/n, else of either cone.

    >>> data = TwoCones(2, 5, 0.3, np.deg2rad(140), 0.0).sample(np.random.default_rng(0))
    >>> round(max_margin(data.x)[0], 6), round(float(np.sin(np.arcsin(0.3) / 2)), 6)
    (0.151758, 0.151758)
    """

    d: int
    n: int
    alpha: float
    separation: float
    spread: float

    def _axes(self) -> Array:
        axes = np.zeros((2, self.d))
        axes[:, 0] = np.cos(self.separation / 2.0)
        axes[:, 1] = np.sin(self.separation / 2.0) * np.array([-1.0, 1.0])
        return axes

    def _in_cones(self, generator: np.random.Generator, cone: Array) -> Array:
        axes = self._axes()[cone.astype(np.int64)]
        sideways = across(generator, axes)
        angle = np.linalg.norm(sideways, axis=1, keepdims=True)
        sideways /= np.where(angle > 0, angle, 1.0)
        return np.asarray(
            np.cos(self.spread * angle) * axes + np.sin(self.spread * angle) * sideways
        )

    def sample(self, generator: np.random.Generator) -> Dataset:
        first = self.n // 2  # ceil((n - 1) / 2)
        cone = np.repeat([0.0, 1.0], [first, self.n - 1 - first])
        x = self._in_cones(generator, cone)
        _, u, support = max_margin(x)
        v_1 = x[support[support < first][0]]
        v_0 = u - (u @ v_1) * v_1
        v_0 /= np.linalg.norm(v_0)
        spoiler = self.alpha * v_0 - np.sqrt(1.0 - self.alpha**2) * v_1
        known = {"axes": self._axes(), "spoiler": spoiler[None, :]}
        return Dataset(np.vstack([x, spoiler]), np.ones(self.n), directions=known)

    def draw(
        self, generator: np.random.Generator, count: int, known: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        x = self._in_cones(generator, generator.integers(2, size=count).astype(np.float64))
        x[generator.random(count) < 1.0 / self.n] = known["spoiler"][0]
        return x, np.ones(count)
