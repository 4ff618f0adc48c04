"""Lines of a sweep's plot: means over an axis, with bars and runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from core.studies.tables import value_text

if TYPE_CHECKING:
    from core.studies.cell_table import Point, TableRow


Floats = NDArray[np.float64]
MOST_LINES = 12
# Ratios of largest to smallest value beyond which an axis is logarithmic.
WIDE_X, WIDE_Y = 8.0, 100.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class SweepLine:
    """Points with equal values of the other axes: x, mean, and the ends of the bars, (k,) each.

    x is a number, or the position of a word in `SweepLines.words`. `hollow`: points with runs that
    did not fit.
    """

    key: tuple[tuple[str, Any], ...]
    points: tuple[Point, ...]
    x: Floats
    mean: Floats
    low: Floats
    high: Floats
    hollow: NDArray[np.bool_]


@final
@dataclass(frozen=True, slots=True, eq=False)
class SweepLines:
    """Lines of a plot; `words`: values of an axis without numbers, empty otherwise."""

    lines: tuple[SweepLine, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def max_runs(self) -> int:
        """Largest number of runs in a mean."""
        return max((len(p.runs) for line in self.lines for p in line.points), default=0)

    @property
    def any_hollow(self) -> bool:
        """True if some runs did not fit."""
        return any(bool(line.hollow.any()) for line in self.lines)

    def spans(self) -> tuple[Floats, Floats]:
        """Return all finite x, and all finite means and ends of bars."""
        empty = np.empty(0)
        x = np.concatenate([empty, *(line.x for line in self.lines)])
        ends = (part for line in self.lines for part in (line.mean, line.low, line.high))
        y = np.concatenate([empty, *ends])
        return x[np.isfinite(x)], y[np.isfinite(y)]


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def lines_of(
    table: Sequence[TableRow],
    paths: Mapping[str, Path],
    axis: str,
    column: str,
    chosen: Mapping[str, Any],
    exclude_unfit: bool,
) -> SweepLines:
    """Return the lines of a column over an axis, for cells with the chosen other values."""
    from core.studies.cell_table import points

    rows = [row for row in table if all(row.axes.get(k) == v for k, v in chosen.items())]
    means = points(rows, paths, axis, column, exclude_unfit)
    words = _words([point.x for point in means], axis.endswith(".seed"))
    groups: dict[str, list[Point]] = {}
    for point in means:
        # By the text: a value may be a list, which cannot be a key of a dictionary.
        groups.setdefault(repr(point.line), []).append(point)
    return SweepLines(tuple(_line(group, words) for group in groups.values()), words)


def _words(values: Sequence[Any], names: bool) -> tuple[str, ...]:
    """Return the words of an axis, each once; none if all values are numbers, unless `names`."""
    if not names and all(is_number(value) for value in values):
        return ()
    return tuple(dict.fromkeys(value_text(value) for value in values))


def _line(group: Sequence[Point], words: Sequence[str]) -> SweepLine:
    def place(point: Point) -> float:
        return float(words.index(value_text(point.x)) if words else point.x)

    order = sorted(group, key=place)
    mean = np.array([point.spread.mean for point in order])
    # A single run has no deviation; its bar has length 0.
    half = np.nan_to_num(np.array([point.spread.sd for point in order]))
    hollow = np.array([point.spread.unfit > 0 for point in order], dtype=np.bool_)
    x = np.array([place(point) for point in order])
    return SweepLine(order[0].line, tuple(order), x, mean, mean - half, mean + half, hollow)


def spans_decades(values: Floats, ratio: float) -> bool:
    """Return True if positive values are spread enough for a logarithmic axis."""
    return (
        values.size > 1
        and float(values.min()) > 0.0
        and float(values.max() / values.min()) >= ratio
    )


def first_choice(axes: Mapping[str, Sequence[Any]], axis: str) -> dict[str, Any]:
    """Choose the first value of the axes with the most values, until few enough lines are left.

    Seeds are left out.

    >>> first_choice({"data.n": [1, 2], "network.m": [1, 2, 3], "data.d": list(range(9))}, "data.n")
    {'data.d': 0}
    """
    # Means are over seeds.
    free_axes = {
        k: v for k, v in axes.items() if k != axis and not k.endswith(".seed") and len(v) > 1
    }
    chosen: dict[str, Any] = {}
    while free_axes and math.prod(len(values) for values in free_axes.values()) > MOST_LINES:
        key = max(free_axes, key=lambda k: len(free_axes[k]))
        chosen[key] = free_axes.pop(key)[0]
    return chosen


def first_axis(axes: Mapping[str, Sequence[Any]]) -> str:
    """Return the initial axis: the numeric one with the most values, seeds last.

    >>> first_axis({"variant": ["a", "b", "c"], "data.n": [1, 2], "run.seed": [1, 2, 3, 4]})
    'data.n'
    """

    def rank(key: str) -> tuple[bool, bool, int]:
        return (not key.endswith(".seed"), all(is_number(v) for v in axes[key]), len(axes[key]))

    return max(axes, key=rank) if axes else ""


def first_column(columns: Sequence[str]) -> str:
    """Return the column that is shown first: the first other than train_error; "" without any.

    >>> first_column(("train_error", "hard_margin"))
    'hard_margin'
    """
    return next((name for name in columns if name != "train_error"), columns[0] if columns else "")
