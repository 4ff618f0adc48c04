"""Two values of a setting compared on the same seeds, so that which runs fit does not decide.

Where only easy data sets are fitted at a small width, the mean over the runs that fit is that of
easy data there and of all data at a large width (wei19, section F.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.figures.study_values import same
from core.sweep.trials import Trial


def fitted_pairs(
    trials: Sequence[Trial], formula: str, setting: str, ends: Sequence[Any], at: float | None
) -> tuple[list[float], list[float]]:
    """The formula at the two `ends` of a setting, for every seed whose runs fit at both."""
    found: list[dict[Any, float]] = []
    for end in ends:
        some = [trial for trial in trials if same(trial.setting(setting), end) and trial.fit]
        found.append({trial.seeds: trial.value(formula, at) for trial in some})
    first, second = found
    both = [seed for seed in first if seed in second]
    return [first[seed] for seed in both], [second[seed] for seed in both]


def ratio_of_means(pairs: tuple[Sequence[float], Sequence[float]]) -> float:
    """Mean of the second by mean of the first; NaN of none.

    >>> ratio_of_means(([2.0, 4.0], [1.0, 2.0]))
    0.5
    """
    first, second = pairs
    if not first or not np.mean(first):
        return float("nan")
    return float(np.mean(second) / np.mean(first))
