"""Linked views of one run; initially those of the paper's figure, in its layout."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QStackedLayout, QVBoxLayout, QWidget

from app.qt_workarounds import hide_in_grid
from app.state.display import DisplayData
from app.state.intent import Intent
from app.state.views import FIGURE_1, VIEWS
from app.views.draw_queue import DrawQueue
from app.views.view import Bound, RunView, ShownTheory
from app.widgets.grid import GAP, place_in_grid
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import add_all, space
from app.widgets.run_heading import RunHeading
from core.figures.palette import Palette
from core.observables.planes import NodePlane

if TYPE_CHECKING:
    from app.state.session import OpenRun
    from core.library.entry import MomentNote
    from core.reference.margin import ReferenceMargin
    from core.reference.share import Promise

TOP = 2  # pixels above the heading
MUTED = QPalette.ColorRole.PlaceholderText
PREPARING = "Preparing the run ..."


@final
class RunPanel(QWidget):
    """Heading and views of one run. A view is made when it is first shown."""

    node_hovered = Signal(int)  # -1: none
    node_clicked = Signal(int)  # -1: the background
    nodes_selected = Signal(object)  # frozenset[int]
    moment_clicked = Signal(float)  # in the schedule's coordinate
    values_requested = Signal()  # slow values are needed
    menu_requested = Signal(str, QPoint)  # name of a view, position on the screen
    fill_requested = Signal(str)  # name of a view
    view_moved = Signal(str, str)  # names of a view and of the view that it was dropped on
    range_changed = Signal(str)  # name of a view with a new range
    zoomed = Signal(str)
    views_arranged = Signal()  # other views are shown, or need another amount of room
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
        self._notes: tuple[MomentNote, ...] = ()
        self._made: dict[str, RunView] = {}
        self._queue = DrawQueue(self)
        self._zooms: dict[str, QRectF | None] = {}  # views of this run that are hidden
        self._names: tuple[str, ...] = ()
        self._columns = 2
        self._above: RunPanel | None = None
        self._below: RunPanel | None = None
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
        self._grid = space(QGridLayout(self._shown), spacing=(GAP, GAP))
        self._stack = QStackedLayout()
        self._stack.addWidget(self.message)
        self._stack.addWidget(self._shown)
        line = add_all(space(QHBoxLayout(), (8, TOP, 8, 0), 8), self.heading, (self.details, 1))
        add_all(space(QVBoxLayout(self), spacing=0), line, (self._stack, 1))

    # ----------------------------------------------------------------------------------- views

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the shown views."""
        return self._names

    @property
    def views(self) -> tuple[RunView, ...]:
        """Shown views, from the top left."""
        return tuple(self._made[name] for name in self._names)

    @property
    def tab_order(self) -> list[QWidget]:
        """Plots of the shown views, in Tab order."""
        return [view.plot for view in self.views]

    def view(self, name: str) -> RunView:
        """Return a view by its name in app.state.views.VIEWS, made when it is first shown."""
        if name not in self._made:
            view = VIEWS[name].load()(self._palette, self._shown)
            view.hide()
            view.node_hovered.connect(self.node_hovered)
            view.node_clicked.connect(self.node_clicked)
            view.nodes_selected.connect(self.nodes_selected)
            view.moment_clicked.connect(self.moment_clicked)
            view.values_requested.connect(self.values_requested)
            view.menu_requested.connect(self._on_menu_requested)
            view.header.clicked.connect(self._on_title_clicked)
            view.header.dragged.connect(self._on_title_dragged)
            view.header.dropped.connect(self._on_title_dropped)
            view.range_changed.connect(self._on_ranged)
            view.zoomed.connect(self._on_zoomed)
            view.least_size_changed.connect(self.views_arranged)
            view.plot.setAcceptDrops(False)  # files dropped here go to the window
            self._made[name] = view
        return self._made[name]

    def _on_ranged(self) -> None:
        name = self._name_of(self.sender())
        if name in self._names:
            self._made[name].show_axis_title()
        self.range_changed.emit(name)

    def _on_zoomed(self) -> None:
        self.zoomed.emit(self._name_of(self.sender()))

    def _name_of(self, part: QObject | None) -> str:
        """Return the name of a view, given by itself or its header."""
        views = self._made.items()
        return next((name for name, view in views if part in (view, view.header)), "")

    def view_at(self, place: QPoint) -> str:
        """Return the name of the view at a place on the screen; "" for none."""
        views = [(name, self._made[name]) for name in self._names]
        names = (name for name, view in views if view.rect().contains(view.mapFromGlobal(place)))
        return next(names, "") if self.isVisible() else ""

    def _on_menu_requested(self, place: QPoint) -> None:
        name = self._name_of(self.sender())
        # The keyboard can open the menu of a view out of sight.
        self._queue.catch_up([self._made[name]], self.frame)
        self.menu_requested.emit(name, place)

    def _on_title_clicked(self) -> None:
        self.fill_requested.emit(self._name_of(self.sender()))

    def _on_title_dragged(self, place: QPoint) -> None:
        name, target = self._name_of(self.sender()), self.view_at(place)
        for view_name in self._names:
            self._made[view_name].header.set_target(view_name == target != name)

    def _on_title_dropped(self, place: QPoint) -> None:
        name, target = self._name_of(self.sender()), self.view_at(place)
        for view_name in self._names:
            self._made[view_name].header.set_target(False)
        if target not in ("", name):
            self.view_moved.emit(name, target)

    def zooms(self) -> list[tuple[str, QRectF]]:
        """Return the zoomed ranges of views, hidden ones included, by name."""
        own_zooms = {name: self._made[name].plot.zoom for name in self._names}
        zooms = {**self._zooms, **own_zooms}
        return [(name, zoom) for name, zoom in zooms.items() if zoom is not None]

    def regions(self) -> list[tuple[str, tuple[float, float, float, float]]]:
        """Return the ranges of the views with content, by name."""
        self._queue.catch_up(self.views, self.frame)  # ranges may follow the moment
        views = [(name, self._made[name]) for name in self._names]
        return [(name, view.region()) for name, view in views if view.shows_something]

    def set_zooms(self, zooms: Mapping[str, QRectF]) -> None:
        """Zoom views to ranges; views without one show everything."""
        for name in self._names:
            self._made[name].plot.set_zoom(zooms.get(name))
        self._zooms = {name: zoom for name, zoom in zooms.items() if name not in self._names}

    def set_views(self, names: Sequence[str]) -> None:
        """Show some views, in this order."""
        names = tuple(names)
        if names == self._names:
            return
        for name in names:
            # Create the view first: hiding another view ends its hover and emits signals.
            self.view(name)
        before, self._names = self._names, names
        for name in before:
            if name not in names:
                self._zooms[name] = self._made[name].plot.zoom
                self._made[name].set_data(None)
                hide_in_grid(self._grid, self._made[name])
        for name in names:
            view = self.view(name)
            if name not in before:
                self._bring_up(view)
                view.plot.set_zoom(self._zooms.get(name))
            view.show()
        self._place_views()
        self.views_arranged.emit()

    def _bring_up(self, view: RunView) -> None:
        """Let a view show the same state as the others."""
        view.set_colours(self._palette)
        view.set_options(self.options)
        view.set_theory(self._theory)
        view.set_notes(self._notes)
        view.set_heading(self.heading.text())
        view.set_data(self._data)
        view.set_marked(self._hovered, self._pinned)
        if self.frame >= 0:
            view.show_frame(self.frame)

    def arrange(self, columns: int, above: RunPanel | None, below: RunPanel | None) -> None:
        """Put the views into columns; the first run has no panel `above`, the last none `below`."""
        if (columns, above, below) != (self._columns, self._above, self._below):
            alone = self._is_alone
            if self._below is not None:
                self._below.range_changed.disconnect(self._on_range_below_changed)
            if below is not None:
                below.range_changed.connect(self._on_range_below_changed)
            self._above, self._below = above, below
            if (columns, alone) == (self._columns, self._is_alone):
                self._set_columns_of_views()
            else:
                self._columns = columns
                self._place_views()

    def set_sight(self, sight: QRect) -> None:
        """Set the visible part of the panel; draw views that came into sight."""
        self._queue.sight = sight
        self._queue.catch_up(self._queue.in_sight(self.views), self.frame)

    @property
    def _is_alone(self) -> bool:
        return self._above is None and self._below is None

    @property
    def least_height(self) -> int:
        """Least height in pixels with legible plots."""
        heading = max(label.sizeHint().height() for label in (self.heading, self.details))
        heights = [view.least_height for view in self.views]
        lines = [heights[k : k + self._columns] for k in range(0, len(heights), self._columns)]
        return heading + TOP + sum(max(line) + GAP for line in lines) - GAP

    def _place_views(self) -> None:
        """Place the views in the grid; the last row of a single run fills the width."""
        place_in_grid(self._grid, self.views, self._columns, fills=self._is_alone)
        self._set_columns_of_views()

    def _set_columns_of_views(self) -> None:
        """Connect each view with the same view of other runs in its column."""
        for name in self._names:
            neighbours = [
                panel.view(name) if panel is not None and name in panel.names else None
                for panel in (self._above, self._below)
            ]
            self._made[name].set_column(*neighbours)

    def _on_range_below_changed(self, name: str) -> None:
        """Update the axis title of a view: only the lowest run in its column shows it."""
        if name in self._names:
            self._made[name].show_axis_title()

    def paintEvent(self, event: QPaintEvent) -> None:
        # With a style sheet Qt would not repaint the ground between the views.
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._palette.background))
        painter.end()

    # --------------------------------------------------------------------------------- content

    def set_run(self, run: OpenRun | None) -> None:
        """Show another run: its views, its failure, or how to get a run."""
        self.run = run
        if run is None:
            self.set_data(None, "")
            self.message.setText("")
        elif run.data is None:
            self.set_data(None, run.heading)
            self.message.setText(run.failure or PREPARING)
        else:
            self.message.setText("")
            self.set_data(run.data, run.full_heading)

    def set_waiting(self, words: str) -> None:
        """Show what a run without frames or failure waits for; "" shows `PREPARING`."""
        if self.run is not None and self.run.data is None and not self.run.failure:
            self.message.setText(words or PREPARING)

    def set_data(self, data: DisplayData | None, heading: str) -> None:
        """Show another run, or none; its first frame is drawn after `set_frame`."""
        self._data, self.frame = data, -1
        self._queue.clear()
        self._zooms.clear()
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
        """Queue all views for drawing after new frames, with the ranges of these."""
        self._queue.add(self.views, grown=True)

    def on_values(self) -> None:
        """Queue the views of newly computed values for drawing."""
        self._queue.add(self.views, grown=False)

    @property
    def pending(self) -> int:
        """Number of views still to be drawn by `draw_pending`."""
        return len(self._queue)

    def draw_pending(self, seconds: float = math.inf) -> None:
        """Draw pending views in turn, at least one, for about so long."""
        self._queue.draw(self.views, self.frame, seconds)

    def set_frame(self, index: int, at_once: bool = True) -> Sequence[RunView]:
        """Set the frame, at most the last known one; return the views to draw now.

        `draw_pending` draws those that grew, and all of them where it need not be at once.
        """
        if self._data is None or self._data.frames == 0:
            return ()
        self.frame = max(0, min(index, self._data.frames - 1))
        if at_once:
            return self._queue.current(self._queue.in_sight(self.views))
        self._queue.add(self.views, grown=False)
        return ()

    def set_marked(self, hovered: int, pinned: frozenset[int]) -> Sequence[RunView]:
        """Set the marked neurons; return the views to mark them in now."""
        if (hovered, pinned) == (self._hovered, self._pinned):
            return ()
        self._hovered, self._pinned = hovered, pinned
        return self.views

    def set_plane(self, plane: NodePlane) -> None:
        """Show the neurons on another plane."""
        if self._data is None or self._data.plane == plane:
            return
        self._data.set_plane(plane)
        for view in self.views:
            if view.on_plane:
                view.set_data(self._data)
                view.show_frame(self.frame)

    def set_options(self, options: Intent) -> None:
        """Follow the options; plane, views and palette have their own methods."""
        self.options = options
        for view in self.views:
            view.set_options(options)

    def set_theory(
        self,
        references: Sequence[ReferenceMargin],
        bounds: Sequence[Bound],
        promise: Promise | None = None,
    ) -> None:
        """Show reference margins as lines and bounds of statements as curves.

        Margins are shares of the promise; None for plain margins.
        """
        self._theory = ShownTheory(references, bounds, promise)
        for view in self.views:
            view.set_theory(self._theory)

    def set_notes(self, notes: tuple[MomentNote, ...]) -> None:
        """Show the notes of the run at its curves."""
        self._notes = notes
        for view in self.views:
            view.set_notes(notes)

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.update()
        for view in self.views:
            view.set_colours(palette)
