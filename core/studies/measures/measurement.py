"""Results of measures, and statistics that bring the numbers of runs together.

No run without a number is left out silently: a measure says how many runs it is about and how many
it used, and a claim is refuted where more are missing than it allows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.studies.claims import Quantity
from core.studies.statistics import (
    NAN,
    aggregate,
    are_equal,
    group_by,
    mean_interval,
    ratio_of_means,
)
from core.studies.trials import Trial

Array = NDArray[np.float64]
STATISTICS = ("min", "max", "mean", "median")


@final
@dataclass(frozen=True, slots=True)
class Measurement:
    """A number with its .95 interval (NaN where it has none), and a note.

    `count` runs were used of the `requested` ones that the quantity is about (None: all of them);
    `unfit` more were left out because they do not fit, as the claim says.
    """

    value: float
    low: float = NAN
    high: float = NAN
    count: int = 0
    note: str = ""
    requested: int | None = None
    unfit: int = 0

    @property
    def missing(self) -> int:
        """Number of runs without a number."""
        return 0 if self.requested is None else max(self.requested - self.count, 0)

    @property
    def sample_text(self) -> str:
        """Number of runs in words, such as "over 9 of 10 runs, without 3 that do not fit"."""
        some = f"{self.count} of {self.requested}" if self.missing else f"{self.count}"
        fit = "does" if self.unfit == 1 else "do"
        unfit = f", without {self.unfit} that {fit} not fit" if self.unfit else ""
        return f"over {some} run{'s' * (self.count != 1 or self.missing > 0)}{unfit}"


def aggregate_values(values: Sequence[float], over: str, note: str = "") -> Measurement:
    """Bring the numbers of runs together; numbers that are not finite are missing.

    Parameters
    ----------
    values : sequence of float
        A number for each run.
    over : str
        Statistic, as of `core.studies.statistics.aggregate`.
    note : str
        Note of the result.

    Returns
    -------
    Measurement
        Without an interval.

    Examples
    --------
    >>> aggregate_values([1.0, float("nan")], "mean")
    Measurement(value=1.0, low=nan, high=nan, count=1, note='', requested=2, unfit=0)
    """
    n_finite = sum(math.isfinite(value) for value in values)
    return Measurement(aggregate([*values], over), count=n_finite, note=note, requested=len(values))


def option(quantity: Quantity, name: str) -> Any:
    """Return one of `options`. Raises InputError where it is missing."""
    if name not in quantity.options:
        raise InputError(f"The measure {quantity.measure} needs options.{name}.")
    return quantity.options[name]


def number(quantity: Quantity, name: str, default: float) -> float:
    """Return one of `options` that is a number.

    Parameters
    ----------
    quantity : Quantity
        Has the options.
    name : str
        Name of the option.
    default : float
        Value where the option is missing.

    Returns
    -------
    float

    Raises
    ------
    InputError
        The option is no number.
    """
    value = quantity.options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"The measure {quantity.measure}: options.{name} must be a number.")
    return float(value)


def statistic(name: str, key: str) -> str:
    """Return the name of a statistic given as options.KEY. Raises InputError for others."""
    if name not in STATISTICS:
        raise InputError(f"options.{key} = {name!r}; allowed: {', '.join(STATISTICS)}.")
    return name


def formula_values(trials: Sequence[Trial], quantity: Quantity, formula: str) -> Array:
    """Evaluate a formula on each run, at the moment of the quantity.

    Parameters
    ----------
    trials : sequence of Trial
        Runs.
    quantity : Quantity
        `at` is its moment.
    formula : str
        Formula over scalar observables.

    Returns
    -------
    array (runs,)
        NaN where the formula is not defined.
    """
    return np.array([trial.value(formula, quantity.at) for trial in trials], dtype=np.float64)


def with_interval(trials: Sequence[Trial], values: Sequence[float], over: str) -> Measurement:
    """Bring the numbers of runs together, a mean over seeds with Student's interval.

    Parameters
    ----------
    trials : sequence of Trial
        Runs.
    values : sequence of float
        A number for each run.
    over : str
        Statistic; only "mean" has an interval.

    Returns
    -------
    Measurement
        Interval NaN where runs differ in more than seeds, or numbers are missing.
    """
    result = aggregate_values(values, over)
    # Student's interval is for repetitions: runs that differ in seeds only.
    alike = len(group_by(trials, lambda trial: trial.apart_from_seeds)) == 1
    if over != "mean" or not alike or result.missing:
        return result
    mean, low, high = mean_interval(values)
    return Measurement(mean, low, high, result.count, result.note, result.requested)


# ------------------------------------------------------------------ runs compared on the same seeds
# Removes a selection effect: if a small width fits only easy data sets, the mean over fitting runs
# is over easy data there, but over all data at a large width (wei19, section F.2).

WAYS = ("ratio", "difference", "share")


def compare_pairs(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Compare the formula `y` at the two `ends` of the setting `along`, seed by seed.

    With `nodes` (min, max, mean, median) `y` is an observable of each neuron, reduced by that
    statistic. Seeds count that have a run at both ends; with `fit` (true by default) only those
    whose runs fit at both. `by` is "ratio" (mean of the second over mean of the first, .95 interval
    by bootstrap over the seeds), "difference" (mean of second minus first, Student's interval), or
    "share" (of the seeds at which the second is larger).
    """
    setting = str(option(quantity, "along"))
    ends, by = list(option(quantity, "ends")), str(quantity.options.get("by", "ratio"))
    fit = quantity.options.get("fit", True)
    if len(ends) != 2:
        raise InputError("The measure paired needs two values in options.ends.")
    if by not in WAYS or not isinstance(fit, bool):
        raise InputError(f"The measure paired: by is one of {', '.join(WAYS)}, fit true or false.")
    first, second, seeds = pairs(trials, quantity, setting, ends, fit)
    if not first.size:
        return Measurement(NAN, requested=seeds, note="no seed has a run that fits at both ends")
    note = "over seeds that fit at both ends" if fit else "compared seed by seed"
    is_known = np.isfinite(first) & np.isfinite(second)
    estimate = _COMPARED[by](first[is_known], second[is_known])
    unfit = seeds - first.size
    return Measurement(
        *estimate, count=int(is_known.sum()), note=note, requested=first.size, unfit=unfit
    )


def pairs(
    trials: Sequence[Trial], quantity: Quantity, setting: str, ends: Sequence[Any], fit: bool
) -> tuple[Array, Array, int]:
    """Evaluate the formula at both ends of a setting, seed by seed.

    Parameters
    ----------
    trials : sequence of Trial
        Runs.
    quantity : Quantity
        Options `y` and `nodes`.
    setting : str
        Setting that differs between the ends.
    ends : sequence of two values
        Values of the setting.
    fit : bool
        True for the seeds alone whose runs fit at both ends.

    Returns
    -------
    first, second : array (k,)
        Values at both ends.
    seeds : int
        Number of seeds with a run at both ends.

    Raises
    ------
    InputError
        Two runs of one seed at an end: `where` then leaves too many.
    """
    by_end: list[dict[Any, Trial]] = []
    for end in ends:
        by_seed: dict[Any, Trial] = {}
        for trial in trials:
            if are_equal(trial.setting(setting), end):
                if trial.seeds in by_seed:
                    raise InputError(
                        f"The measure paired finds two runs of one seed at {setting} = {end}; "
                        "select one of them with where."
                    )
                by_seed[trial.seeds] = trial
        by_end.append(by_seed)
    # Data sets that only the small width fits are the easy ones: a seed counts at both ends or at
    # neither (wei19, section F.2).
    paired_seeds = [seed for seed in by_end[0] if seed in by_end[1]]
    seeds = [seed for seed in paired_seeds if not fit or all(side[seed].fit for side in by_end)]
    first, second = (
        np.array([_value(side[seed], quantity) for seed in seeds], dtype=np.float64)
        for side in by_end
    )
    return first, second, len(paired_seeds)


def _value(trial: Trial, quantity: Quantity) -> float:
    name, by = str(option(quantity, "y")), quantity.options.get("nodes")
    if by is None:
        return trial.value(name, quantity.at)
    return aggregate([*trial.nodes(name, quantity.at)], statistic(str(by), "nodes"))


def _difference(first: Array, second: Array) -> tuple[float, float, float]:
    """Return the mean paired difference, with its interval."""
    return mean_interval((second - first).tolist())


def _share(first: Array, second: Array) -> tuple[float, float, float]:
    """Return the share of seeds with a larger second value, and NaN for its interval."""
    return float((second > first).mean()) if first.size else NAN, NAN, NAN


_COMPARED = {"ratio": ratio_of_means, "difference": _difference, "share": _share}


REACHED = 0.999
QUANTITY = "stability"


def edge(trials: Sequence[Trial], quantity: Quantity) -> Measurement:
    """Measure which runs reach the edge of stability, from S at the end of the smallest step.

    S_end is the last sharpness of the run, of the same seeds, with the smallest value of the
    setting `x`, the step size eta. Without `by`: the share of the other runs in which max eta
    S/2 >= .999 if and only if eta > 2/S_end, without those with eta within the share `apart` of
    2/S_end. With `by` = "difference": the largest | eta S/2 - min(1, eta S_end/2) | of their ends.
    """
    x, by = str(option(quantity, "along")), quantity.options.get("by", "share")
    if by not in ("share", "difference"):
        raise InputError("The measure edge: by is share or difference.")
    deviations: list[float] = []
    for some in group_by(trials, lambda trial: trial.seeds).values():
        ordered = sorted(some, key=lambda trial: float(trial.setting(x)))
        q = float(ordered[0].trace(QUANTITY)[-1]) / float(ordered[0].setting(x))
        for trial in ordered[1:]:
            expected, values = q * float(trial.setting(x)), trial.trace(QUANTITY)
            if by == "difference":
                deviations.append(abs(float(values[-1]) - min(1.0, expected)))
            elif abs(expected - 1.0) > number(quantity, "apart", 0.0):
                reached = bool(np.fmax.reduce(values) >= REACHED)
                deviations.append(float(reached == (expected > 1.0)))
    return aggregate_values(deviations or [NAN], "max" if by == "difference" else "mean")


def share_of_rises(values: np.ndarray) -> float:
    """Return the share of intervals between frames in which a value rises; NaN for under two.

    >>> share_of_rises(np.array([3.0, 1.0, 2.0, 1.0, 1.5]))
    0.5
    """
    return float(np.mean(np.diff(values) > 0.0)) if values.size > 1 else NAN
