"""Exact curves of linear networks of any depth, from a balanced start.

Balanced layers along singular vectors of the target move by da/dt = L a^(2-2/L) (s - a): a is the
strength of a mode of a deep linear network, or a coefficient of a diagonal one. In the variable
x = ln(a/(s - a)) the time is dt/dx = a^(2/L-1)/(L s), which is smooth and positive, so that
Gauss-Legendre sums give t(x) to rounding and Newton's method inverts them. For L = 2 it is Saxe's
sigmoid, and for L = 4 there is a closed form, which the tests use (docs/theory.md, 4.17).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.network.deep_linear import DeepLinear
from core.network.diagonal import DiagonalLinear
from core.observables.linear_modes import (
    aligned_condition,
    coefficients,
    curvature,
    flow_condition,
    start_in_modes,
    target,
    target_modes,
)
from core.observables.observable import cached_per_run
from core.observables.prediction import Prediction
from core.runs import Run

Array = NDArray[np.float64]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
PANEL = 0.5  # length of an interval of x
LAST = 40.0  # a differs from its limit by e^-40 of it there
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
        while edges[-1] < LAST:
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


# -------------------------------------------------------------------------------- deep networks


def is_deep(run: Run) -> bool:
    """Return True for a deep linear network on real targets."""
    return isinstance(run.network, DeepLinear) and run.dataset.real


@cached_per_run
def _mode_curves(run: Run) -> tuple[DepthCurve | None, ...]:
    """Return the curve of each mode; None for one that the start lacks, which stays 0."""
    (_, values), (strengths, _) = target_modes(run), start_in_modes(run)
    return tuple(
        DepthCurve.from_start(s, a, run.network.degree) if a > 0.0 else None
        for s, a in zip(values.tolist(), strengths.tolist(), strict=True)
    )


def predict_modes(run: Run, t: Array) -> Array:
    """Return the strength of each mode of an aligned start.

    Parameters
    ----------
    run : Run
        Run of a deep linear network to which `aligned_condition` does not object.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T, r)
        Strengths, in the order of `target_modes`.
    """
    scaled = curvature(run) * np.asarray(t, dtype=np.float64)
    absent = np.zeros(scaled.shape)
    columns = [absent if one is None else one.values(scaled) for one in _mode_curves(run)]
    return np.stack(columns, axis=1)


def deep_values(run: Run, t: Array) -> Array:
    """Return the strength of the target in a deep linear network.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
        <s/|s|, beta>, as the observable mode_strength; over all modes of several outputs.
    """
    _, values = target_modes(run)
    return np.asarray(predict_modes(run, t) @ (values / np.linalg.norm(values)))


@cached_per_run
def _target_risk(run: Run) -> float:
    """Return the risk of the target, which no linear predictor goes below."""
    residual = run.dataset.y - run.inputs @ target(run)
    return 0.5 * float((residual**2).mean())


def log10_risk_at(run: Run, squared: Array) -> Array:
    """Return log10 of the risk of coefficients at given distances from the target.

    For white inputs (`is_whitened`): the risk is that of the target plus (c/2) |beta - s|^2.

    Parameters
    ----------
    run : Run
        Open run.
    squared : array (T,)
        |beta - s|^2.

    Returns
    -------
    array (T,)
        -inf where the risk is 0.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log10(_target_risk(run) + 0.5 * curvature(run) * squared))


def deep_risk(run: Run, t: Array) -> Array:
    """Return log10 of the risk that the modes of a deep linear network predict.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
    """
    _, values = target_modes(run)
    return log10_risk_at(run, ((predict_modes(run, t) - values) ** 2).sum(axis=1))


# ---------------------------------------------------------------------------- diagonal networks


def is_diagonal(run: Run) -> bool:
    """Return True for a diagonal linear network on real targets."""
    return isinstance(run.network, DiagonalLinear) and run.dataset.real


def diagonal_condition(run: Run) -> str:
    """Return why the curves do not apply to a diagonal network; "" if they do."""
    network = run.network
    assert isinstance(network, DiagonalLinear)
    if network.squares:
        return 'the exact solution holds for network.form = "product"'
    if network.m > 1:
        return f"the exact solution holds for one neuron, network.m = 1, not for {network.m}"
    sentence = flow_condition(run)
    if sentence:
        return sentence
    # Layers of equal sizes and other signs move alike: a sign that no layer changes.
    if not (coefficients(network, run.origin) > 0.0).all():
        return "the exact solution holds for starts with positive coefficients"
    return ""


@cached_per_run
def _coordinate_curves(run: Run) -> tuple[DepthCurve, ...]:
    start = coefficients(run.network, run.origin)
    depth = run.network.degree
    return tuple(
        DepthCurve.from_start(float(s), float(a), depth)
        for s, a in zip(target(run), start, strict=True)
    )


def predict_coefficients(run: Run, t: Array) -> Array:
    """Return the coefficients beta of a diagonal network.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T, d)
    """
    scaled = curvature(run) * np.asarray(t)
    return np.stack([curve.values(scaled) for curve in _coordinate_curves(run)], axis=1)


def diagonal_values(run: Run, t: Array) -> Array:
    """Return the strength of the target in a diagonal network.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
        <s/|s|, beta>, as the observable mode_strength.
    """
    s = target(run)
    return np.asarray(predict_coefficients(run, t) @ s / np.linalg.norm(s))


def diagonal_risk(run: Run, t: Array) -> Array:
    """Return log10 of the risk that the curves of a diagonal network predict.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
    """
    error = predict_coefficients(run, t) - target(run)
    return log10_risk_at(run, (error**2).sum(axis=1))


SOURCE = "saxe14; docs/theory.md, 4.17"
DEEP, DIAGONAL = "deep linear networks on real targets", "diagonal linear networks on real targets"
FORMULA = "a of da/dt = L c a^(2-2/L) (s - a), s the length of X'y/(n c), c = tr(X'X)/(n d)"
EACH = "beta_i of d beta_i/dt = L c beta_i^(2-2/L) (s_i - beta_i), s = X'y/(n c), c = tr(X'X)/(n d)"
TEX = r"\dot{a}=Lc\,a^{2-2/L}(s-a)"
EACH_TEX = r"\dot{\beta}_i=Lc\,\beta_i^{2-2/L}(s_i-\beta_i)"
PREDICTIONS = (
    Prediction(
        "mode_depth",
        "mode_strength",
        "mode of depth L",
        "strength of the mode of a deep network",
        FORMULA,
        SOURCE,
        deep_values,
        is_deep,
        aligned_condition,
        DEEP,
        tex=TEX,
    ),
    Prediction(
        "log10_risk_depth",
        "log10_risk",
        "mode of depth L",
        "log10 of the risk by the mode of a deep network",
        FORMULA,
        SOURCE,
        deep_risk,
        is_deep,
        aligned_condition,
        DEEP,
        tex=TEX,
    ),
    Prediction(
        "mode_coordinates",
        "mode_strength",
        "coordinates",
        "strength of the mode by the curves of the coordinates",
        EACH,
        SOURCE,
        diagonal_values,
        is_diagonal,
        diagonal_condition,
        DIAGONAL,
        tex=EACH_TEX,
    ),
    Prediction(
        "log10_risk_coordinates",
        "log10_risk",
        "coordinates",
        "log10 of the risk by the curves of the coordinates",
        EACH,
        SOURCE,
        diagonal_risk,
        is_diagonal,
        diagonal_condition,
        DIAGONAL,
        tex=EACH_TEX,
    ),
)
