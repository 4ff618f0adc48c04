"""Ranges shared by the same view of several runs, for easy comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

from PySide6.QtCore import QObject

from app.views.run_panel import RunPanel
from app.views.view import RunView
from app.widgets.plot_item import Home, Plot
from core.figures.strips import Extent


@final
class LinkedRanges(QObject):
    """Common range and zoom for the plots of views whose `links` is true.

    The range holds those of all views. It links each axis that shows the same in all of them.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._panels: list[RunPanel] = []
        self._on = True

    def add(self, panel: RunPanel) -> None:
        """Add the views of another run."""
        self._panels.append(panel)
        panel.range_changed.connect(self._share)
        panel.zoomed.connect(self._zoom)

    def set_on(self, linked: bool) -> None:
        """Link the ranges, or let each run have its own."""
        self._on = linked
        for name in {name for panel in self._panels for name in panel.names}:
            self._share(name)

    def _views(self, name: str) -> list[RunView]:
        """Return this view of each run that has content in it."""
        panels = [panel for panel in self._panels if name in panel.names]
        views = [panel.view(name) for panel in panels]
        return [view for view in views if view.links and view.shows_something]

    def _share(self, name: str) -> None:
        """Give the plots of a view the range of all runs, on the axes that show the same."""
        views = self._views(name)
        plots = [view.plot for view in views]
        homes = [plot.home for plot in plots]
        for plot in plots:
            alike = [
                partner.home for partner in plots if self._on and _shares_bottom(plot, partner)
            ]
            level = [partner.home for partner in plots if self._on and _shares_side(plot, partner)]
            plot.set_common(_unite(plot.home, alike, level) if len(homes) > 1 else None)
        common = _join_extents([view.extents for view in views]) if self._on else {}
        for view in views:
            view.set_common_extents(common)

    def _zoom(self, name: str) -> None:
        """Copy the zoom of a view to the same view of the other runs with the same axes."""
        sender = self.sender()
        assert isinstance(sender, RunPanel)
        source = sender.view(name).plot
        plots = [view.plot for view in self._views(name)]
        if not self._on or source not in plots:
            return
        for plot in plots:
            if plot is not source and _shares_bottom(plot, source) and _shares_side(plot, source):
                plot.set_zoom(source.zoom)


def _join_extents(extents: Sequence[Mapping[str, Extent]]) -> dict[str, Extent]:
    """Return extents that contain those of all runs, by the names of quantities."""
    joined: dict[str, Extent] = {}
    for own in extents:
        joined |= {name: joined.get(name, Extent()) | extent for name, extent in own.items()}
    return joined


def _shares_bottom(first: Plot, second: Plot) -> bool:
    return first.bottom.shows_same(second.bottom)


def _shares_side(first: Plot, second: Plot) -> bool:
    return first.side.shows_same(second.side)


def _unite(home: Home, same_columns: Sequence[Home], same_rows: Sequence[Home]) -> Home:
    """Return a range widened to other ranges, horizontally and vertically."""
    left, right = (
        [one.left for one in (home, *same_columns)],
        [one.right for one in (home, *same_columns)],
    )
    bottom, top = (
        [one.bottom for one in (home, *same_rows)],
        [one.top for one in (home, *same_rows)],
    )
    return Home(min(left), max(right), min(bottom), max(top))
