"""Overlay of a plot: marked neurons with labels, the cursor line, a text in a corner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app.style import small
from app.widgets.levels import (
    NO_CURVES,
    UP,
    LevelLine,
    Obstacles,
    PlacedLevel,
    PlotMapping,
    Traces,
    beyond_arrow,
    paint_levels,
    place_levels,
)
from app.widgets.strips import StripTitle, paint_titles, title_rooms
from core.figures.palette import Palette

MARK = 5.0
DOT = 3.5
GAP = 8.0
SHIFTS = (0, -1, 1, -2, 2, -3, 3)  # in heights of a label


@final
@dataclass(frozen=True, slots=True)
class NodeMark:
    """Ring around a point of the plot, its label, and numbers shown if they fit."""

    x: float
    y: float
    label: str = ""
    numbers: str = ""
    hovered: bool = False
    outward: bool = False  # True to place its label away from the centre, which other marks fill

    @property
    def words(self) -> str:
        """Label with the numbers."""
        return f"{self.label}: {self.numbers}" if self.numbers else self.label


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """Value of a curve at the cursor: a dot, or its name and number at the edge beyond it.

    The number stands alone where there is no room for both.
    """

    value: float
    colour: str
    name: str
    number: str

    @property
    def text(self) -> str:
        return f"{self.name} {self.number}"


@final
@dataclass(frozen=True, slots=True)
class HoverReadout:
    """Reading at the pointer: a point in the axes' units, and its lines of text."""

    x: float
    y: float
    text: str
    colour: str = ""
    dot: bool = True


@final
@dataclass(frozen=True, slots=True)
class Overlay:
    """Content of an overlay. `cursor`: a vertical line in the axes' units; `box`: in pixels."""

    marks: tuple[NodeMark, ...] = ()
    cursor: float | None = None
    note: str = ""  # text in the middle
    corner: tuple[str, ...] = ()  # the first text that fits is shown
    box: QRectF | None = None
    levels: tuple[LevelLine, ...] = ()
    readings: tuple[Reading, ...] = ()  # at the cursor
    curves: Traces | None = None  # labels avoid these
    pointed: HoverReadout | None = None
    titles: tuple[StripTitle, ...] = ()


NOTHING = Overlay()


@final
class Labels:
    """Places labels beside points, inside the plot, without overlaps with labels and curves."""

    def __init__(
        self, painter: QPainter, inside: QRectF, palette: Palette, curves: Obstacles
    ) -> None:
        self._painter, self._inside, self._palette = painter, inside, palette
        self._curves = curves
        self._taken: list[QRectF] = []

    def reserve(self, box: QRectF) -> None:
        """Keep labels out of a rectangle."""
        self._taken.append(box)

    def fitting(self, x: float, mark: NodeMark) -> str:
        """Return a mark's label with its numbers, or without if neither side has the room."""
        text = mark.words
        width = QFontMetricsF(self._painter.font()).horizontalAdvance(text) + 6.0 + GAP
        room = max(self._inside.right() - x, x - self._inside.left())
        return text if width <= room else mark.label

    def holds(self, text: str) -> bool:
        """Return True if a label fits uncut."""
        return QFontMetricsF(self._painter.font()).horizontalAdvance(text) <= self._room()

    def _room(self) -> float:
        return max(self._inside.width() - 8.0, 0.0)

    def place(self, point: QPointF, text: str, on_left: bool = False, colour: str = "") -> None:
        """Write a label right of the point if it fits, else left of it; or the reverse."""
        inside = self._inside
        metrics = QFontMetricsF(self._painter.font())
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, self._room())
        box = self._box(text)
        if on_left:
            on_left = point.x() - GAP - box.width() >= inside.left()
        else:
            on_left = point.x() + GAP + box.width() > inside.right()
        places = [
            place for side in (on_left, not on_left) for place in self._side_boxes(point, box, side)
        ]
        # The nearest free position; without one the last tried, rather than no label.
        near_point, far = places[: len(SHIFTS)], places[len(SHIFTS) :]
        free = [place for place in near_point if self._is_free(place)]
        reserve = [place for place in far if self._is_free(place) and self._holds(point, place)]
        clear = [place for place in free + reserve if not self._curves.is_crossed(place)]
        box = next(iter(clear + free), near_point[-1])
        self._write(box, text, colour)

    def place_above(self, point: QPointF, text: str) -> None:
        """Write lines above a point, or below it if they do not fit.

        They cover all else, since the user requested them just now, and are cut only where the
        longest one has no room.
        """
        inside, lines = self._inside, text.split("\n")
        metrics = QFontMetricsF(self._painter.font())
        room = self._room()
        lines = [metrics.elidedText(one, Qt.TextElideMode.ElideRight, room) for one in lines]
        boxes = [self._box(one) for one in lines]
        width, height = max(box.width() for box in boxes), sum(box.height() for box in boxes)
        x = min(max(point.x() - 0.5 * width, inside.left()), inside.right() - width)
        top = point.y() - GAP - height
        top = top if top >= inside.top() else point.y() + GAP
        self._write(QRectF(x, top, width, height), "\n".join(lines))

    def place_in_corner(self, text: str) -> None:
        """Write a label in a free corner, or at the lower left if none is free."""
        inside, box = self._inside, self._box(text)
        left, right = inside.left() + GAP, inside.right() - GAP - box.width()
        places = [
            QRectF(x, y, box.width(), box.height())
            for y in (inside.bottom() - box.height(), inside.top())
            for x in (left, right)
        ]
        free = [place for place in places if self._is_free(place)]
        clear = [place for place in free if not self._curves.is_crossed(place)]
        self._write(next(iter(clear + free), places[0]), text)

    def _box(self, text: str) -> QRectF:
        metrics = QFontMetricsF(self._painter.font())
        return QRectF(0.0, 0.0, metrics.horizontalAdvance(text) + 6.0, metrics.height() + 2.0)

    def _side_boxes(self, point: QPointF, box: QRectF, on_left: bool) -> list[QRectF]:
        """Return places at one side of a point, the best first."""
        inside = self._inside
        x = point.x() - GAP - box.width() if on_left else point.x() + GAP
        x = max(min(x, inside.right() - box.width()), inside.left() + 1.0)
        top = min(max(point.y() - 0.5 * box.height(), inside.top()), inside.bottom() - box.height())
        return [
            QRectF(x, top + shift * box.height(), box.width(), box.height()) for shift in SHIFTS
        ]

    def _is_free(self, box: QRectF) -> bool:
        inside = self._inside
        free = not any(box.intersects(taken_box) for taken_box in self._taken)
        return free and inside.top() <= box.top() and box.bottom() <= inside.bottom()

    def _holds(self, point: QPointF, box: QRectF) -> bool:
        """Return True if a box is beside a point and not pushed over it by the edge."""
        return not box.left() - 0.5 * GAP < point.x() < box.right() + 0.5 * GAP

    def _write(self, box: QRectF, text: str, colour: str = "") -> None:
        self._taken.append(QRectF(box))
        ground = QColor(self._palette.background)
        ground.setAlpha(215)
        self._painter.fillRect(box, ground)
        self._painter.setPen(QColor(colour or self._palette.foreground))
        self._painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


@final
class LabelLayoutCache:
    """Cached places of the curves and the levels of a plot.

    They are updated only when a curve, a level, the range or the room changed: not with each move
    of the cursor.
    """

    def __init__(self) -> None:
        self.curves: Obstacles = NO_CURVES
        self.levels: tuple[PlacedLevel, ...] = ()
        self._of: tuple[object, ...] = ()

    def find(self, overlay: Overlay, inside: QRectF, font: QFont, plot: PlotMapping) -> None:
        """Update both. Traces are equal if they are the same object."""
        titles = tuple((one.start, one.end, one.text) for one in overlay.titles)
        ranges = (inside.getRect(), plot.visible_range().getRect(), font)
        key = (overlay.levels, overlay.curves, titles, *ranges)
        if key != self._of:
            curves = overlay.curves
            self.curves = NO_CURVES if curves is None else curves.find_obstacles(plot, inside)
            title_boxes = title_rooms(overlay.titles, inside, font, plot)
            levels = _in_pixels(overlay.levels, inside, plot)
            self.levels = place_levels(levels, font, inside, self.curves, title_boxes)
            self._of = key


def paint_overlay(
    painter: QPainter,
    overlay: Overlay,
    inside: QRectF,
    palette: Palette,
    font: QFont,
    plot: PlotMapping,
    cache: LabelLayoutCache,
) -> None:
    """Draw an overlay in pixels over the space between the axes."""
    if overlay == NOTHING:
        return
    painter.save()
    painter.resetTransform()  # marks are placed and sized in pixels
    painter.setClipRect(inside)
    font = small(font)
    painter.setFont(font)
    if overlay.cursor is not None:
        x = float(plot.pixels(np.array([[overlay.cursor, 0.0]]))[0, 0])
        painter.setPen(QPen(QColor(palette.muted), 1))
        painter.drawLine(QPointF(x, inside.top()), QPointF(x, inside.bottom()))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    cache.find(overlay, inside, font, plot)
    labels = Labels(painter, inside, palette, cache.curves)
    paint_levels(painter, cache.levels, inside, palette)
    for box in [
        *(one.box for one in cache.levels),
        *paint_titles(painter, overlay.titles, inside, palette, plot),
    ]:
        labels.reserve(box)
    _paint_readings(painter, overlay, inside, palette, plot, labels)
    _paint_marks(painter, overlay, inside, palette, plot, labels)
    _paint_pointed(painter, overlay.pointed, palette, plot, labels)
    room = inside.width() - 2.0 * GAP - 6.0
    for text in overlay.corner:
        if QFontMetricsF(font).horizontalAdvance(text) <= room:
            labels.place_in_corner(text)
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


def _in_pixels(
    levels: tuple[LevelLine, ...], inside: QRectF, plot: PlotMapping
) -> list[tuple[LevelLine, float, float, float, QRectF]]:
    """Return the levels with the pixel heights of their values and brackets, and their rooms."""
    if not levels:
        return []
    values = np.array([[one.value, one.low, one.high, *one.room] for one in levels])
    points = np.stack([np.repeat([one.end for one in levels], 5), values.ravel()], axis=1)
    is_open = ~np.isfinite(points)
    pixels = plot.pixels(np.where(is_open, 0.0, points))
    pixels[is_open] = np.nan
    rooms = []
    for right, bottom, top in zip(pixels[::5, 0], pixels[3::5, 1], pixels[4::5, 1], strict=True):
        rooms.append(QRectF(inside))
        if np.isfinite(right):
            rooms[-1].setRight(min(right, inside.right()))
        if np.isfinite(bottom):
            rooms[-1].setBottom(min(bottom, inside.bottom()))
        if np.isfinite(top):
            rooms[-1].setTop(max(top, inside.top()))
    heights = pixels[:, 1].reshape(-1, 5)[:, :3].tolist()
    return [(one, *places, room) for one, places, room in zip(levels, heights, rooms, strict=True)]


def _paint_readings(
    painter: QPainter,
    overlay: Overlay,
    inside: QRectF,
    palette: Palette,
    plot: PlotMapping,
    labels: Labels,
) -> None:
    """Paint dots at the curves' values; name those beyond an edge there."""
    readings = [one for one in overlay.readings if np.isfinite(one.value)]
    if overlay.cursor is None or not readings:
        return
    points = np.array([[overlay.cursor, one.value] for one in readings])
    for reading, (x, y) in zip(readings, plot.pixels(points).tolist(), strict=True):
        if not inside.left() - 0.5 <= x <= inside.right() + 0.5:
            continue
        if arrow := beyond_arrow(y, inside):
            edge = QPointF(x, inside.top() if arrow == UP else inside.bottom())
            text = arrow + reading.text
            text = text if labels.holds(text) else arrow + reading.number
            labels.place(edge, text, colour=reading.colour)
            continue
        painter.setPen(QPen(QColor(palette.background), 1.0))
        painter.setBrush(QColor(reading.colour))
        painter.drawEllipse(QPointF(x, y), DOT, DOT)


def _paint_pointed(
    painter: QPainter,
    pointed: HoverReadout | None,
    palette: Palette,
    plot: PlotMapping,
    labels: Labels,
) -> None:
    if pointed is None:
        return
    x, y = plot.pixels(np.array([[pointed.x, pointed.y]]))[0].tolist()
    labels.place_above(QPointF(x, y), pointed.text)
    if pointed.dot:
        painter.setPen(QPen(QColor(palette.background), 1.0))
        painter.setBrush(QColor(pointed.colour or palette.foreground))
        painter.drawEllipse(QPointF(x, y), DOT, DOT)


def _paint_marks(
    painter: QPainter,
    overlay: Overlay,
    inside: QRectF,
    palette: Palette,
    plot: PlotMapping,
    labels: Labels,
) -> None:
    if not overlay.marks:
        return
    places = plot.pixels(np.array([[mark.x, mark.y] for mark in overlay.marks]))
    # Labels first: their backgrounds must not cover a ring.
    for mark, (x, y) in zip(overlay.marks, places.tolist(), strict=True):
        if mark.label and np.isfinite(x) and np.isfinite(y) and inside.contains(QPointF(x, y)):
            on_left = mark.outward and x < inside.center().x()
            text = labels.fitting(x, mark)
            if mark.hovered and mark.numbers and text == mark.label:
                labels.place_above(QPointF(x, y), f"{text}\n{mark.numbers.strip()}")
            else:
                labels.place(QPointF(x, y), text, on_left)
    for mark, (x, y) in zip(overlay.marks, places.tolist(), strict=True):
        point = QPointF(x, y)
        if not (np.isfinite(x) and np.isfinite(y) and inside.contains(point)):
            continue
        painter.setBrush(Qt.BrushStyle.NoBrush)
        # First a ring in the background's colour, so that the mark contrasts with any neuron.
        painter.setPen(QPen(QColor(palette.background), 3.5))
        painter.drawEllipse(point, MARK, MARK)
        painter.setPen(QPen(QColor(palette.foreground), 2.0 if mark.hovered else 1.25))
        painter.drawEllipse(point, MARK, MARK)
