"""Means over the size of a neuron (a, v) of the paper's start, given the direction of v.

Write v = r u with |u| = 1. For a direction u with h = <u, D> and c = h/|D|, D a vector of the
inputs' space, the neuron's feature has the length |D| sqrt(a^2 + r^2 c^2). With
s = sqrt(a^2 + r^2 c^2), a ~ N(0, 1), d r^2 chi-squared with d degrees of freedom, and both zero
where a^2 + r^2 >= 4,

    k1(c) = E a^2/s,    k2(c) = c E r^2/s,    k1 + c k2 = E s.

Along a, the substitution a = c r sinh(tau) removes the kink of s; along r, r = 2 sin(theta) that of
the cutoff.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from core.data.dataset import Array

# |theta| <= 1 at every w and theta = 0 beyond the cutoff: the first is not printed in Assumption
# 1.3, but used in appendix A (docs/theory.md, 8.2).
CUTOFF = 2.0
RADII, HEIGHTS = 48, 60  # Gauss-Legendre nodes; twice as many change results by at most 1e-9
INTERVALS = 2000
# Error of linear interpolation in sqrt |c|; the largest found is 7.3e-7, near 0.
TABLE_ERROR = 1e-6
LEAST_COSINE = 1e-12
SPREAD = 9.0  # standard deviations of r that are integrated; the rest has probability 1e-18


def integrate_sizes(c: Array, d: int, radii: int = RADII, heights: int = HEIGHTS) -> Array:
    """Return k1(c) = E a^2/s and k2(c) = c E r^2/s of the module's docstring, by quadrature.

    Parameters
    ----------
    c : array (k,)
        Cosines, 0 < c <= 1.
    d : int
        Dimension of v, whose coordinates have variance 1/d.
    radii, heights : int
        Nodes along r and along a.

    Returns
    -------
    array (2, k)
        k1 and k2.

    Examples
    --------
    For d = 1 and c = 1, k1 + k2 is E |w| over |w| < 2, w a Gaussian of the plane:

    >>> round(float(integrate_sizes(np.ones(1), 1).sum()), 9)
    0.925617447
    """
    deviation = SPREAD / np.sqrt(2.0 * d)
    low, high = np.arcsin(np.clip(np.array([1.0 - deviation, 1.0 + deviation]), 0.0, CUTOFF) / 2.0)
    x, weights = np.polynomial.legendre.leggauss(radii)
    angle = (low + high) / 2.0 + (high - low) / 2.0 * x
    r, reach = CUTOFF * np.sin(angle), CUTOFF * np.cos(angle)
    # Not scipy.stats, which takes 2.6 s to load.
    log_density = (d - 1) * np.log(r) - d * r * r / 2.0 - math.lgamma(d / 2.0)
    density = np.exp(log_density + d / 2.0 * math.log(d) - (d / 2.0 - 1.0) * math.log(2.0))
    mass = (high - low) / 2.0 * weights * reach * density
    x, weights = np.polynomial.legendre.leggauss(heights)
    sizes = np.empty((2, c.size))
    for place, cosine in enumerate(c):
        scale = cosine * r
        end = np.arcsinh(reach / scale)
        a = scale[:, None] * np.sinh(end[:, None] * (1.0 + x) / 2.0)
        # Both signs of a have the same integral.
        inner = end[:, None] * weights * np.exp(-a * a / 2.0) / np.sqrt(2.0 * np.pi)
        sizes[0, place] = mass @ (a * a * inner).sum(axis=1)
        sizes[1, place] = cosine * (mass * r * r) @ inner.sum(axis=1)
    return sizes


@final
@dataclass(frozen=True, slots=True, eq=False)
class NeuronMeans:
    """Table of k1 and k2 over sqrt |c|; its values are within TABLE_ERROR of theirs."""

    roots: Array
    outer: Array
    inner: Array

    def __call__(self, c: Array) -> tuple[Array, Array]:
        """Return k1(c) and k2(c), which is odd, for -1 <= c <= 1."""
        # Not np.interp, which searches a grid whose places are known: 160 ns a value, not 9.
        places = INTERVALS * np.sqrt(np.minimum(np.abs(c), 1.0))
        left = np.minimum(places.astype(np.intp), INTERVALS - 1)
        places -= left
        k1, k2 = (
            table.take(left) + places * np.diff(table).take(left)
            for table in (self.outer, self.inner)
        )
        return k1, np.copysign(k2, c)

    @property
    def largest(self) -> Array:
        """Largest values of k1, |k2| and k1 + c k2."""
        length = self.outer + self.roots**2 * self.inner
        return np.array([self.outer.max(), self.inner.max(), length.max()]) + TABLE_ERROR


@lru_cache(maxsize=8)
def neuron_means(d: int) -> NeuronMeans:
    """Return the table of inputs in R^d."""
    roots = np.arange(INTERVALS + 1) / INTERVALS
    k1, k2 = integrate_sizes(np.maximum(roots**2, LEAST_COSINE), d)
    k2[0] = 0.0
    return NeuronMeans(roots, k1, k2)
