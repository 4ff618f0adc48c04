"""Plots of compared observables in a grid, like the views of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QWidget

from app.style import LEAST_PLOT
from app.views.compare import CompareView
from app.widgets.grid import GAP, columns_for_area, place_in_grid
from app.widgets.layouts import space
from core.figures.palette import Palette

SHAPE = 1.6  # width over height of a plot, with names at the ends of its lines


@final
class CompareGrid(QScrollArea):
    """Grid with a plot for each observable, under one cursor; scrolls if it is too large.

    Plots against the same quantity have equal axes, named below the lowest plot of each column.
    """

    place_clicked = Signal(str, float)
    """Observable, and place of its axis (core.comparison.alignment) to seek."""
    menu_requested = Signal(str, QPoint)
    """Observable, and place on the screen."""
    fill_requested = Signal(str)
    """Observable whose title was clicked."""
    plot_moved = Signal(str, str)
    """Observable, and the one that it was dropped on."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = palette
        self._made: dict[str, CompareView] = {}
        self._names: tuple[str, ...] = ()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumSize(*LEAST_PLOT)
        self._content = QWidget(self)
        self._grid = space(QGridLayout(self._content), spacing=(GAP, GAP))
        self.setWidget(self._content)

    @property
    def plots(self) -> Mapping[str, CompareView]:
        """Shown plots by their observables, from the top left."""
        return {name: self._made[name] for name in self._names}

    def set_names(self, names: Sequence[str]) -> None:
        """Show a plot for each observable, in this order; hidden plots keep their ranges."""
        if tuple(names) == self._names:
            return
        self._names = tuple(names)
        for name in self._names:
            if name not in self._made:
                self._made[name] = self._make()
        for name, plot in self._made.items():
            self._grid.removeWidget(plot)
            plot.setVisible(name in self._names)
        self._arrange()

    def _make(self) -> CompareView:
        plot = CompareView(self._palette, self._content)
        plot.place_requested.connect(self._on_place_requested)
        plot.menu_requested.connect(self._on_menu_requested)
        plot.header.clicked.connect(self._on_title_clicked)
        plot.header.dragged.connect(self._on_title_dragged)
        plot.header.dropped.connect(self._on_title_dropped)
        return plot

    def plot_at(self, place: QPoint) -> str:
        """Return the observable of the plot at a place on the screen; "" for none."""
        plots = self.plots.items() if self.isVisible() else ()
        names = (name for name, one in plots if one.rect().contains(one.mapFromGlobal(place)))
        return next(names, "")

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        for plot in self._made.values():
            plot.set_colours(palette)

    def share_axes(self) -> None:
        """Give plots against the same quantity equal axes, named once in each column."""
        plots = tuple(self.plots.values())
        widest = max((plot.labels.widest for plot in plots), default=0.0)
        for plot in plots:
            ends = [one.extent for one in plots if one.axis.is_like(plot.axis)]
            plot.set_common((min(x for x, _ in ends), max(x for _, x in ends)), widest)
        columns = self._columns
        for place, plot in enumerate(plots):
            below = plots[place + columns] if place + columns < len(plots) else None
            plot.plot.set_axis_title(below is None or not plot.axis.is_like(below.axis))

    # -------------------------------------------------------------------------------- placing

    @property
    def _columns(self) -> int:
        room = self.maximumViewportSize()
        return columns_for_area(max(len(self._names), 1), room.width(), room.height(), SHAPE)

    def _arrange(self) -> None:
        place_in_grid(self._grid, tuple(self.plots.values()), self._columns, fills=True)
        self.share_axes()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    # ------------------------------------------------------------------------------ requests

    def _name_of(self, part: QObject | None) -> str:
        """Return the observable of a plot or of its header."""
        plots = self._made.items()
        return next((name for name, plot in plots if part in (plot, plot.header)), "")

    def _on_place_requested(self, place: float) -> None:
        self.place_clicked.emit(self._name_of(self.sender()), place)

    def _on_menu_requested(self, place: QPoint) -> None:
        self.menu_requested.emit(self._name_of(self.sender()), place)

    def _on_title_clicked(self) -> None:
        self.fill_requested.emit(self._name_of(self.sender()))

    def _on_title_dragged(self, place: QPoint) -> None:
        name, target = self._name_of(self.sender()), self.plot_at(place)
        for name_, plot in self.plots.items():
            plot.header.set_target(name_ == target != name)

    def _on_title_dropped(self, place: QPoint) -> None:
        name, target = self._name_of(self.sender()), self.plot_at(place)
        for plot in self._made.values():
            plot.header.set_target(False)
        if target not in ("", name):
            self.plot_moved.emit(name, target)
