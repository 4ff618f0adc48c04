"""What a plot of a sweep needs while it runs, as plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from core.studies.cell_table import Spread, TableRow, groups, is_seed, key_of


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
    members: dict[str, list[Member]] = {}
    for row in table:
        if row.row.state == "done":
            seeds = tuple((k, v) for k, v in row.axes.items() if is_seed(k))
            value = row.row.values.get(column, math.nan)
            member = Member(row.name, seeds, value, row.fit, paths[row.name])
            members.setdefault(repr(key_of(row, axis)), []).append(member)
    found = []
    for key, spread in groups(table, column, exclude_unfit, axis).items():
        values = dict(key)
        runs = members.get(repr(key), [])
        if axis in values and runs:
            line = tuple((k, v) for k, v in key if k != axis)
            found.append(Point(values[axis], line, spread, tuple(runs)))
    return found
