"""The plot that all views are made of: the only file that touches pyqtgraph's options.

Two linear axes with tick texts of our own, ranges that change only when told, and the mouse: hover,
click, a box or a pull, wheel to zoom, double click to reset. Pixels are those of the viewport.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeVar, final

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
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
from app.widgets.axis import PlotAxis
from app.widgets.items import pen_of
from app.widgets.levels import Drawn, LevelLine, level_at
from app.widgets.overlay import Overlay, paint_overlay
from app.widgets.ranges import scaled_about, squared
from app.widgets.ticks import TickMaker, plain
from core.figures.palette import Palette

# useOpenGL is slower where Qt renders in software, and its pens cannot be told apart from ours.
pg.setConfigOptions(antialias=False, useOpenGL=False, useNumba=False, enableExperimental=False)

CLICK_PIXELS = 4
NARROW = 200  # pixels of width below which the left axis has no more room than it needs
ZOOM_STEP = 1.0015  # a notch of the wheel is 120 of these

Floats = NDArray[np.float64]
T = TypeVar("T", bound=QGraphicsItem)


@final
class Drag(Enum):
    """What a pull with the left button does."""

    PAN = "move the range"
    BOX = "draw a box"
    SCRUB = "ask for every point on the way"


@final
@dataclass(frozen=True, slots=True)
class Home:
    """The range a plot returns to: left, right, bottom, top."""

    left: float
    right: float
    bottom: float
    top: float


@final
class Plot(pg.GraphicsView):
    """Two axes and what is drawn between them."""

    hovered = Signal(float, float)  # pixels
    left = Signal()
    clicked = Signal(float, float)  # pixels
    pulled = Signal(float, float)  # pixels, with Drag.SCRUB
    boxed = Signal(QRectF)  # in the axes' units, with Drag.BOX
    home_changed = Signal()
    zoomed = Signal()  # by the mouse, or back from there

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
        self._equal, self._drag = equal, drag
        self._home = Home(0.0, 1.0, 0.0, 1.0)
        self._common: Home | None = None
        self._zoomed: QRectF | None = None
        self._pressed: QPointF | None = None
        self._button = Qt.MouseButton.NoButton
        self._dragged = False
        self._grip = QRectF()
        self._zero_lines: list[pg.InfiniteLine] = []
        self.paint_seconds = 0.0  # of this thread, for the latest painting
        self.overlay = Overlay()
        self.drawn_levels: tuple[Drawn, ...] = ()
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
        self.side.linkToView(self.view)
        self.bottom.linkToView(self.view)
        self.side.setZValue(0.5)
        self.bottom.setZValue(0.5)

    # --------------------------------------------------------------------------------- content

    def add(self, item: T, z: float = 0.0) -> T:
        """Put an item into the plot; returns it."""
        item.setZValue(z)
        self.view.addItem(item, ignoreBounds=True)  # ranges are told, never looked for
        return item

    def add_zero_line(self, vertical: bool = False) -> None:
        """A faint line through 0."""
        line = pg.InfiniteLine(0.0, angle=90 if vertical else 0, movable=False)
        self._zero_lines = [*self._zero_lines, line]
        line.setPen(pen_of(self.palette_of_plot.grid))
        self.add(line, -10.0)

    def set_overlay(self, overlay: Overlay) -> None:
        """Marks and lines on top of everything."""
        if overlay != self.overlay:
            self.overlay = overlay
            self.viewport().update()

    def set_colours(self, palette: Palette) -> None:
        """Take colours and the font's size from a palette and the widget."""
        self.palette_of_plot = palette
        self.setBackground(palette.background)
        for line in self._zero_lines:
            line.setPen(pen_of(palette.grid))
        for axis in (self.side, self.bottom):
            axis.set_look(palette, *self.lettering())

    def set_labels(self, horizontal: str, vertical: str, short: str = "") -> None:
        """The names of the axes, and the room that they need; `short` is that of the vertical one
        where there is not enough."""
        if (horizontal, vertical) == (self.bottom.labelText, self.side.labelText):
            return
        for axis, label, other in ((self.side, vertical, short), (self.bottom, horizontal, "")):
            axis.set_label(label, other)
            axis.set_look(self.palette_of_plot, *self.lettering())

    def set_bare(self, bare: bool) -> None:
        """Show no axes, where there is nothing but a sentence."""
        for item in (self.side, self.bottom, *self._zero_lines):
            item.setVisible(not bare)

    def lettering(self) -> tuple[QFontMetricsF, QFont]:
        """What the axes are written in."""
        font = small(self.font())
        return QFontMetricsF(font), font

    # ----------------------------------------------------------------------------------- range

    def set_home(self, home: Home) -> None:
        """The range shown unless somebody has zoomed."""
        if home != self._home:
            self._home = home
            self._apply()
            self.home_changed.emit()

    @property
    def home(self) -> Home:
        """The range of what it shows itself."""
        return self._home

    def set_common(self, home: Home | None) -> None:
        """The range shown in place of its own, which others share; None for its own."""
        if home != self._common:
            self._common = home
            self._apply()

    @property
    def zoom(self) -> QRectF | None:
        """The range that somebody has zoomed to."""
        return self._zoomed

    def set_zoom(self, zoom: QRectF | None) -> None:
        """Zoom as another plot; `zoomed` is not told."""
        if zoom != self._zoomed:
            self._zoomed = zoom
            self._apply()

    def set_equal(self, equal: bool) -> None:
        """Whether a unit is as long on both axes."""
        if equal != self._equal:
            self._equal = equal
            self._apply()

    def reset_range(self) -> None:
        """Back from a zoom."""
        self._zoomed = None
        self.side.forget()
        self._apply()

    def shown(self) -> QRectF:
        """The range in the axes' units; its top is the least value."""
        return QRectF(self.view.viewRect())

    def _apply(self) -> None:
        self.view.setRange(self._span(), padding=0.0, disableAutoRange=False)
        shown = self.shown()
        if self.side.needs(shown.top(), shown.bottom(), self.view.rect().height()):
            self.side.set_look(self.palette_of_plot, *self.lettering())
            self.centralLayout.activate()  # now: what is drawn next is placed by it
            self.view.setRange(self._span(), padding=0.0, disableAutoRange=False)

    def _span(self) -> QRectF:
        """The range to be shown."""
        home, span = self._common or self._home, self._zoomed
        if span is None:
            span = QRectF(home.left, home.bottom, home.right - home.left, home.top - home.bottom)
        return squared(span, self.view.rect().size()) if self._equal else span

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

    def inside(self) -> QRectF:
        """The space between the axes, in pixels."""
        return QRectF(self.view.mapRectToScene(self.view.rect()))

    def pixel_height(self) -> float:
        """The height of a pixel of the screen, in the units of the vertical axis; 0 while there is
        no room for one."""
        pixels = self.view.rect().height() * self.devicePixelRatioF()
        return abs(self.shown().height()) / pixels if pixels >= 1.0 else 0.0

    def pixels(self, points: NDArray[Any]) -> Floats:
        """Where points (k, 2) of the axes' units lie, in pixels, (k, 2)."""
        shown, box = self.shown(), self.inside()
        points = np.asarray(points, dtype=np.float64)
        x = box.left() + (points[:, 0] - shown.left()) / shown.width() * box.width()
        y = box.bottom() - (points[:, 1] - shown.top()) / shown.height() * box.height()
        return np.stack([x, y], axis=1)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """What lies at a pixel, in the axes' units."""
        shown, box = self.shown(), self.inside()
        return (
            shown.left() + (x - box.left()) / max(box.width(), 1.0) * shown.width(),
            shown.top() + (box.bottom() - y) / max(box.height(), 1.0) * shown.height(),
        )

    def nearest(self, points: NDArray[Any], x: float, y: float, most: float = 12.0) -> int:
        """The point nearest to a pixel and at most so many pixels away; -1 for none."""
        if points.shape[0] == 0 or not self.inside().contains(x, y):
            return -1
        distance = np.square(self.pixels(points) - (x, y)).sum(axis=1)
        distance = np.where(np.isfinite(distance), distance, np.inf)  # argmin would take a NaN
        best = int(np.argmin(distance))
        return best if distance[best] <= most * most else -1

    # ----------------------------------------------------------------------------------- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # The scene is left out: it knows nothing of what is drawn here, and is slow.
        event.accept()
        if self._pressed is None:
            self._pressed, self._button, self._dragged = event.position(), event.button(), False
            # Pulls are measured from where they began, or the rounding of each move would add up.
            self._grip = self.shown()
            if self._drag is Drag.SCRUB and self._button == Qt.MouseButton.LeftButton:
                self._dragged = True
                self.pulled.emit(event.position().x(), event.position().y())

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
            self.pulled.emit(here.x(), here.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if self._pressed is None or event.button() != self._button:  # a second button meanwhile
            return
        pressed, self._pressed = self._pressed, None
        if self._button != Qt.MouseButton.LeftButton:
            return
        here = event.position()
        if not self._dragged:
            self.clicked.emit(here.x(), here.y())
        elif self._drag is Drag.BOX:
            self.set_overlay(replace(self.overlay, box=None))
            corners = [QPointF(*self.place(point.x(), point.y())) for point in (pressed, here)]
            self.boxed.emit(QRectF(*corners).normalized())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()
        self.reset_range()
        self.zoomed.emit()

    def _pan(self, way: QPointF) -> None:
        box, grip = self.inside(), self._grip
        x = way.x() / max(box.width(), 1.0) * grip.width()
        y = way.y() / max(box.height(), 1.0) * grip.height()
        self._zoomed = grip.translated(-x, y)
        self._apply()
        self.zoomed.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()
        # About the pointer: what is under it stays there.
        point = QPointF(*self.place(event.position().x(), event.position().y()))
        self._zoomed = scaled_about(self.shown(), point, ZOOM_STEP ** -event.angleDelta().y())
        self._apply()
        self.zoomed.emit()

    def leaveEvent(self, event: QEvent) -> None:
        self.left.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        # No menu of pyqtgraph: every action stands in the table of the window.
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Keys are the window's shortcuts.
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        # What it takes is noted for those who share out the time between the views.
        # Of this thread: by the clock, waiting for the interpreter would count as painting.
        begun = time.thread_time()
        super().paintEvent(event)
        self.paint_seconds = time.thread_time() - begun

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        self.drawn_levels = paint_overlay(
            painter, self.overlay, self.inside(), self.palette_of_plot, self.font(), self
        )

    def level_at(self, x: float, y: float) -> LevelLine | None:
        """The level whose label or line is at a pixel."""
        return level_at(self.drawn_levels, x, y)
