"""Reader of text tables, of files and of the clipboard: roles of columns, and values.

Rows are read line by line into no more memory than their numbers need.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import TextIO, final

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import Array
from core.data.labels import (
    MAX_CLASSES,
    REAL,
    SHOWN,
    Coding,
    as_labels,
    coding_of,
    label_fault,
    label_value,
    note_of,
)
from core.data.numbers import NumberReader, Origin
from core.data.table_layout import Layout, lay_out
from core.data.text_lines import SEPARATORS, Row, TableChoices, TextRows, has_header, open_text
from core.errors import InputError
from core.numbers import whole_text
from core.settings import MAX_ELEMENTS

# The label column of a text table: distinct labels and their classes.


@final
class LabelColumn:
    """Collector of labels as texts, four bytes each, which makes numbers of them."""

    def __init__(self, origin: Origin, max_classes: int = MAX_CLASSES) -> None:
        self._origin, self._most = origin, max_classes
        self._places: dict[str, int] = {}  # place of each text; 1 and 1.0 share one
        self._labels: dict[float | str, int] = {}
        self._texts: list[str] = []  # first spelling of each label, and its line
        self._lines: list[int] = []
        self._codes = array("i")

    def add(self, text: str, line: int) -> None:
        """Add one label. Raises InputError with the line if the text is no label."""
        place = self._places.get(text)
        if place is None:
            place = self._place_of(text, line)
            if len(self._places) <= MAX_CLASSES:
                self._places[text] = place
        self._codes.append(place)

    def _place_of(self, text: str, line: int) -> int:
        if fault := label_fault(text):
            raise self._origin.error_at_line(line, f"{fault}.")
        value = label_value(text)
        label = text if value is None else value
        if label in self._labels:
            return self._labels[label]
        if len(self._labels) == self._most:
            examples = " and ".join(repr(one[:SHOWN]) for one in self._texts[:2])
            limit = f"at most {whole_text(self._most)} classes are read; {REAL}"
            few = "points have two classes; use two labels, or leave the others out"
            raise self._origin.error_at_line(
                line,
                f"has the label {text[:SHOWN]!r} after {examples}; "
                f"{few if self._most == 2 else limit}.",
            )
        self._texts.append(text)
        self._lines.append(line)
        self._labels[label] = len(self._labels)
        return self._labels[label]

    def finish(self, single: bool = False) -> tuple[Array, Coding]:
        """Return the labels as numbers, and their coding.

        Parameters
        ----------
        single : bool
            True to allow a single class, where points are added to others.

        Returns
        -------
        tuple of array (n,) and Coding
            Labels as `Dataset.y` has them.

        Raises
        ------
        InputError
            The labels are no classes; the message names a line.
        """
        codes = np.frombuffer(self._codes, dtype=np.intc)
        words = [label for label in self._labels if isinstance(label, str)]
        if words:
            return self._from_words(words, codes)
        values = [float(label) for label in self._labels]
        numbers = np.array(values)
        if single and len(values) == 1 and values[0] in (-1.0, 0.0, 1.0):
            return np.where(numbers > 0, 1.0, -1.0)[codes], Coding((values[0],))
        lines = dict(zip(values, self._lines, strict=True))
        try:
            coding = coding_of(numbers, lambda value: self._origin.place(lines[value]))
        except InputError as error:
            raise self._origin.error(error.text) from error
        return coding.encode(numbers, "")[codes], coding

    def _from_words(self, words: list[str], codes: NDArray[np.intc]) -> tuple[Array, Coding]:
        if len(words) < len(self._labels):
            # Texts are in the order of their lines: the second kind is the unexpected one.
            first, *later = zip(self._labels, self._texts, self._lines, strict=True)
            odd = next(one for one in later if isinstance(one[0], str) != isinstance(first[0], str))
            raise self._origin.error_at_line(
                odd[2],
                f"has the label {odd[1][:SHOWN]!r} and line {first[2]} {first[1][:SHOWN]!r}; "
                "labels are numbers or words, not both; write all of them alike.",
            )
        classes = sorted(words, key=lambda word: (word.casefold(), word))
        for one, next_word in pairwise(classes):
            if one.casefold() == next_word.casefold():
                line = max(self._lines[words.index(one)], self._lines[words.index(next_word)])
                raise self._origin.error_at_line(
                    line,
                    f"has labels that differ only in capitals, {one[:SHOWN]!r} and "
                    f"{next_word[:SHOWN]!r}; spell them alike.",
                )
        if len(classes) == 1:
            raise self._origin.error_in_text(
                f"has only the label {classes[0][:SHOWN]!r}; two classes are needed: add examples "
                f"of another, or {self._origin.choose_label}."
            )
        if 2 < len(classes) == codes.size:
            raise self._origin.error_in_text(
                "has a different word in every row of its label column, such as "
                f"{words[0][:SHOWN]!r}; {self._origin.choose_label}."
            )
        order = {word: place for place, word in enumerate(classes)}
        places = np.array([order[word] for word in words], dtype=np.int64)
        values = tuple(float(place) for place in range(len(classes)))
        return as_labels(places, len(classes))[codes], Coding(values, note_of(classes))


# Detection of commas within numbers in comma-separated files without a header, which would give the
# number of columns.

SIGNED_ZERO = re.compile(r"[+-]0|[+-]?0\d+", re.ASCII)  # either part of -0,05
HEAD = re.compile(r"[+-]?[1-9]\d{0,2}", re.ASCII)
TAIL = re.compile(r"\d{3}(?:\.\d+)?", re.ASCII)
ADVICE = "separate the columns by semicolons or tabs, or name them in a first line"


@final
class CommaCheck:
    """Check for 0,05 and 1,257.30 that were cut at their commas."""

    def __init__(self, origin: Origin, active: bool) -> None:
        self._origin, self._active = origin, active
        self._decimal: tuple[int, str] | None = None
        # Columns that could be the thousands of a number in every row so far.
        self._pairs: set[int] | None = None
        self._first = (0, "")

    def add(self, row: Sequence[str], line: int, has_points: bool) -> None:
        """Add the cells of one row.

        Parameters
        ----------
        row, line : sequence of str, int
            Cells, and number of the row's line, from 1.
        has_points : bool
            True if some number so far has a decimal point.
        """
        if not self._active:
            return
        if self._decimal is None and not has_points:
            odd = next((cell for cell in row if SIGNED_ZERO.fullmatch(cell)), None)
            self._decimal = None if odd is None else (line, odd)
        if self._pairs is None:
            self._pairs, self._first = set(range(len(row) - 1)), (line, ",".join(row)[:40])
        if self._pairs:
            self._pairs = {
                i for i in self._pairs if HEAD.fullmatch(row[i]) and TAIL.fullmatch(row[i + 1])
            }

    def finish(self, has_points: bool) -> None:
        """Raise InputError if the commas may belong to numbers."""
        if self._decimal is not None and not has_points:
            line, cell = self._decimal
            raise self._origin.error_at_line(
                line, f"has {cell!r} between commas, which may be decimal commas; {ADVICE}."
            )
        if self._pairs:
            line, text = self._first
            raise self._origin.error_at_line(
                line, f"has {text!r}, whose commas may be thousands separators; {ADVICE}."
            )


COMMON = ("utf-8-sig", "utf-8")


@final
@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a text beyond the size of a run: points that are drawn are few and near."""

    rows: int | None = None
    largest: float = float("inf")  # limit of the absolute value of a coordinate
    classes: int = MAX_CLASSES
    single: bool = False  # accept a single class


@final
@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Coordinates x (n, d), labels y (n,) with `coding.classes` classes, and how they were read.

    `note` names what a reader could have understood otherwise; `is_guess` is False if the text
    itself says all of it.
    """

    x: Array
    y: Array
    coding: Coding
    note: str
    is_guess: bool


def read_text(path: Path, subject: str, choices: TableChoices | None = None) -> Table:
    """Return the table of a text file.

    Parameters
    ----------
    path : Path
        CSV, TSV or other text; UTF-8, or UTF-16 as spreadsheets write it.
    subject : str
        Key or option that named the file, for sentences.
    choices : TableChoices, optional
        Which column is the label, if the first line has names, and if labels are real targets.

    Returns
    -------
    Table
        Coordinates (n, d), labels (n,) as -1 and +1 or 0, ..., k - 1, or real targets.

    Raises
    ------
    InputError
        If the file is no such table, is larger than a run may be, or can be read in two ways.
    """
    with open_text(path, subject) as (file, encoding):
        return read_table(
            file, Origin(subject, path), choices or TableChoices(), Bounds(), encoding
        )


def read_table(
    file: TextIO, origin: Origin, choices: TableChoices, bounds: Bounds, encoding: str = COMMON[0]
) -> Table:
    """Return the table of an open text, as `read_text` does.

    Parameters
    ----------
    file, origin, choices : TextIO, Origin, TableChoices
        Text; its origin, for error messages; choices of the user.
    bounds, encoding : Bounds, str
        Limits beyond the size of a run; encoding of the text, for the note.

    Returns
    -------
    Table
    """
    rows = TextRows(file, origin)
    numbered: Iterator[Row] = ((rows.line, cells) for cells in rows)
    start = [row for row in (next(numbered, None), next(numbered, None)) if row is not None]
    if not start:
        raise origin.error(origin.empty)
    has_names = has_header(start, choices, origin)
    names = start.pop(0)[1] if has_names else None
    below = chain(start, numbered)
    first = next(below, None)
    if first is None:
        raise origin.error(origin.header_only)
    layout = lay_out(names, first, rows, choices, origin)
    return _Reader(layout, origin, choices, bounds, rows.separator).read(
        chain((first,), below), encoding
    )


@final
@dataclass(slots=True)
class _Reader:
    """Reader of the values of a table whose columns are known."""

    layout: Layout
    origin: Origin
    wanted: TableChoices
    bounds: Bounds
    separator: str
    count: int = 0
    x: array[float] = field(default_factory=lambda: array("d"))  # 8 bytes per number

    def read(self, rows: Iterator[Row], encoding: str) -> Table:
        layout, real = self.layout, self.wanted.real
        numbers = NumberReader(self.origin, self.bounds.largest, self.separator == ";")
        labels, targets = LabelColumn(self.origin, self.bounds.classes), array("d")
        commas = CommaCheck(self.origin, layout.names is None and self.separator == ",")
        columns = [(i, layout.place_of(i)) for i in layout.coordinates]
        max_rows = self._most_rows(len(columns))
        first_line = 0
        for line, cells in rows:
            first_line = first_line or line
            if self.count == max_rows:
                raise self._too_many(line, max_rows, len(columns))
            row = layout.fit(cells, line)
            commas.add(row, line, numbers.has_points)
            layout.check_dropped(row, line, self.count, first_line)
            if layout.label is not None and real:
                place = layout.place_of(layout.label)
                targets.append(numbers.read(row[layout.label], line, place))
            elif layout.label is not None:
                labels.add(row[layout.label], line)
            self.x.extend([numbers.read(row[i], line, place) for i, place in columns])
            self.count += 1
        numbers.finish()
        commas.finish(numbers.has_points)
        x = np.frombuffer(self.x).reshape(self.count, len(columns))
        if layout.label is None:
            x, y, coding = self._infer(x)
        elif real:
            y, coding = np.frombuffer(targets), Coding(())
        else:
            y, coding = labels.finish(self.bounds.single)
        layout.check_values(x)
        return self._table(x, y, coding, numbers.has_commas, encoding)

    def _most_rows(self, d: int) -> int:
        fits = MAX_ELEMENTS // max(d, 1)
        return fits if self.bounds.rows is None else min(fits, self.bounds.rows)

    def _too_many(self, line: int, max_rows: int, d: int) -> Exception:
        if self.bounds.rows is not None:
            return self.origin.error_at_line(
                line, f"exceeds the limit of {max_rows} points; leave some out."
            )
        return self.origin.error_in_text(
            f"has more than {max_rows} rows of {d} coordinates; a run holds at most "
            f"{MAX_ELEMENTS:.0e} values; keep fewer rows or columns."
        )

    def _infer(self, table: Array) -> tuple[Array, Array, Coding]:
        """Return x, y and the coding if no name says which column has the labels."""
        layout, origin = self.layout, self.origin
        column = layout.infer_label(table, self.wanted.real, self.wanted.last)
        y = np.ascontiguousarray(table[:, column])
        if self.bounds.single and set(np.unique(y).tolist()) in ({-1.0}, {0.0}, {1.0}):
            y, coding = np.where(y > 0, 1.0, -1.0), Coding((float(y[0]),))
        else:
            place = f"{origin.what}: {origin.path}" if origin.is_file else "The text"
            try:
                coding = coding_of(y, lambda value: place)
            except InputError as error:
                raise origin.error(error.text) from error
            y = coding.encode(y, place)
        return np.delete(table, column, axis=1), y, coding

    def _table(self, x: Array, y: Array, coding: Coding, commas: bool, encoding: str) -> Table:
        notes = []
        path = self.origin.path
        # Spreadsheets copy tables to the clipboard with tabs.
        tabs = path is None or path.suffix.lower() == ".tsv"
        if self.separator not in (",\t" if tabs else ","):
            mark = SEPARATORS.get(self.separator, repr(self.separator))
            notes.append(f"columns are separated by {mark}")
        notes += ["decimal commas"] if commas else []
        notes += [encoding.upper()] if encoding not in COMMON else []
        notes += self.layout.notes()
        kind = "target" if self.wanted.real else "label"
        label = f"{kind} column {self.layout.label_words()}"
        clauses = [*notes, label, *([coding.note] if coding.note else [])]
        is_guess = bool(notes or coding.note or self.layout.is_inferred)
        return Table(x, y, coding, sentence_of(clauses), is_guess)


def sentence_of(clauses: Sequence[str]) -> str:
    """Return clauses as the end of a sentence, after UNDERSTOOD.

    >>> sentence_of(["decimal commas", "label column 3 (last)"])
    'decimal commas; label column 3 (last).'
    """
    return f"{'; '.join(clauses)}." if clauses else ""
