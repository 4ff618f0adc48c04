"""Where the margins of the runs that are shown are going: computed beside the window."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject, QTimer

from app.playback.display import DisplayController
from app.state.session import OpenRun
from app.theory.controller import TheoryController
from app.theory.final_margin import Ahead, look_ahead
from app.worker import Worker

SOON_MS, GROWING_MS = 400, 2000  # after something has changed; while a run grows


@final
class FinalMargins(QObject):
    """Asks again as runs grow, never before the last answer is there."""

    def __init__(
        self, display: DisplayController, theory: TheoryController, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._display, self._theory = display, theory
        # By how many frames and margins, and whether it grew.
        self._asked: dict[int, tuple[int, int, bool]] = {}
        self._grew: set[int] = set()  # those that were growing when they were asked about
        self._ended = False
        self.worker = Worker("final margin", look_ahead, self, one_core=True)
        self.worker.share = theory.share
        self.worker.result.connect(self._on_result)
        self._pause = QTimer(self, singleShot=True)
        self._pause.setObjectName("final margin")
        self._pause.timeout.connect(self._ask)
        display.runs_changed.connect(self._follow)
        display.frames_read.connect(self._look)
        theory.margins.result.connect(self._look)

    @property
    def busy(self) -> bool:
        """Whether something is to be computed, or is."""
        return self.worker.busy or self._pause.isActive()

    def stop(self) -> None:
        """Cancel everything, and wait for it."""
        self._ended = True
        self._pause.stop()
        self.worker.close()

    def _runs(self) -> dict[int, OpenRun]:
        # A recording that stands in for a run is only looked at.
        return {
            run.key: run
            for run in self._display.session
            if run.data is not None and not run.stands_in
        }

    def _mark(self, run: OpenRun) -> tuple[int, int, bool]:
        # Of the file, of which the window may not have read all.
        frames = 0 if run.data is None else run.data.run.frames
        return frames, len(self._theory.known(run.key).proved), run.grows

    def _follow(self) -> None:
        """Other runs are open; nobody waits for those that were closed."""
        runs = self._runs()
        self._asked = {key: mark for key, mark in self._asked.items() if key in runs}
        self.worker.cancel(keep=runs)
        self._look()

    def _look(self) -> None:
        if self._ended or self._pause.isActive():
            return
        runs = self._runs().values()
        if any(self._mark(run) != self._asked.get(run.key) for run in runs):
            live = any(run.grows for run in self._display.session)
            self._pause.start(GROWING_MS if live and self._asked else SOON_MS)

    def _ask(self) -> None:
        if self.worker.busy or self._display.awaited:  # look again later
            self._pause.start(SOON_MS)
            return
        for key, run in self._runs().items():
            mark = self._mark(run)
            if mark[0] and mark != self._asked.get(key):
                self._asked[key], known = mark, self._theory.known(key)
                # What was told while it grew had less time.
                before = None if run.key in self._grew else known.final
                self.worker.ask(key, run.path, known.proved, before, key=key)
                (self._grew.add if run.grows else self._grew.discard)(key)

    def _on_result(self, ahead: Ahead) -> None:
        self._theory.set_final(ahead)
        self._look()
