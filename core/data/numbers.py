"""Numbers as people type them, and the sentences that refuse a text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import final

from core.errors import InputError

SHOWN = 40  # characters of a cell in a message
NOTHING = "Nothing was pasted."
FILL = "fill it in, or delete the line"  # what to do about a missing value


@final
@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a text: a file, with the key that names it, or the clipboard without either."""

    what: str = ""
    path: Path | None = None

    @property
    def is_file(self) -> bool:
        return self.path is not None

    @property
    def number(self) -> str:
        """Noun for a value in messages: "a number" of a file, "a coordinate" of the clipboard."""
        return "a number" if self.is_file else "a coordinate"

    def error_at_line(self, line: int, words: str) -> InputError:
        """Return an error about one line, counted from 1: `words` follow its number."""
        return self.error(f"{self.place(line)} {words}")

    def error_in_text(self, words: str) -> InputError:
        """Return an error about the text as a whole: `words` follow its name."""
        name = f"{self.what}: {self.path}" if self.is_file else "The text"
        return self.error(f"{name} {words}")

    def place(self, line: int) -> str:
        """Return the start of a sentence about one line."""
        return f"{self.what}: line {line} of {self.path}" if self.is_file else f"Line {line}"

    def error(self, sentence: str) -> InputError:
        return InputError(sentence if self.is_file else f"{sentence} {NOTHING}")

    @property
    def choose_label(self) -> str:
        """Way to name the label column, as the end of an error message."""
        if self.path is None:
            return "begin the text with a line of names, such as x1,x2,y"
        return (
            'name the column with data.label = "NAME", "first", "last" or its number from 1, or '
            "call it y in the header"
        )

    @property
    def choose_header(self) -> str:
        """Way to say if the first line has names, as the end of a sentence."""
        if self.path is None:
            return "begin the text with a line of names, such as x1,x2,y"
        return "set data.header = true or false"

    @property
    def only_numbers(self) -> str:
        """Rule for the cells of coordinates and targets, as the end of a sentence."""
        if self.path is None:
            return "only labels may be words; correct it, or leave it out"
        return (
            "only the label column may have words; write a number, code words as 0 and 1, or "
            "delete the column"
        )

    @property
    def empty(self) -> str:
        if self.path is None:
            return "The clipboard contains no points; copy one line for each, such as 0.5,0.25,1."
        return (
            f"{self.what}: {self.path} is empty; write a line of names, such as x1,x2,y, and a "
            "line for each example."
        )

    @property
    def header_only(self) -> str:
        if self.path is None:
            return "The header has no points below it; copy their lines too."
        return (
            f"{self.what}: {self.path} has no rows below its header; add a line for each example, "
            "or set data.header = false."
        )


COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)
EITHER = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
EITHER_POINT = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}", re.ASCII)
GROUPED = re.compile(
    r"([+-]?\d{1,3})((?:([,.'\u2019 \u00a0\u202f])\d{3})(?:\3\d{3})*)(?:[.,](\d+))?", re.ASCII
)
MISSING = frozenset(("", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "?", "."))
MINUS = "\u2212"


def number_of(text: str) -> float | None:
    """Return the number that a text is, with a point or a comma; None if it is none.

    >>> number_of("0,5"), number_of("-2"), number_of("1_0")
    (0.5, -2.0, None)
    """
    text = text.replace(MINUS, "-")
    if not text.isascii() or "_" in text:
        return None
    try:
        return float(text.replace(",", ".") if COMMA_NUMBER.fullmatch(text) else text)
    except ValueError:
        return None


def may_have_groups(text: str) -> bool:
    """Return True if a comma may be a decimal comma or separate thousands.

    >>> may_have_groups("1,257"), may_have_groups("0,257"), may_have_groups("1,25")
    (True, False, False)
    """
    return EITHER.fullmatch(text.replace(MINUS, "-")) is not None


def is_missing(text: str) -> bool:
    """Return True for an empty cell and for the texts that programs write for one."""
    return text.strip().lower() in MISSING


def without_groups(text: str) -> str | None:
    """Return a number with thousands separators without them; None for any other text.

    >>> without_groups("1,257.30"), without_groups("1.000,5"), without_groups("12.5")
    ('1257.30', '1000.5', None)
    """
    match = GROUPED.fullmatch(text.replace(MINUS, "-"))
    if match is None:
        return None
    if match[3] == "." and match[4] is None and match[2].count(".") == 1:
        return None
    digits = match[1] + re.sub(r"\D", "", match[2])
    return digits if match[4] is None else f"{digits}.{match[4]}"


@final
class NumberReader:
    """Reader of the numbers of one text, in which the decimal mark must be the same everywhere."""

    def __init__(self, origin: Origin, largest: float, is_european: bool = False) -> None:
        """Prepare to read; `is_european` if the separators are those of decimal commas."""
        self._origin, self._largest = origin, largest
        self._doubts_points = is_european
        self._point: tuple[int, str] = (0, "")
        self._comma: tuple[int, str] = (0, "")
        self._either: tuple[int, str] = (0, "")

    @property
    def has_points(self) -> bool:
        return bool(self._point[0])

    @property
    def has_commas(self) -> bool:
        return bool(self._comma[0])

    def read(self, text: str, line: int, column: str) -> float:
        """Return a coordinate or target.

        Parameters
        ----------
        text : str
            Cell.
        line : int
            Line number, from 1.
        column : str
            End of an error message on the column, such as " in column 3".

        Returns
        -------
        float
            Finite number, at most `largest` in absolute value.

        Raises
        ------
        InputError
            The text is no such number; the message names the line.
        """
        try:
            if not text.isascii() or "_" in text:
                raise ValueError
            value = float(text)
        except ValueError:
            value = self._read_otherwise(text, line, column)
        else:
            if "." in text:
                if not self._point[0]:
                    self._point = line, text
                    self._check_marks()
                if self._doubts_points:
                    self._doubts_points = EITHER_POINT.fullmatch(text) is not None
        if not abs(value) <= self._largest or math.isinf(value):
            self._refuse_value(value, text, line, column)
        return value

    def finish(self) -> None:
        """Raise InputError if the marks in the numbers may have separated thousands."""
        line, text = self._either
        if line and (self._point[0] or not self._comma[0]):
            raise self._origin.error_at_line(
                line,
                f"has {text!r}, whose comma may be a decimal comma or a thousands separator; "
                f"write {text.replace(',', '.')} or {text.replace(',', '')}.",
            )
        line, text = self._point
        if line and self._doubts_points:
            raise self._origin.error_at_line(
                line,
                f"has {text!r}, whose point may be a decimal point or a thousands separator, "
                f"like all others; write {text}0 or {text.replace('.', '')}.",
            )

    def _read_otherwise(self, text: str, line: int, column: str) -> float:
        """Read a number with a comma or a typographic minus; raise InputError for other text."""
        plain = text.replace(MINUS, "-")
        value = number_of(plain)
        if value is not None and "," in plain:
            if may_have_groups(plain):
                self._either = self._either if self._either[0] else (line, text)
            elif not self._comma[0]:
                self._comma = line, text
                self._check_marks()
        elif value is None:
            self._refuse_text(text, line, column)
        assert value is not None
        return value

    def _check_marks(self) -> None:
        if not (self._point[0] and self._comma[0]):
            return
        first, second = sorted((self._point, self._comma))
        raise self._origin.error_at_line(
            second[0],
            f"has {second[1][:SHOWN]!r} and line {first[0]} has {first[1][:SHOWN]!r}: a decimal "
            "point and a decimal comma; use the same in all numbers.",
        )

    def _refuse_text(self, text: str, line: int, column: str) -> None:
        if is_missing(text):
            raise self._missing(text, line, column)
        plain = without_groups(text)
        if plain is not None:
            raise self._origin.error_at_line(
                line,
                f"has {text[:SHOWN]!r}, a number with thousands separators; write {plain}, or "
                "format the cells without separators.",
            )
        needed = self._origin.number
        raise self._origin.error_at_line(
            line,
            f"has {text[:SHOWN]!r} where {needed} is needed{column}; {self._origin.only_numbers}.",
        )

    def _refuse_value(self, value: float, text: str, line: int, column: str) -> None:
        if math.isnan(value):
            raise self._missing(text, line, column)
        if math.isfinite(self._largest):
            limit = f"coordinates are at most {self._largest:g}"
            words = f"has {value:g}, but {limit}; use a larger unit, or leave the point out."
            raise self._origin.error_at_line(line, words)
        raise self._origin.error_at_line(
            line,
            f"has {text[:SHOWN]!r}{column}; every value must be finite: correct it, or delete "
            "the line.",
        )

    def _missing(self, text: str, line: int, column: str) -> Exception:
        quotation = f" ({text[:SHOWN]})" if text else ""
        return self._origin.error_at_line(line, f"has no value{quotation}{column}; {FILL}.")
