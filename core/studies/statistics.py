"""Crossings and slopes: n* from a grid of n, and exponents with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
RESAMPLES = 1000
NAN = float("nan")


@final
@dataclass(frozen=True, slots=True)
class Slope:
    """An exponent with its 0.95 interval (NaN where it has none), and how that was found."""

    value: float
    low: float = NAN
    high: float = NAN
    note: str = ""


def first_below(x: Array, y: Array, level: float) -> float:
    """Where y first falls to a level, ln x interpolated; NaN where it never does, or did before.

    >>> first_below(np.array([1.0, 2.0, 8.0]), np.array([0.5, 0.2, 0.0]), 0.1)
    4.0
    """
    below = np.flatnonzero(y <= level)
    if below.size == 0 or below[0] == 0:
        return float("nan")
    k = int(below[0])
    share = (y[k - 1] - level) / (y[k - 1] - y[k])
    return float(round(np.exp(np.log(x[k - 1]) + share * np.log(x[k] / x[k - 1])), 12))


def fitted_slope(x: Array, y: Array) -> tuple[float, float] | None:
    """Slope of ln y on ln x by least squares, and its standard error; None for under two points.

    >>> fitted_slope(np.array([1.0, 2.0, 4.0]), np.array([3.0, 12.0, 48.0]))[0]
    2.0
    """
    known = np.isfinite(y) & (y > 0.0) & (x > 0.0)
    if np.count_nonzero(known) < 2:
        return None
    u, v = np.log(x[known]), np.log(y[known])
    u = u - u.mean()
    slope = float(u @ v / (u @ u))
    rest = v - v.mean() - slope * u
    freedom = u.size - 2
    error = math.sqrt(float(rest @ rest) / freedom / float(u @ u)) if freedom else math.nan
    return round(slope, 12), error


def slope_of(table: Sequence[tuple[float, Mapping[Any, float]]], over: str) -> Slope:
    """Slope of log y on log x; `table` holds y by seed for each x, brought together by `over`.

    The 0.95 interval is the wider of bootstrap over seeds and regression residuals.
    """
    x = np.array([place for place, _ in table])
    y = np.array([together([*by_seed.values()], over) for _, by_seed in table])
    fit = fitted_slope(x, y)
    if fit is None:
        return Slope(NAN, note="fewer than two points")
    value, error = fit
    residual = _student(int(np.isfinite(y).sum()) - 2) * error
    low, high = _bootstrap(x, [np.array([*s.values()]) for _, s in table], over)
    name, interval = "bootstrap over seeds", (low, high)
    if not high - low > 2.0 * residual and math.isfinite(residual):
        name, interval = "regression residuals", (value - residual, value + residual)
    return Slope(value, *interval, f"the wider of two intervals, by {name}")


def _student(freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975)) if freedom > 0 else NAN


def _bootstrap(x: Array, seeds: Sequence[Array], over: str) -> tuple[float, float]:
    """The middle 0.95 of slopes with the seeds of every x drawn again, always the same draws."""
    if max(part.size for part in seeds) < 2:
        return NAN, NAN
    rng = np.random.default_rng(0)
    slopes = []
    for _ in range(RESAMPLES):
        drawn = [together([*rng.choice(part, part.size)], over) for part in seeds]
        fit = fitted_slope(x, np.array(drawn))
        if fit is not None:
            slopes.append(fit[0])
    if not slopes:
        return NAN, NAN
    low, high = np.quantile(slopes, [0.025, 0.975])
    return float(low), float(high)


def together(values: Sequence[float], over: str) -> float:
    """Mean, median, min, max, sum or geometric mean of the finite values; NaN of none.

    >>> together([1.0, 2.0, 9.0, float("nan")], "median")
    2.0
    """
    known = np.array([value for value in values if math.isfinite(value)])
    if not known.size:
        return NAN
    if over == "geometric":
        return float(np.exp(np.log(known).mean())) if (known > 0.0).all() else NAN
    return float(getattr(np, over)(known))
