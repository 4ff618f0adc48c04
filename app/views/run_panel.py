"""Linked views of one run; at first those of the paper's figure, laid out like its panels."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QStackedLayout, QVBoxLayout, QWidget

from app.qt_workarounds import hide_in_grid
from app.state.display import DisplayData
from app.state.intent import Intent
from app.state.views import FIGURE_1, VIEWS
from app.views.view import Bound, RunView, ShownTheory
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import add_all, space
from app.widgets.run_heading import RunHeading
from core.figures.palette import Palette
from core.observables.planes import NodePlane

if TYPE_CHECKING:
    from app.state.session import OpenRun
    from core.reference.margin import ReferenceMargin
    from core.reference.share import Promise

MUTED = QPalette.ColorRole.PlaceholderText
WIDE = 960  # pixels from which more than four views stand in three columns
PREPARING = "Preparing the run ..."


@final
class RunPanel(QWidget):
    """Heading and views of one run. A view is made when it is first shown."""

    node_hovered = Signal(int)  # -1: none
    node_clicked = Signal(int)  # -1: the background
    nodes_selected = Signal(object)  # frozenset[int]
    moment_clicked = Signal(float)  # in the schedule's coordinate
    requested = Signal()  # numbers are wanted that take a while
    help_requested = Signal(object)  # what a view shows, by its names in core.observables.registry
    ranged = Signal(str)  # the name of a view that has another range of its own
    zoomed = Signal(str)
    arranged = Signal()  # other views are shown
    heading_clicked = Signal()

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.run: OpenRun | None = None
        self._data: DisplayData | None = None
        self.frame = -1
        self._hovered, self._pinned = -1, frozenset[int]()
        self._palette = palette
        self.options = Intent()
        self._theory = ShownTheory()
        self._made: dict[str, RunView] = {}
        self._pending: dict[RunView, bool] = {}  # views to be drawn anew: whether frames came
        self._costs: dict[RunView, float] = {}  # seconds that each took the last time
        self._names: tuple[str, ...] = ()
        self._columns = 0
        self.heading = RunHeading(self)
        self.heading.clicked.connect(self.heading_clicked)
        self.details = ElidedLabel(self, Qt.TextElideMode.ElideRight, MUTED)
        self.message = QLabel(self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setContentsMargins(24, 24, 24, 24)
        self._lay_out()
        self.set_views(FIGURE_1)
        self.set_colours(palette)

    def _lay_out(self) -> None:
        self._shown = QWidget(self)
        self._grid = space(QGridLayout(self._shown), spacing=(8, 8))
        self._stack = QStackedLayout()
        self._stack.addWidget(self.message)
        self._stack.addWidget(self._shown)
        line = add_all(space(QHBoxLayout(), (8, 4, 8, 0), 8), self.heading, (self.details, 1))
        add_all(space(QVBoxLayout(self), spacing=0), line, (self._stack, 1))

    # ----------------------------------------------------------------------------------- views

    @property
    def names(self) -> tuple[str, ...]:
        """The views that are shown."""
        return self._names

    @property
    def views(self) -> tuple[RunView, ...]:
        """Those that are shown, from the top left."""
        return tuple(self._made[name] for name in self._names)

    @property
    def tab_order(self) -> list[QWidget]:
        """Where Tab goes: the button and the plot of each view."""
        return [widget for view in self.views for widget in (view.header.button, view.plot)]

    def view(self, name: str) -> RunView:
        """A view by its name in app.state.views.VIEWS, made if it was never shown."""
        if name not in self._made:
            view = VIEWS[name].load()(self._palette, self._shown)
            view.hide()
            view.node_hovered.connect(self.node_hovered)
            view.node_clicked.connect(self.node_clicked)
            view.nodes_selected.connect(self.nodes_selected)
            view.moment_clicked.connect(self.moment_clicked)
            view.requested.connect(self.requested)
            view.help_requested.connect(self.help_requested)
            view.ranged.connect(self._ranged)
            view.zoomed.connect(self._zoomed)
            view.plot.setAcceptDrops(False)  # a file dropped there is the window's
            self._made[name] = view
        return self._made[name]

    def _ranged(self) -> None:
        self.ranged.emit(self._name_of(self.sender()))

    def _zoomed(self) -> None:
        self.zoomed.emit(self._name_of(self.sender()))

    def _name_of(self, view: QObject | None) -> str:
        return next((name for name, made in self._made.items() if made is view), "")

    def zooms(self) -> list[tuple[str, QRectF]]:
        """The ranges that views were zoomed to, by their names."""
        plots = [(name, self._made[name].plot) for name in self._names]
        return [(name, plot.zoom) for name, plot in plots if plot.zoom is not None]

    def regions(self) -> list[tuple[str, tuple[float, float, float, float]]]:
        """The ranges of the views that show something, by their names."""
        views = [(name, self._made[name]) for name in self._names]
        return [(name, view.region()) for name, view in views if view.shows_something]

    def set_zooms(self, zooms: Mapping[str, QRectF]) -> None:
        """Zoom the views to ranges; those without one show all they have."""
        for name in self._names:
            self._made[name].plot.set_zoom(zooms.get(name))

    def set_views(self, names: Sequence[str]) -> None:
        """Show some views, in the order of app.state.views.VIEWS."""
        names = tuple(name for name in VIEWS if name in names)
        if names == self._names:
            return
        for name in names:
            # Before it is named: a view that is hidden loses the pointer, and others are told.
            self.view(name)
        before, self._names = self._names, names
        for name in before:
            if name not in names:
                self._made[name].set_data(None)
                hide_in_grid(self._grid, self._made[name])
        for name in names:
            view = self.view(name)
            if name not in before:
                self._bring_up(view)
            view.show()
        self._columns = 0
        self._arrange()
        self.arranged.emit()

    def _bring_up(self, view: RunView) -> None:
        """Let a view show what the others do."""
        view.set_colours(self._palette)
        view.set_options(self.options)
        view.set_theory(self._theory)
        view.set_heading(self.heading.text())
        view.set_data(self._data)
        view.set_marked(self._hovered, self._pinned)
        if self.frame >= 0:
            view.show_frame(self.frame)

    def _arrange(self) -> None:
        """Rows of two views, or of three where there are many and room; the last takes the rest."""
        count = len(self._names)
        columns = 3 if count > 4 and self.width() >= WIDE else min(count, 2)
        if count == 2 and self.width() < self.height():
            columns = 1
        if columns == self._columns:
            return
        self._columns = columns
        rows = -(-count // columns)
        for place, view in enumerate(self.views):
            last = columns * rows - count if place == count - 1 else 0
            self._grid.addWidget(view, place // columns, place % columns, 1, 1 + last)
        for line in range(len(VIEWS)):
            self._grid.setRowStretch(line, 1 if line < rows else 0)
            self._grid.setColumnStretch(line, 1 if line < columns else 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        # The ground between the views: with a style sheet Qt would leave it as it was.
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._palette.background))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    # --------------------------------------------------------------------------------- content

    def set_run(self, run: OpenRun | None) -> None:
        """Show another run: its views, why it has none, or how to get a run."""
        self.run = run
        if run is None:
            self.set_data(None, "")
            self.set_message("")
        elif run.data is None:
            self.set_data(None, run.heading)
            self.set_message(run.failure or PREPARING)
        else:
            self.set_message("")
            self.set_data(run.data, run.full_heading)

    def set_waiting(self, words: str) -> None:
        """Set what a run that has not begun is waiting for."""
        if self.run is not None and self.run.data is None and not self.run.failure:
            self.set_message(words or PREPARING)

    def set_data(self, data: DisplayData | None, heading: str) -> None:
        """Show another run, or none; its first frame is drawn after `set_frame`."""
        self._data, self.frame = data, -1
        self._pending.clear()
        self.set_heading(heading)
        words = "" if data is None else data.description
        self.details.set_text(words, words)
        self.details.setVisible(bool(words))
        for view in self.views:
            view.set_data(data)
        self._stack.setCurrentIndex(0 if data is None else 1)

    def set_heading(self, heading: str) -> None:
        """Set the name of the run, with the state of its recording."""
        self.heading.setText(heading)
        self.heading.setVisible(bool(heading))
        self.setAccessibleName(heading)
        for view in self.views:
            view.set_heading(heading)

    def data_grew(self) -> None:
        """Have `draw_pending` draw all views again, with the ranges of the frames read since."""
        for view in self.views:
            self._pending[view] = True

    def on_values(self) -> None:
        """Have `draw_pending` draw the numbers that were computed since."""
        for view in self.views:
            self._pending.setdefault(view, False)

    @property
    def pending(self) -> int:
        """Number of views that `draw_pending` has still to draw."""
        return len(self._pending)

    def draw_pending(self, seconds: float = math.inf) -> None:
        """Draw pending views in turn, one at least, for about so long.

        The painting that follows is counted: many views at once would keep the window from the
        mouse.
        """
        spent = -math.inf  # of this thread, whose time is taken: others run meanwhile
        while self._pending and spent + self._costs.get(next(iter(self._pending)), 0.0) < seconds:
            view = next(iter(self._pending))
            grown = self._pending.pop(view)
            begun = time.thread_time()
            if view in self.views and view.draw_pending(self.frame, grown):
                cost = time.thread_time() - begun + view.plot.paint_seconds
                self._costs[view] = cost
                spent = max(spent, 0.0) + cost

    def set_frame(self, index: int, at_once: bool = True) -> Sequence[RunView]:
        """Set the frame, the last known one for those beyond; return the views to draw now.

        `draw_pending` draws those that grew, and all of them where it need not be at once.
        """
        if self._data is None or self._data.frames == 0:
            return ()
        self.frame = max(0, min(index, self._data.frames - 1))
        if at_once:
            return [view for view in self.views if not self._pending.get(view)]
        for view in self.views:
            self._pending.setdefault(view, False)
        return ()

    def set_marked(self, hovered: int, pinned: frozenset[int]) -> Sequence[RunView]:
        """Set the marked nodes; return the views that must mark them now."""
        if (hovered, pinned) == (self._hovered, self._pinned):
            return ()
        self._hovered, self._pinned = hovered, pinned
        return self.views

    def set_plane(self, plane: NodePlane) -> None:
        """Show the nodes on another plane."""
        if self._data is None or self._data.plane == plane:
            return
        self._data.set_plane(plane)
        for view in self.views:
            if view.on_plane:
                view.set_data(self._data)
                view.show_frame(self.frame)

    def set_options(self, options: Intent) -> None:
        """Show what the options say; plane, views and palette have methods of their own."""
        self.options = options
        for view in self.views:
            view.set_options(options)

    def set_theory(
        self,
        references: Sequence[ReferenceMargin],
        bounds: Sequence[Bound],
        promise: Promise | None = None,
    ) -> None:
        """Reference margins to be lines, bounds of statements to be curves, and what margins are
        shown as shares of; None where they are not."""
        self._theory = ShownTheory(references, bounds, promise)
        for view in self.views:
            view.set_theory(self._theory)

    def set_message(self, text: str) -> None:
        """What is said where there is no run."""
        self.message.setText(text)

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.update()
        for view in self.views:
            view.set_colours(palette)
