"""Commas between columns that may be commas in numbers, where no header counts the columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import final

from core.data.origin import Origin

SIGNED_ZERO = re.compile(r"[+-]0|[+-]?0\d+", re.ASCII)  # the whole part, or the digits, of -0,05
HEAD = re.compile(r"[+-]?[1-9]\d{0,2}", re.ASCII)
TAIL = re.compile(r"\d{3}(?:\.\d+)?", re.ASCII)
ADVICE = "separate the columns by semicolons or tabs, or name them in a first line"


@final
class CommaCheck:
    """Looks for 0,05 and 1,257.30 that were cut at their commas."""

    def __init__(self, origin: Origin, active: bool) -> None:
        self._origin, self._active = origin, active
        self._decimal: tuple[int, str] | None = None
        self._pairs: set[int] | None = None  # columns that begin a thousand in every row so far
        self._first = (0, "")

    def add(self, row: Sequence[str], line: int, has_points: bool) -> None:
        """Take the cells of one row."""
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
        """Raise InputError if the commas may stand in numbers."""
        if self._decimal is not None and not has_points:
            line, cell = self._decimal
            raise self._origin.at(
                line, f"has {cell!r} between commas, which may be decimal commas; {ADVICE}."
            )
        if self._pairs:
            line, text = self._first
            raise self._origin.at(
                line, f"has {text!r}, whose commas may separate thousands; {ADVICE}."
            )
