"""Start and end of the window: its first content, and the questions before closing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject

from app.desktop import is_link
from app.scenes.controller import SceneController
from app.scenes.session_keeper import SessionKeeper
from app.shell.main_window import MainWindow
from app.state.session import Session
from app.study.controller import StudyController
from app.training.controller import TrainingController
from app.training.files import FileController
from app.training.first_start import FIRST_STUDY
from app.widgets.dialogs import Question, Role
from core.studies.study import shipped_ids

LAST = "Opening the last session ..."
STOP, CONTINUE_RUNNING = "Stop and close", "Keep running"
UNSAVED, OPEN = "Close without saving", "Keep open"
LOST = "Closing now discards the settings of this window, such as its panels."
RECORDED_NOTE = "Everything recorded so far is saved and can be continued later."


@final
class StartupController(QObject):
    """Opens the requested files, the last session, or the first figure.

    `announce` before the window is seen, `open` once it is, `on_ready` when files can be read.
    """

    def __init__(
        self,
        window: MainWindow,
        training: TrainingController,
        files: FileController,
        scenes: SceneController,
        keeper: SessionKeeper,
        names: Sequence[str],
        restores: bool,
    ) -> None:
        """`restores`: restore a session that ended normally."""
        super().__init__(window)
        self._window, self._training = window, training
        self._files, self._scenes, self._keeper = files, scenes, keeper
        self._names = tuple(names)
        self.restores = restores
        previous = keeper.previous
        has_session = previous is not None and bool(previous.scene.runs) and not names
        self._needs_answer = has_session and previous is not None and not previous.ended
        self._restores = has_session and restores and not self._needs_answer
        self._ready = False
        keeper.restore_answered.connect(self._on_answer)

    @property
    def opens_files(self) -> bool:
        """True if the program was started with a file, a study or a link."""
        return bool(self._names)

    def set_restores(self, restores: bool) -> None:
        """Set whether the next start restores the session."""
        self.restores = restores

    def announce(self) -> None:
        """Put the study to be trained into the form, or announce what will be opened."""
        if self._restores or self._needs_answer:
            self._window.chooser.announce(LAST)
            return
        name = self._names[0] if self._names else FIRST_STUDY
        if name in shipped_ids():
            self._training.offer(name)
        else:
            words = "a link" if is_link(name) else Path(name).name
            self._window.chooser.announce(f"Opening {words} ...")

    def open(self) -> None:
        """Open the requested study or session; files wait until they can be read."""
        if self._needs_answer:
            self._keeper.open_question()
        elif len(self._names) > 1 or (self._names and self._names[0] not in shipped_ids()):
            self._files.open_files(self._names)
        elif not self._restores:
            self._training.choose(self._names[0] if self._names else FIRST_STUDY)

    def on_ready(self) -> None:
        """Open what needs the numerical libraries, which are now loaded."""
        self._ready = True
        self._files.ready()
        if self._restores:
            self._restore()
        if not self._needs_answer:
            self._finish()

    def _on_answer(self, yes: bool) -> None:
        self._restores, self._needs_answer = yes, False
        if not yes:
            self._training.choose(FIRST_STUDY)
        elif self._ready:
            self._restore()
        if self._ready:
            self._finish()

    def _finish(self) -> None:
        """Clear the undo history, and save the session from now on."""
        self._scenes.clear_history()
        self._keeper.start()

    def _restore(self) -> None:
        self._restores = False
        if not self._keeper.restore():
            self._training.choose(FIRST_STUDY)


@final
class ShutdownController(QObject):
    """Decides whether the window may close, and calls `shut_down` once when it does."""

    def __init__(
        self,
        window: MainWindow,
        session: Session,
        studies: StudyController,
        shut_down: Callable[[], None],
        save: Callable[[], str],
    ) -> None:
        """`save` writes the settings and returns a sentence if the disk is full."""
        super().__init__(window)
        self._window = window
        self._question = Question(window, "closing")
        self._session = session
        self._studies = studies
        self._shut_down, self._save = shut_down, save
        self._done = False
        window.closing.connect(self._on_closing)

    def _on_closing(self) -> None:
        if self._done:
            return
        work = self.describe_unfinished()
        if work and not self._is_confirmed(work, RECORDED_NOTE, STOP, CONTINUE_RUNNING):
            self._window.may_close = False
            return
        unsaved = self._save()
        if unsaved and not self._is_confirmed(unsaved, LOST, UNSAVED, OPEN):
            self._window.may_close = False
            return
        self._finish()

    def close_now(self) -> None:
        """Stop all recordings without asking, and close."""
        if not self._done:
            self._finish()
        self._window.close()

    def _finish(self) -> None:
        # Set first: shutting down closes windows, and each may try to close this one again.
        self._done = True
        self._shut_down()

    def describe_unfinished(self) -> str:
        """Return a sentence about what would be stopped, or ""."""
        if self._studies.busy:
            return "A whole study is still running."
        # A run whose kernels are still being compiled has no frames to lose.
        count = sum(run.has_started for run in self._session.live)
        runs = "A run is" if count == 1 else f"{count} runs are"
        return f"{runs} still training." if count else ""

    def _is_confirmed(self, words: str, details: str, close: str, stay: str) -> bool:
        # Return and Escape keep the window open, so that a slip does not stop training.
        answers = {close: Role.DestructiveRole, stay: Role.RejectRole}
        self._question.show(words, details, answers, default=stay, waits=True)
        return self._question.answer == close
