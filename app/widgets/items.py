"""Items drawn inside a plot: stacks of curves, and markers by the thousand.

pyqtgraph's own items take 50 us for each curve and 7 us for each marker whose colour changes, which
is too much for 4096 neurons at every frame; these take the colours as a few styles instead.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, final

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPen, QPixmap

from app.qt_workarounds import draw_fragments
from app.style import line_scale
from app.widgets.axis import PlotAxis
from core.figures.palette import Palette, rgba

GRID_OPACITY = 0.55  # of grid lines other than those through 0
FAR = 2.0**30  # pixels, beyond which Qt's own arithmetic fails


def colour_of(colour: Any) -> QColor:
    """Return the colour of "#rrggbb" or of an RGBA row of 0 to 255."""
    return QColor(colour) if isinstance(colour, str) else QColor(*(int(part) for part in colour))


def pen_of(colour: Any, width: float = 1.0, dashes: Sequence[float] = ()) -> QPen:
    """Return a pen whose width is in pixels; `colour` is "#rrggbb" or an RGBA row of 0 to 255.

    Equal pens are one shared object, which must not be changed.
    """
    rgb = colour if isinstance(colour, str) else tuple(int(part) for part in colour)
    return _pen(rgb, width, tuple(dashes))


# Cached, since few pens differ and each painting would create them (docs/decisions/0015).
@lru_cache(maxsize=2048)
def _pen(colour: Any, width: float, dashes: tuple[float, ...]) -> QPen:
    pen: QPen = pg.mkPen(colour_of(colour), width=width)
    if dashes:
        pen.setDashPattern(list(dashes))
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


def _scale_pen(pen: QPen, scale: float) -> QPen:
    wide = QPen(pen)
    wide.setWidthF(scale * pen.widthF())
    return wide


def path_of(x: NDArray[Any], y: NDArray[Any], connect: Any = "finite") -> QPainterPath:
    """Return a curve through points; `connect` is true where a line leads to the next point."""
    path: QPainterPath = pg.arrayToQPath(x, y, connect, finiteCheck=isinstance(connect, str))
    return path


class UnboundedItem(pg.GraphicsObject):
    """Item that may extend beyond its plot, which clips it."""

    @abstractmethod
    def paint(self, painter: QPainter, *_: Any) -> None:
        """Draw the item."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: QRectF | None = None

    def boundingRect(self) -> QRectF:
        # The visible range, not the extent of all points, which would be measured at each frame.
        if self._seen is None:
            view = self.getViewBox()
            if view is None:
                return QRectF()
            self._seen = QRectF(view.viewRect())
        return self._seen

    def viewTransformChanged(self) -> None:
        self.prepareGeometryChange()
        self._seen = None


class PlotLines(UnboundedItem):
    """Lines of a plot itself, below its content."""

    @abstractmethod
    def set_colours(self, palette: Palette) -> None:
        """Set the pens of a palette."""


@final
class ZeroLine(PlotLines):
    """Line through 0, horizontal or vertical."""

    def __init__(self, vertical: bool = False) -> None:
        super().__init__()
        self._vertical, self._pen = vertical, QPen()

    def set_colours(self, palette: Palette) -> None:
        self._pen = pen_of(palette.grid)
        self.update()

    def paint(self, painter: QPainter, *_: Any) -> None:
        painter.setPen(self._pen)
        area = self.boundingRect()
        if self._vertical:
            painter.drawLine(QPointF(0.0, area.top()), QPointF(0.0, area.bottom()))
        else:
            painter.drawLine(QPointF(area.left(), 0.0), QPointF(area.right(), 0.0))


@final
class GridLines(PlotLines):
    """Faint lines at the ticks of two axes."""

    def __init__(self, bottom: PlotAxis, side: PlotAxis) -> None:
        super().__init__()
        self._bottom, self._side = bottom, side
        self._pen = QPen()

    def set_colours(self, palette: Palette) -> None:
        self._pen = pen_of(rgba(palette.grid, GRID_OPACITY))
        self.update()

    def paint(self, painter: QPainter, *_: Any) -> None:
        painter.setPen(self._pen)
        area = self.boundingRect()
        across, up = self._bottom.tick_places(), self._side.tick_places()
        lines = [QLineF(x, area.top(), x, area.bottom()) for x in across]
        lines += [QLineF(area.left(), y, area.right(), y) for y in up]
        painter.drawLines(lines)


@final
class CurveStack(UnboundedItem):
    """Curves with a pen each, in one item, which can show only the first of them."""

    def __init__(self) -> None:
        super().__init__()
        self.curves: list[tuple[QPainterPath, QPen]] = []  # in drawing order
        self.shown = 0

    def set_curves(
        self, curves: Sequence[tuple[QPainterPath, QPen]], n_shown: int | None = None
    ) -> None:
        """Draw the first `n_shown` of some curves, by default all."""
        self.curves = list(curves)
        self.shown = len(self.curves) if n_shown is None else n_shown
        self.update()

    def show_first(self, n_shown: int) -> None:
        """Draw another number of the curves."""
        if n_shown != self.shown:
            self.shown = n_shown
            self.update()

    def paint(self, painter: QPainter, *_: Any) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        scale = line_scale()
        for path, pen in self.curves[: self.shown]:
            painter.setPen(pen if scale == 1.0 else _scale_pen(pen, scale))
            painter.drawPath(path)


@final
class Areas(UnboundedItem):
    """Areas in one colour each, without edges."""

    def __init__(self) -> None:
        super().__init__()
        self.areas: list[tuple[QPainterPath, QColor]] = []

    def set_areas(self, areas: Sequence[tuple[QPainterPath, QColor]]) -> None:
        """Draw closed paths in their colours."""
        self.areas = list(areas)
        self.update()

    def paint(self, painter: QPainter, *_: Any) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for path, colour in self.areas:
            painter.fillPath(path, colour)


@final
class Picture(pg.GraphicsObject):
    """Colours on a grid, interpolated between its points."""

    def __init__(self) -> None:
        super().__init__()
        self.image: QImage | None = None
        self.place = QRectF()  # position in the axes' units
        self.smooth = True

    def show_colours(self, colours: NDArray[np.uint8], place: QRectF) -> None:
        """Show RGBA colours (rows, columns, 4) over a rectangle, the lowest row first."""
        rows, columns = colours.shape[:2]
        data = np.ascontiguousarray(colours)
        form = QImage.Format.Format_RGBA8888
        # QImage only borrows the array's bytes.
        self.image = QImage(data.data, columns, rows, 4 * columns, form).copy()
        self.prepareGeometryChange()
        self.place = place
        self.update()

    def show_nothing(self) -> None:
        """Remove the colours."""
        self.image = None
        self.update()

    def boundingRect(self) -> QRectF:
        return QRectF(self.place)

    def paint(self, painter: QPainter, *_: Any) -> None:
        if self.image is not None:
            # Do not interpolate between classes.
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self.smooth)
            painter.drawImage(self.place, self.image)


@final
class Symbol(Enum):
    """Shapes of markers."""

    DISC = "disc"
    RING = "ring"
    PLUS = "plus"
    CROSS = "cross"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Style:
    """Style of a marker: its colour, its size in pixels, and a second colour.

    The second one is that of a disc's edge, or inside a ring ("" for none).
    """

    colour: Any
    size: float
    symbol: Symbol = Symbol.DISC
    edge: str = ""

    def draw(self, painter: QPainter, centre: QPointF) -> None:
        """Draw one marker."""
        half, colour = 0.5 * self.size, colour_of(self.colour)
        if self.symbol is Symbol.DISC:
            painter.setPen(QPen(QColor(self.edge), 1.0) if self.edge else Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(centre, half, half)
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(
            QPen(colour, 1.5 if self.symbol is Symbol.RING else max(0.18 * self.size, 2))
        )
        if self.symbol is Symbol.RING:
            if self.edge:
                painter.setBrush(QColor(self.edge))
            painter.drawEllipse(centre, half, half)
            return
        arms = [(half, 0.0), (0.0, half)]
        if self.symbol is Symbol.CROSS:
            arms = [(0.8 * half, 0.8 * half), (0.8 * half, -0.8 * half)]
        for arm in (QPointF(*arm) for arm in arms):
            painter.drawLine(centre - arm, centre + arm)


@final
class Markers(UnboundedItem):
    """Markers of a few styles: each style is drawn once, and copied to its points."""

    def __init__(self) -> None:
        super().__init__()
        self.styles: Sequence[Style] = ()
        self.points: NDArray[np.float64] = np.empty((0, 2))
        self.which: NDArray[np.int64] = np.empty(0, dtype=np.int64)  # style of each point, (k,)
        self._sheet: QPixmap | None = None
        self._ratio = 1.0  # pixels of `_sheet` per pixel of a style
        self._cells: NDArray[np.float64] = np.empty((0, 4))

    def set_styles(self, *styles: Style) -> None:
        """Set the styles to choose from."""
        self.styles, self._sheet = styles, None
        self.update()

    def show_at(self, points: NDArray[Any], colour_indices: Any = 0) -> None:
        """Show markers at points (k, 2), each in a style (k,), without those not finite."""
        points = np.asarray(points, dtype=np.float64).reshape(-1, 2)
        colour_indices = np.broadcast_to(
            np.asarray(colour_indices, dtype=np.int64), points.shape[:1]
        )
        finite = np.isfinite(points).all(axis=1)
        self.points, self.which = points[finite], colour_indices[finite]
        self.update()

    def _make_sheet(self, ratio: float) -> QPixmap:
        """Return a sheet with one cell per style, in device pixels."""
        # Four pixels for the pen and its soft edges, which must not reach the next cell.
        sides = [math.ceil((style.size + 4.0) * ratio) for style in self.styles]
        sheet = QPixmap(sum(sides), max(sides))
        sheet.fill(Qt.GlobalColor.transparent)
        painter = QPainter(sheet)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        cells, x = [], 0
        for style, side in zip(self.styles, sides, strict=True):
            painter.resetTransform()
            painter.translate(x + 0.5 * side, 0.5 * side)
            painter.scale(ratio, ratio)
            style.draw(painter, QPointF(0.0, 0.0))
            cells.append((x, 0.0, side, side))
            x += side
        painter.end()
        self._cells = np.array(cells, dtype=np.float64)
        return sheet

    def paint(self, painter: QPainter, *_: Any) -> None:
        if self.points.shape[0] == 0 or not self.styles:
            return
        ratio = float(painter.device().devicePixelRatioF())
        scale = ratio * line_scale()
        if self._sheet is None or self._ratio != scale:
            self._sheet, self._ratio = self._make_sheet(scale), scale
        # Transformed here: Qt would scale fragments with the axes, and markers keep their size.
        way = painter.transform()
        x = way.m11() * self.points[:, 0] + way.dx()
        y = way.m22() * self.points[:, 1] + way.dy()
        is_near = (np.abs(x) < FAR) & (np.abs(y) < FAR)
        copies = np.empty((int(np.count_nonzero(is_near)), 10))
        copies[:, 0], copies[:, 1] = x[is_near], y[is_near]
        copies[:, 2:6] = self._cells[self.which[is_near]]
        copies[:, 6:10] = (1.0 / ratio, 1.0 / ratio, 0.0, 1.0)
        painter.save()
        painter.resetTransform()
        draw_fragments(painter, copies, self._sheet)
        painter.restore()
