"""Reference lines of a plot: dashed, with their bracket as a band and a label at their end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app.widgets.screen_text import pieces
from core.figures.palette import Palette

Floats = NDArray[np.float64]
CURVE_AIR = 1.5  # pixels between a curve and a label


class PlotMapping(Protocol):
    """Plot, as far as labels need it."""

    def visible_range(self) -> QRectF:
        """Return the range in units of the axes."""

    def pixels(self, points: Floats) -> Floats:
        """Return pixels of points (k, 2)."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """Curves over common places (T,), increasing: values (k, T), NaN for none."""

    places: Floats
    values: Floats

    def find_obstacles(self, plot: PlotMapping, inside: QRectF) -> Obstacles:
        """Return the heights of the curves in pixels."""
        heights = np.full((self.values.shape[0], max(round(inside.width()), 2)), np.nan)
        columns = np.linspace(inside.left(), inside.right(), heights.shape[1])
        for row, values in zip(heights, self.values, strict=True):
            is_known = np.isfinite(values) & np.isfinite(self.places)
            if is_known.any():
                pixels = plot.pixels(np.stack([self.places[is_known], values[is_known]], axis=1))
                x, y = pixels.T
                row[:] = np.interp(columns, x, y, left=np.nan, right=np.nan)
        return Obstacles(inside.left(), heights)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Obstacles:
    """Heights (k, W) of curves in the columns of pixels from `left` on."""

    left: float
    heights: Floats

    def is_crossed(self, box: QRectF) -> bool:
        """Return True if a curve crosses a box."""
        first = max(int(box.left() - self.left) - 1, 0)
        part = self.heights[:, first : int(box.right() - self.left) + 2]
        if part.shape[1] < 2:
            return False
        # Between two columns a steep curve crosses many rows.
        upper, lower = np.fmin(part[:, 1:], part[:, :-1]), np.fmax(part[:, 1:], part[:, :-1])
        is_inside = (upper <= box.bottom() + CURVE_AIR) & (lower >= box.top() - CURVE_AIR)
        return bool(is_inside.any())


NO_CURVES = Obstacles(0.0, np.empty((0, 0)))


BAND = 34  # opacity of 255
DASHES = [5.0, 4.0]
NEAR = 4.0  # pixels within which the pointer counts as at a level
# Size of a subscript. Qt's rich text uses 0.67, which is illegible at one pixel per point, hardly
# lowers it, and takes 1.05 ms per label instead of 0.07.
SMALL = 0.78
UP, DOWN = "\u2191 ", "\u2193 "
GROUND = 215
ELLIPSIS = "\u2026"
PLACES = 8  # label positions tried from the right edge to the left
AT_LINE = 2  # of the positions up and down: just above the line and just below


@final
@dataclass(frozen=True, slots=True)
class LevelLine:
    """A horizontal line at `value` with a band from `low` to `high`; `tip` is rich text.

    With `line` false it is the end of a curve, of which only the label is drawn; `end` is its place
    on the horizontal axis. The label stays between the heights of `room`.
    """

    value: float
    low: float
    high: float
    label: str
    colour: str
    tip: str = ""
    line: bool = True
    end: float = math.inf
    room: tuple[float, float] = (-math.inf, math.inf)


def end_of_curve(
    places: Floats, values: Floats, label: str, colour: str, tip: str, room: tuple[float, float]
) -> LevelLine:
    """Return the label of a curve (T,) at its last value, NaN being none."""
    (finite,) = np.nonzero(np.isfinite(values))
    last, end = float(values[finite[-1]]), float(places[finite[-1]])
    return LevelLine(last, last, last, label, colour, tip, line=False, end=end, room=room)


def label_width(text: str, font: QFont) -> float:
    """Return the width of a label, with small subscripts."""
    return sum(
        QFontMetricsF(_sized_font(font, low)).horizontalAdvance(part) for part, low in pieces(text)
    )


def _sized_font(font: QFont, low: bool) -> QFont:
    if not low:
        return font
    small = QFont(font)
    small.setPointSizeF(SMALL * font.pointSizeF())
    return small


def fit_text(text: str, font: QFont, room: float) -> str:
    """Return a label, cut with an ellipsis if it is too wide."""
    if label_width(text, font) <= room:
        return text
    for end in range(len(text) - 1, 0, -1):
        cut = text[:end].rstrip(" _/(") + ELLIPSIS
        if label_width(cut, font) <= room:
            return cut
    return ELLIPSIS


def paint_label(painter: QPainter, place: QPointF, text: str) -> None:
    """Write a label from its baseline's start, subscripts lowered."""
    font = painter.font()
    x = place.x()
    for part, low in pieces(text):
        painter.setFont(_sized_font(font, low))
        drop = 0.18 * QFontMetricsF(font).height() if low else 0.0
        painter.drawText(QPointF(x, place.y() + drop), part)
        x += QFontMetricsF(painter.font()).horizontalAdvance(part)
    painter.setFont(font)


def places_of(
    heights: Sequence[float],
    sizes: Sequence[tuple[float, float]],
    rooms: Sequence[QRectF],
    curves: Obstacles = NO_CURVES,
    taken_boxes: Sequence[QRectF] = (),
) -> list[QRectF]:
    """Return boxes for labels: at the right of their room, above their line, or near to that.

    Boxes are off other labels, `curves` and `taken_boxes`. Lines beyond an edge have their label
    at it; of two labels the upper line's is the upper one.
    """
    boxes: dict[int, QRectF] = {}
    # From the top down, each below the last, so that labels are in the order of their lines.
    for number in sorted(range(len(heights)), key=heights.__getitem__):
        (width, height), inside = sizes[number], rooms[number]
        right = inside.right() - 3.0
        y = min(max(heights[number], inside.top()), inside.bottom())
        home = QRectF(right - width, y - height, width, height)
        candidates = _candidates(home, inside, bool(curves.heights.size))
        best = _first_free(candidates, inside, (*boxes.values(), *taken_boxes), curves)
        boxes[number] = best or QRectF(right - width, inside.top(), width, height)
    return [boxes[number] for number in range(len(heights))]


def _first_free(
    candidates: Iterator[QRectF], inside: QRectF, labels: Sequence[QRectF], curves: Obstacles
) -> QRectF | None:
    """Return the first box free of labels and curves, else the first free of labels.

    Stops at the first hit. A plot has up to 3,000 candidates for each label: testing all of them
    took 54 ms for five labels over three curves, and this takes 0.6 ms.
    """
    free_of_labels = None
    for box in candidates:
        if inside.top() > box.top() or box.bottom() > inside.bottom():
            continue
        if any(box.intersects(label) for label in labels):
            continue
        if not curves.is_crossed(box):
            return box
        free_of_labels = free_of_labels or box
    return free_of_labels


def _candidates(home: QRectF, inside: QRectF, sideways: bool) -> Iterator[QRectF]:
    """Yield places for a label, the best first: at its line, then farther from it.

    At one height they go from the right to the left.
    """
    room = home.left() - inside.left() - 3.0
    shifts = [0.0]
    if sideways and room > 0.0:
        shifts += np.linspace(0.0, room, PLACES + 1)[1:].tolist()
    steps = _steps(home.height(), inside.height())
    for some in (steps[:AT_LINE], steps[AT_LINE:]):
        for shift in shifts:
            for step in some:
                yield home.translated(-shift, step)


def _steps(height: float, room: float) -> list[float]:
    """Return how far a label may be moved down (or up), the nearest places first."""
    steps = [0.0, height + 1.0]
    for way in np.arange(0.25 * height, room, 0.25 * height).tolist():
        steps += [height + 1.0 + way, -way]
    return steps


@final
@dataclass(frozen=True, slots=True)
class PlacedLevel:
    """A level on the screen, in pixels: its label, its line's height, and its bracket's ends.

    `text` is the label as it fits.
    """

    level: LevelLine
    box: QRectF
    height: float
    bracket: tuple[float, float]
    text: str


def place_levels(
    levels: Sequence[tuple[LevelLine, float, float, float, QRectF]],
    font: QFont,
    inside: QRectF,
    curves: Obstacles = NO_CURVES,
    taken_boxes: Sequence[QRectF] = (),
) -> tuple[PlacedLevel, ...]:
    """Return levels in place, from the pixels of their values, bracket ends and rooms."""
    finite = [one for one in levels if math.isfinite(one[1])]
    room, height = inside.width() - 12.0, QFontMetricsF(font).height()
    texts = [fit_text(beyond_arrow(y, inside) + level.label, font, room) for level, y, *_ in finite]
    sizes = [(label_width(text, font) + 6.0, height) for text in texts]
    rooms = [_roomy(one[4], size, inside) for one, size in zip(finite, sizes, strict=True)]
    boxes = places_of([one[1] for one in finite], sizes, rooms, curves, taken_boxes)
    return tuple(
        PlacedLevel(level, box, y, (low, high), text)
        for (level, y, low, high, _), text, box in zip(finite, texts, boxes, strict=True)
    )


def _roomy(room: QRectF, size: tuple[float, float], inside: QRectF) -> QRectF:
    """Return a room in which a label of this size fits, within the plot if it does there."""
    width, height = size[0] + 6.0, size[1]
    wide = QRectF(room.left(), room.top(), max(room.width(), width), max(room.height(), height))
    return wide.intersected(inside)


def paint_levels(
    painter: QPainter, levels: Sequence[PlacedLevel], inside: QRectF, palette: Palette
) -> None:
    """Draw levels where they were placed: all lines, then all labels."""
    for one in levels:
        _paint_line(painter, one, inside)
    ground = QColor(palette.background)
    ground.setAlpha(GROUND)
    ascent = QFontMetricsF(painter.font()).ascent() if levels else 0.0
    for one in levels:
        painter.fillRect(one.box, ground)
        painter.setPen(QColor(one.level.colour))
        paint_label(painter, QPointF(one.box.left() + 3.0, one.box.top() + ascent), one.text)


def beyond_arrow(y: float, inside: QRectF) -> str:
    """Return an arrow to what is above or below the plot, or ""."""
    if y < inside.top() - 0.5:
        return UP
    return DOWN if y > inside.bottom() + 0.5 else ""


def _paint_line(painter: QPainter, placed: PlacedLevel, inside: QRectF) -> None:
    y, (low, high) = placed.height, placed.bracket
    colour = QColor(placed.level.colour)
    if not placed.level.line or not inside.top() - 1.0 <= y <= inside.bottom() + 1.0:
        return
    # Pixels increase downwards. A bracket of less than a pixel is the line itself.
    if math.isfinite(low) and math.isfinite(high) and low - high > 1.0:
        faint = QColor(colour)
        faint.setAlpha(BAND)
        painter.fillRect(QRectF(inside.left(), high, inside.width(), low - high), faint)
    pen = QPen(colour, 1.0)
    pen.setDashPattern(DASHES)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.drawLine(QPointF(inside.left(), y), QPointF(inside.right(), y))


def level_at(levels: Sequence[PlacedLevel], x: float, y: float) -> LevelLine | None:
    """Return the level whose label or line is at a pixel."""
    for one in levels:
        if one.box.contains(x, y):
            return one.level
    near = [one for one in levels if one.level.line and abs(one.height - y) <= NEAR]
    return min(near, key=lambda one: abs(one.height - y)).level if near else None
