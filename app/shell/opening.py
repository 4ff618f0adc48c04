"""What the window opens with: what it was asked for, the session before, or the first figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject

from app.scenes.controller import SceneController
from app.scenes.session_keeper import SessionKeeper
from app.shell.main_window import MainWindow
from app.state.link import is_link
from app.training.controller import TrainingController
from app.training.files import FileController
from core.studies.study import shipped_ids

FIRST_STUDY = "telgarsky22-figure-1"
LAST = "Opening the last session ..."


@final
class Opening(QObject):
    """`offer` before the window is seen, `begin` once it is, `ready` when files can be read."""

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
        """`restores`: whether a session that ended well is gone on with."""
        super().__init__(window)
        self._window, self._training = window, training
        self._files, self._scenes, self._keeper = files, scenes, keeper
        self._names = tuple(names)
        self.restores = restores
        previous = keeper.previous
        there = previous is not None and bool(previous.scene.runs) and not names
        self._asks = there and previous is not None and not previous.ended
        self._restores = there and restores and not self._asks
        self._ready = False
        keeper.answered.connect(self._on_answer)

    def set_restores(self, restores: bool) -> None:
        """Whether the next start opens with what is open now."""
        self.restores = restores

    def offer(self) -> None:
        """The form has the study that is about to be trained, and no other one before it."""
        if self._restores or self._asks:
            self._window.chooser.announce(LAST)
            return
        name = self._names[0] if self._names else FIRST_STUDY
        if name in shipped_ids():
            self._training.offer(name)
        else:
            words = "a link" if is_link(name) else Path(name).name
            self._window.chooser.announce(f"Opening {words} ...")

    def begin(self) -> None:
        """Open what was asked for; files, as soon as they can be read."""
        if self._asks:
            self._keeper.ask()
        elif len(self._names) > 1 or (self._names and self._names[0] not in shipped_ids()):
            self._files.open_files(self._names)
        elif not self._restores:
            self._training.choose(self._names[0] if self._names else FIRST_STUDY)

    def ready(self) -> None:
        """Run files can be read."""
        self._ready = True
        self._files.ready()
        if self._restores:
            self._restore()
        if not self._asks:
            self._done()

    def _on_answer(self, yes: bool) -> None:
        self._restores, self._asks = yes, False
        if not yes:
            self._training.choose(FIRST_STUDY)
        elif self._ready:
            self._restore()
        if self._ready:
            self._done()

    def _done(self) -> None:
        """What was done until here is not undone."""
        self._scenes.begin()
        self._keeper.begin()

    def _restore(self) -> None:
        self._restores = False
        if not self._keeper.restore():
            self._training.choose(FIRST_STUDY)
