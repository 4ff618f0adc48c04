"""Interleaved timing: every contender once a round, medians and ratios over the rounds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np


@final
@dataclass(frozen=True)
class Timing:
    """Median seconds and the spread of one contender."""

    median: float
    least: float
    most: float


def interleaved(contenders: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Timing]:
    """Each contender once a round, in turn, after one uncounted round."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(rounds + 1):
        for name, contender in contenders.items():
            begun = time.perf_counter()
            contender()
            if turn:
                seconds[name].append(time.perf_counter() - begun)
    return {
        name: Timing(statistics.median(values), min(values), max(values))
        for name, values in seconds.items()
    }


def matrix_rate(dtype: type, size: int = 1024) -> float:
    """Floating-point operations a second of a large matrix product on one core (median of 7)."""
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal((size, size)).astype(dtype) for _ in range(2))
    timing = interleaved({"product": lambda: left @ right}, 7)
    return 2.0 * size**3 / timing["product"].median


def row(name: str, ours: str, theirs: str = "", ratio: str = "", asked: str = "") -> None:
    """One line of the report."""
    print(f"{name:<44} {ours:>14} {theirs:>14} {ratio:>10}  {asked}")
