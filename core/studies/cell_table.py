"""The table of a sweep: a row a cell, statistics of groups, and files of both."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.files import write_whole
from core.studies.row import Row
from core.studies.study import Study
from core.studies.tables import value_text

SEED = "run.seed"
FIXED = ("state", "reason", "fit", "seconds", "engine", "bytes")
SPREAD = ("count", "mean", "sd", "se", "low", "high")
LEVEL = 0.95  # of the confidence bands


@final
@dataclass(frozen=True, slots=True)
class TableRow:
    """A cell: the values of its axes, and what came of it; `fit` is train_error == 0 at the end,
    None where that is not known.
    """

    name: str
    axes: Mapping[str, Any]
    row: Row

    @property
    def fit(self) -> bool | None:
        error = self.row.values.get("train_error", math.nan)
        return None if math.isnan(error) else error == 0.0

    def flat(self) -> dict[str, Any]:
        """Column by column, in the order of the table."""
        row = self.row
        told = {
            "state": row.state,
            "reason": row.reason,
            "fit": self.fit,
            "seconds": row.seconds,
            "engine": row.engine,
            "bytes": row.bytes,
        }
        return {**self.axes, **told, **row.values}


@final
@dataclass(frozen=True, slots=True)
class Spread:
    """Statistics of `count` values: mean, standard deviation (n - 1), standard error, and the
    0.95 confidence band of the mean by Student's t; of one value the mean alone, the rest NaN.

    `unfit` runs did not fit, and `excluded` says whether they were left out.
    """

    count: int
    mean: float
    sd: float
    se: float
    low: float
    high: float
    unfit: int = 0
    excluded: bool = False


def spread(values: Sequence[float], unfit: int = 0, excluded: bool = False) -> Spread:
    """The statistics of the finite values.

    >>> s = spread([1.0, 2.0, 3.0])
    >>> s.mean, s.sd, round(s.se, 6), round(s.low, 4), round(s.high, 4)
    (2.0, 1.0, 0.57735, -0.4841, 4.4841)
    """
    nan = math.nan
    finite = np.array([value for value in values if math.isfinite(value)])
    if finite.size == 0:
        return Spread(0, nan, nan, nan, nan, nan, unfit, excluded)
    mean = float(finite.mean())
    if finite.size == 1:
        return Spread(1, mean, nan, nan, nan, nan, unfit, excluded)
    from scipy.special import stdtrit

    sd = float(finite.std(ddof=1))
    se = sd / math.sqrt(finite.size)
    half = float(stdtrit(finite.size - 1, 0.5 + LEVEL / 2.0)) * se
    return Spread(finite.size, mean, sd, se, mean - half, mean + half, unfit, excluded)


def rows_of(study: Study, rows: Mapping[str, Row]) -> list[TableRow]:
    """A row for every cell of the study that has ended, in the order of the grid."""
    return [
        TableRow(cell.name, dict(cell.values), rows[cell.name])
        for cell in study.cells()
        if cell.name in rows
    ]


def is_seed(key: str) -> bool:
    """Whether an axis is averaged over."""
    return key.endswith(".seed")


def key_of(row: TableRow, axis: str | None = None) -> tuple[tuple[str, Any], ...]:
    """The axes of a cell without its seeds, unless a seed is itself the axis that is shown."""
    return tuple((k, v) for k, v in row.axes.items() if k == axis or not is_seed(k))


def groups(
    table: Sequence[TableRow], column: str, exclude_unfit: bool, axis: str | None = None
) -> dict[tuple[tuple[str, Any], ...], Spread]:
    """Statistics of a column over the seeds: by the values of all other axes, and of `axis`.

    Failed cells count for nothing; runs that did not fit are counted, and left out if so asked.
    """
    found: dict[str, tuple[tuple[tuple[str, Any], ...], list[TableRow]]] = {}
    for row in table:
        key = key_of(row, axis)
        found.setdefault(repr(key), (key, []))[1].append(row)
    spreads = {}
    for key, members in found.values():
        done = [row for row in members if row.row.state == "done"]
        unfit = [row for row in done if row.fit is False]
        used = [row for row in done if not (exclude_unfit and row.fit is False)]
        values = [row.row.values.get(column, math.nan) for row in used]
        spreads[key] = spread(values, len(unfit), exclude_unfit)
    return spreads


def write_table(table: Sequence[TableRow], path: Path) -> None:
    """Write a row a cell as CSV, NPZ (an array a column), or Parquet where pyarrow is installed.

    Raises InputError for another ending, or for Parquet without pyarrow.
    """
    _write(_columns([row.flat() for row in table]), path)


def write_means(study: Study, table: Sequence[TableRow], path: Path) -> None:
    """Write a row for each setting, over its seeds: `means`, as `write_table`."""
    _write(_columns(means(table, study.sweep.columns, study.sweep.exclude_unfit)), path)


def means(
    table: Sequence[TableRow], columns: Sequence[str], exclude_unfit: bool
) -> list[dict[str, Any]]:
    """For each setting of the axes without the seeds, in the order of the grid: how many runs are
    done, how many of them did not fit, and of each column NAME_count, _mean, _sd, _se, _low and
    _high, as `Spread` has them; runs that did not fit are left out if so asked.
    """
    done: dict[str, int] = {}
    for row in table:
        setting = repr(key_of(row))
        done[setting] = done.get(setting, 0) + (row.row.state == "done")
    rows: dict[str, dict[str, Any]] = {}
    for column in columns:
        for key, found in groups(table, column, exclude_unfit).items():
            told = rows.setdefault(
                repr(key), {**dict(key), "runs": done[repr(key)], "unfit": found.unfit}
            )
            for name in SPREAD:
                told[f"{column}_{name}"] = getattr(found, name)
    return list(rows.values())


def _write(columns: dict[str, list[Any]], path: Path) -> None:
    check_table(path)
    if path.suffix == ".csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*([_cell(v) for v in values] for values in columns.values())))  # noqa: B905
        write_whole(path, text.getvalue().encode())
    elif path.suffix == ".npz":
        buffer = io.BytesIO()
        np.savez(buffer, **{name: _array(values) for name, values in columns.items()})  # type: ignore[arg-type]
        write_whole(path, buffer.getbuffer())
    else:
        _write_parquet(columns, path)


def check_table(path: Path) -> None:
    """InputError, before anything is run, for a table that could not be written."""
    if path.suffix not in (".csv", ".npz", ".parquet"):
        raise InputError(
            "write a name that ends in .csv, .npz or .parquet.", where=path, option="--table"
        )
    if path.suffix == ".parquet":
        _pyarrow()


def _columns(flat: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = list(dict.fromkeys(name for row in flat for name in row))
    return {name: [row.get(name) for row in flat] for name in names}


def _cell(value: Any) -> Any:
    return value_text(value) if isinstance(value, list | tuple) else value


def _array(values: Sequence[Any]) -> NDArray[Any]:
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return np.array(values)
    return np.array(["" if v is None else str(_cell(v)) for v in values])


def _pyarrow() -> Any:
    from importlib import import_module

    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise InputError(
            "Parquet needs pyarrow (pip install pyarrow); or write the table as .csv or .npz."
        ) from error


def _write_parquet(columns: Mapping[str, list[Any]], path: Path) -> None:
    arrow, parquet = _pyarrow()
    buffer = io.BytesIO()
    parquet.write_table(
        arrow.table({name: [_cell(v) for v in values] for name, values in columns.items()}), buffer
    )
    write_whole(path, buffer.getbuffer())
