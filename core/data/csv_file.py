"""CSV files with a header and a column y, read line by line into no more memory than they need."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np

from core.data.dataset import Array
from core.errors import InputError
from core.settings import MAX_ELEMENTS
from marginscope._numbers import is_ambiguous, whole_text

if TYPE_CHECKING:
    from _csv import Reader

MOST_LINE = 32_000_000  # characters: a million coordinates with all their digits


def read_csv(path: Path, what: str) -> tuple[Array, Array]:
    """x (n, d) and y (n,) of a CSV file; the label column is y, all others are coordinates.

    Raises InputError for a file that is no such table, or is larger than a run may be.
    """
    if not path.is_file():
        raise InputError(f"{what}: there is no file {path}; check the path.")
    try:
        # -sig: spreadsheets begin a file with a mark that would be part of the first column's name.
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(_lines(file, path, what))
            header = next((row for row in rows if row), [])
            column = _label_column(header, path, what)
            x, y = _columns(rows, column, len(header), path, what)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{what}: {path} is not a readable CSV file ({error}).") from error
    if not y:
        raise InputError(f"{what}: {path} has no rows below its header.")
    return np.frombuffer(x).reshape(len(y), len(header) - 1), np.frombuffer(y)


def _lines(file: TextIO, path: Path, what: str) -> Iterator[str]:
    # csv takes a line whole; a file without line ends would be read into memory before any check.
    while line := file.readline(MOST_LINE):
        if len(line) == MOST_LINE:
            raise InputError(
                f"{what}: {path} has a line of {whole_text(MOST_LINE)} characters or more."
            )
        yield line


def _label_column(header: list[str], path: Path, what: str) -> int:
    names = [name.strip() for name in header]
    if names.count("y") != 1:
        first = ", ".join(name[:40] for name in names[:6])
        shown = f"its header has {first}" if first else "it is empty"
        raise InputError(f"{what}: {path} needs one column named y for the labels; {shown}.")
    if len(names) == 1:
        raise InputError(f"{what}: {path} has no column beside y; coordinates are needed.")
    return names.index("y")


def _columns(
    rows: Reader, column: int, width: int, path: Path, what: str
) -> tuple[array[float], array[float]]:
    # Eight bytes a number, where a list of Python's takes four times as much.
    x, y = array("d"), array("d")
    most = MAX_ELEMENTS // (width - 1)
    for row in filter(None, rows):
        # That of the file, which may have empty lines and quoted ends of lines.
        line = rows.line_num
        if len(row) != width:
            raise InputError(
                f"{what}: line {line} of {path} has {len(row)} values, its header {width}."
            )
        if len(y) == most:
            raise InputError(
                f"{what}: {path} has more than {most} rows of {width - 1} coordinates; a run holds "
                f"at most {MAX_ELEMENTS:.0e} values."
            )
        numbers = [_number(text, line, path, what) for text in row]
        y.append(numbers.pop(column))
        x.extend(numbers)
    return x, y


def _number(text: str, line: int, path: Path, what: str) -> float:
    """The number of ASCII digits that a text is; Python alone takes 1_000 and other digits too."""
    try:
        if not text.isascii() or "_" in text:
            raise ValueError
        return float(text)
    except ValueError as error:
        point = " with a decimal point" if is_ambiguous(text[:40]) else ""
        raise InputError(
            f"{what}: line {line} of {path} has {text[:40]!r} where a number{point} is needed."
        ) from error
