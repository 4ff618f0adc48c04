"""Named measures of claims: what is not one number a run. Each is a function and a line below.

A measure takes the trials that `where` keeps and the quantity, whose `options` are its arguments,
and returns a number with, where it has one, an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, did_you_mean
from core.figures.study_values import first_below, fitted_slope
from core.study_claims import Quantity
from core.sweep.l1_path_items import path_of, sample_of
from core.sweep.leaky_items import activation_of, item_of, values
from core.sweep.trials import Trial, grouped

Array = NDArray[np.float64]
RESAMPLES = 1000
NAN = float("nan")


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """A number with its 0.95 interval (NaN where it has none), from how many runs, and a note."""

    value: float
    low: float = NAN
    high: float = NAN
    count: int = 0
    note: str = ""


Measure = Callable[[Sequence[Trial], Quantity], Measured]


def share(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """Share of the runs in which the formula `of` is above `above`, or below `below`."""
    values = _values(trials, quantity, str(_option(quantity, "of")))
    above = float(quantity.options.get("above", -math.inf))
    below = float(quantity.options.get("below", math.inf))
    if not values.size:
        return Measured(NAN)
    return Measured(float(np.mean((values > above) & (values < below))), count=values.size)


def nodes(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """A statistic of each run's nodes, brought together by `over`: `by` is mean, median, min or max
    of the observable `of`, or with `below` the share of nodes under that number.
    """
    name, by = str(_option(quantity, "of")), str(quantity.options.get("by", "mean"))
    below = quantity.options.get("below")
    found = []
    for trial in trials:
        values = trial.nodes(name, quantity.at)
        found.append(
            together([*values], by) if below is None else float(np.mean(values < float(below)))
        )
    return Measured(together(found, quantity.over), count=len(found))


def spearman(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """Spearman's rank correlation over runs of the formula `y` with the setting or formula `x`."""
    from scipy.stats import spearmanr

    y = _values(trials, quantity, str(_option(quantity, "y")))
    x = np.array([float(trial.setting(str(_option(quantity, "x")))) for trial in trials])
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < 3 or np.ptp(x[known]) == 0.0 or np.ptp(y[known]) == 0.0:
        return Measured(NAN, count=int(known.sum()))
    return Measured(float(spearmanr(x[known], y[known]).statistic), count=int(known.sum()))


def slope(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """Slope of log y on log x: y is a formula brought together by `over` at each `x`.

    The interval is the wider of two: bootstrap over seeds, and regression residuals.
    """
    formula, by = str(_option(quantity, "y")), str(_option(quantity, "x"))
    table = [
        (x, {trial.seeds: trial.value(formula, quantity.at) for trial in some})
        for x, some in grouped(trials, by)
    ]
    return slope_of(table, quantity.over)


def crossing_slope(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """Slope of log n* on log x, n* being where y first falls to `level` as `along` grows.

    n* is found for each seed, ln along interpolated, and averaged geometrically over seeds; the
    interval is the wider of bootstrap over seeds and regression residuals (THEORY.md, section 8).
    """
    return slope_of(_crossings(trials, quantity), "geometric")


def crossing(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """n* itself: where y first falls to `level` as `along` grows, geometric mean over seeds."""
    values = [n for _, by_seed in _crossings(trials, quantity) for n in by_seed.values()]
    known = np.array([n for n in values if math.isfinite(n)])
    if not known.size:
        return Measured(NAN)
    return Measured(float(np.exp(np.log(known).mean())), count=known.size)


def _crossings(trials: Sequence[Trial], quantity: Quantity) -> list[tuple[float, dict[Any, float]]]:
    """For every x, n* by seed; NaN where it was not crossed."""
    formula, along = str(_option(quantity, "y")), str(_option(quantity, "along"))
    level = float(quantity.options.get("level", 0.1))
    table = []
    for x, some in grouped(trials, str(_option(quantity, "x"))):
        seeds: dict[Any, list[Trial]] = {}
        for trial in some:
            seeds.setdefault(trial.seeds, []).append(trial)
        found = {}
        for seed, members in seeds.items():
            pairs = sorted(
                (float(t.setting(along)), t.value(formula, quantity.at)) for t in members
            )
            grid, y = np.array(pairs).T
            found[seed] = first_below(grid, y, level)
        table.append((x, found))
    return table


def slope_of(table: Sequence[tuple[float, dict[Any, float]]], over: str) -> Measured:
    """Slope of log y on log x; `table` holds y by seed for each x, brought together by `over`.

    The 0.95 interval is the wider of bootstrap over seeds and regression residuals.
    """
    x = np.array([place for place, _ in table])
    y = np.array([together([*by_seed.values()], over) for _, by_seed in table])
    fit = fitted_slope(x, y)
    count = sum(math.isfinite(v) for _, by_seed in table for v in by_seed.values())
    if fit is None:
        return Measured(NAN, count=count, note="fewer than two points")
    value, error = fit
    residual = _student(int(np.isfinite(y).sum()) - 2) * error
    low, high = _bootstrap(x, [np.array([*s.values()]) for _, s in table], over)
    name, interval = "bootstrap over seeds", (low, high)
    if not high - low > 2.0 * residual and math.isfinite(residual):
        name, interval = "regression residuals", (value - residual, value + residual)
    return Measured(value, *interval, count, f"the wider of two intervals, by {name}")


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


def _values(trials: Sequence[Trial], quantity: Quantity, formula: str) -> Array:
    return np.array([trial.value(formula, quantity.at) for trial in trials], dtype=np.float64)


def _option(quantity: Quantity, name: str) -> Any:
    if name not in quantity.options:
        raise InputError(f"The measure {quantity.measure} needs options.{name}.")
    return quantity.options[name]


def leaky_item(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """The item `item` of frei23's Theorem 3.2 at the end of each run, brought together."""
    found = values(trials, item_of, quantity.options)
    return Measured(together(found, quantity.over), count=len(found))


def activation(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """The property `of` of each run's activation function, brought together."""
    found = values(trials, activation_of, quantity.options)
    return Measured(together(found, quantity.over), count=len(found))


def l1_path(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """The comparison `of` of each run with the l1 problem of wei19, section F.4."""
    found = values(trials, path_of, quantity.options)
    return Measured(together(found, quantity.over), count=len(found))


def sample(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """The property `of` of each run's training examples from D of wei19 (2.1)."""
    found = values(trials, sample_of, quantity.options)
    return Measured(together(found, quantity.over), count=len(found))


MEASURES: MappingProxyType[str, Measure] = MappingProxyType(
    {
        "nodes": nodes, "share": share, "spearman": spearman, "slope": slope,
        "crossing": crossing, "crossing_slope": crossing_slope, "leaky_item": leaky_item,
        "activation": activation, "l1_path": l1_path, "sample": sample,
    }
)  # fmt: skip


def measured(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """A quantity by its named measure, or by its formula over the runs.

    Raises InputError for a name that is neither.
    """
    if quantity.measure in MEASURES:
        return MEASURES[quantity.measure](trials, quantity)
    try:
        values = _values(trials, quantity, quantity.measure)
    except InputError as error:
        hint = did_you_mean(quantity.measure, MEASURES)
        raise InputError(f"{error} As a named measure: {hint}") from error
    known = values[np.isfinite(values)]
    return Measured(together([*values], quantity.over), count=known.size)
