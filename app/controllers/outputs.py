"""What is shown, handed to the exporter: the runs, the coordinates and the palette."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.controllers.display import DisplayController
from app.controllers.export import ExportController
from app.state.session import Session
from core.figures.palette import PALETTES

if TYPE_CHECKING:
    from core.reference.margin import ReferenceMargin


@final
class Outputs(QObject):
    """Exports the open runs. `message` carries what went wrong, `finished` what was written."""

    message = Signal(str)
    finished = Signal(str)

    def __init__(self, session: Session, display: DisplayController, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._display = display
        self._lines_of: Callable[[int], tuple[ReferenceMargin, ...]] | None = None
        self.export = ExportController(window, self)
        self.export.error.connect(self.message)
        self.export.finished.connect(self.finished)

    def follow(self, lines_of: Callable[[int], tuple[ReferenceMargin, ...]]) -> None:
        """Draw the reference margins that this says of a run, by its key."""
        self._lines_of = lines_of

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
        if self._lines_of is not None:
            lines = {run.source: self._lines_of(run.key) for run in self._session}
            self.export.set_references(lines)
        return [run.source for run in self._session if run.data is not None]
