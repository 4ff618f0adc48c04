"""What lies on top of a plot: marked nodes with labels, the cursor line, a text in a corner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app.style import small
from app.widgets.levels import Drawn, LevelLine, paint_levels
from core.figures.palette import Palette

MARK = 5.0
GAP = 8.0


@final
@dataclass(frozen=True, slots=True)
class NodeMark:
    """A ring around a point of the plot, its label, and numbers said where there is room."""

    x: float
    y: float
    label: str = ""
    numbers: str = ""
    hovered: bool = False
    outward: bool = False  # its label stands away from the middle, where the others are


@final
@dataclass(frozen=True, slots=True)
class Overlay:
    """All of it. `cursor` is a vertical line in the axes' units, `box` a rectangle in pixels."""

    marks: tuple[NodeMark, ...] = ()
    cursor: float | None = None
    note: str = ""  # in the middle
    corner: tuple[str, ...] = ()  # the first of these texts for which there is room
    box: QRectF | None = None
    levels: tuple[LevelLine, ...] = ()


class Mapped(Protocol):
    """A plot, as far as it is needed here."""

    def pixels(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where points (k, 2) lie in pixels."""


@final
class Labels:
    """Places labels beside points, inside the plot and off one another."""

    def __init__(self, painter: QPainter, inside: QRectF, palette: Palette) -> None:
        self._painter, self._inside, self._palette = painter, inside, palette
        self._taken: list[QRectF] = []

    def keep_off(self, box: QRectF) -> None:
        """Something else is there."""
        self._taken.append(box)

    def fitting(self, x: float, mark: NodeMark) -> str:
        """A mark's label with its numbers, without them where neither side has the room."""
        text = f"{mark.label} {mark.numbers}".rstrip()
        width = QFontMetricsF(self._painter.font()).horizontalAdvance(text) + 6.0 + GAP
        room = max(self._inside.right() - x, x - self._inside.left())
        return text if width <= room else mark.label

    def put(self, point: QPointF, text: str, left: bool = False) -> None:
        """One label, right of the point where there is room, else left of it; or the reverse."""
        metrics = QFontMetricsF(self._painter.font())
        box = QRectF(0.0, 0.0, metrics.horizontalAdvance(text) + 6.0, metrics.height() + 2.0)
        inside = self._inside
        if left:
            left = point.x() - GAP - box.width() >= inside.left()
        else:
            left = point.x() + GAP + box.width() > inside.right()
        box.moveLeft(point.x() - GAP - box.width() if left else point.x() + GAP)
        box.moveLeft(max(min(box.left(), inside.right() - box.width()), inside.left() + 1.0))
        top = min(max(point.y() - 0.5 * box.height(), inside.top()), inside.bottom() - box.height())
        # The nearest free place; where none is free the last one tried, rather than no label.
        for shift in (0, -1, 1, -2, 2, -3, 3):
            box.moveTop(top + shift * box.height())
            free = not any(box.intersects(other) for other in self._taken)
            if free and inside.top() <= box.top() and box.bottom() <= inside.bottom():
                break
        self._taken.append(QRectF(box))
        ground = QColor(self._palette.background)
        ground.setAlpha(215)
        self._painter.fillRect(box, ground)
        self._painter.setPen(QColor(self._palette.foreground))
        self._painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def paint_overlay(
    painter: QPainter, overlay: Overlay, inside: QRectF, palette: Palette, font: QFont, plot: Mapped
) -> tuple[Drawn, ...]:
    """Draw an overlay in pixels over the space between the axes; returns where the levels are."""
    painter.save()
    painter.resetTransform()  # the scene's: marks are placed, and as large as they are, in pixels
    painter.setClipRect(inside)
    font = small(font)
    painter.setFont(font)
    if overlay.cursor is not None:
        x = float(plot.pixels(np.array([[overlay.cursor, 0.0]]))[0, 0])
        painter.setPen(QPen(QColor(palette.muted), 1))
        painter.drawLine(QPointF(x, inside.top()), QPointF(x, inside.bottom()))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    labels = Labels(painter, inside, palette)
    drawn = paint_levels(painter, _heights(overlay.levels, plot), inside, palette)
    for one in drawn:
        labels.keep_off(one.box)
    _paint_marks(painter, overlay, inside, palette, plot, labels)
    room = inside.width() - 2.0 * GAP - 6.0
    for text in overlay.corner:
        if QFontMetricsF(font).horizontalAdvance(text) <= room:
            labels.put(inside.bottomLeft(), text)
            break
    if overlay.note:
        painter.setPen(QColor(palette.muted))
        flags = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
        painter.drawText(inside.adjusted(GAP, 0.0, -GAP, 0.0), flags, overlay.note)
    if overlay.box is not None:
        ground = QColor(palette.foreground)
        ground.setAlpha(24)
        painter.setBrush(ground)
        painter.setPen(QPen(QColor(palette.muted), 1, Qt.PenStyle.DashLine))
        painter.drawRect(overlay.box)
    painter.restore()
    return drawn


def _heights(
    levels: tuple[LevelLine, ...], plot: Mapped
) -> list[tuple[LevelLine, float, float, float]]:
    """The levels with the pixels of their values and of the ends of their brackets."""
    if not levels:
        return []
    values = np.array([[level.value, level.low, level.high] for level in levels])
    points = np.stack([np.zeros(values.size), values.ravel()], axis=1)
    pixels = plot.pixels(points)[:, 1].reshape(-1, 3).tolist()
    return [(level, y, low, high) for level, (y, low, high) in zip(levels, pixels, strict=True)]


def _paint_marks(
    painter: QPainter,
    overlay: Overlay,
    inside: QRectF,
    palette: Palette,
    plot: Mapped,
    labels: Labels,
) -> None:
    if not overlay.marks:
        return
    places = plot.pixels(np.array([[mark.x, mark.y] for mark in overlay.marks]))
    # Labels first, as each has a ground of its own, which must cover no ring.
    for mark, (x, y) in zip(overlay.marks, places.tolist(), strict=True):
        if mark.label and np.isfinite(x) and np.isfinite(y) and inside.contains(QPointF(x, y)):
            left = mark.outward and x < inside.center().x()
            labels.put(QPointF(x, y), labels.fitting(x, mark), left)
    for mark, (x, y) in zip(overlay.marks, places.tolist(), strict=True):
        point = QPointF(x, y)
        if not (np.isfinite(x) and np.isfinite(y) and inside.contains(point)):
            continue
        painter.setBrush(Qt.BrushStyle.NoBrush)
        # A ring in the background's colour first, so that the mark is seen on nodes of any colour.
        painter.setPen(QPen(QColor(palette.background), 3.5))
        painter.drawEllipse(point, MARK, MARK)
        painter.setPen(QPen(QColor(palette.foreground), 2.0 if mark.hovered else 1.25))
        painter.drawEllipse(point, MARK, MARK)
