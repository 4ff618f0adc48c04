"""Roles of the columns of a text table: label, coordinate, row numbers, or blank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from core.data.dataset import Array
from core.data.numbers import FILL, SHOWN, Origin, number_of
from core.data.text_lines import (
    LABEL_NAMES,
    MOST_SHOWN,
    Row,
    TableChoices,
    TextRows,
    fitting_names,
    is_word,
    names_in_comment,
    width_fault,
)
from core.errors import InputError, did_you_mean

# Names of row-number columns in pandas and R, and common ones; "" for a first column only.
INDEX_NAMES = frozenset(("", "index", "id", "idx", "rowid", "row_id", "level_0"))
# Names of row numbers that are also names of coordinates.
ROW_NAMES = frozenset(("row", "no", "no.", "nr", "nr.", "#", "sample", "n", "number"))
UNNAMED = "unnamed: "  # pandas' name for a column without a name
FEW = 3  # rows from which consecutive numbers are no coincidence


@final
@dataclass(slots=True)
class Layout:
    """Columns of a table by their places, from 0. `label` is None until the values show it."""

    origin: Origin
    names: list[str] | None
    width: int
    line: int  # line of the first row of values
    label: int | None
    blanks: frozenset[int]
    index: tuple[int, ...]  # columns of row numbers, left out
    coordinates: list[int]
    from_comment: bool = False  # the names are in a comment above the rows
    is_inferred: bool = False  # the label column was recognised by its values
    is_doubtful: bool = False  # recognised by words, or y may be a coordinate beside x
    # First number of each column of row numbers.
    starts: dict[int, float | None] = field(default_factory=dict)

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
        raise self.origin.error_at_line(
            line, width_fault(len(cells), self.width, self.names is not None)
        )

    def check_dropped(self, row: Sequence[str], line: int, place: int, first_line: int) -> None:
        """Raise InputError for a value in a blank column, and for other than row numbers.

        Parameters
        ----------
        row : sequence of str
            Cells, as many as the table has columns.
        line : int
            Line number of the row, from 1.
        place : int
            Number of the row, from 0.
        first_line : int
            Line number of the first row.
        """
        for i in self.blanks:
            if row[i]:
                raise self.origin.error_at_line(
                    first_line,
                    f"has no value{self.place_of(i)}, and line {line} has {row[i][:SHOWN]!r}; "
                    f"{FILL}.",
                )
        for i in self.index:
            value = number_of(row[i])
            start = self.starts.setdefault(i, value)
            if start in (0.0, 1.0) and value == start + place:
                continue
            name = self.word_of(i) if self.names and self.names[i] else "without a name"
            raise self.origin.error_at_line(
                line,
                f"has {row[i][:SHOWN]!r} in column {i + 1} ({name}), a column for row numbers 0, "
                "1, ..., which these are not; delete the column, or give it another name if it "
                "is a coordinate.",
            )

    def infer_label(self, table: Array, real: bool, last: bool) -> int:
        """Choose the column whose values are labels, and remove it from `coordinates`.

        It is the last column, or the first if no other column has labels.

        Parameters
        ----------
        table : array (n, columns)
            Values of all coordinates.
        real : bool
            True for real targets, which no values show.
        last : bool
            True to choose the last column also where no column looks like labels.

        Returns
        -------
        int
            Place of the column in the table.

        Raises
        ------
        InputError
            The choice is in doubt.
        """
        end = table.shape[1] - 1
        candidates = [] if real else [i for i in range(end + 1) if has_labels(table[:, i])]
        if last and not candidates:
            if self.blanks and max(self.blanks) > self.coordinates[end]:
                raise self.origin.error_at_line(self.line, f"has no label; {FILL}.")
            candidates = [end]
        chosen = candidates[-1] if candidates else -1
        clear = (chosen == end and 0 not in candidates) or candidates == [0]
        if not clear or _is_one_hot(table):
            raise self._unknown_label(candidates, real)
        self.is_inferred, self.label = True, self.coordinates.pop(chosen)
        return chosen

    def _unknown_label(self, candidates: Sequence[int], real: bool) -> InputError:
        kind = "targets" if real else "labels"
        column_names = [self.word_of(self.coordinates[i]) for i in candidates[:MOST_SHOWN]]
        remainder = " and others" if len(candidates) > MOST_SHOWN else ""
        if len(candidates) > 1:
            reason = f"the values of columns {', '.join(column_names)}{remainder} may all be {kind}"
        elif candidates:
            reason = (
                f"only column {column_names[0]} looks like {kind}, and it is neither first nor last"
            )
        elif self.names is None:
            reason = "it has no header" + ("" if real else ", and no column looks like labels")
        else:
            names = ", ".join(name[:SHOWN] or "(no name)" for name in self.names[:MOST_SHOWN])
            reason = f"its header has {names}"
        return self.origin.error_in_text(
            f"needs one column named y for the {kind}; {reason}; {self.origin.choose_label}."
        )

    def check_values(self, x: Array) -> None:
        """Raise InputError if the values make the choice of columns doubtful."""
        self._check_numbering(x)
        if not self.is_doubtful or self.label is None:
            return
        first, last = self.coordinates[0], self.coordinates[-1]
        if self.is_inferred and first < self.label < last:
            raise self.origin.error_in_text(
                f"has words in column {self.word_of(self.label)} alone, and it is neither first "
                f"nor last; {self.origin.choose_label}."
            )
        if self.label < last and has_labels(x[:, -1]):
            raise self.origin.error_in_text(
                f"needs one column named y for the labels; columns {self.word_of(self.label)} "
                f"and {self.word_of(last)} are both candidates; {self.origin.choose_label}."
            )

    def _check_numbering(self, x: Array) -> None:
        """Raise InputError if the first column has row numbers and no name of a coordinate."""
        place = self.coordinates[0]
        has_name = self.names is not None and self.names[place].lower() not in ROW_NAMES
        if has_name or place or x.shape[0] < FEW or x.shape[1] < 2:
            return
        start = float(x[0, 0])
        if start in (0.0, 1.0) and np.array_equal(x[:, 0], np.arange(x.shape[0]) + start):
            subject = (
                "has no header, and its first column" if self.names is None else "has a column"
            )
            name = "" if self.names is None else f" {self.word_of(place)} that"
            raise self.origin.error_in_text(
                f"{subject}{name} counts {start:g}, {start + 1:g}, ... as row numbers do; "
                "delete the "
                "column, or give it another name in the first line if it is a coordinate."
            )

    def label_words(self) -> str:
        """Return the label column in words, with its position if it is first or last."""
        assert self.label is not None
        columns = self.coordinates
        position = " (first)" if self.label < columns[0] else ""
        position = " (last)" if self.label > columns[-1] else position
        return f"{self.word_of(self.label)}{position}"

    def notes(self) -> list[str]:
        """Return what was left out or found, as clauses."""
        notes = [] if self.names else ["no header"]
        notes += ["names from the comment above the rows"] if self.from_comment else []
        notes += [f"column {i + 1} left out: row numbers" for i in self.index]
        if self.blanks:
            numbers = [str(i + 1) for i in sorted(self.blanks)]
            some = ", ".join(numbers[:MOST_SHOWN]) + (", ..." if numbers[MOST_SHOWN:] else "")
            notes.append(f"blank column{'s' if numbers[1:] else ''} {some} left out")
        return notes


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


def lay_out(
    names: list[str] | None, first: Row, rows: TextRows, choices: TableChoices, origin: Origin
) -> Layout:
    """Return the columns of a table, from its header, if any, and the first row of values.

    Parameters
    ----------
    names, first : list of str or None, Row
        Cells of the header, if any; line number and cells of the first row of values.
    rows : TextRows
        Text, for the separator and a comment with names.
    choices, origin : TableChoices, Origin
        Choices of the user; origin of the text, for error messages.

    Returns
    -------
    Layout
        Places of the columns, from 0. Its label is None until the values show it.

    Raises
    ------
    InputError
        The label is not clear, no coordinates are left, a column of coordinates has no name, or
        header and row differ in length.
    """
    line, cells = first
    from_comment = names is None and choices.header is None and bool(rows.comment)
    if from_comment:
        names = names_in_comment(rows, len(cells))
        from_comment = names is not None
    if names is not None:
        names = fitting_names(names, cells, line, rows.separator, origin)
    width = len(cells) if names is None else len(names)
    if width < 2:
        raise _too_narrow(names, line, origin)
    cells = [*cells, *[""] * width][:width]
    label = _label_by_name(names, width, choices, origin)
    index = _index_columns(names or (), cells, label)
    blanks = frozenset(i for i in range(width) if not cells[i] and i not in (label, *index))
    if choices.label in ("first", "last") and label is None:
        columns = [i for i in range(width) if i not in blanks and i not in index]
        label = columns[0 if choices.label == "first" else -1] if columns else None
    words = [i for i in range(width) if is_word(cells[i]) and i not in index]
    if label is None and len(words) > 1:
        raise _several_words(names, words, cells, line, origin)
    inferred = label is None and len(words) == 1 and not choices.real
    if inferred:
        label = words[0]
    lower = [name.casefold() for name in names or ()]
    plane = choices.label is None and label is not None and "x" in lower and lower[label] == "y"
    coordinates = [i for i in range(width) if i not in blanks and i not in (label, *index)]
    for i in coordinates if names else ():
        if not names[i] or names[i].lower().startswith(UNNAMED):  # type: ignore[index]
            raise origin.error_at_line(
                line,
                f"has {cells[i][:SHOWN]!r} in column {i + 1}, which has no name; name it, or "
                "delete the column.",
            )
    if len(coordinates) < (1 if label is not None else 2):
        raise _too_narrow(names, line, origin)
    return Layout(
        origin,
        names,
        width,
        line,
        label,
        blanks,
        index,
        coordinates,
        from_comment,
        inferred,
        inferred or plane,
    )


def _index_columns(
    names: Sequence[str], cells: Sequence[str], label: int | None
) -> tuple[int, ...]:
    """Return the columns that have row numbers by their names; blank ones only come first."""
    indices: list[int] = []
    for i, name in enumerate(names):
        plain = name.lower()
        if i == label or not cells[i] or not (plain in INDEX_NAMES or plain.startswith(UNNAMED)):
            continue
        if (plain and not plain.startswith(UNNAMED)) or i == len(indices):
            indices.append(i)
    return tuple(indices)


def _too_narrow(names: list[str] | None, line: int, origin: Origin) -> InputError:
    if names and any(name.casefold() in LABEL_NAMES for name in names):
        label = next(name for name in names if name.casefold() in LABEL_NAMES)
        return origin.error_in_text(f"has no column except {label}; add the coordinates.")
    if names:
        return origin.error_in_text(
            "needs one column named y for the labels, and coordinates; its header has "
            f"{', '.join(name[:SHOWN] for name in names[:MOST_SHOWN])}; add what is missing."
        )
    return origin.error_at_line(line, "has 1 value; give 2 or more: coordinates and a label.")


def _several_words(
    names: list[str] | None,
    words: Sequence[int],
    cells: Sequence[str],
    line: int,
    origin: Origin,
) -> InputError:
    """Return the error of a table with columns of words, any of which may have the labels."""
    column_names = [repr(names[i][:SHOWN]) if names and names[i] else str(i + 1) for i in words]
    remainder = " and others" if len(column_names) > MOST_SHOWN else ""
    return origin.error_at_line(
        line,
        f"has words in columns {', '.join(column_names[:MOST_SHOWN])}{remainder}, such as "
        f"{cells[words[0]][:SHOWN]!r}; only the label column may have words: "
        f"{origin.choose_label}, and code other words as 0 and 1, or delete their columns.",
    )


def _label_by_name(
    names: list[str] | None, width: int, choices: TableChoices, origin: Origin
) -> int | None:
    """Return the label column by the user's choice or its name; None if neither names one."""
    stated = choices.label
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
        clause = "more than one column" if exact else "no column"
        raise origin.error_in_text(f"has {clause} {stated[:SHOWN]!r} for data.label; {hint}")
    indices = [i for i, name in enumerate(names or ()) if name.casefold() in LABEL_NAMES]
    if len(indices) < 2 or names is None:
        return indices[0] if indices else None
    plain = [name.casefold() for name in names]
    clear = [i for i in indices if plain[i] != "y"]
    if "x" in plain and len(clear) == 1:
        return clear[0]  # with a column x, y is a coordinate
    texts = ", ".join(repr(names[i][:SHOWN]) for i in indices[:MOST_SHOWN])
    raise origin.error_in_text(
        f"has several columns named like labels, {texts}; {origin.choose_label}."
    )
