"""Strength of one mode of a linear network of any depth over time, from a balanced start.

Balanced layers along singular vectors of the target move by da/dt = L a^(2-2/L) (s - a). In the
variable x = ln(a/(s - a)) the time is dt/dx = a^(2/L-1)/(L s), which is smooth and positive, so
that Gauss-Legendre sums give t(x) to rounding and Newton's method inverts them. For L = 2 it is
Saxe's sigmoid, and for L = 4 there is a closed form, which the tests use (docs/theory.md, 4.17).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
PANEL = 0.5  # length of an interval of x
LAST = 40.0  # x where a > 0 differs from a limit s > 0 by e^-40 of it
NEWTON = 8  # more steps than any panel needs


@final
@dataclass(frozen=True, slots=True)
class DepthCurve:
    """Solution a(t) > 0 of da/dt = L a^(2-2/L) (s - a) for a target s of either sign.

    x = ln(a/|a - s|) for s > 0 and ln((a - s)/a) for s < 0 rises along the solution; `edges` are
    the ends of the panels in x and `times` the times there.
    """

    s: float
    start: float
    depth: int
    edges: Array
    times: Array

    @classmethod
    def from_start(cls, s: float, start: float, depth: int) -> DepthCurve:
        """Return the solution with a(0) = `start` > 0.

        Parameters
        ----------
        s : float
            Target of the mode.
        start : float
            a(0) > 0.
        depth : int
            L, number of layers.

        Returns
        -------
        DepthCurve

        Examples
        --------
        >>> curve = DepthCurve.from_start(2.0, 0.02, 2)
        >>> t = np.log(99.0) / 4.0
        >>> bool(abs(curve.values(np.array([t]))[0] - 1.0) < 1e-12)
        True
        """
        curve = cls(s, start, depth, np.zeros(1), np.zeros(1))
        if s == 0.0 or start == s:
            return curve
        x = np.log(start / abs(start - s)) if s > 0.0 else np.log((start - s) / start)
        edges = [float(x)]
        # The integrand is singular at x = 0 for starts above the target, and for s < 0.
        singular = s < 0.0 or start > s
        # For s < 0 the limit is 0, and the decay counts from the start, however small that is.
        last = LAST if s > 0.0 else edges[0] + LAST
        while edges[-1] < last:
            edges.append(edges[-1] + (min(PANEL, edges[-1]) if singular else PANEL))
        depth_curve = cls(s, start, depth, np.array(edges), np.zeros(len(edges)))
        parts = depth_curve._time_between(depth_curve.edges[:-1], depth_curve.edges[1:])
        return cls(s, start, depth, depth_curve.edges, np.concatenate([[0.0], np.cumsum(parts)]))

    def values(self, t: Array) -> Array:
        """Return the strength a at given times.

        Parameters
        ----------
        t : array (T,)
            Times >= 0, in the units in which c = 1.

        Returns
        -------
        array (T,)
        """
        t = np.asarray(t, dtype=np.float64)
        if self.s == 0.0:
            power = 2.0 - 2.0 / self.depth
            return np.asarray((self.start**-power + self.depth * power * t) ** (-1.0 / power))
        if self.start == self.s:
            return np.full(t.shape, self.s)
        last = self.edges.size - 1
        place = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, last - 1)
        base, offset = self.edges[place], np.minimum(t, self.times[-1]) - self.times[place]
        x = base + PANEL * offset / (self.times[place + 1] - self.times[place])
        x = np.minimum(x, self.edges[place + 1])
        for _ in range(NEWTON):
            step = (offset - self._time_between(base, x)) / self._pace(x)
            x = np.clip(x + step, base, self.edges[place + 1])
        return self._strength(x)

    def time_to(self, a: float) -> float:
        """Return the time at which the strength is a, between a(0) and the target, s > 0."""
        x = float(np.log(a / abs(a - self.s)))
        place = int(np.clip(np.searchsorted(self.edges, x) - 1, 0, self.edges.size - 2))
        base = self.edges[place : place + 1]
        return float(self.times[place] + self._time_between(base, np.array([x]))[0])

    def _strength(self, x: Array) -> Array:
        decay = np.exp(-x)
        if self.s < 0.0:
            return np.asarray(-self.s * decay / -np.expm1(-x))
        return np.asarray(self.s / (1.0 + decay if self.start < self.s else -np.expm1(-x)))

    def _pace(self, x: Array) -> Array:
        """Return dt/dx."""
        return np.asarray(
            self._strength(x) ** (2.0 / self.depth - 1.0) / (self.depth * abs(self.s))
        )

    def _time_between(self, low: Array, high: Array) -> Array:
        """Return the times from x = low to x = high, both (N,) and within one panel each."""
        half = 0.5 * (high - low)
        at = (low + half)[:, None] + half[:, None] * NODES
        return np.asarray(half * (self._pace(at) @ WEIGHTS))
