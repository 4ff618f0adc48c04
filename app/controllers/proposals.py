"""Which views a study opens with: those that it names, as far as they show anything of its runs."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject, Signal

from app.controllers.display import DisplayController
from app.main_window import MainWindow
from app.state.views import VIEWS, suited
from core.errors import did_you_mean
from core.studies.study import Study


@final
class Proposals(QObject):
    """Proposes views for the runs that are open; those that the user has chosen stay.

    `message` carries a sentence about a study that names what is no view.
    """

    message = Signal(str)

    def __init__(self, display: DisplayController, window: MainWindow) -> None:
        super().__init__(window)
        self._display, self._window = display, window
        self._wished: tuple[str, ...] = ()

    def set_study(self, study: Study) -> None:
        """Another study is in the form."""
        self._wished = study.views
        unknown = [name for name in self._wished if name not in VIEWS]
        if unknown:
            self.message.emit(
                f"{study.id}: window.views names {unknown[0]}, which is no view; "
                f"{did_you_mean(unknown[0], VIEWS)}"
            )

    def refresh(self) -> None:
        """Other runs are open, or one of them can be read by now."""
        runs = [run.data for run in self._display.session if run.data is not None]
        proposed = suited(self._wished, runs)
        if proposed != self._display.intent.proposed:
            self._display.ask(proposed=proposed)
        self._window.show_views(self._display.view.wishes.views)
