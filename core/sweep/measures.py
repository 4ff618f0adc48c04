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
from core.figures.study_slopes import first_below, slope_of, together
from core.study_claims import Quantity
from core.sweep.l1_path_items import path_of, sample_of
from core.sweep.leaky_items import activation_of, item_of, values
from core.sweep.paired import fitted_pairs, ratio_of_means
from core.sweep.trials import Trial, grouped

Array = NDArray[np.float64]
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
    return _slope(table, quantity.over)


def crossing_slope(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """Slope of log n* on log x, n* being where y first falls to `level` as `along` grows.

    n* is found for each seed, ln along interpolated, and averaged geometrically over seeds; the
    interval is the wider of bootstrap over seeds and regression residuals (THEORY.md, section 8).
    """
    return _slope(_crossings(trials, quantity), "geometric")


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


def _slope(table: Sequence[tuple[float, dict[Any, float]]], over: str) -> Measured:
    found = slope_of(table, over)
    count = sum(math.isfinite(v) for _, by_seed in table for v in by_seed.values())
    return Measured(found.value, found.low, found.high, count, found.note)


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


def paired(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """The mean of the formula `y` at the second of `ends` of the setting `along`, by that at the
    first, over the seeds whose runs fit at both.
    """
    formula, setting = str(_option(quantity, "y")), str(_option(quantity, "along"))
    ends = list(_option(quantity, "ends"))
    if len(ends) != 2:
        raise InputError("The measure paired needs two values in options.ends.")
    pairs = fitted_pairs(trials, formula, setting, ends, quantity.at)
    return Measured(ratio_of_means(pairs), count=len(pairs[0]), note="on seeds that fit at both")


MEASURES: MappingProxyType[str, Measure] = MappingProxyType(
    {
        "nodes": nodes, "share": share, "spearman": spearman, "slope": slope,
        "crossing": crossing, "crossing_slope": crossing_slope, "leaky_item": leaky_item,
        "activation": activation, "l1_path": l1_path, "sample": sample,
        "paired": paired,
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
