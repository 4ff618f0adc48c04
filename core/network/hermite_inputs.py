"""Exact risk and online dynamics of one Hermite neuron on inputs x ~ N(0, I) with a teacher.

f = he_k(<v, x>/|v|)/sqrt(k!) and f* the same with a unit vector v*: E f f* = s^k, s = cos(v, v*),
since Hermite polynomials of two Gaussians are orthogonal. The risk is 1 - s^k (docs/theory.md,
4.20).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np

from core.network.gaussian_inputs import Array, OrderParameters, Teacher
from core.network.single_index import hermite, hermite_slope

# E delta^2 is that of a polynomial of degree 4k in two Gaussians: exact with 2k + 1 points each.


@cache
def _points(count: int) -> tuple[Array, Array]:
    """Return points (P,) and probabilities (P,) of N(0, 1) by Gauss-Hermite quadrature."""
    points, weights = np.polynomial.hermite_e.hermegauss(count)
    return points, weights / weights.sum()


def squared_step(k: int, cosine: float, noise: float = 0.0) -> float:
    """Return E (f - f* - noise)^2 f'(z)^2, z = <v, x>/|v|, for unit vectors at a cosine.

    Parameters
    ----------
    k : int
        Degree.
    cosine : float
        <v, v*>/|v|.
    noise : float
        Standard deviation of independent noise of the targets.

    Returns
    -------
    float

    Examples
    --------
    >>> round(squared_step(1, 0.25), 12)  # E (z - z*)^2 = 2 - 2 s
    1.5
    """
    points, mass = _points(2 * k + 1)
    z = points[:, None]
    other = cosine * z + np.sqrt(max(1.0 - cosine**2, 0.0)) * points
    values = ((hermite(k, z) - hermite(k, other)) ** 2 + noise**2) * hermite_slope(k, z) ** 2
    return float(mass @ values @ mass)


@final
@dataclass(frozen=True, slots=True, eq=False)
class HermiteOrderParameters(OrderParameters):
    """State of the ODE of one neuron: Q = |v|^2 and R = <v, v*>."""

    degree: int = 1
    rate: float = 0.0
    noise: float = 0.0

    def cosine(self) -> float:
        """Return s = R/sqrt(Q)."""
        return float(np.clip(self.R[0, 0] / np.sqrt(self.Q[0, 0]), -1.0, 1.0))

    def risk(self) -> float:
        return 1.0 - float(self.cosine() ** self.degree)

    def slope(self) -> Array:
        Q, s, k = float(self.Q[0, 0]), self.cosine(), self.degree
        # The gradient is orthogonal to v, so that Q grows by the squares of steps alone.
        dR = k * s ** (k - 1) * (1.0 - s**2) / np.sqrt(Q)
        dQ = self.rate * squared_step(k, s, self.noise) / Q if self.rate else 0.0
        return np.array([0.0, dQ, dR])


@final
@dataclass(frozen=True, slots=True, eq=False)
class HermiteTeacher(Teacher):
    """Teacher f*(x) = he_k(<v, x>)/sqrt(k!): c = 1 (1,), a unit vector V (1, d), and k = degree."""

    degree: int = 1

    def _cosine(self, W: Array) -> float:
        return float(W[0] @ self.V[0] / np.linalg.norm(W[0]))

    def risk(self, a: Array, W: Array) -> float:
        return 1.0 - float(self._cosine(W) ** self.degree)

    def gradient(self, a: Array, W: Array) -> tuple[Array, Array]:
        s, length, k = self._cosine(W), float(np.linalg.norm(W[0])), self.degree
        along = self.V - s * W / length
        return np.zeros(1), np.asarray(-k * s ** (k - 1) * along / length)

    def order_parameters(
        self, a: Array, W: Array, rate: float = 0.0, noise: float = 0.0
    ) -> HermiteOrderParameters:
        Q, R = self.overlaps(W)
        return HermiteOrderParameters(a, Q, R, self.c, self.V @ self.V.T, self.degree, rate, noise)


def overlap_time(k: int, start: float, cosine: float) -> float:
    """Return the time at which the flow reaches a cosine: int ds/(k s^(k-1) (1 - s^2)).

    Parameters
    ----------
    k : int
        Degree.
    start : float
        Cosine at t = 0, above 0.
    cosine : float
        Cosine that is reached, between start and 1.

    Returns
    -------
    float

    Examples
    --------
    >>> bool(abs(overlap_time(1, 0.1, 0.5) - np.arctanh(0.5) + np.arctanh(0.1)) < 1e-12)
    True
    """
    from scipy.integrate import quad

    # With u = ln s the integrand has no pole at small s but a power.
    value, _ = quad(
        lambda u: np.exp((2 - k) * u) / (k * -np.expm1(2.0 * u)),
        np.log(start),
        np.log(cosine),
        epsabs=0.0,
        epsrel=1e-12,
        limit=200,
    )
    return float(value)
