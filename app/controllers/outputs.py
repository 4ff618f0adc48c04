"""What is shown, handed to the exporter: the runs, the coordinates and the palette."""

from __future__ import annotations

from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.controllers.display import DisplayController
from app.controllers.export import ExportController
from app.state.session import Session
from core.figures.palette import PALETTES


@final
class Outputs(QObject):
    """Exports the open runs. `told` carries what went wrong, `done` what was written."""

    told = Signal(str)
    done = Signal(str)

    def __init__(self, session: Session, display: DisplayController, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._display = display
        self.export = ExportController(window, self)
        self.export.failed.connect(self.told)
        self.export.finished.connect(self.done)

    def figure(self) -> None:
        """A figure of the open runs."""
        self.export.figure(self._runs())

    def copy_figure(self) -> None:
        """A figure of the open runs into the clipboard."""
        self.export.copy_figure(self._runs())

    def film(self) -> None:
        """A film of the open runs."""
        self.export.film(self._runs())

    def data(self) -> None:
        """The numbers of the open runs."""
        self.export.data(self._runs())

    def close(self) -> None:
        """Cancel what is under way."""
        self.export.close()

    def _runs(self) -> list[Path]:
        intent = self._display.intent
        self.export.set_coordinates(*intent.coordinates)
        self.export.set_colours(PALETTES[intent.palette])
        return [run.path for run in self._session if run.data is not None]
