"""Which column of a text table is the label, a coordinate, row numbers, or blank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from core.data.dataset import Array
from core.data.numbers import is_missing, number_of
from core.data.origin import SHOWN, Origin
from core.data.text_lines import TextRows
from core.errors import InputError, did_you_mean

LABEL_NAMES = frozenset(("y", "label", "labels", "target", "targets", "class", "classes"))
# Of a first column: what pandas and R write for row numbers, and what people call them.
INDEX_NAMES = frozenset(("", "index", "id", "idx", "row", "rowid", "row_id", "no", "nr", "#"))
UNNAMED = "unnamed: "  # pandas, for a column without a name
MOST_SHOWN = 6  # columns in a sentence
FEW = 3  # rows from which numbers in order are no coincidence

Row = tuple[int, list[str]]  # line number and cells


@final
@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user says of a table: `label` is a column's name, its number from 1, first or last;
    `header` whether the first line has names, None where the text shows it."""

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


@final
@dataclass(slots=True)
class Layout:
    """Columns of a table by their places, from 0. `label` is None until the values show it."""

    origin: Origin
    names: list[str] | None
    width: int
    line: int  # of the first row of values
    label: int | None
    blanks: frozenset[int]
    index: tuple[int, ...]  # row numbers, which are left out
    coordinates: list[int]
    from_comment: bool = False  # names are those of a comment above the rows
    is_inferred: bool = False  # the label column was found by its values
    starts: dict[int, float | None] = field(default_factory=dict)  # of row numbers

    def place_of(self, column: int) -> str:
        """Return the end of a sentence about a cell."""
        return f" in column {self.word_of(column)}"

    def word_of(self, column: int) -> str:
        """Return a column's name in quotes, or its number from 1."""
        name = self.names[column] if self.names else ""
        return repr(name[:SHOWN]) if name else str(column + 1)

    def fit(self, cells: list[str], line: int) -> list[str]:
        """Return a row as wide as the table. Raises InputError for another number of values."""
        if len(cells) == self.width:
            return cells
        if len(cells) > self.width and not any(cells[self.width :]):
            return cells[: self.width]
        missing = range(len(cells), self.width)
        if missing and self.blanks.issuperset(missing):
            return [*cells, *[""] * (self.width - len(cells))]
        raise self.origin.at(line, width_fault(len(cells), self.width, self.names is not None))

    def check_dropped(self, row: Sequence[str], line: int, place: int, first_line: int) -> None:
        """Raise InputError for a value in a blank column, and for other than row numbers."""
        for i in self.blanks:
            if row[i]:
                raise self.origin.at(
                    first_line,
                    f"has no value{self.place_of(i)}, and line {line} has {row[i][:SHOWN]!r}; fill "
                    "it in, or delete the line.",
                )
        for i in self.index:
            value = number_of(row[i])
            start = self.starts.setdefault(i, value)
            if start in (0.0, 1.0) and value == start + place:
                continue
            name = self.word_of(i) if self.names and self.names[i] else "without a name"
            raise self.origin.at(
                line,
                f"has {row[i][:SHOWN]!r} in column {i + 1} ({name}), where row numbers 0, 1, ... "
                "would be left out, and these are none; delete the column, or give it another name "
                "if it is a coordinate.",
            )

    def infer_label(self, table: Array, real: bool, last: bool) -> int:
        """Return the place in `coordinates` of the column whose values are labels.

        It is the last column, or the first if no other column has labels. With `last` it is the
        last one also where no column looks like labels. Raises InputError in doubt.
        """
        end = table.shape[1] - 1
        found = [] if real else [i for i in range(end + 1) if has_labels(table[:, i])]
        if last and not found:
            if self.blanks and max(self.blanks) > self.coordinates[end]:
                raise self.origin.at(self.line, "has no label.")
            found = [end]
        chosen = found[-1] if found else -1
        clear = (chosen == end and 0 not in found) or found == [0]
        if not clear or _is_one_hot(table):
            raise self._unknown_label(found, real)
        self.is_inferred, self.label = True, self.coordinates.pop(chosen)
        return chosen

    def _unknown_label(self, found: Sequence[int], real: bool) -> InputError:
        kind = "targets" if real else "labels"
        shown = [self.word_of(self.coordinates[i]) for i in found[:MOST_SHOWN]]
        more = " and others" if len(found) > MOST_SHOWN else ""
        if len(found) > 1:
            seen = f"the values of columns {', '.join(shown)}{more} may all be {kind}"
        elif found:
            seen = f"only column {shown[0]} looks like {kind}, and it is neither first nor last"
        elif self.names is None:
            seen = "it has no header" + ("" if real else ", and no column looks like labels")
        else:
            names = ", ".join(name[:SHOWN] or "(no name)" for name in self.names[:MOST_SHOWN])
            seen = f"its header has {names}"
        return self.origin.whole(
            f"needs one column named y for the {kind}; {seen}; {self.origin.choose_label}."
        )

    def check_numbering(self, x: Array) -> None:
        """Raise InputError if the first column of a table without names has row numbers."""
        if self.names is not None or x.shape[0] < FEW or x.shape[1] < 2 or self.coordinates[0]:
            return
        first = x[:, 0] - x[0, 0]
        if x[0, 0] in (0.0, 1.0) and np.array_equal(first, np.arange(x.shape[0])):
            raise self.origin.whole(
                f"has no header, and its first column counts {x[0, 0]:g}, {x[0, 0] + 1:g}, ... as "
                "row numbers do; delete the column, or name it in a first line if it is a "
                "coordinate."
            )

    def label_words(self) -> str:
        """Return the label column in words, with its position if it is first or last."""
        assert self.label is not None
        others = self.coordinates
        position = " (first)" if self.label < others[0] else ""
        position = " (last)" if self.label > others[-1] else position
        return f"{self.word_of(self.label)}{position}"

    def notes(self) -> list[str]:
        """Return what was left out or found, as clauses."""
        found = [] if self.names else ["no header"]
        found += ["names from the comment above the rows"] if self.from_comment else []
        found += [f"column {i + 1} left out: row numbers" for i in self.index]
        if self.blanks:
            numbers = [str(i + 1) for i in sorted(self.blanks)]
            some = ", ".join(numbers[:MOST_SHOWN]) + (", ..." if numbers[MOST_SHOWN:] else "")
            found.append(f"blank column{'s' if numbers[1:] else ''} {some} left out")
        return found


def has_labels(column: Array) -> bool:
    """Return True if values are -1 and 1, 0 and 1, or a few class numbers from 0 or 1 on."""
    if np.any(column != np.round(column)):
        return False
    values = np.unique(column)
    if values.size < 2:
        return False
    if values.tolist() == [-1.0, 1.0]:
        return True
    counts = np.array_equal(values - values[0], np.arange(values.size))
    return bool(
        values[0] in (0.0, 1.0) and counts and max(values.size, 2) <= max(column.size / 2, 2)
    )


def _is_one_hot(table: Array) -> bool:
    """Return True if columns of 0 and 1 have exactly one 1 in each row."""
    total, count = np.zeros(table.shape[0]), 0
    for i in range(table.shape[1]):
        column = table[:, i]
        if np.all((column == 0.0) | (column == 1.0)):
            total += column
            count += 1
    return count > 1 and bool(np.all(total == 1.0))


def width_fault(there: int, needed: int, header: bool) -> str:
    """Return what is wrong with the number of values of a line."""
    counted = "1 value" if there == 1 else f"{there} values"
    other = f"its header {needed}" if header else f"the lines before it have {needed}"
    return f"has {counted}, and {other}; check its separators, and that no number has a comma."


def lay_out(
    names: list[str] | None, first: Row, rows: TextRows, wanted: Wanted, origin: Origin
) -> Layout:
    """Return the columns of a table, from its names and the first row of values.

    Raises InputError where the label is not clear, or no coordinates are left.
    """
    line, cells = first
    from_comment = names is None and wanted.header is None and bool(rows.comment)
    if from_comment:
        names = _names_in_comment(rows, len(cells))
        from_comment = names is not None
    if names is not None:
        names = _fitting_names(names, cells, line, rows.separator, origin)
    width = len(cells) if names is None else len(names)
    if width < 2:
        raise _too_narrow(names, line, origin)
    cells = [*cells, *[""] * width][:width]
    label = _label_by_name(names, width, wanted, origin)
    index: list[int] = []
    for i in range(width if names else 0):
        if i == label or not _is_index(names[i], i, cells[i]):  # type: ignore[index]
            break
        index.append(i)
    blanks = frozenset(i for i in range(width) if not cells[i] and i not in (label, *index))
    if wanted.label in ("first", "last") and label is None:
        kept = [i for i in range(width) if i not in blanks and i not in index]
        label = kept[0 if wanted.label == "first" else -1] if kept else None
    words = [i for i in range(width) if is_word(cells[i]) and i not in index]
    if label is None and len(words) == 1 and not wanted.real:
        label, inferred = words[0], True
    else:
        inferred = False
    coordinates = [i for i in range(width) if i not in blanks and i not in (label, *index)]
    for i in coordinates if names else ():
        if not names[i] or names[i].lower().startswith(UNNAMED):  # type: ignore[index]
            raise origin.at(
                line,
                f"has {cells[i][:SHOWN]!r} in column {i + 1}, which has no name; name it, or "
                "delete the column.",
            )
    if len(coordinates) < (1 if label is not None else 2):
        raise _too_narrow(names, line, origin)
    return Layout(
        origin, names, width, line, label, blanks, tuple(index), coordinates, from_comment, inferred
    )


def _is_index(name: str, place: int, cell: str) -> bool:
    if not cell:
        return False
    plain = name.lower()
    return plain.startswith(UNNAMED) or plain in INDEX_NAMES


def _names_in_comment(rows: TextRows, width: int) -> list[str] | None:
    """Return the names of a comment such as `# x1 x2 y`; None if it has none."""
    for names in (rows.split(rows.comment), rows.comment.split()):
        labels = [name for name in names if name.casefold() in LABEL_NAMES]
        if len(names) == width and len(labels) == 1 and all(map(is_word, names)):
            return names
    return None


def _fitting_names(
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


def _too_narrow(names: list[str] | None, line: int, origin: Origin) -> InputError:
    if names and any(name.casefold() in LABEL_NAMES for name in names):
        label = next(name for name in names if name.casefold() in LABEL_NAMES)
        return origin.whole(f"has no column beside {label}; coordinates are needed.")
    if names:
        return origin.whole(
            "needs one column named y for the labels, and coordinates; its header has "
            f"{', '.join(name[:SHOWN] for name in names[:MOST_SHOWN])}."
        )
    return origin.at(line, "has 1 value, and 2 or more are needed: coordinates and a label.")


def _label_by_name(
    names: list[str] | None, width: int, wanted: Wanted, origin: Origin
) -> int | None:
    """Return the column that the user or its name says is the label; None if nothing does."""
    stated = wanted.label
    if stated is not None:
        exact = [i for i, name in enumerate(names or ()) if name == stated]
        exact = exact or [
            i for i, name in enumerate(names or ()) if name.casefold() == stated.casefold()
        ]
        if len(exact) == 1:
            return exact[0]
        if stated in ("first", "last") and not exact:
            return None
        if not exact and stated.isascii() and stated.isdigit() and 1 <= int(stated[:9]) <= width:
            return int(stated) - 1
        hint = did_you_mean(stated, names) if names else f"it has no names and {width} columns."
        there = "more than one column" if exact else "no column"
        raise origin.whole(f"has {there} {stated[:SHOWN]!r} for data.label; {hint}")
    found = [i for i, name in enumerate(names or ()) if name.casefold() in LABEL_NAMES]
    if len(found) < 2 or names is None:
        return found[0] if found else None
    plain = [name.casefold() for name in names]
    clear = [i for i in found if plain[i] != "y"]
    if "x" in plain and len(clear) == 1:
        return clear[0]  # x and y are coordinates
    shown = ", ".join(repr(names[i][:SHOWN]) for i in found[:MOST_SHOWN])
    raise origin.whole(
        f"needs one column named y for the labels, and {shown} may all be; {origin.choose_label}."
    )
