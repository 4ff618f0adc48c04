"""Numbered marks of notes on the time slider."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter

from app.style import shades
from core.figures.palette import Palette
from core.problem.schedule import coordinate

RADIUS = 6.0  # pixels
DIGITS = 8  # pixels of a number's height
NEAR = 6.0  # pixels around a mark that count as it
HEIGHT = 13.0  # pixels from the top within which marks react to clicks


@final
class NoteMarks:
    """Discs at the moments of notes, numbered in the order of time.

    `position_of`: pixels from the left of a moment.
    """

    def __init__(self, position_of: Callable[[float], float]) -> None:
        self._position_of = position_of
        self._notes: tuple[tuple[float, str], ...] = ()

    def set_notes(self, notes: Sequence[tuple[float, str]]) -> None:
        """Set the notes by log10 t and rich text."""
        self._notes = tuple(
            (float(coordinate(when)) if math.isfinite(when) else -math.inf, text)
            for when, text in notes
        )

    def note_at(self, place: QPointF) -> int:
        """Return the number of the note whose mark is at a place, from 0; -1 for none."""
        if place.y() >= HEIGHT:
            return -1
        near = [
            (abs(self._position_of(moment) - place.x()), number)
            for number, (moment, _) in enumerate(self._notes)
        ]
        distance, number = min(near, default=(math.inf, -1))
        return number if distance <= NEAR else -1

    def text(self, number: int) -> str:
        """Return the rich text of a note."""
        return self._notes[number][1]

    def paint(self, painter: QPainter, palette: Palette) -> None:
        """Paint the marks, each above those after it."""
        font = QFont(painter.font())
        font.setPixelSize(DIGITS)
        for number in range(len(self._notes) - 1, -1, -1):
            x = self._position_of(self._notes[number][0])
            disc = QRectF(x - RADIUS, 0.0, 2.0 * RADIUS, 2.0 * RADIUS)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(shades(palette)["accent"]))
            painter.drawEllipse(disc)
            painter.setPen(QColor(palette.background))
            painter.setFont(font)
            painter.drawText(disc, Qt.AlignmentFlag.AlignCenter, str(number + 1))
