"""Labels at the right of a plot beside the ends of their curves, without overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPixmap, QTransform

from app.widgets.items import UnboundedItem
from app.widgets.levels import fit_text, label_width, paint_label
from core.figures.palette import Palette

Floats = NDArray[np.float64]

BAR, AIR = 3.0, 5.0  # pixels: the mark in the curve's colour, and free space around it
WIDEST = 0.32  # greatest fraction of the plot for labels
NARROWEST = 240.0  # pixels; a narrower plot has no labels
GROUND = 225  # opacity of 255 behind a label


@final
@dataclass(frozen=True, slots=True, eq=False)
class EndLabel:
    """Label of a curve x (k,), increasing, with heights y (k,); of a level if x is empty."""

    text: str
    colour: str
    x: Floats
    y: Floats


def spread_heights(targets: Sequence[float], height: float, top: float, bottom: float) -> Floats:
    """Return the tops of labels of one height, as near to the wanted ones as possible.

    Labels keep the order of the wanted tops. What does not fit at all overlaps evenly.

    >>> spread_heights([10.0, 12.0, 80.0], 10.0, 0.0, 100.0).tolist()
    [6.0, 16.0, 80.0]
    >>> spread_heights([-50.0, 0.0], 10.0, 0.0, 100.0).tolist()
    [0.0, 10.0]
    """
    count = len(targets)
    order = np.argsort(targets, kind="stable")
    step = min(height, max(bottom - top, 0.0) / max(count, 1))
    # After subtracting the heights of the labels above, ordered tops become non-decreasing values.
    offsets = step * np.arange(count)
    free = np.clip(np.asarray(targets, dtype=np.float64)[order] - offsets, top, None)
    blocks: list[tuple[float, int]] = []  # mean and number of labels in contact
    for value in free.tolist():
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (one, some), (other, more) = blocks[-2:]
            blocks[-2:] = [((some * one + more * other) / (some + more), some + more)]
    placed = np.concatenate([np.empty(0), *(np.full(size, mean) for mean, size in blocks)])
    result = np.empty(count)
    result[order] = np.clip(placed, top, bottom - step * count) + offsets
    return result


@final
class EndLabels(UnboundedItem):
    """Names of curves in a column at the right edge of a plot."""

    def __init__(self) -> None:
        super().__init__()
        self.labels: Sequence[EndLabel] = ()
        self.boxes: list[QRectF] = []  # pixels, as painted last
        self.font, self._widest = QFont(), 0.0
        self._room = 0.0  # width of the widest labels in adjacent plots
        self._palette: Palette | None = None
        self._sheet: QPixmap | None = None  # the labels, which change less often than the cursor
        self._of: tuple[float, ...] = ()

    def set_labels(self, labels: Sequence[EndLabel], font: QFont, palette: Palette) -> None:
        """Show labels; the plot leaves them the room given by `share`."""
        self.labels, self.font, self._palette = labels, font, palette
        self._widest = max((label_width(label.text, font) for label in labels), default=0.0)
        self._sheet = None
        self.update()

    @property
    def widest(self) -> float:
        """Width of the widest label in pixels."""
        return self._widest

    def set_room(self, width: float) -> None:
        """Leave room for wider labels than those of this plot."""
        if width != self._room:
            self._room = width
            self._sheet = None
            self.update()

    def share(self, width: float) -> float:
        """Return the fraction of a plot's width in pixels that the labels take."""
        if not self.labels or width < NARROWEST:
            return 0.0
        return min((max(self._widest, self._room) + BAR + 3.0 * AIR) / width, WIDEST)

    def paint(self, painter: QPainter, *_: Any) -> None:
        way, ratio = painter.transform(), painter.device().devicePixelRatioF()
        inside = way.mapRect(self.boundingRect())
        if not self.labels or self._palette is None or inside.width() < NARROWEST:
            self.boxes = []
            return
        scale = (way.m11(), way.m22(), way.dx(), way.dy(), ratio)
        key = (*scale, inside.left(), inside.top(), inside.width(), inside.height())
        if self._sheet is None or key != self._of:
            self._sheet, self._of = self._make_sheet(way, inside, ratio), key
        painter.save()
        painter.resetTransform()
        painter.drawPixmap(inside.topLeft(), self._sheet)
        painter.restore()

    def _make_sheet(self, way: QTransform, inside: QRectF, ratio: float) -> QPixmap:
        """Paint all labels on a sheet of the plot's size."""
        sheet = QPixmap((inside.size() * ratio).toSize())
        sheet.setDevicePixelRatio(ratio)
        sheet.fill(Qt.GlobalColor.transparent)
        painter = QPainter(sheet)
        painter.translate(-inside.topLeft())
        self.boxes = self._paint_all(painter, way, inside)
        painter.end()
        return sheet

    def _paint_all(self, painter: QPainter, way: QTransform, inside: QRectF) -> list[QRectF]:
        """Paint the labels of the curves that are in sight; return their boxes in pixels."""
        area = self.boundingRect()
        marker_x = inside.right() - self.share(inside.width()) * inside.width() + AIR
        edge = (
            marker_x - way.dx()
        ) / way.m11()  # left edge of the label column, in the axes' units
        ends = [_visible_end(label, edge) for label in self.labels]
        visible = [k for k, (x, _) in enumerate(ends) if x >= area.left()]
        points = [way.map(QPointF(*ends[k])) for k in visible]
        height = QFontMetricsF(self.font).height()
        heights = [min(max(point.y(), inside.top()), inside.bottom()) for point in points]
        # Centred on the end of a curve, but above a level, whose line continues below its label.
        shares = [0.5 if self.labels[k].x.size else 1.0 for k in visible]
        targets = [y - share * height for y, share in zip(heights, shares, strict=True)]
        tops = spread_heights(targets, height, inside.top(), inside.bottom())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font)
        boxes = [QRectF(marker_x, top, inside.right() - marker_x, height) for top in tops.tolist()]
        for k, point, box in zip(visible, points, boxes, strict=True):
            self._paint(painter, self.labels[k], point, box, inside)
        return boxes

    def _paint(
        self, painter: QPainter, label: EndLabel, end: QPointF, box: QRectF, inside: QRectF
    ) -> None:
        """Paint a label, its mark, and a thin line to it from the end of its curve."""
        assert self._palette is not None
        ground, colour = QColor(self._palette.background), QColor(label.colour)
        ground.setAlpha(GROUND)
        painter.fillRect(box, ground)
        middle = QPointF(box.left(), box.center().y())
        if inside.contains(end) and (end - middle).manhattanLength() > AIR:
            pen = QPen(colour, 1.0)
            pen.setDashPattern([1.0, 3.0])
            painter.setPen(pen)
            painter.drawLine(end, middle)
        painter.fillRect(QRectF(box.left(), box.top() + 2.0, BAR, box.height() - 4.0), colour)
        painter.setPen(QColor(self._palette.foreground))
        metrics = QFontMetricsF(self.font)
        room = box.width() - BAR - 2.0 * AIR
        text = label.text if self._widest <= room else fit_text(label.text, self.font, room)
        place = QPointF(box.left() + BAR + AIR, box.top() + metrics.ascent())
        paint_label(painter, place, text)


def _visible_end(label: EndLabel, edge: float) -> tuple[float, float]:
    """Return the last place of a curve left of an edge; the edge, if the curve continues."""
    x, y = label.x, label.y
    if x.size == 0:
        return edge, float(y[0])
    if x[-1] <= edge:
        return float(x[-1]), float(y[-1])
    if x[0] > edge:
        return float(x[0]), float(y[0])
    return edge, float(np.interp(edge, x, y))
