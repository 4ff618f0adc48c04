"""A place in the middle of the window: one RunPanel and the run that it shows at present."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.state.session import Growth, OpenRun

if TYPE_CHECKING:  # loads pyqtgraph, which comes after the window
    from app.views.run_panel import RunPanel

PREPARING = "Preparing the run ..."
RECORDED = " \u2013 a recording"
GROWTHS = {
    Growth.GROWS: " \u2013 being recorded",
    Growth.RESTS: " \u2013 not finished",
    Growth.LEFT: " \u2013 left unfinished",
    Growth.LOST: " \u2013 its file is gone",
}


@final
class PanelSlot(QObject):
    """Passes on what happens in its panel, with the key of the run that it happened to."""

    hovered = Signal(int, int)
    clicked = Signal(int, int)
    selected = Signal(int, object)

    def __init__(self, panel: RunPanel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.panel = panel
        self.run: OpenRun | None = None
        panel.node_hovered.connect(self._hovered)
        panel.node_clicked.connect(self._clicked)
        panel.nodes_selected.connect(self._selected)

    def set_run(self, run: OpenRun | None) -> None:
        """Show a run, what is the matter with it, or how to get one."""
        self.run = run
        if run is None:
            self.panel.set_data(None, "")
            self.panel.set_message("")
        elif run.data is None:
            self.panel.set_data(None, run.heading)
            self.panel.set_message(run.failure or PREPARING)
        else:
            self.panel.set_message("")
            self.panel.set_data(run.data, _heading(run))

    def show_heading(self) -> None:
        """The run is called otherwise, or it stands otherwise with it."""
        if self.run is not None:
            self.panel.set_heading(_heading(self.run))

    def set_waiting(self, words: str) -> None:
        """Say what a run that has not begun is waiting for."""
        if self.run is not None and self.run.data is None and not self.run.failure:
            self.panel.set_message(words or PREPARING)

    def _hovered(self, node: int) -> None:
        if self.run is not None:
            self.hovered.emit(self.run.key, node)

    def _clicked(self, node: int) -> None:
        if self.run is not None:
            self.clicked.emit(self.run.key, node)

    def _selected(self, nodes: frozenset[int]) -> None:
        if self.run is not None:
            self.selected.emit(self.run.key, nodes)


def _heading(run: OpenRun) -> str:
    return f"{run.heading}{RECORDED if run.stands_in else GROWTHS.get(run.growth, '')}"
