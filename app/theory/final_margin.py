"""Brackets on the final margins of the shown runs, computed in the background."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer

from app.playback.display import DisplayController
from app.state.session import OpenRun
from app.theory.results import TheoryResults
from app.worker import Request, Worker

if TYPE_CHECKING:
    from core.observables.final_margin import FinalMargin
    from core.reference.margin import ReferenceMargin

SOON_MS, GROWING_MS = 400, 2000  # ms after a change, and while a run grows
# Computing time for a growing run and for a finished one; the bound found by then is valid.
GROWING_S, SECONDS = 2.0, 30.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class FinalBracket:
    """Final margin of a run by its first `frames` frames.

    `key` is that of the run; `found` is None if the margin is unknown.
    """

    key: int
    frames: int
    found: FinalMargin | None = None


def bracket_final_margin(
    request: Request,
    key: int,
    path: Path,
    margins: Mapping[str, ReferenceMargin],
    before: FinalMargin | None = None,
) -> FinalBracket:
    """Bracket a run's final margin at its last frame, under the weakest condition.

    The result has no margin for a run without frames, or one that `refusal` excludes. Of a finished
    run the bracket `before` is reused; only its reference margin may have changed.
    """
    from core.observables.final_margin import DRAWN, final_margin, refusal, upper_end
    from core.reference.gated_limits import FixedPattern
    from core.runs import open_run

    with open_run(path) as run:
        if run.frames == 0 or refusal(run):
            return FinalBracket(key, run.frames)
        grows = run.status != "finished"
        if before is not None and before.frame == run.frames - 1 and not grows:
            always, name = upper_end(run, margins)
            return FinalBracket(key, run.frames, replace(before, above_always=always, always=name))
        watch = request.watch.with_timeout(GROWING_S if grows else SECONDS)
        margin = final_margin(run, -1, margins, watch, (FixedPattern.OWN_LABEL,), DRAWN)
        return FinalBracket(key, run.frames, margin)


@final
class FinalMargins(QObject):
    """Requests the final margins of all shown runs again as they grow, one at a time."""

    def __init__(
        self,
        display: DisplayController,
        results: Callable[[int], TheoryResults],
        cpu_share: Callable[[], float],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._display, self._results = display, results
        # Run key -> frames, margins, and True if it was growing.
        self._requested: dict[int, tuple[int, int, bool]] = {}
        self._grew: set[int] = set()  # runs that were growing at the request
        self._stopped = False
        self.worker = Worker("final margin", bracket_final_margin, self, one_core=True)
        self.worker.share = cpu_share
        self.worker.result.connect(self.schedule)
        self._pause = QTimer(self, singleShot=True)
        self._pause.setObjectName("final margin")
        self._pause.timeout.connect(self._request_stale)
        display.runs_changed.connect(self._on_runs_changed)
        display.frames_read.connect(self.schedule)

    @property
    def busy(self) -> bool:
        """True while a request is scheduled or running."""
        return self.worker.busy or self._pause.isActive()

    def stop(self) -> None:
        """Cancel all requests and wait for the thread."""
        self._stopped = True
        self._pause.stop()
        self.worker.close()

    def _judged_runs(self) -> dict[int, OpenRun]:
        """Return the open runs with frames, except recordings that stand in for them, by key."""
        # Skip recordings shown in place of runs that wait for kernels.
        return {
            run.key: run
            for run in self._display.session
            if run.data is not None and not run.stands_in
        }

    def _request_mark(self, run: OpenRun) -> tuple[int, int, bool]:
        """Return what a bracket depends on: frames, proved margins, and growth."""
        # Frames in the file, of which the window may not have read all.
        frames = 0 if run.data is None else run.data.run.frames
        return frames, len(self._results(run.key).proved_margins), run.grows

    def _on_runs_changed(self) -> None:
        runs = self._judged_runs()
        self._requested = {key: mark for key, mark in self._requested.items() if key in runs}
        self.worker.cancel(except_keys=runs)
        self.schedule()

    def schedule(self) -> None:
        """Schedule a request if a run or its reference margins have changed."""
        if self._stopped or self._pause.isActive():
            return
        runs = self._judged_runs().values()
        if any(self._request_mark(run) != self._requested.get(run.key) for run in runs):
            live = any(run.grows for run in self._display.session)
            self._pause.start(GROWING_MS if live and self._requested else SOON_MS)

    def _request_stale(self) -> None:
        """Request the brackets of changed runs; later while the worker or a view is busy."""
        if self.worker.busy or self._display.waits_for_frames:
            self._pause.start(SOON_MS)
            return
        for key, run in self._judged_runs().items():
            mark = self._request_mark(run)
            if mark[0] and mark != self._requested.get(key):
                self._requested[key], results = mark, self._results(key)
                # The bracket of a growing run was computed in less time.
                before = None if run.key in self._grew else results.final
                self.worker.request(key, run.path, results.proved_margins, before, key=key)
                (self._grew.add if run.grows else self._grew.discard)(key)
