"""Rows of a text table, line by line, and the names of its columns."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TextIO, final

from core.data.numbers import SHOWN, Origin, is_missing, number_of
from core.errors import InputError
from core.numbers import whole_text

MOST_LINE = 32_000_000  # characters: a million coordinates with all digits
# Lines, and characters, from which the separator is found.
SAMPLE, SAMPLE_CHARACTERS = 20, 1_000_000
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", " ": "blanks"}
COMMENTS = ("#", "%")
SIDE_COMMENT = re.compile(r"\s#.*$")
STATED = re.compile(r"sep=(.)", re.IGNORECASE)  # first line that Excel writes and reads
# Longer byte-order marks first: that of UTF-32 begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SURROGATE = re.compile("[\\ud800-\\udfff]")
QUOTES = "\"'"


@contextmanager
def open_text(path: Path, subject: str) -> Iterator[tuple[TextIO, str]]:
    """Open a text file; yield the file and its encoding. Raises InputError if it is no text."""
    if not path.is_file():
        raise InputError(f"{subject}: {path} does not exist; check the path.")
    kind = "CSV" if path.suffix.lower() == ".csv" else "text"
    try:
        encoding = _encoding_of(path)
        # Undecodable bytes become surrogates, so that their line can be named.
        errors = "surrogateescape" if encoding == "utf-8-sig" else "strict"
        with path.open(newline="", encoding=encoding, errors=errors) as file:
            yield file, encoding
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"{subject}: {path} is not a readable {kind} file ({error}); "
            "save it again as UTF-8 text."
        ) from error


def _encoding_of(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(64)
    for mark, encoding in MARKS:
        if start.startswith(mark):
            return encoding
    # Without a byte-order mark: every second byte of a table in UTF-16 is zero.
    if len(start) >= 4 and start[1::2].count(0) == len(start[1::2]):
        return "utf-16-le"
    if len(start) >= 4 and start[::2].count(0) == len(start[::2]):
        return "utf-16-be"
    # Spreadsheets begin a file with a byte-order mark, not part of the first name.
    return "utf-8-sig"


@final
class TextRows:
    """Rows of cells of a text table; `line` is the number of the last line read, from 1.

    Raises InputError for lines that are too long, and for quotes that do not close.
    """

    def __init__(self, file: TextIO, origin: Origin) -> None:
        self._file, self._origin = file, origin
        self._read = self.line = 0
        self._has_quotes = False
        self.comment = ""  # the last comment before the first row
        self._lines = self._content()
        self._sample = self._read_sample()
        self.separator = self._find_separator()

    def __iter__(self) -> Iterator[list[str]]:
        rows = csv.reader(
            self._number_lines(), delimiter=self.separator, skipinitialspace=True, strict=True
        )
        while True:
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                raise self._origin.error_at_line(
                    self.line, f"has misplaced quotes ({error}); remove them."
                ) from error
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield [_unquote(cell) for cell in cells] if self._has_quotes else cells

    def split(self, text: str) -> list[str]:
        """Return the cells of a line that is no row, such as a comment."""
        return _split(text, self.separator)

    def _content(self) -> Iterator[tuple[int, str]]:
        # readline limits a line; csv would read a file without line ends into memory at once.
        while line := self._file.readline(MOST_LINE):
            self._read += 1
            if len(line) == MOST_LINE:
                raise self._origin.error_in_text(
                    f"has a line of {whole_text(MOST_LINE)} characters or more; save it as a "
                    "table with a line for each example."
                )
            if not line.isascii() and SURROGATE.search(line):
                raise self._origin.error_at_line(
                    self._read, "has bytes that are not UTF-8 text; save the file as UTF-8."
                )
            text = line.strip()
            if text.startswith(COMMENTS):
                if not self.line:
                    self.comment = text.lstrip("".join(COMMENTS)).strip()
            elif text:
                yield self._read, line

    def _read_sample(self) -> list[tuple[int, str]]:
        sample: list[tuple[int, str]] = []
        length = 0
        for number, line in self._lines:
            sample.append((number, line))
            length += len(line)
            if len(sample) == SAMPLE or (length > SAMPLE_CHARACTERS and len(sample) > 1):
                break
        return sample

    def _number_lines(self) -> Iterator[str]:
        blank = self.separator == " "
        for number, line in chain(self._sample, self._lines):
            self.line = number
            if "#" in line and '"' not in line:
                line = SIDE_COMMENT.sub("", line)
            # Recorded here, since csv strips the double quotes of rows over several lines.
            self._has_quotes = "'" in line or '"' in line
            # Spaces around a row are not cells.
            line = line.replace("\t", " ").strip() if blank else line.strip(" \r\n")
            yield f"{line}\n"

    def _find_separator(self) -> str:
        if self._sample and (stated := STATED.fullmatch(self._sample[0][1].strip())):
            self._sample.pop(0)
            return stated[1]
        texts = [SIDE_COMMENT.sub("", line).strip() for _, line in self._sample]
        scores = {mark: _score(mark, texts) for mark in SEPARATORS}
        best = max(scores, key=lambda mark: scores[mark])  # the first of equal scores
        return best if scores[best] > 0.0 else next((m for m in ",;" if m in "".join(texts)), " ")


def _score(separator: str, texts: list[str]) -> float:
    """Return the share of numbers in the cells between separators; 0 if a line has none."""
    rows = [_split(text, separator) for text in texts]
    # A title or a broken line at the top must not decide.
    if sum(len(row) > 1 for row in rows) < max(1, (len(rows) + 1) // 2):
        return 0.0
    below = list(islice(rows, 1, None)) or rows
    cells = [cell for row in below for cell in row if cell]
    numbers = sum(number_of(cell) is not None for cell in cells)
    return (numbers + 1e-3) / max(len(cells), 1)


def _split(text: str, separator: str) -> list[str]:
    parts = text.split() if separator == " " else text.split(separator)
    return [_unquote(part.strip()) for part in parts]


def _unquote(cell: str) -> str:
    """Return a cell without a pair of quotes around it."""
    if len(cell) > 1 and cell[0] == cell[-1] and cell[0] in QUOTES:
        return cell[1:-1].strip()
    return cell


# ------------------------------------------------------------------------------ names of columns

LABEL_NAMES = frozenset(("y", "label", "labels", "target", "targets", "class", "classes"))
MOST_SHOWN = 6  # columns named in a message

Row = tuple[int, list[str]]  # line number and cells


@final
@dataclass(frozen=True, slots=True)
class TableChoices:
    """Choices of the user about a table.

    `label` is a column's name, its number from 1, first or last; `header` says if the first line
    has names, None if the text shows it.
    """

    label: str | None = None
    header: bool | None = None
    real: bool = False
    last: bool = False  # the last column holds the label if no column looks like labels


def is_word(cell: str) -> bool:
    """Return True for a cell that is neither a number nor missing."""
    return number_of(cell) is None and not is_missing(cell)


def has_header(rows: Sequence[Row], choices: TableChoices, origin: Origin) -> bool:
    """Return True if the first row of a table has names.

    Parameters
    ----------
    rows : sequence of Row
        First two rows, or the only one.
    choices : TableChoices
        Choices of the user.
    origin : Origin
        Origin of the text, for error messages.

    Returns
    -------
    bool
        The user's choice, if any; else inferred from the words and numbers of the rows.

    Raises
    ------
    InputError
        The first row may be a header or data.
    """
    line, first = rows[0]
    if choices.header is not None:
        return choices.header
    words = [i for i, cell in enumerate(first) if is_word(cell)]
    numbers = [cell for cell in first if not is_missing(cell) and not is_word(cell)]
    second = rows[1][1] if len(rows) > 1 else None
    counted = [str(i) for i in range(len(numbers))]
    if not words:
        if numbers == counted and first[0] == "" and len(numbers) > 1:
            return True  # row numbers of pandas beside unnamed columns
        if numbers == counted and len(first) == len(numbers) > 2:
            raise origin.error_at_line(
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
        raise origin.error_at_line(
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
    """Return a name for each column: drop blank ones at the end, and add one for R's row names.

    Parameters
    ----------
    names : list of str
        Cells of the header.
    cells : list of str
        Cells of the first row of values.
    line : int
        Its line number, from 1.
    separator : str
        Separator of the table.
    origin : Origin
        Origin of the text, for error messages.

    Returns
    -------
    list of str
        Names in the order of the columns; the added one is empty and the first.

    Raises
    ------
    InputError
        The row has another number of values.
    """
    count = max(i for i, name in enumerate(names, start=1) if name) if any(names) else len(names)
    width = len(cells)
    while width > count and not cells[width - 1]:
        width -= 1
    if width == count + 1 and (separator != "," or any("." in cell for cell in cells[1:])):
        return ["", *names[:count]]
    if width > count or (width < count and len(cells) < count):
        raise origin.error_at_line(line, width_fault(len(cells), count, header=True))
    return names[:count]


def width_fault(width: int, needed: int, header: bool) -> str:
    """Return the error in the number of values of a line, as a clause.

    Parameters
    ----------
    width : int
        Number of values.
    needed : int
        Number of columns.
    header : bool
        True if a header counts the columns.

    Returns
    -------
    str
        Clause such as "has 3 values, and its header 4; ...", after the name of the line.
    """
    counted = "1 value" if width == 1 else f"{width} values"
    expected = f"its header {needed}" if header else f"the lines before it have {needed}"
    return f"has {counted}, and {expected}; check its separators, and that no number has a comma."
