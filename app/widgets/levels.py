"""Reference lines of a plot: dashed, with their bracket as a band and a label at their end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app.widgets.symbols import pieces
from core.figures.palette import Palette

BAND = 34  # opacity of 255
DASHES = [5.0, 4.0]
NEAR = 4.0  # pixels between a level and a pointer that is at it
SMALL = 0.78  # size of a subscript
UP, DOWN = "\u2191 ", "\u2193 "
GROUND = 215


@final
@dataclass(frozen=True, slots=True)
class LevelLine:
    """A horizontal line at `value` with a band from `low` to `high`; `tip` is rich text.

    With `line` false it is the end of a curve, of which only the label is drawn.
    """

    value: float
    low: float
    high: float
    label: str
    colour: str
    tip: str = ""
    line: bool = True


def label_width(text: str, font: QFont) -> float:
    """How wide a label is, subscripts in small letters."""
    return sum(
        QFontMetricsF(_sized(font, low)).horizontalAdvance(part) for part, low in pieces(text)
    )


def _sized(font: QFont, low: bool) -> QFont:
    if not low:
        return font
    small = QFont(font)
    small.setPointSizeF(SMALL * font.pointSizeF())
    return small


def paint_label(painter: QPainter, place: QPointF, text: str) -> None:
    """Write a label from its baseline's start, subscripts lowered."""
    font = painter.font()
    x = place.x()
    for part, low in pieces(text):
        painter.setFont(_sized(font, low))
        drop = 0.18 * QFontMetricsF(font).height() if low else 0.0
        painter.drawText(QPointF(x, place.y() + drop), part)
        x += QFontMetricsF(painter.font()).horizontalAdvance(part)
    painter.setFont(font)


def places_of(
    heights: Sequence[float], sizes: Sequence[tuple[float, float]], inside: QRectF
) -> list[QRectF]:
    """Boxes for labels at the right edge: above their line, or as near to that as is free.

    Lines beyond an edge have their label at it; of two labels the upper line's is the upper one.
    """
    boxes: dict[int, QRectF] = {}
    right = inside.right() - 3.0
    # From the top, each below those before it, so that labels stand in the order of their lines.
    for number in sorted(range(len(heights)), key=heights.__getitem__):
        width, height = sizes[number]
        y = min(max(heights[number], inside.top()), inside.bottom())
        boxes[number] = QRectF(right - width, inside.top(), width, height)
        others = [box for other, box in boxes.items() if other != number]
        for step in _steps(height, inside.height()):
            box = QRectF(right - width, y - height + step, width, height)
            fits = inside.top() <= box.top() and box.bottom() <= inside.bottom()
            if fits and not any(box.intersects(other) for other in others):
                boxes[number] = box
                break
    return [boxes[number] for number in range(len(heights))]


def _steps(height: float, room: float) -> list[float]:
    """How far a label may be moved down (or up), the nearest places first."""
    steps = [0.0, height + 1.0]
    for way in np.arange(0.25 * height, room, 0.25 * height).tolist():
        steps += [height + 1.0 + way, -way]
    return steps


@final
@dataclass(frozen=True, slots=True)
class Drawn:
    """Where a level is on the screen, in pixels: its label, and its line's height."""

    level: LevelLine
    box: QRectF
    height: float


def paint_levels(
    painter: QPainter,
    levels: Sequence[tuple[LevelLine, float, float, float]],
    inside: QRectF,
    palette: Palette,
) -> tuple[Drawn, ...]:
    """Draw levels, each with the heights in pixels of its value and of its bracket's ends."""
    shown = [one for one in levels if math.isfinite(one[1])]
    for level, y, low, high in shown:
        _paint_line(painter, level, (y, low, high), inside)
    metrics = QFontMetricsF(painter.font())
    texts = [_text(level, y, inside) for level, y, _, _ in shown]
    sizes = [(label_width(text, painter.font()) + 6.0, metrics.height()) for text in texts]
    boxes = places_of([y for _, y, _, _ in shown], sizes, inside)
    ground = QColor(palette.background)
    ground.setAlpha(GROUND)
    for (level, _, _, _), text, box in zip(shown, texts, boxes, strict=True):
        painter.fillRect(box, ground)
        painter.setPen(QColor(level.colour))
        paint_label(painter, QPointF(box.left() + 3.0, box.top() + metrics.ascent()), text)
    return tuple(Drawn(one[0], box, one[1]) for one, box in zip(shown, boxes, strict=True))


def _text(level: LevelLine, y: float, inside: QRectF) -> str:
    if y < inside.top() - 0.5:
        return UP + level.label
    return (DOWN if y > inside.bottom() + 0.5 else "") + level.label


def _paint_line(
    painter: QPainter, level: LevelLine, heights: tuple[float, float, float], inside: QRectF
) -> None:
    y, low, high = heights
    colour = QColor(level.colour)
    if not level.line or not inside.top() - 1.0 <= y <= inside.bottom() + 1.0:
        return
    # Pixels grow downwards. A bracket of less than one is the line itself.
    if math.isfinite(low) and math.isfinite(high) and low - high > 1.0:
        faint = QColor(colour)
        faint.setAlpha(BAND)
        painter.fillRect(QRectF(inside.left(), high, inside.width(), low - high), faint)
    pen = QPen(colour, 1.0)
    pen.setDashPattern(DASHES)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.drawLine(QPointF(inside.left(), y), QPointF(inside.right(), y))


def level_at(drawn: Sequence[Drawn], x: float, y: float) -> LevelLine | None:
    """The level whose label or line is at a pixel."""
    for one in drawn:
        if one.box.contains(x, y):
            return one.level
    near = [one for one in drawn if one.level.line and abs(one.height - y) <= NEAR]
    return min(near, key=lambda one: abs(one.height - y)).level if near else None
