"""Strips of a plot: curves stacked over one time axis, each with a title and an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app.widgets.axis import PlotAxis
from app.widgets.items import PlotLines, pen_of
from app.widgets.levels import GROUND, PlotMapping
from core.figures.palette import Palette, rgba

PAST_TITLE = 3.0  # pixels above and below a title
INDENT = 5.0
BEFORE_NUMBER = 7.0  # pixels between a title and its number
LONGEST_NUMBER = "\u22129.99 \u00d7 10\u207b\u2079\u2079"


@final
class StripLines(PlotLines):
    """Lines between strips, and through the zero of each."""

    def __init__(self, axis: PlotAxis) -> None:
        super().__init__()
        self._axis = axis
        self._zero, self._border = QPen(), QPen()

    def set_colours(self, palette: Palette) -> None:
        self._zero, self._border = pen_of(palette.grid), pen_of(rgba(palette.muted, 0.6))
        self.update()

    def paint(self, painter: QPainter, *_: Any) -> None:
        area = self.boundingRect()
        linear = [one for one in self._axis.strips if not one.takes_log and one.shows == "plain"]
        zeros = [one.start - one.low * one.unit for one in linear if one.low < 0.0 < one.high]
        borders = [one.start for one in self._axis.strips[:-1]]
        for pen, heights in ((self._zero, zeros), (self._border, borders)):
            painter.setPen(pen)
            painter.drawLines([QLineF(area.left(), y, area.right(), y) for y in heights])


@final
@dataclass(frozen=True, slots=True)
class StripTitle:
    """Title of a strip, or a short one if there is little room, and its number at the cursor."""

    start: float
    end: float
    text: str
    short: str
    number: str
    colour: str


def title_room(metrics: QFontMetricsF) -> float:
    """Return the height of a strip's title in pixels."""
    return metrics.height() + PAST_TITLE


def paint_titles(
    painter: QPainter,
    titles: Sequence[StripTitle],
    inside: QRectF,
    palette: Palette,
    plot: PlotMapping,
) -> list[QRectF]:
    """Write the titles of strips at their upper ends, and return their places."""
    if not titles:
        return []
    metrics, boxes = QFontMetricsF(painter.font()), []
    ground = QColor(palette.background)
    ground.setAlpha(GROUND)
    for one, top in _tops(titles, inside, metrics.height(), plot):
        number = metrics.horizontalAdvance(one.number) + BEFORE_NUMBER
        room = inside.width() - 2.0 * INDENT - number
        text = one.text if metrics.horizontalAdvance(one.text) <= room else one.short
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(room, 0.0) + 1.0)
        x, base = inside.left() + INDENT, top + 1.0 + metrics.ascent()
        width = metrics.horizontalAdvance(text)
        box = QRectF(x - 2.0, top + 1.0, width + number + 4.0, metrics.height())
        painter.fillRect(box, ground)
        painter.setPen(QColor(one.colour))
        painter.drawText(QPointF(x, base), text)
        painter.setPen(QColor(palette.foreground))
        painter.drawText(QPointF(x + width + BEFORE_NUMBER, base), one.number)
        boxes.append(box)
    return boxes


def _tops(
    titles: Sequence[StripTitle], inside: QRectF, height: float, plot: PlotMapping
) -> list[tuple[StripTitle, float]]:
    """Return the titles that have room in their strips, with the pixels of their upper ends."""
    ends = np.array([[0.0, end] for one in titles for end in (one.start, one.end)])
    tops = []
    for one, (foot, top) in zip(
        titles, plot.pixels(ends)[:, 1].reshape(-1, 2).tolist(), strict=True
    ):
        top = max(top, inside.top())
        if min(foot, inside.bottom()) - top >= height:
            tops.append((one, top))
    return tops


def title_rooms(
    titles: Sequence[StripTitle], inside: QRectF, font: QFont, plot: PlotMapping
) -> list[QRectF]:
    """Return the pixels that titles take at most, whatever their numbers."""
    if not titles:
        return []
    metrics = QFontMetricsF(font)
    number = metrics.horizontalAdvance(LONGEST_NUMBER) + BEFORE_NUMBER + 2.0 * INDENT
    return [
        QRectF(
            inside.left(),
            top,
            min(metrics.horizontalAdvance(one.text) + number, inside.width()),
            metrics.height() + 1.0,
        )
        for one, top in _tops(titles, inside, metrics.height(), plot)
    ]
