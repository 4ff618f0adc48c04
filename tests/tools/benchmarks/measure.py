"""Interleaved timing with medians and ratios, and the lines of the report."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import final

import numpy as np

# Name the files to which lines are added, and curves written, where a page is to be made.
KEPT, CURVES = "MARGINSCOPE_BENCH_LINES", "MARGINSCOPE_BENCH_CURVES"


@final
@dataclass(frozen=True)
class Timing:
    """Median seconds and the spread of one contender."""

    median: float
    least: float
    most: float

    def spread(self, form: str = "{:.2f}", scale: float = 1.0) -> str:
        """Return least and largest, in words."""
        return spread((self.least, self.most), form, scale)


@final
@dataclass(frozen=True, slots=True)
class Line:
    """One figure: name, value, least and largest, comparison, ratio, goal and remarks."""

    name: str
    ours: str = ""
    spread: str = ""
    beside: str = ""
    ratio: str = ""
    asked: str = ""
    words: str = ""


def spread(values: Sequence[float], form: str = "{:.2f}", scale: float = 1.0) -> str:
    """Return least and largest of some values.

    >>> spread([0.25, 0.5, 0.75], "{:.0f}", 100.0)
    '25 to 75'
    """
    return " to ".join(form.format(scale * end) for end in (min(values), max(values)))


def interleaved(contenders: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Timing]:
    """Measure each contender once per round, in turn, after one uncounted round."""
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
    """Return floating-point operations per second of a large matrix product on one core."""
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal((size, size)).astype(dtype) for _ in range(2))
    timing = interleaved({"product": lambda: left @ right}, 7)
    return 2.0 * size**3 / timing["product"].median


def row(
    name: str,
    ours: str,
    beside: str = "",
    ratio: str = "",
    *,
    asked: str = "",
    spread: str = "",
    words: str = "",
) -> None:
    """Print one figure, and store it if a page is to be made."""
    told(
        "".join((f"asked: {asked}" if asked else "", "; " if asked and words else "", words)),
        name,
        ours,
        spread,
        beside,
        ratio,
    )
    _keep(Line(name, ours, spread, beside, ratio, asked, words))


def median_row(
    name: str,
    values: Sequence[float],
    beside: str = "",
    ratio: str = "",
    *,
    digits: int = 2,
    unit: str = "s",
    scale: float = 1.0,
    asked: str = "",
    words: str = "",
) -> None:
    """Print the median of the rounds with their least and largest, like `row`."""
    form = f"{{:.{digits}f}}"
    ours = f"{form.format(scale * statistics.median(values))} {unit}"
    row(name, ours, beside, ratio, asked=asked, spread=spread(values, form, scale), words=words)


def heading(name: str, ours: str = "ours", beside: str = "", ratio: str = "") -> None:
    """Print the column headings of the next lines, which are a separate table on the page."""
    print()
    told("", name, ours, "least to most", beside, ratio)
    _keep(Line(name, "", "", beside, ratio))


def told(last: str, name: str, ours: str, spread: str, beside: str, ratio: str) -> None:
    """Return a line of the report as printed."""
    print(
        f"{name:<48} {ours:>14} {spread:>18} {beside:>18} {ratio:>10}  {last}".rstrip(), flush=True
    )


def _keep(line: Line) -> None:
    if place := os.environ.get(KEPT):
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(line)) + "\n")
