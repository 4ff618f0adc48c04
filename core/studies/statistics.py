"""Statistics over seeds: means with their bars and intervals, crossings n*, and exponents.

Figures, claims, tables and the points of a sweep take their numbers from here, so that they agree
on the same runs.

Runs are grouped by a setting, by their seeds, or by everything but their seeds. A run is anything
with settings: a cell of a figure, a trial of a claim, a row of a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from core.studies.tables import value_text

Array = NDArray[np.float64]
NAN = float("nan")
LEVEL = 0.95  # of all intervals
RESAMPLES, PAIRED_RESAMPLES = 1000, 2000  # bootstrap samples: for slopes, and for ratios of pairs
LEAST_FOR_INTERVAL = 3  # runs: with two, Student's interval is 12.7 standard errors to each side


# ------------------------------------------------------------------------- means and their spread


def aggregate(values: Sequence[float], over: str) -> float:
    """Return mean, median, min, max, sum or geometric mean of the finite values; NaN of none.

    >>> aggregate([1.0, 2.0, 9.0, float("nan")], "median")
    2.0
    """
    finite = np.array([value for value in values if math.isfinite(value)])
    if not finite.size:
        return NAN
    if over == "geometric":
        return float(np.exp(np.log(finite).mean())) if (finite > 0.0).all() else NAN
    return float(getattr(np, over)(finite))


@final
@dataclass(frozen=True, slots=True)
class Spread:
    """Statistics of `count` values: mean, standard deviation (n - 1) and standard error.

    `low` and `high` are the 0.95 confidence band of the mean by Student's t. Of one value only the
    mean is known, the rest is NaN. `unfit` runs did not fit, and `excluded` is true if they were
    left out.
    """

    count: int
    mean: float = NAN
    sd: float = NAN
    se: float = NAN
    low: float = NAN
    high: float = NAN
    unfit: int = 0
    excluded: bool = False


def spread(values: Sequence[float], unfit: int = 0, excluded: bool = False) -> Spread:
    """Return the statistics of the finite values.

    Parameters
    ----------
    values : sequence of float
        Values; those that are not finite are left out.
    unfit : int
        Number of runs that did not fit, for the result.
    excluded : bool
        True if these are not among the values, for the result.

    Returns
    -------
    Spread

    Examples
    --------
    >>> s = spread([1.0, 2.0, 3.0])
    >>> s.mean, s.sd, round(s.se, 6), round(s.low, 4), round(s.high, 4)
    (2.0, 1.0, 0.57735, -0.4841, 4.4841)
    """
    # Runs without a number are counted by the caller (core.studies.measures), not averaged.
    finite = np.array([value for value in values if math.isfinite(value)])
    mean = aggregate(finite.tolist(), "mean")
    if finite.size < 2:
        return Spread(finite.size, mean, unfit=unfit, excluded=excluded)
    sd = float(finite.std(ddof=1))
    se = sd / math.sqrt(finite.size)
    half = _student(finite.size - 1) * se
    return Spread(finite.size, mean, sd, se, mean - half, mean + half, unfit, excluded)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of the finite values, and the ends of Student's .95 interval.

    The interval is NaN for fewer than three values, the mean for none.

    >>> [round(x, 3) for x in mean_interval([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    """
    stats = spread(values)
    if stats.count < LEAST_FOR_INTERVAL:
        return stats.mean, NAN, NAN
    return stats.mean, stats.low, stats.high


def mean_bar(values: Sequence[float], bar: str, log: bool = False) -> tuple[float, float, float]:
    """Return the mean of the finite values, and the ends of its bar.

    Parameters
    ----------
    values : sequence of float
        Values.
    bar : str
        "sd": one standard deviation each way; "2se": two standard errors; "none".
    log : bool
        True to compute with the logarithms of the positive values.

    Returns
    -------
    mean, low, high : float
        Both ends are the mean for "none" and for a single value.

    Examples
    --------
    >>> mean_bar([1.0, 3.0], "sd")
    (2.0, 0.5857864376269049, 3.414213562373095)
    """
    finite = np.array([value for value in values if math.isfinite(value)])
    stats = spread(np.log(finite[finite > 0.0]).tolist() if log else finite.tolist())
    half = {"sd": stats.sd, "2se": 2.0 * stats.se, "none": 0.0}[bar] if stats.count > 1 else 0.0
    ends = np.array([stats.mean, stats.mean - half, stats.mean + half])
    if log:
        with np.errstate(over="ignore"):
            ends = np.array([np.exp(end) for end in ends])
    mean, low, high = ends.tolist()
    return mean, low, high


def _student(freedom: int) -> float:
    """Return Student's t for the two-sided level; NaN without degrees of freedom."""
    # scipy.special instead of scipy.stats, which takes three times as long to load.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + LEVEL / 2.0)) if freedom > 0 else NAN


def _middle(values: Sequence[float] | Array) -> tuple[float, float]:
    """Return the ends of the middle .95 of resampled values."""
    low, high = np.quantile(values, [0.5 - LEVEL / 2.0, 0.5 + LEVEL / 2.0])
    return float(low), float(high)


def ratio_of_means(first: Array, second: Array) -> tuple[float, float, float]:
    """Return mean of second over mean of first, paired, with its bootstrap interval.

    Both are (k,). The interval is NaN for fewer than three pairs, the ratio for none or a mean of
    0.

    >>> ratio_of_means(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    (0.5, nan, nan)
    """
    if not first.size or not first.mean():
        return NAN, NAN, NAN
    value = float(second.mean() / first.mean())
    if first.size < LEAST_FOR_INTERVAL:
        return value, NAN, NAN
    # Draw pairs together: data sets that are hard at one end are hard at the other.
    resamples = np.random.default_rng(0).integers(first.size, size=(PAIRED_RESAMPLES, first.size))
    below = first[resamples].mean(axis=1)
    if not below.all():
        return value, NAN, NAN
    return value, *_middle(second[resamples].mean(axis=1) / below)


# -------------------------------------------------------------------------- crossings and exponents


def first_below(x: Array, y: Array, level: float) -> float:
    """Return the x at which y first falls to a level.

    Parameters
    ----------
    x, y : array (k,)
        Points with increasing x > 0.
    level : float
        Level of y.

    Returns
    -------
    float
        Linear in ln x between two points; NaN if y never falls to the level, or starts there.

    Examples
    --------
    >>> first_below(np.array([1.0, 2.0, 8.0]), np.array([0.5, 0.2, 0.0]), 0.1)
    4.0
    """
    indices = np.flatnonzero(y <= level)
    # If the first point is below, the crossing is somewhere left of the grid.
    if indices.size == 0 or indices[0] == 0:
        return NAN
    k = int(indices[0])
    # Interpolated in ln x, as grids of n are geometric; rounded, so that a crossing at a point is
    # exact.
    share = (y[k - 1] - level) / (y[k - 1] - y[k])
    return float(round(np.exp(np.log(x[k - 1]) + share * np.log(x[k] / x[k - 1])), 12))


@final
@dataclass(frozen=True, slots=True)
class Slope:
    """Exponent with its 0.95 interval (NaN for none), and the method of the interval."""

    value: float
    low: float = NAN
    high: float = NAN
    note: str = ""


def slope_of(table: Sequence[tuple[float, Mapping[Any, float]]], over: str) -> Slope:
    """Slope of log y on log x; `table` holds y by seed for each x, brought together by `over`.

    The 0.95 interval is the wider of bootstrap over seeds and regression residuals.
    """
    x = np.array([place for place, _ in table])
    y = np.array([aggregate([*by_seed.values()], over) for _, by_seed in table])
    fit = fitted_slope(x, y)
    if fit is None:
        return Slope(NAN, note="fewer than two points")
    value, error = fit
    # The line itself uses two degrees of freedom.
    residual = _student(int(np.isfinite(y).sum()) - 2) * error
    low, high = _bootstrap(x, [np.array([*s.values()]) for _, s in table], over)
    name, interval = "bootstrap over seeds", (low, high)
    if not high - low > 2.0 * residual and math.isfinite(residual):
        name, interval = "regression residuals", (value - residual, value + residual)
    return Slope(value, *interval, f".95 interval from {name}, the wider of two")


def fitted_slope(x: Array, y: Array) -> tuple[float, float] | None:
    """Slope of ln y on ln x by least squares, and its standard error; None for under two points.

    >>> fitted_slope(np.array([1.0, 2.0, 4.0]), np.array([3.0, 12.0, 48.0]))[0]
    2.0
    """
    is_known = np.isfinite(y) & (y > 0.0) & (x > 0.0)
    if np.count_nonzero(is_known) < 2:
        return None
    u, v = np.log(x[is_known]), np.log(y[is_known])
    u = u - u.mean()
    slope = float(u @ v / (u @ u))
    residuals = v - v.mean() - slope * u
    freedom = u.size - 2
    error = (
        math.sqrt(float(residuals @ residuals) / freedom / float(u @ u)) if freedom else math.nan
    )
    # Rounded, so that an exact power gets its exact exponent.
    return round(slope, 12), error


def _bootstrap(x: Array, seeds: Sequence[Array], over: str) -> tuple[float, float]:
    """Return the middle 0.95 of slopes with the seeds of each x resampled, from fixed draws."""
    if max(part.size for part in seeds) < 2:
        return NAN, NAN
    rng = np.random.default_rng(0)
    slopes = []
    for _ in range(RESAMPLES):
        resample = [aggregate([*rng.choice(part, part.size)], over) for part in seeds]
        fit = fitted_slope(x, np.array(resample))
        if fit is not None:
            slopes.append(fit[0])
    return _middle(slopes) if slopes else (NAN, NAN)


# ------------------------------------------------------------------------------------------- groups

SEEDS = ("run.seed", "data.seed", "network.seed")
Key = tuple[tuple[str, Any], ...]


class HasSettings(Protocol):
    """A run of a study."""

    @property
    def seeds(self) -> tuple[Any, ...]:
        """Values of SEEDS, which distinguish repetitions."""

    def setting(self, formula: str) -> Any:
        """Return a setting, the variant, or a formula over d, n, m, k and factors."""


T = TypeVar("T")
R = TypeVar("R", bound=HasSettings)


def group_by(items: Iterable[T], key: Callable[[T], Any]) -> dict[Any, list[T]]:
    """Group items by a key (lists as tuples), in the order in which the keys first occur."""
    groups: dict[Any, list[T]] = {}
    for item in items:
        groups.setdefault(_hashable(key(item)), []).append(item)
    return groups


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def by_setting(runs: Iterable[R], formula: str) -> list[tuple[Any, list[R]]]:
    """Group runs by a setting or formula: numbers sorted, words in their first order."""
    groups = group_by(runs, lambda run: run.setting(formula))
    if all(isinstance(value, int | float) for value in groups):
        # Keys differ, so that sorting never compares the lists of runs.
        return sorted(groups.items())
    return list(groups.items())


def crossings(
    runs: Iterable[R], x: str, along: str, level: float, y: Callable[[R], float]
) -> list[tuple[float, dict[Any, float]]]:
    """Find n*, where y first falls to a level as a setting grows, for every x and seed.

    Parameters
    ----------
    runs : iterable of runs
        Runs of a grid.
    x : str
        Setting or formula of the horizontal axis.
    along : str
        Setting or formula that grows, above 0.
    level : float
        Level of y.
    y : callable
        Number of a run.

    Returns
    -------
    list of (x, n* by seeds)
        Linear in ln `along`; NaN where the grid does not cross the level.
    """
    table = []
    for place, some in by_setting(runs, x):
        by_seed = {}
        for seeds, members in group_by(some, lambda run: run.seeds).items():
            pairs = sorted((float(run.setting(along)), y(run)) for run in members)
            grid, values = np.array(pairs).T
            # One curve per seed: n* of a mean curve is not the mean of n*.
            by_seed[seeds] = first_below(grid, values, level)
        table.append((float(place), by_seed))
    return table


def are_equal(first: Any, second: Any) -> bool:
    """Return True if two settings are the same, numbers to one part in 1e9."""
    if isinstance(first, int | float) and isinstance(second, int | float):
        # Formulas and file names may give the same number with different rounding.
        return math.isclose(first, second, rel_tol=1e-9)
    return value_text(first) == value_text(second)


def matches(run: HasSettings, where: Iterable[tuple[str, Any]]) -> bool:
    """Return True if a run has all of these settings; a tuple allows several values."""
    return all(
        any(are_equal(run.setting(key), value) for value in (v if isinstance(v, tuple) else (v,)))
        for key, v in where
    )


def is_seed(key: str) -> bool:
    """Return True if a setting only distinguishes repetitions."""
    return key.endswith(".seed")


def apart_from_seeds(settings: Mapping[str, Any], axis: str | None = None) -> Key:
    """Return all settings but the seeds; a seed is kept if it is the axis that is shown."""
    return tuple((key, value) for key, value in settings.items() if key == axis or not is_seed(key))


def fits(train_error: float) -> bool | None:
    """Return True if a run ends without training errors; None where that is unknown."""
    return None if math.isnan(train_error) else train_error == 0.0
