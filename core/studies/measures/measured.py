"""What a measure of a claim returns, and how the numbers of runs are brought together.

No run that has no number is left out in silence: a measure says how many runs it was asked about
and how many it used, and a claim is refuted where more are missing than it allows.
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
from core.studies.statistics import NAN, aggregate, grouped, mean_interval
from core.studies.trials import Trial

Array = NDArray[np.float64]
STATISTICS = ("min", "max", "mean", "median")


@final
@dataclass(frozen=True, slots=True)
class Measured:
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
        """How many runs have no number."""
        return 0 if self.requested is None else max(self.requested - self.count, 0)

    @property
    def used(self) -> str:
        """How many runs it is of: "on 10 runs", "on 9 of 10 runs", "on 7 runs (3 do not fit)"."""
        some = f"{self.count} of {self.requested}" if self.missing else f"{self.count}"
        rest = f" ({self.unfit} do not fit)" if self.unfit else ""
        return f"on {some} run{'s' * (self.count != 1 or self.missing > 0)}{rest}"


def aggregated(values: Sequence[float], over: str, note: str = "") -> Measured:
    """The numbers of runs by `over`; those that are not finite are missing.

    >>> aggregated([1.0, float("nan")], "mean")
    Measured(value=1.0, low=nan, high=nan, count=1, note='', requested=2, unfit=0)
    """
    known = sum(math.isfinite(value) for value in values)
    return Measured(aggregate([*values], over), count=known, note=note, requested=len(values))


def option(quantity: Quantity, name: str) -> Any:
    """One of `options`; InputError where it is missing."""
    if name not in quantity.options:
        raise InputError(f"The measure {quantity.measure} needs options.{name}.")
    return quantity.options[name]


def number(quantity: Quantity, name: str, default: float) -> float:
    """One of `options` that is a number."""
    value = quantity.options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"The measure {quantity.measure}: options.{name} must be a number.")
    return float(value)


def statistic(name: str, key: str) -> str:
    """The name of a statistic given as options.KEY; InputError for others."""
    if name not in STATISTICS:
        raise InputError(f"options.{key} = {name!r}; allowed: {', '.join(STATISTICS)}.")
    return name


def formula_values(trials: Sequence[Trial], quantity: Quantity, formula: str) -> Array:
    """A formula at the moment of the quantity, a number a run; NaN where it is not defined."""
    return np.array([trial.value(formula, quantity.at) for trial in trials], dtype=np.float64)


def with_interval(trials: Sequence[Trial], values: Sequence[float], over: str) -> Measured:
    """As `aggregated`; a mean over runs that differ in their seeds only has Student's interval."""
    result = aggregated(values, over)
    # Student's interval is for repetitions; runs that differ in more than seeds are none.
    alike = len(grouped(trials, lambda trial: trial.apart_from_seeds)) == 1
    if over != "mean" or not alike or result.missing:
        return result
    mean, low, high = mean_interval(values)
    return Measured(mean, low, high, result.count, result.note, result.requested)
