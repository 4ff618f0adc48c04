"""Measures about the edge of stability: who reaches it, and how a risk goes up and down there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import InputError
from core.studies.claims import Quantity
from core.studies.grouping import grouped
from core.studies.measures.measured import Measured, aggregated, number, option
from core.studies.statistics import NAN
from core.studies.trials import Trial

REACHED = 0.999  # of eta S/2
QUANTITY = "stability"


def edge(trials: Sequence[Trial], quantity: Quantity) -> Measured:
    """Which runs reach the edge of stability, by where S ends with the smallest step.

    S_end is the last sharpness of the run, of the same seeds, with the smallest value of the
    setting `along`, the step size eta. Without `by`: the share of the other runs in which max eta
    S/2 >= .999 if and only if eta > 2/S_end, without those with eta within the share `apart` of
    2/S_end. With `by` = "difference": the largest | eta S/2 - min(1, eta S_end/2) | of their ends.
    """
    along, by = str(option(quantity, "along")), quantity.options.get("by", "share")
    if by not in ("share", "difference"):
        raise InputError("The measure edge: by is share or difference.")
    found: list[float] = []
    for some in grouped(trials, lambda trial: trial.seeds).values():
        ordered = sorted(some, key=lambda trial: float(trial.setting(along)))
        q = float(ordered[0].trace(QUANTITY)[-1]) / float(ordered[0].setting(along))  # S_end/2
        for trial in ordered[1:]:
            expected, values = q * float(trial.setting(along)), trial.trace(QUANTITY)
            if by == "difference":
                found.append(abs(float(values[-1]) - min(1.0, expected)))
            elif abs(expected - 1.0) > number(quantity, "apart", 0.0):
                reached = bool(np.fmax.reduce(values) >= REACHED)
                found.append(float(reached == (expected > 1.0)))
    return aggregated(found or [NAN], "max" if by == "difference" else "mean")


def share_of_rises(values: np.ndarray) -> float:
    """The share of the intervals between frames in which a value rises; NaN for under two.

    >>> share_of_rises(np.array([3.0, 1.0, 2.0, 1.0, 1.5]))
    0.5
    """
    return float(np.mean(np.diff(values) > 0.0)) if values.size > 1 else NAN
