"""Named measures of claims that are more than one number a run: a function and a line each.

A measure takes the trials that `where` keeps and the quantity, whose `options` are its arguments,
and returns a number with, where it has one, an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, final

import numpy as np

from core.errors import InputError, did_you_mean
from core.studies.claims import Quantity
from core.studies.measures.frame_measures import fall, measure_first_passage, rises, span, statement
from core.studies.measures.measurement import (
    Array,
    Measurement,
    aggregate_values,
    compare_pairs,
    edge,
    formula_values,
    option,
    with_interval,
)
from core.studies.measures.run_measures import ACTIVATION, LEAKY, PATH, SAMPLE, measure_of
from core.studies.statistics import NAN, aggregate, by_setting, crossings, slope_of
from core.studies.trials import Trial

CURVES = "one n* per curve, of one x and one seed"


@final
class Measure(NamedTuple):
    """Function that measures a quantity on its trials, and the options that it takes."""

    of: Callable[[Sequence[Trial], Quantity], Measurement]
    options: tuple[str, ...]


def share(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Return the share of runs whose formula `of` is above `above` and below `below`.

    Each bound is optional. Runs without a number are left out; NaN if none has one.
    """
    values = formula_values(trials, quantity, str(option(quantity, "of")))
    above = float(quantity.options.get("above", -math.inf))
    below = float(quantity.options.get("below", math.inf))
    finite = values[np.isfinite(values)]
    if not finite.size:
        return Measurement(NAN, requested=values.size)
    part = float(np.mean((finite > above) & (finite < below)))
    return Measurement(part, count=finite.size, requested=values.size)


def nodes(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Return a statistic of each run's neurons, brought together by `over`.

    `by` is mean, median, min or max of the observable `of`; with `below` it is the share of neurons
    under that number.
    """
    name, by = str(option(quantity, "of")), str(quantity.options.get("by", "mean"))
    below = quantity.options.get("below")
    numbers = []
    for trial in trials:
        values = trial.nodes(name, quantity.at)
        numbers.append(
            aggregate([*values], by) if below is None else float(np.mean(values < float(below)))
        )
    return aggregate_values(numbers, quantity.over)


def node_ranks(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Return Spearman's rank correlation of the observables `of` and `with` over neurons.

    Each is an observable of neurons. Runs are brought together by `over`.
    """
    names = [str(option(quantity, name)) for name in ("of", "with")]
    pairs = [[trial.nodes(name, quantity.at) for name in names] for trial in trials]
    return aggregate_values([rank_correlation(x, y) for x, y in pairs], quantity.over)


def rank_correlation(x: Array, y: Array) -> float:
    """Spearman's rank correlation where both are finite; NaN for under three, or equal ones.

    >>> rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([9.0, 5.0, 1.0]))
    -1.0
    """
    from scipy.stats import spearmanr

    is_known = np.isfinite(x) & np.isfinite(y)
    # Two ranks always agree or disagree; for equal values SciPy warns.
    if is_known.sum() < 3 or np.ptp(x[is_known]) == 0.0 or np.ptp(y[is_known]) == 0.0:
        return NAN
    # Rounded, so that equal orders give exactly 1.
    return round(float(spearmanr(x[is_known], y[is_known]).statistic), 12)


def spearman(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Spearman's rank correlation over runs of the formula `y` with the setting or formula `x`."""
    y = formula_values(trials, quantity, str(option(quantity, "y")))
    x = np.array([float(trial.setting(str(option(quantity, "x")))) for trial in trials])
    count = int((np.isfinite(x) & np.isfinite(y)).sum())
    return Measurement(rank_correlation(x, y), count=count, requested=x.size)


def slope(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Slope of log y on log x: y is a formula brought together by `over` at each `x`.

    The interval is the wider of two: bootstrap over seeds, and regression residuals.
    """
    formula, by = str(option(quantity, "y")), str(option(quantity, "x"))
    table = [
        (float(x), {trial.seeds: trial.value(formula, quantity.at) for trial in some})
        for x, some in by_setting(trials, by)
    ]
    return _slope(table, quantity.over)


def crossing_slope(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Slope of log n* on log x, n* being where y first falls to `level` as `along` grows.

    n* is found for each seed, ln along interpolated, and averaged geometrically over seeds; the
    interval is the wider of bootstrap over seeds and regression residuals. A curve (one x, one
    seed) that does not cross the level on its grid counts as a missing run.
    """
    return _slope(_crossings(trials, quantity), "geometric", CURVES)


def crossing(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Return n*, where y first falls to `level` as `along` grows, geometric mean over seeds."""
    values = [n for _, by_seed in _crossings(trials, quantity) for n in by_seed.values()]
    return aggregate_values(values, "geometric", CURVES if any(map(math.isfinite, values)) else "")


def _crossings(trials: Sequence[Trial], quantity: Quantity) -> list[tuple[float, dict[Any, float]]]:
    """Return n* by seed for every x; NaN where the level was not crossed."""
    formula = str(option(quantity, "y"))
    x, axis = str(option(quantity, "x")), str(option(quantity, "along"))
    level = float(quantity.options.get("level", 0.1))
    return crossings(trials, x, axis, level, lambda trial: trial.value(formula, quantity.at))


def _slope(
    table: Sequence[tuple[float, dict[Any, float]]], over: str, note: str = ""
) -> Measurement:
    """Return the slope of a table with its interval, and the number of finite values in it."""
    fit = slope_of(table, over)
    every = [value for _, by_seed in table for value in by_seed.values()]
    count = sum(math.isfinite(value) for value in every)
    words = "; ".join(filter(None, (fit.note, note)))
    return Measurement(fit.value, fit.low, fit.high, count, words, len(every))


FRAMES = ("of", "since", "until", "after", "nodes")
MEASURES: MappingProxyType[str, Measure] = MappingProxyType(
    {
        "nodes": Measure(nodes, ("of", "by", "below")),
        "node_ranks": Measure(node_ranks, ("of", "with")),
        "share": Measure(share, ("of", "above", "below")),
        "spearman": Measure(spearman, ("y", "x")),
        "slope": Measure(slope, ("y", "x")),
        "crossing": Measure(crossing, ("y", "x", "along", "level")),
        "crossing_slope": Measure(crossing_slope, ("y", "x", "along", "level")),
        "leaky_item": Measure(measure_of(LEAKY, "item"), ("item",)),
        "activation": Measure(measure_of(ACTIVATION, "of"), ("of",)),
        "l1_path": Measure(measure_of(PATH, "of"), ("of",)),
        "sample": Measure(measure_of(SAMPLE, "of"), ("of",)),
        "paired": Measure(compare_pairs, ("y", "along", "ends", "by", "fit", "nodes")),
        "span": Measure(span, (*FRAMES, "by")),
        "fall": Measure(fall, (*FRAMES, "room")),
        "when": Measure(measure_first_passage, (*FRAMES, "level", "x")),
        "rises": Measure(rises, FRAMES),
        "edge": Measure(edge, ("along", "apart", "by")),
        "statement": Measure(statement, ("name",)),
    }
)


def measure(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Measure a quantity by its named measure, or by its formula over the runs.

    Raises InputError for a name that is neither, and for an option that the measure does not have:
    a claim with a misspelt one would say less than it seems to.
    """
    measure = MEASURES.get(quantity.measure)
    if measure is not None:
        for name in quantity.options:
            if name not in measure.options:
                hint = did_you_mean(name, measure.options)
                raise InputError(f"The measure {quantity.measure} has no option {name}; {hint}")
        return measure.of(trials, quantity)
    try:
        values = formula_values(trials, quantity, quantity.measure)
    except InputError as error:
        hint = did_you_mean(quantity.measure, MEASURES)
        raise InputError(f"{error} As a named measure: {hint}") from error
    return with_interval(trials, [*values], quantity.over)
