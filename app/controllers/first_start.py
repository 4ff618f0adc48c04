"""The first start: what is said, and what waits, while kernels are compiled for this computer."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject

from app.controllers.display import DisplayController
from app.widgets.message_bar import MessageBar
from app.workers.margin_worker import MarginWorker
from app.workers.run_worker import RunWorker
from core.compiled import warming

RECORDING = (
    "What plays is a recording that is shipped with the program. The kernels are being compiled "
    "for this computer, once; as soon as those it needs are there, it is trained here and takes "
    "the recording's place."
)
UNAIDED = (
    "The kernels are being compiled for this computer, once; until those it needs are there, it is "
    "trained without them, by slower code with the same numbers."
)


@final
class FirstStart(QObject):
    """Says what happens without kernels, and lets reference margins wait for theirs."""

    def __init__(
        self,
        worker: RunWorker,
        display: DisplayController,
        margins: MarginWorker,
        bar: MessageBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        compiler = worker.compiler
        self._compiler, self._display = compiler, display
        self._margins, self._bar = margins, bar
        self._unaided: set[int] = set()
        worker.unaided.connect(self._note)
        margins.held_by(self._lacks_margins)
        compiler.progress.connect(self._on_compiled)
        compiler.refused.connect(self._on_refused)
        display.runs_changed.connect(self._look)

    def _lacks_margins(self) -> bool:
        return self._compiler.lacks((warming.MARGINS,))

    def _on_compiled(self) -> None:
        self._margins.wake()

    def _on_refused(self, sentence: str) -> None:
        """Say that kernels cannot be kept, after what is said of other folders."""
        text = "" if self._bar.text in (RECORDING, UNAIDED) else self._bar.text
        self._bar.say(f"{text} {sentence}".strip())

    def _note(self, key: int, so: bool) -> None:
        """A run is trained without its kernels, or no more."""
        (self._unaided.add if so else self._unaided.discard)(key)
        self._look()

    def _look(self) -> None:
        """Recordings are shown, or runs trained without kernels, or no more."""
        session = self._display.session
        if any(run.stands_in for run in session):
            self._bar.say(RECORDING)
        elif any(run.key in self._unaided for run in session):
            self._bar.say(UNAIDED)
        # Only its own words: the bar may say something else by now, which stays.
        elif self._bar.text in (RECORDING, UNAIDED):
            self._bar.clear()
