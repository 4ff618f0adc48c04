"""First start: its study, and the messages while kernels are compiled for this computer."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject

from app.playback.display import DisplayController
from app.training.run_worker import RunWorker
from app.widgets.message_bar import MessageBar
from core.studies.study import load_study

FIRST_STUDY = "telgarsky22-figure-1"
RECORDING = (
    "Playing a recorded run while Marginscope compiles its kernels for this computer (first start "
    "only). Training starts automatically when they are ready."
)
WAITING = (
    "Compiling the kernels for this computer (first start only). Training starts automatically."
)


def first_settings() -> list[dict[str, object]]:
    """Return the settings of the runs that are trained when no file is given."""
    from core.library.reading import flattened

    cells = load_study(FIRST_STUDY).cells()
    tables = [cell.experiment.model_dump(mode="json", exclude_none=True) for cell in cells]
    return [dict(flattened(table)) for table in tables]


@final
class FirstStartNotice(QObject):
    """Says in the message bar what is shown while kernels are missing."""

    def __init__(
        self, worker: RunWorker, display: DisplayController, bar: MessageBar, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._display, self._bar = display, bar
        self._waiting: set[int] = set()
        worker.waiting.connect(self._on_waiting)
        worker.compiler.refused.connect(self._on_refused)
        display.runs_changed.connect(self._update)

    def _on_refused(self, sentence: str) -> None:
        """Say that kernels cannot be stored, after what is said of other folders."""
        text = "" if self._bar.text in (RECORDING, WAITING) else self._bar.text
        self._bar.show_message(f"{text} {sentence}".strip())

    def _on_waiting(self, key: int, waits: bool) -> None:
        (self._waiting.add if waits else self._waiting.discard)(key)
        self._update()

    def _update(self) -> None:
        session = self._display.session
        if any(run.stands_in for run in session):
            self._bar.show_message(RECORDING)
        elif any(run.key in self._waiting for run in session.every):
            self._bar.show_message(WAITING)
        # Only its own words: the bar may say something else by now, which stays.
        elif self._bar.text in (RECORDING, WAITING):
            self._bar.clear()
