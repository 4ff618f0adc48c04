"""Plot of all views; the only file that sets pyqtgraph's options.

Two linear axes with tick texts of our own, ranges that change only when told, and the mouse: hover,
click, a box or a pull, wheel to zoom, double click to reset. Pixels are those of the viewport.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, TypeVar, final

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsItem, QWidget

from app.style import small
from app.widgets import ranges
from app.widgets.axis import PlotAxis, plain
from app.widgets.items import GridLines, PlotLines
from app.widgets.levels import PlacedLevel
from app.widgets.overlay import LabelLayoutCache, Overlay, paint_overlay
from app.widgets.ranges import Drag as Drag
from app.widgets.ranges import Home as Home
from core.figures.palette import Palette
from core.figures.ticks import TickMaker

# OpenGL is slower where Qt renders in software, and its lines look no different.
pg.setConfigOptions(antialias=False, useOpenGL=False, useNumba=False, enableExperimental=False)

CLICK_PIXELS = 4
NARROW = 200  # pixels; the left axis of a narrower plot takes only the room that it needs

Floats = NDArray[np.float64]
NO_POINTS: Floats = np.empty((0, 2))
T = TypeVar("T", bound=QGraphicsItem)


@final
class Plot(pg.GraphicsView):
    """Two axes and the items between them."""

    hovered = Signal(float, float)  # pixels
    pointer_left = Signal()
    clicked = Signal(float, float)  # pixels
    point_clicked = Signal(int)  # nearest of `points`, or -1
    plot_dragged = Signal(float, float)  # pixels, with Drag.SCRUB
    box_drawn = Signal(QRectF)  # in the axes' units, with Drag.BOX
    home_changed = Signal()
    zoomed = Signal()  # by the mouse, or reset
    menu_requested = Signal(QPoint)  # position on the screen

    def __init__(
        self,
        palette: Palette,
        *,
        horizontal: str = "",
        vertical: str = "",
        horizontal_ticks: TickMaker = plain,
        vertical_ticks: TickMaker = plain,
        equal: bool = False,
        drag: Drag = Drag.PAN,
        widest: str = "\u2212.0000",
        parent: QWidget | None = None,
    ) -> None:
        self._ready = False  # False during construction, when events arrive already
        super().__init__(parent, useOpenGL=False, background=palette.background)
        self.setCacheMode(self.CacheModeFlag.CacheNone)  # filling with one colour is faster
        self._equal, self._always_equal, self._drag = equal, False, drag
        self._home = Home(0.0, 1.0, 0.0, 1.0)
        self._common: Home | None = None
        self._zoomed: QRectF | None = None
        self._pressed: QPointF | None = None
        self._button, self._dragged = Qt.MouseButton.NoButton, False
        self._grip = QRectF()
        self._lines: list[PlotLines] = []
        self.paint_seconds = 0.0  # CPU seconds of this thread for the last painting
        self.overlay = Overlay()
        self.points: NDArray[Any] = NO_POINTS  # (k, 2), in the axes' units
        self._still = LabelLayoutCache()
        self.palette_of_plot = palette
        self.view = pg.ViewBox(enableMenu=False, enableMouse=False)
        self.view.disableAutoRange()  # else each changed item makes pyqtgraph fit the range
        self.bottom = PlotAxis("bottom", horizontal_ticks, horizontal)
        self.side = PlotAxis("left", vertical_ticks, vertical, widest)
        self._lay_out()
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setMinimumSize(120, 96)
        self._ready = True
        self.set_colours(palette)

    def _lay_out(self) -> None:
        layout: QGraphicsGridLayout = self.centralLayout
        layout.setContentsMargins(4.0, 4.0, 8.0, 0.0)
        layout.setSpacing(0.0)
        layout.addItem(self.side, 0, 0)
        layout.addItem(self.view, 0, 1)
        layout.addItem(self.bottom, 1, 1)
        layout.setRowStretchFactor(0, 1)
        layout.setColumnStretchFactor(1, 1)
        for axis in (self.side, self.bottom):
            axis.linkToView(self.view)
            axis.setZValue(0.5)
        self._lines.append(self.add(GridLines(self.bottom, self.side), -12.0))

    # --------------------------------------------------------------------------------- content

    def add(self, item: T, z: float = 0.0) -> T:
        """Add an item to the plot, and return it."""
        item.setZValue(z)
        self.view.addItem(item, ignoreBounds=True)  # ranges are set, not found from items
        return item

    def add_lines(self, lines: PlotLines) -> None:
        """Add lines below everything except the grid."""
        self.add(lines, -10.0).set_colours(self.palette_of_plot)
        self._lines.append(lines)

    def set_overlay(self, overlay: Overlay) -> None:
        """Show marks and lines on top of everything."""
        if overlay != self.overlay:
            self.overlay = overlay
            # Through the scene, as items do; otherwise Qt would paint the plot twice.
            self.view.update()

    def set_colours(self, palette: Palette) -> None:
        """Set the colours of a palette and the font size of the widget."""
        self.palette_of_plot = palette
        self.setBackground(palette.background)
        for line in self._lines:
            line.set_colours(palette)
        for axis in (self.side, self.bottom):
            axis.set_style(palette, *self.lettering())

    def set_labels(self, horizontal: str, vertical: str, short: str = "") -> None:
        """Name the axes; `short` is the vertical one's name for narrow plots."""
        if (horizontal, vertical) == (self.bottom.labelText, self.side.labelText):
            return
        for axis, label, text in ((self.side, vertical, short), (self.bottom, horizontal, "")):
            axis.set_label(label, text)
            axis.set_style(self.palette_of_plot, *self.lettering())

    def set_axis_title(self, is_shown: bool) -> None:
        if is_shown != self.bottom.titled:
            self.bottom.set_titled(is_shown)
            self.bottom.set_style(self.palette_of_plot, *self.lettering())
            self.centralLayout.activate()  # the range depends on the room left
            self._apply()

    def set_bare(self, bare: bool) -> None:
        """Hide the axes, for a plot with only a sentence."""
        parts: list[QGraphicsItem] = [self.side, self.bottom, *self._lines]
        for item in parts:
            item.setVisible(not bare)

    def lettering(self) -> tuple[QFontMetricsF, QFont]:
        """Return metrics and font of the axes' labels."""
        font = small(self.font())
        return QFontMetricsF(font), font

    # ----------------------------------------------------------------------------------- range

    def set_home(self, home: Home) -> None:
        """Set the range shown without a zoom."""
        if home != self._home:
            self._home = home
            self._apply()
            self.home_changed.emit()

    def fit_side(self) -> None:
        """Give the vertical axis the room needed by its new ticks."""
        self._apply()

    @property
    def home(self) -> Home:
        return self._home

    def set_common(self, home: Home | None) -> None:
        """Set a range shared with other plots; None for the plot's own."""
        if home != self._common:
            self._common = home
            self._apply()

    @property
    def zoom(self) -> QRectF | None:
        return self._zoomed

    def set_zoom(self, zoom: QRectF | None) -> None:
        """Zoom to a range if it can be drawn; None for no zoom. `zoomed` is not emitted."""
        if zoom != self._zoomed and (zoom is None or ranges.is_drawable(zoom)):
            self._zoomed = zoom
            self._apply()

    def set_equal(self, equal: bool) -> None:
        """Set equal scales on both axes if that loses less than half of the plot."""
        if equal != self._equal:
            self._equal = equal
            self._apply()

    def set_always_equal(self, always: bool) -> None:
        """Set equal scales, however much of the plot is lost."""
        if always != self._always_equal:
            self._always_equal = always
            self._apply()

    @property
    def is_equal(self) -> bool:
        """True if units are equally long on both axes."""
        size = self.view.rect().size()
        return self._equal and (self._always_equal or ranges.used_share(self._extent(), size) > 0.5)

    def reset_range(self) -> None:
        self._zoomed = None
        self.side.forget()
        self._apply()

    def visible_range(self) -> QRectF:
        """Return the range in the axes' units; its top is the least value."""
        return QRectF(self.view.viewRect())

    def _apply(self) -> None:
        self._set_range()
        view_range = self.visible_range()
        if self.side.needs(view_range.top(), view_range.bottom(), self.view.rect().height()):
            self.side.set_style(self.palette_of_plot, *self.lettering())
            self.centralLayout.activate()  # the next drawing depends on it
            self._set_range()

    def _set_range(self) -> None:
        self.view.setRange(self._span(), padding=0.0, disableAutoRange=False)
        # pyqtgraph would update the items during painting, and paint them twice.
        self.view.prepareForPaint()

    def _extent(self) -> QRectF:
        return ranges.rect_of(self._common or self._home)

    def _span(self) -> QRectF:
        span = self._zoomed or self._extent()
        return ranges.equalise_units(span, self.view.rect().size()) if self.is_equal else span

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if self._ready:
            narrow = self.width() < NARROW
            if narrow != self.side.narrow:
                self.side.narrow = narrow
                self.side.forget()
            self.centralLayout.activate()  # the range depends on the new size
            self._apply()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self._ready and event.type() == QEvent.Type.FontChange:
            self.set_colours(self.palette_of_plot)

    # ---------------------------------------------------------------------------------- places

    def plot_area(self) -> QRectF:
        """Return the space between the axes, in pixels."""
        return QRectF(self.view.mapRectToScene(self.view.rect()))

    def pixel_height(self) -> float:
        """Return the height of a device pixel on the vertical axis; 0 for a plot without room."""
        pixels = self.view.rect().height() * self.devicePixelRatioF()
        return abs(self.visible_range().height()) / pixels if pixels >= 1.0 else 0.0

    def pixels(self, points: NDArray[Any]) -> Floats:
        """Return points (k, 2) of the axes' units in pixels, (k, 2)."""
        view_range, box = self.visible_range(), self.plot_area()
        points = np.asarray(points, dtype=np.float64)
        x = box.left() + (points[:, 0] - view_range.left()) / view_range.width() * box.width()
        y = box.bottom() - (points[:, 1] - view_range.top()) / view_range.height() * box.height()
        return np.stack([x, y], axis=1)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a pixel in the axes' units."""
        view_range, box = self.visible_range(), self.plot_area()
        return (
            view_range.left() + (x - box.left()) / max(box.width(), 1.0) * view_range.width(),
            view_range.top() + (box.bottom() - y) / max(box.height(), 1.0) * view_range.height(),
        )

    def find_nearest(self, points: NDArray[Any], x: float, y: float, reach: float = 12.0) -> int:
        """Return the number of the point nearest to a pixel, within `reach` pixels; -1 for none."""
        if points.shape[0] == 0 or not self.plot_area().contains(x, y):
            return -1
        return ranges.nearest_within(self.pixels(points), x, y, reach)

    # ----------------------------------------------------------------------------------- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # Bypass the scene, which is slow and does not know these items.
        event.accept()
        if self._pressed is None:
            self._pressed, self._button, self._dragged = event.position(), event.button(), False
            self._grip = self.visible_range()  # moves relative to it accumulate no roundings
            if self._drag is Drag.SCRUB and self._button == Qt.MouseButton.LeftButton:
                self._dragged = True
                self.plot_dragged.emit(event.position().x(), event.position().y())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        event.accept()
        point = event.position()
        if self._pressed is None:
            self.hovered.emit(point.x(), point.y())
            return
        way = point - self._pressed
        self._dragged = self._dragged or way.manhattanLength() > CLICK_PIXELS
        if not self._dragged:
            return
        if self._button != Qt.MouseButton.LeftButton or self._drag is Drag.PAN:
            self._pan(way)
        elif self._drag is Drag.BOX:
            box = QRectF(self._pressed, point).normalized()
            self.set_overlay(replace(self.overlay, box=box))
        else:
            self.plot_dragged.emit(point.x(), point.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()
        # A second button, pressed while the first is held.
        if self._pressed is None or event.button() != self._button:
            return
        pressed, self._pressed = self._pressed, None
        if self._button == Qt.MouseButton.RightButton and not self._dragged:
            self.menu_requested.emit(event.globalPosition().toPoint())
        if self._button != Qt.MouseButton.LeftButton:
            return
        position = event.position()
        if not self._dragged:
            self.clicked.emit(position.x(), position.y())
            self.point_clicked.emit(self.find_nearest(self.points, position.x(), position.y()))
        elif self._drag is Drag.BOX:
            self.set_overlay(replace(self.overlay, box=None))
            corners = [QPointF(*self.place(point.x(), point.y())) for point in (pressed, position)]
            self.box_drawn.emit(QRectF(*corners).normalized())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()
        self.reset_range()
        self.zoomed.emit()

    def _pan(self, pixels: QPointF) -> None:
        box = self.plot_area().size().expandedTo(QSizeF(1.0, 1.0))
        x, y = pixels.x() / box.width(), pixels.y() / box.height()
        self.set_zoom(ranges.pull_range(self._grip, -x, y, self._extent()))
        self.zoomed.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()
        # Keep the place under the pointer fixed, even if wider ticks move the plot.
        position, turn = event.position().toTuple(), event.angleDelta().y()
        point = QPointF(*self.place(*position))
        self.set_zoom(ranges.turn_wheel(self.visible_range(), point, turn, self._extent()))
        self.set_zoom(self.visible_range().translated(point - QPointF(*self.place(*position))))
        self.zoomed.emit()

    def leaveEvent(self, _: QEvent) -> None:
        self.pointer_left.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        # By mouse at the release, unless it was a drag: X11 sends the event at the press.
        event.accept()
        if event.reason() != QContextMenuEvent.Reason.Mouse:
            self.request_menu()

    def request_menu(self) -> None:
        self.menu_requested.emit(self.mapToGlobal(self.plot_area().topLeft().toPoint()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # keys are shortcuts of the window

    def paintEvent(self, event: QPaintEvent) -> None:
        # For the drawing budget of the views: CPU time of this thread, without its waits.
        start = time.thread_time()
        super().paintEvent(event)
        self.paint_seconds = time.thread_time() - start

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        palette, font = self.palette_of_plot, self.font()
        paint_overlay(painter, self.overlay, self.plot_area(), palette, font, self, self._still)

    @property
    def drawn_levels(self) -> tuple[PlacedLevel, ...]:
        """Levels as painted last."""
        return self._still.levels if self.overlay.levels else ()
