"""What a plot of a sweep needs while it runs, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from core.sweep.table import Spread, TableRow, groups


@final
@dataclass(frozen=True, slots=True)
class Point:
    """Runs that differ in nothing but their seed: where they stand on the axis, which line they
    belong to (the values of the other axes), their statistics, and each one's value and run file.
    """

    x: Any
    line: tuple[tuple[str, Any], ...]
    spread: Spread
    runs: tuple[tuple[float, Path], ...]


def points(
    table: Sequence[TableRow], paths: Mapping[str, Path], axis: str, column: str,
    exclude_unfit: bool = False,
) -> list[Point]:  # fmt: skip
    """The points of a column over an axis, in the order of the grid; seeds are what is averaged.

    Cells that lack the axis, or have failed, make no point.
    """
    found = []
    for key, spread in groups(table, column, exclude_unfit).items():
        values = dict(key)
        if axis not in values or spread.count == 0:
            continue
        members = [
            row for row in table
            if row.row.state == "done"
            and {k: v for k, v in row.axes.items() if not k.endswith(".seed")} == values
        ]  # fmt: skip
        line = tuple((k, v) for k, v in key if k != axis)
        runs = tuple((row.row.values.get(column, float("nan")), paths[row.name]) for row in members)
        found.append(Point(values[axis], line, spread, runs))
    return found
