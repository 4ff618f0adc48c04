"""Table of a sweep: a row a cell, statistics of groups, files of both, and points of a plot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.files import write_whole
from core.observables.table_formats import csv_bytes, npz_bytes, parquet_bytes, require_pyarrow
from core.studies.statistics import Key, Spread, apart_from_seeds, fits, group_by, is_seed, spread
from core.studies.study import Study
from core.studies.tables import value_text

# --------------------------------------------------------------------------------------------- rows

State = Literal["done", "failed", "cancelled"]
# Values of runs by observable, by the names of their cells.
Known = Mapping[str, Mapping[str, float]]


@final
@dataclass(frozen=True, slots=True)
class Row:
    """Result of a cell in a sweep's table.

    "done" is a finished run file, also of a run that diverged. `reason` is why the run ended, or
    why there is no file. `values` are the columns at the last frame, NaN where undefined. `moments`
    are the other values that the study's figure and claims need, by the names of
    core.studies.moments. `worker` is the process that recorded the run.
    """

    name: str
    state: State
    reason: str
    seconds: float = 0.0
    engine: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    bytes: int = 0
    worker: str = ""
    moments: Mapping[str, float] = field(default_factory=dict)

    @property
    def all_values(self) -> dict[str, float]:
        """All values that are known of the run, by name."""
        return {**self.values, **self.moments}


def known_values(rows: Mapping[str, Row], paths: Mapping[str, Path]) -> Known:
    """Return the values that rows have of finished runs: cell -> name -> value.

    A file whose length differs from that in its row is left out.
    """
    by_cell: dict[str, Mapping[str, float]] = {}
    for name, row in rows.items():
        with suppress(OSError):
            if row.state == "done" and paths[name].stat().st_size == row.bytes:
                by_cell[name] = row.all_values
    return by_cell


# ------------------------------------------------------------------------------------------- tables

SPREAD = ("count", "mean", "sd", "se", "low", "high")


@final
@dataclass(frozen=True, slots=True)
class TableRow:
    """A cell with the values of its axes and its result.

    `fit` is train_error == 0 at the end, None where unknown.
    """

    name: str
    axes: Mapping[str, Any]
    row: Row

    @property
    def fit(self) -> bool | None:
        """True without training errors, False with some, None if unknown."""
        return fits(self.row.values.get("train_error", math.nan))

    def flat(self) -> dict[str, Any]:
        """Return the columns of the row, in the order of the table."""
        row = self.row
        outcome = {
            "state": row.state,
            "reason": row.reason,
            "fit": self.fit,
            "seconds": row.seconds,
            "engine": row.engine,
            "bytes": row.bytes,
        }
        return {**self.axes, **outcome, **row.values}


def rows_of(study: Study, rows: Mapping[str, Row]) -> list[TableRow]:
    """Return a row for each cell of the study that has ended, in the order of the grid."""
    return [
        TableRow(cell.name, dict(cell.values), rows[cell.name])
        for cell in study.cells()
        if cell.name in rows
    ]


def by_setting(table: Sequence[TableRow], axis: str | None = None) -> dict[Key, list[TableRow]]:
    """Group rows by the values of all axes but seeds; a seed counts if it is `axis`."""
    return group_by(table, lambda row: apart_from_seeds(row.axes, axis))


def statistics(rows: Sequence[TableRow], column: str, exclude_unfit: bool) -> Spread:
    """Return statistics of a column over the repetitions of a setting.

    Parameters
    ----------
    rows : sequence of TableRow
        Repetitions; cells that failed are left out.
    column : str
        Name of the column.
    exclude_unfit : bool
        True to leave out runs with training errors, which are counted in both cases.

    Returns
    -------
    Spread
    """
    complete_rows = [row for row in rows if row.row.state == "done"]
    fit_rows = [row for row in complete_rows if not (exclude_unfit and row.fit is False)]
    values = [row.row.values.get(column, math.nan) for row in fit_rows]
    return spread(values, sum(row.fit is False for row in complete_rows), exclude_unfit)


def write_table(table: Sequence[TableRow], path: Path) -> None:
    """Write a row a cell as CSV, NPZ (an array a column), or Parquet where pyarrow is installed.

    Raises InputError for another ending, or for Parquet without pyarrow.
    """
    _write(_columns([row.flat() for row in table]), path)


def write_means(study: Study, table: Sequence[TableRow], path: Path) -> None:
    """Write a row for each setting, with statistics over its seeds.

    Parameters
    ----------
    study : Study
        Its `[sweep]` table has the columns.
    table : sequence of TableRow
        Rows of the cells.
    path : Path
        File as of `write_table`.

    Raises
    ------
    InputError
        As of `write_table`.
    """
    _write(_columns(means(table, study.sweep.columns, study.sweep.exclude_unfit)), path)


def means(
    table: Sequence[TableRow], columns: Sequence[str], exclude_unfit: bool
) -> list[dict[str, Any]]:
    """Return statistics over seeds for each setting, in the order of the grid.

    Parameters
    ----------
    table : sequence of TableRow
        Rows of the cells.
    columns : sequence of str
        Names of columns.
    exclude_unfit : bool
        True to leave out runs with training errors.

    Returns
    -------
    list of dict
        Values of the axes, numbers of runs that are done and that did not fit, and NAME_count,
        _mean, _sd, _se, _low and _high of each column as of `Spread`.
    """
    means = []
    for key, rows in by_setting(table).items():
        fit = [row.fit for row in rows if row.row.state == "done"]
        mean: dict[str, Any] = {**dict(key), "runs": len(fit), "unfit": fit.count(False)}
        for column in columns:
            result = statistics(rows, column, exclude_unfit)
            mean |= {f"{column}_{name}": getattr(result, name) for name in SPREAD}
        means.append(mean)
    return means


def write_rows(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write rows of columns by name, as `write_table`."""
    _write(_columns(rows), path)


def _write(columns: dict[str, list[Any]], path: Path) -> None:
    """Write columns as CSV, NPZ or Parquet, by the suffix. Raises InputError for others."""
    check_table(path)
    if path.suffix == ".npz":
        write_whole(path, npz_bytes({name: _array(values) for name, values in columns.items()}))
        return
    cells = {name: [_cell(value) for value in values] for name, values in columns.items()}
    if path.suffix == ".csv":
        write_whole(path, csv_bytes(cells, zip(*cells.values(), strict=True)))
    else:
        write_whole(path, parquet_bytes(cells))


def check_table(path: Path) -> None:
    """Raise InputError for a table that could not be written, before anything is run."""
    if path.suffix not in (".csv", ".npz", ".parquet"):
        raise InputError(
            "write a name that ends in .csv, .npz or .parquet.", where=path, option="--table"
        )
    if path.suffix == ".parquet":
        require_pyarrow()


def _columns(flat: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the columns of all rows by name, with None where a row lacks the value."""
    # Over all rows: the row of a failed cell lacks values.
    names = list(dict.fromkeys(name for row in flat for name in row))
    return {name: [row.get(name) for row in flat] for name in names}


def _cell(value: Any) -> Any:
    """Return lists as text, other values unchanged."""
    return value_text(value) if isinstance(value, list | tuple) else value


def _array(values: Sequence[Any]) -> NDArray[Any]:
    """Return an array of numbers, or of texts, with "" for None."""
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return np.array(values)
    return np.array(["" if v is None else str(_cell(v)) for v in values])


@final
@dataclass(frozen=True, slots=True)
class Member:
    """One run of a point: name in the grid, seeds, value and run file.

    `fit` is None where it is not known whether the run fits.
    """

    name: str
    seeds: tuple[tuple[str, Any], ...]
    value: float
    fit: bool | None
    path: Path


@final
@dataclass(frozen=True, slots=True)
class Point:
    """Runs that differ only in their seed, at `x` on the axis.

    `line` has the values of the other axes.
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
    """Return the points of a column over an axis, in the order of the grid.

    Values are averaged over seeds. If a seed is the axis, each run is a point.

    Parameters
    ----------
    table : sequence of TableRow
        Rows of the cells; failed ones, and those without the axis, make no point.
    paths : mapping of str to Path
        Run files by the names of the cells.
    axis : str
        Dotted key of the axis.
    column : str
        Name of the column.
    exclude_unfit : bool
        True to leave out runs with training errors.

    Returns
    -------
    list of Point
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
