"""Leaving: asks while something is recorded or settings cannot be saved, and puts all away."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from PySide6.QtCore import QObject

from app.shell.main_window import MainWindow
from app.state.session import Session
from app.study.controller import StudyController
from app.widgets.question import Question, Role

STOP, KEEP = "Stop and close", "Keep running"
UNSAVED, OPEN = "Close without saving", "Keep open"
LOST = "The settings of this window, such as its panels, are lost if you close it now."
KEPT = "What is recorded so far stays in the run files either way, and can be continued later."


@final
class Closing(QObject):
    """Decides whether the window may close, and calls `put_away` once when it does."""

    def __init__(
        self,
        window: MainWindow,
        session: Session,
        studies: StudyController,
        put_away: Callable[[], None],
        save: Callable[[], str],
    ) -> None:
        """`save` writes the settings and returns a sentence if the disk is full."""
        super().__init__(window)
        self._window = window
        self._question = Question(window, "closing")
        self._session = session
        self._studies = studies
        self._put_away, self._save = put_away, save
        self._done = False
        window.closing.connect(self._on_closing)

    def _on_closing(self) -> None:
        if self._done:
            return
        work = self.unfinished()
        if work and not self._agreed(work, KEPT, STOP, KEEP):
            self._window.may_close = False
            return
        unsaved = self._save()
        if unsaved and not self._agreed(unsaved, LOST, UNSAVED, OPEN):
            self._window.may_close = False
            return
        self._end()

    def at_once(self) -> None:
        """Stop what is being recorded, without asking, and close."""
        if not self._done:
            self._end()
        self._window.close()

    def _end(self) -> None:
        # First: what is put away closes windows, and each may end in a close of this one.
        self._done = True
        self._put_away()

    def unfinished(self) -> str:
        """What would be stopped, as a sentence; "" for nothing."""
        if self._studies.busy:
            return "A whole study is still being run."
        # A run whose kernels are still being compiled has nothing to lose.
        count = sum(run.begun for run in self._session.live)
        runs = "A run is" if count == 1 else f"{count} runs are"
        return f"{runs} still being trained." if count else ""

    def _agreed(self, words: str, details: str, close: str, stay: str) -> bool:
        # Return and Escape keep the window: training must not be stopped by a slip.
        answers = {close: Role.DestructiveRole, stay: Role.RejectRole}
        self._question.ask(words, details, answers, default=stay, waits=True)
        return self._question.answer == close
