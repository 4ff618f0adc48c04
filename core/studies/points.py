"""What a plot of a sweep needs while it runs, as plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from core.studies.cell_table import TableRow, by_setting, statistics
from core.studies.grouping import is_seed
from core.studies.statistics import Spread


@final
@dataclass(frozen=True, slots=True)
class Member:
    """One run of a point: its name in the grid, its seeds, its value, whether it fits (None where
    that is not known), and its run file.
    """

    name: str
    seeds: tuple[tuple[str, Any], ...]
    value: float
    fit: bool | None
    path: Path


@final
@dataclass(frozen=True, slots=True)
class Point:
    """Runs that differ in nothing but their seed: where they stand on the axis, which line they
    belong to (the values of the other axes), their statistics, and each of them.
    """

    x: Any
    line: tuple[tuple[str, Any], ...]
    spread: Spread
    runs: tuple[Member, ...]


def points(
    table: Sequence[TableRow],
    paths: Mapping[str, Path],
    axis: str,
    column: str,
    exclude_unfit: bool = False,
) -> list[Point]:
    """The points of a column over an axis, in the order of the grid; seeds are what is averaged.

    A seed is an axis too: over it every run is a point of its own. Cells that lack the axis, or
    have failed, make no point.
    """
    result = []
    for key, rows in by_setting(table, axis).items():
        runs = tuple(_member(row, column, paths) for row in rows if row.row.state == "done")
        values = dict(key)
        if axis in values and runs:
            line = tuple((k, v) for k, v in key if k != axis)
            spread = statistics(rows, column, exclude_unfit)
            result.append(Point(values[axis], line, spread, runs))
    return result


def _member(row: TableRow, column: str, paths: Mapping[str, Path]) -> Member:
    seeds = tuple((key, value) for key, value in row.axes.items() if is_seed(key))
    value = row.row.values.get(column, math.nan)
    return Member(row.name, seeds, value, row.fit, paths[row.name])
