"""Names of the columns of a text table: the first line or a comment, if these are names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from core.data.numbers import is_missing, number_of
from core.data.origin import SHOWN, Origin
from core.data.text_lines import TextRows

LABEL_NAMES = frozenset(("y", "label", "labels", "target", "targets", "class", "classes"))
MOST_SHOWN = 6  # columns in a sentence

Row = tuple[int, list[str]]  # line number and cells


@final
@dataclass(frozen=True, slots=True)
class Wanted:
    """Choices of the user about a table.

    `label` is a column's name, its number from 1, first or last; `header` says if the first line
    has names, None where the text shows it.
    """

    label: str | None = None
    header: bool | None = None
    real: bool = False
    last: bool = False  # the label is the last column where no column looks like one


def is_word(cell: str) -> bool:
    """Return True for a cell that is neither a number nor missing."""
    return number_of(cell) is None and not is_missing(cell)


def has_header(rows: Sequence[Row], wanted: Wanted, origin: Origin) -> bool:
    """Return True if the first of the first two rows has names. Raises InputError in doubt."""
    line, first = rows[0]
    if wanted.header is not None:
        return wanted.header
    words = [i for i, cell in enumerate(first) if is_word(cell)]
    numbers = [cell for cell in first if not is_missing(cell) and not is_word(cell)]
    second = rows[1][1] if len(rows) > 1 else None
    counted = [str(i) for i in range(len(numbers))]
    if not words:
        if numbers == counted and first[0] == "" and len(numbers) > 1:
            return True  # pandas' row numbers beside columns without names
        if numbers == counted and len(first) == len(numbers) > 2:
            raise origin.at(
                line, f"may be column numbers or a row of data; {origin.choose_header}."
            )
        return False
    if not numbers:
        return not any(cell and is_missing(cell) for cell in first)
    if len(words) == 1 and first[words[0]].casefold() in LABEL_NAMES:
        return True
    if second is None or all(i < len(second) and is_word(second[i]) for i in words):
        return False
    if not any(first[i].casefold() in LABEL_NAMES for i in words):
        names = ", ".join(repr(first[i][:SHOWN]) for i in words[:MOST_SHOWN])
        raise origin.at(
            line,
            f"has numbers and {names}: it may be a header or a row of data with words; "
            f"{origin.choose_header}.",
        )
    return True


def names_in_comment(rows: TextRows, width: int) -> list[str] | None:
    """Return the names of a comment such as `# x1 x2 y`; None if it has none."""
    for names in (rows.split(rows.comment), rows.comment.split()):
        labels = [name for name in names if name.casefold() in LABEL_NAMES]
        if len(names) == width and len(labels) == 1 and all(map(is_word, names)):
            return names
    return None


def fitting_names(
    names: list[str], cells: list[str], line: int, separator: str, origin: Origin
) -> list[str]:
    """Return a name for each column: blank ones at the end go, and R's row names get one."""
    count = max(i for i, name in enumerate(names, start=1) if name) if any(names) else len(names)
    there = len(cells)
    while there > count and not cells[there - 1]:
        there -= 1
    if there == count + 1 and (separator != "," or any("." in cell for cell in cells[1:])):
        return ["", *names[:count]]
    if there > count or (there < count and len(cells) < count):
        raise origin.at(line, width_fault(len(cells), count, header=True))
    return names[:count]


def width_fault(there: int, needed: int, header: bool) -> str:
    """Return what is wrong with the number of values of a line."""
    counted = "1 value" if there == 1 else f"{there} values"
    other = f"its header {needed}" if header else f"the lines before it have {needed}"
    return f"has {counted}, and {other}; check its separators, and that no number has a comma."
