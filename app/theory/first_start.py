"""The first start: what is said, and what waits, while kernels are compiled for this computer."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject

from app.playback.display import DisplayController
from app.theory.margin_worker import MarginWorker
from app.training.run_worker import RunWorker
from app.widgets.message_bar import MessageBar
from core.compiled import warming

RECORDING = (
    "Playing a recorded run while Marginscope compiles its kernels for this computer (first start "
    "only). Training starts automatically when they are ready."
)
WAITING = (
    "Compiling the kernels for this computer (first start only). Training starts automatically."
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
        self._waiting: set[int] = set()
        worker.waiting.connect(self._note)
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
        text = "" if self._bar.text in (RECORDING, WAITING) else self._bar.text
        self._bar.say(f"{text} {sentence}".strip())

    def _note(self, key: int, so: bool) -> None:
        """Note that a run waits for its kernels, or no longer does."""
        (self._waiting.add if so else self._waiting.discard)(key)
        self._look()

    def _look(self) -> None:
        """Update the message bar: recordings are shown, runs wait for kernels, or neither."""
        session = self._display.session
        if any(run.stands_in for run in session):
            self._bar.say(RECORDING)
        elif any(run.key in self._waiting for run in session):
            self._bar.say(WAITING)
        # Only its own words: the bar may say something else by now, which stays.
        elif self._bar.text in (RECORDING, WAITING):
            self._bar.clear()
