"""The paper that a figure is made for: its size, its letters, and whether its caption is on it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import final

from core.errors import InputError
from core.figures.names import FAMILIES

COLUMN, PAGE = 85.0, 180.0  # millimetres: a column of a journal, and all of its page
SMALLEST, LARGEST = 20.0, 1000.0
POINTS = 7.0
FEWEST_POINTS, MOST_POINTS = 4.0, 24.0
SIZE = re.compile(r"([0-9.]{1,9})(?:x([0-9.]{1,9}))?(?:mm)?")


@final
@dataclass(frozen=True, slots=True)
class Sheet:
    """Width and height in millimetres, None for those that suit the panels; the size of letters in
    points, their family, and whether title and caption are drawn."""

    width: float | None = None
    height: float | None = None
    points: float = POINTS
    family: str = "sans"
    caption: bool = True

    @property
    def scale(self) -> float:
        """What lengths that go with the letters are multiplied by."""
        return self.points / POINTS


def check_sheet(sheet: Sheet) -> None:
    """InputError for a size, letters or a family that no figure can have."""
    for value, name in ((sheet.width, "wide"), (sheet.height, "high")):
        if value is not None and not SMALLEST <= value <= LARGEST:
            raise InputError(
                f"A figure {value:g} mm {name} was asked for; {SMALLEST:g} to {LARGEST:g} mm are "
                f"possible, and {COLUMN:g} or {PAGE:g} mm wide is usual."
            )
    if not FEWEST_POINTS <= sheet.points <= MOST_POINTS:
        raise InputError(
            f"Letters of {sheet.points:g} points were asked for; {FEWEST_POINTS:g} to "
            f"{MOST_POINTS:g} are possible, and {POINTS:g} is usual."
        )
    if sheet.family not in FAMILIES:
        raise InputError(f"The letters {sheet.family[:40]!r}: allowed are {', '.join(FAMILIES)}.")


def parse_size(text: str) -> tuple[float, float | None]:
    """Width and height in millimetres of a text such as 85mm or 120x80; None: as the panels need.

    >>> parse_size("85mm"), parse_size("120x80"), parse_size("120.5x80mm")
    ((85.0, None), (120.0, 80.0), (120.5, 80.0))
    """
    found = SIZE.fullmatch(text.strip())
    try:
        width, height = (
            (None if part is None else float(part) for part in found.groups())
            if found
            else (None, None)
        )
    except ValueError:
        width = None
    if width is None or not math.isfinite(width):
        raise InputError(
            f"{text[:40]!r} is no size; give a width such as {COLUMN:g}mm or {PAGE:g}mm, or width "
            "and height such as 120x80mm."
        )
    return width, height


def size_text(sheet: Sheet) -> str:
    """What `parse_size` reads; empty where the panels decide.

    >>> size_text(Sheet(85.0)), size_text(Sheet(120.0, 80.5)), size_text(Sheet())
    ('85mm', '120x80.5mm', '')
    """
    if sheet.width is None:
        return ""
    return f"{sheet.width:.15g}" + ("" if sheet.height is None else f"x{sheet.height:.15g}") + "mm"
