"""The plot that all views are made of: the only file that touches pyqtgraph's options.

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

# useOpenGL is slower where Qt renders in software, and its pens cannot be told apart from ours.
pg.setConfigOptions(antialias=False, useOpenGL=False, useNumba=False, enableExperimental=False)

CLICK_PIXELS = 4
NARROW = 200  # pixels of width below which the left axis has no more room than it needs

Floats = NDArray[np.float64]
NO_POINTS: Floats = np.empty((0, 2))
T = TypeVar("T", bound=QGraphicsItem)


@final
class Plot(pg.GraphicsView):
    """Two axes and what is drawn between them."""

    hovered = Signal(float, float)  # pixels
    pointer_left = Signal()
    clicked = Signal(float, float)  # pixels
    point_clicked = Signal(int)  # the nearest of `points`; -1: none
    plot_dragged = Signal(float, float)  # pixels, with Drag.SCRUB
    box_drawn = Signal(QRectF)  # in the axes' units, with Drag.BOX
    home_changed = Signal()
    zoomed = Signal()  # by the mouse, or back from there
    menu_requested = Signal(QPoint)  # on the screen

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
        self._ready = False  # events come before this has ended
        super().__init__(parent, useOpenGL=False, background=palette.background)
        self.setCacheMode(self.CacheModeFlag.CacheNone)  # of one colour: filling is sooner
        self._equal, self._always_equal, self._drag = equal, False, drag
        self._home = Home(0.0, 1.0, 0.0, 1.0)
        self._common: Home | None = None
        self._zoomed: QRectF | None = None
        self._pressed: QPointF | None = None
        self._button, self._dragged = Qt.MouseButton.NoButton, False
        self._grip = QRectF()
        self._lines: list[PlotLines] = []
        self.paint_seconds = 0.0  # of this thread, for the latest painting
        self.overlay = Overlay()
        self.points: NDArray[Any] = NO_POINTS  # (k, 2), in the axes' units
        self._still = LabelLayoutCache()
        self.palette_of_plot = palette
        self.view = pg.ViewBox(enableMenu=False, enableMouse=False)
        # pyqtgraph would fit the range to the items again with every change of one.
        self.view.disableAutoRange()
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
        """Put an item into the plot; returns it."""
        item.setZValue(z)
        self.view.addItem(item, ignoreBounds=True)  # ranges are told, never looked for
        return item

    def add_lines(self, lines: PlotLines) -> None:
        """Put lines below all else but the grid."""
        self.add(lines, -10.0).set_colours(self.palette_of_plot)
        self._lines.append(lines)

    def set_overlay(self, overlay: Overlay) -> None:
        """Show marks and lines on top of everything."""
        if overlay != self.overlay:
            self.overlay = overlay
            # By way of the scene, as for items: else Qt would paint the plot for each of the two.
            self.view.update()

    def set_colours(self, palette: Palette) -> None:
        """Take colours and the font's size from a palette and the widget."""
        self.palette_of_plot = palette
        self.setBackground(palette.background)
        for line in self._lines:
            line.set_colours(palette)
        for axis in (self.side, self.bottom):
            axis.set_style(palette, *self.lettering())

    def set_labels(self, horizontal: str, vertical: str, short: str = "") -> None:
        """Name the axes; `short` is for the vertical one where there is not enough room."""
        if (horizontal, vertical) == (self.bottom.labelText, self.side.labelText):
            return
        for axis, label, other in ((self.side, vertical, short), (self.bottom, horizontal, "")):
            axis.set_label(label, other)
            axis.set_style(self.palette_of_plot, *self.lettering())

    def set_axis_title(self, shown: bool) -> None:
        if shown != self.bottom.titled:
            self.bottom.set_titled(shown)
            self.bottom.set_style(self.palette_of_plot, *self.lettering())
            self.centralLayout.activate()  # now: the range depends on the room that is left
            self._apply()

    def set_bare(self, bare: bool) -> None:
        """Show no axes, where there is nothing but a sentence."""
        parts: list[QGraphicsItem] = [self.side, self.bottom, *self._lines]
        for item in parts:
            item.setVisible(not bare)

    def lettering(self) -> tuple[QFontMetricsF, QFont]:
        """Return metrics and font of the axes' texts."""
        font = small(self.font())
        return QFontMetricsF(font), font

    # ----------------------------------------------------------------------------------- range

    def set_home(self, home: Home) -> None:
        """Set the range that is shown without a zoom."""
        if home != self._home:
            self._home = home
            self._apply()
            self.home_changed.emit()

    def fit_side(self) -> None:
        """Give the vertical axis the room that its new ticks need."""
        self._apply()

    @property
    def home(self) -> Home:
        return self._home

    def set_common(self, home: Home | None) -> None:
        """Set a range that is shared with other plots; None for the plot's own."""
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
        """Set equal scales on both axes, where that loses less than half of the plot."""
        if equal != self._equal:
            self._equal = equal
            self._apply()

    def set_always_equal(self, always: bool) -> None:
        """Set equal scales however much of the plot that loses."""
        if always != self._always_equal:
            self._always_equal = always
            self._apply()

    @property
    def is_equal(self) -> bool:
        """True if a unit is as long on both axes."""
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
        shown = self.visible_range()
        if self.side.needs(shown.top(), shown.bottom(), self.view.rect().height()):
            self.side.set_style(self.palette_of_plot, *self.lettering())
            self.centralLayout.activate()  # now: what is drawn next is placed by it
            self._set_range()

    def _set_range(self) -> None:
        self.view.setRange(self._span(), padding=0.0, disableAutoRange=False)
        # Now: pyqtgraph would move the items while it paints them, and paint them once more.
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
            self.centralLayout.activate()  # now: the range depends on the size that it gives
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
        """Height of a screen pixel on the vertical axis; 0 if the plot has no room."""
        pixels = self.view.rect().height() * self.devicePixelRatioF()
        return abs(self.visible_range().height()) / pixels if pixels >= 1.0 else 0.0

    def pixels(self, points: NDArray[Any]) -> Floats:
        """Return points (k, 2) of the axes' units in pixels, (k, 2)."""
        shown, box = self.visible_range(), self.plot_area()
        points = np.asarray(points, dtype=np.float64)
        x = box.left() + (points[:, 0] - shown.left()) / shown.width() * box.width()
        y = box.bottom() - (points[:, 1] - shown.top()) / shown.height() * box.height()
        return np.stack([x, y], axis=1)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a pixel in the axes' units."""
        shown, box = self.visible_range(), self.plot_area()
        return (
            shown.left() + (x - box.left()) / max(box.width(), 1.0) * shown.width(),
            shown.top() + (box.bottom() - y) / max(box.height(), 1.0) * shown.height(),
        )

    def find_nearest(self, points: NDArray[Any], x: float, y: float, most: float = 12.0) -> int:
        """Return the point nearest to a pixel and at most so many pixels away; -1 for none."""
        if points.shape[0] == 0 or not self.plot_area().contains(x, y):
            return -1
        return ranges.nearest_within(self.pixels(points), x, y, most)

    # ----------------------------------------------------------------------------------- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # The scene is left out: it knows nothing of what is drawn here, and is slow.
        event.accept()
        if self._pressed is None:
            self._pressed, self._button, self._dragged = event.position(), event.button(), False
            self._grip = self.visible_range()  # roundings would add up from one move to the next
            if self._drag is Drag.SCRUB and self._button == Qt.MouseButton.LeftButton:
                self._dragged = True
                self.plot_dragged.emit(event.position().x(), event.position().y())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        event.accept()
        here = event.position()
        if self._pressed is None:
            self.hovered.emit(here.x(), here.y())
            return
        way = here - self._pressed
        self._dragged = self._dragged or way.manhattanLength() > CLICK_PIXELS
        if not self._dragged:
            return
        if self._button != Qt.MouseButton.LeftButton or self._drag is Drag.PAN:
            self._pan(way)
        elif self._drag is Drag.BOX:
            box = QRectF(self._pressed, here).normalized()
            self.set_overlay(replace(self.overlay, box=box))
        else:
            self.plot_dragged.emit(here.x(), here.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if self._pressed is None or event.button() != self._button:  # a second button meanwhile
            return
        pressed, self._pressed = self._pressed, None
        if self._button == Qt.MouseButton.RightButton and not self._dragged:
            self.menu_requested.emit(event.globalPosition().toPoint())
        if self._button != Qt.MouseButton.LeftButton:
            return
        here = event.position()
        if not self._dragged:
            self.clicked.emit(here.x(), here.y())
            self.point_clicked.emit(self.find_nearest(self.points, here.x(), here.y()))
        elif self._drag is Drag.BOX:
            self.set_overlay(replace(self.overlay, box=None))
            corners = [QPointF(*self.place(point.x(), point.y())) for point in (pressed, here)]
            self.box_drawn.emit(QRectF(*corners).normalized())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()
        self.reset_range()
        self.zoomed.emit()

    def _pan(self, way: QPointF) -> None:
        grip, box = self._grip, self.plot_area().size().expandedTo(QSizeF(1.0, 1.0))
        x, y = way.x() / box.width(), way.y() / box.height()
        self.set_zoom(ranges.pull_range(grip, -x, y, self._extent()))
        self.zoomed.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()
        # About the pointer: what is under it stays there, also where wider ticks move the plot.
        here, turn = event.position().toTuple(), event.angleDelta().y()
        point = QPointF(*self.place(*here))
        self.set_zoom(ranges.turn_wheel(self.visible_range(), point, turn, self._extent()))
        self.set_zoom(self.visible_range().translated(point - QPointF(*self.place(*here))))
        self.zoomed.emit()

    def leaveEvent(self, _: QEvent) -> None:
        self.pointer_left.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        # By the mouse at the release, unless it pulled: X11 sends the event at the press.
        event.accept()
        if event.reason() != QContextMenuEvent.Reason.Mouse:
            self.request_menu()

    def request_menu(self) -> None:
        self.menu_requested.emit(self.mapToGlobal(self.plot_area().topLeft().toPoint()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # keys are the window's shortcuts

    def paintEvent(self, event: QPaintEvent) -> None:
        # For those who share out the time between the views: this thread's, without its waits.
        begun = time.thread_time()
        super().paintEvent(event)
        self.paint_seconds = time.thread_time() - begun

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        palette, font = self.palette_of_plot, self.font()
        paint_overlay(painter, self.overlay, self.plot_area(), palette, font, self, self._still)

    @property
    def drawn_levels(self) -> tuple[PlacedLevel, ...]:
        """Levels as they were painted last."""
        return self._still.levels if self.overlay.levels else ()
