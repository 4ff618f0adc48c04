"""Points as text: pasted from a spreadsheet, a CSV file or a mail, and copied back as CSV."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn, final

from core.data.points import LARGEST, MAX_POINTS, Points
from core.errors import InputError
from marginscope._numbers import whole_text

MOST_CHARACTERS = 1_000_000
NOTHING = "Nothing was pasted."
LABELS = "labels are -1 and +1, 0 and 1, or two words"
SEPARATORS = ("\t", ";", ",")
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)
SIGNS = {"-": -1.0, "+": 1.0}
SHOWN = 20  # letters of a field in a sentence


@final
@dataclass(frozen=True, slots=True)
class Pasted:
    """Rows of one or two coordinates and a label -1 or +1; `note` says what words stand for."""

    points: Points
    note: str = ""


def parse_points(text: str) -> Pasted:
    """Points of lines of one or two coordinates and a label, which may have a header.

    Columns stand between commas, tabs, semicolons or blanks; the label is the last one, or that
    which the header calls y. Empty lines and lines that begin with # are left out.

    >>> parse_points("x1,x2,y\\n0.5,1,1\\n0,2e-1,0").points
    ((0.5, 1.0, 1.0), (0.0, 0.2, -1.0))
    >>> parse_points("0,5; 1; cat\\n0,25; 2; dog")
    Pasted(points=((0.5, 1.0, -1.0), (0.25, 2.0, 1.0)), note='cat is \u22121, dog is +1.')

    Raises InputError with the line that is wrong.
    """
    if len(text) > MOST_CHARACTERS:
        _refuse(f"The text has more than {whole_text(MOST_CHARACTERS)} characters.")
    lines = _lines(text)
    first = next(lines, None)
    if first is None:
        _refuse("There is no text with points in the clipboard.")
    separator = next((one for one in SEPARATORS if one in first[1]), None)
    fields = _fields(first[1], separator)
    column = len(fields) - 1
    rows: list[tuple[float, ...]] = []
    labels: list[tuple[int, str]] = []
    if _is_header(fields):
        names = [name.lower() for name in fields]
        column = names.index("y") if names.count("y") == 1 else column
        width = len(fields)
    else:
        width = _width(first[0], len(fields))
        _take(first[0], fields, column, rows, labels)
    for number, line in lines:
        fields = _fields(line, separator)
        width = _width(number, len(fields), width)
        _take(number, fields, column, rows, labels)
    if not rows:
        _refuse("There is a header and no points below it.")
    signs, note = _signs(labels)
    points = tuple((*row, sign) for row, sign in zip(rows, signs, strict=True))
    return Pasted(points, note)


def points_csv(points: Sequence[Sequence[float]]) -> str:
    """Points as the text of a CSV file, to the last digit.

    >>> print(points_csv([(0.5, 1.0, -1.0)]), end="")
    x1,x2,y
    0.5,1.0,-1
    """
    d = len(points[0]) - 1 if points else 2
    names = ["x"] if d == 1 else [f"x{number + 1}" for number in range(d)]
    lines = [",".join([*names, "y"])]
    for *x, y in points:
        lines.append(",".join([*(repr(float(value)) for value in x), f"{y:.0f}"]))
    return "\n".join([*lines, ""])


def _refuse(words: str) -> NoReturn:
    raise InputError(f"{words} {NOTHING}")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, with their numbers, counted from 1."""
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        line = line.strip(" ")
        if line.strip() and not line.startswith("#"):
            yield number, line


def _fields(line: str, separator: str | None) -> list[str]:
    fields = line.split() if separator is None else line.split(separator)
    return [field.strip().strip("\"'").replace("\u2212", "-") for field in fields]


def _is_header(fields: list[str]) -> bool:
    """Whether a first line names columns: no coordinate in it is a number."""
    return all(number_of(field) is None for field in fields)


def _width(number: int, there: int, needed: int = 0) -> int:
    """The number of columns. Raises InputError for another one than there is to be."""
    if there not in (2, 3) or (needed and there != needed):
        counted = "1 value" if there == 1 else f"{there} values"
        before = f"the lines before it have {needed}" if there in (2, 3) else "2 or 3 are needed"
        _refuse(f"Line {number} has {counted}, and {before}: coordinates, then the label.")
    return there


def _take(
    number: int,
    fields: list[str],
    column: int,
    rows: list[tuple[float, ...]],
    labels: list[tuple[int, str]],
) -> None:
    """Read a line into rows and labels."""
    if len(rows) == MAX_POINTS:
        _refuse(f"Line {number} is one more than {MAX_POINTS} points, the most there may be.")
    values = []
    for place, field in enumerate(fields):
        if place == column:
            continue
        value = number_of(field)
        if value is None:
            _refuse(f"Line {number} has {field[:SHOWN]!r} where a coordinate is needed.")
        if not abs(value) <= LARGEST:
            _refuse(f"Line {number} has {value:g}, and coordinates are at most {LARGEST:g}.")
        values.append(value)
    if not fields[column]:
        _refuse(f"Line {number} has no label.")
    rows.append(tuple(values))
    labels.append((number, fields[column]))


def number_of(text: str) -> float | None:
    """The number that a text is, with a point or a comma; None where it is none.

    >>> number_of("0,5"), number_of("-2"), number_of("1_0")
    (0.5, -2.0, None)
    """
    text = text.replace("\u2212", "-")
    # Python alone would take 1_000 and the digits of other scripts.
    if not text.isascii() or "_" in text:
        return None
    try:
        return float(text.replace(",", ".") if COMMA_NUMBER.fullmatch(text) else text)
    except ValueError:
        return None


def label_of(text: str) -> float | None:
    """The label that a text alone is; None where it is none.

    >>> label_of("+"), label_of("-1"), label_of("0"), label_of("2")
    (1.0, -1.0, -1.0, None)
    """
    text = text.replace("\u2212", "-")
    value = SIGNS.get(text, number_of(text))
    if value not in (-1.0, 0.0, 1.0):
        return None
    return 1.0 if value == 1.0 else -1.0


def _signs(labels: list[tuple[int, str]]) -> tuple[list[float], str]:
    """The labels as -1 and +1, and what words stand for."""
    names = [_name(label) for _, label in labels]
    kinds: list[str] = []
    for (number, label), name in zip(labels, names, strict=True):
        if name not in kinds:
            kinds.append(name)
        if len(kinds) > 2:
            seen = f"after {kinds[0][:SHOWN]!r} and {kinds[1][:SHOWN]!r}"
            _refuse(f"Line {number} has the label {label[:SHOWN]!r} {seen}; {LABELS}.")
    if set(kinds) <= {"-1", "1"} or set(kinds) <= {"0", "1"}:
        return [1.0 if name == "1" else -1.0 for name in names], ""
    if len(kinds) == 1:
        _refuse(f"All labels are {kinds[0][:SHOWN]!r}; {LABELS}.")
    low, high = sorted(kinds, key=_order)
    note = f"{low[:SHOWN]} is \u22121, {high[:SHOWN]} is +1."
    return [1.0 if name == high else -1.0 for name in names], note


def _name(label: str) -> str:
    """A label in one way of writing: -1 for -1.0 and for a minus alone."""
    value = SIGNS.get(label, number_of(label))
    return label if value is None or not math.isfinite(value) else f"{value + 0.0:g}"


def _order(name: str) -> tuple[bool, float, str]:
    """Numbers by size, before words by their letters."""
    value = number_of(name)
    known = value is not None and math.isfinite(value)
    return (not known, value if known and value is not None else 0.0, name)
