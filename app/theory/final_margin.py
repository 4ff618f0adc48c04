"""Brackets on the final margins of the open runs, computed in the background."""

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

# ms from a change to the request, and the same while a run grows after the first request.
SOON_MS, GROWING_MS = 400, 2000
# Computing time for an unfinished run and for a finished one; the bound found by then is valid.
GROWING_S, SECONDS = 2.0, 30.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class FinalBracket:
    """Final margin of a run by its first `frames` frames.

    `key` is that of the run; `found` is None for a run without frames, or without a known bracket.
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

    `found` is None for a run without frames, and for a run that `refusal` excludes. Of a finished
    run with `before` at its last frame only the unconditional upper end is renewed, by `margins`.
    Otherwise the search ends after `GROWING_S` or `SECONDS` with a valid, wider bracket. Runs in
    the worker thread, with the file opened and closed here; cancelling raises CancelledError.
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
    """Requests the final margins of all open runs, and again when frames or margins are added.

    `results` returns the results by the key of a run. `worker.result` emits each FinalBracket; this
    class does not store the brackets. Recordings that stand in for a run are left out.
    """

    def __init__(
        self,
        display: DisplayController,
        results: Callable[[int], TheoryResults],
        cpu_share: Callable[[], float],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._display, self._results = display, results
        # Run key -> frames, margins and growth at the last request.
        self._requested: dict[int, tuple[int, int, bool]] = {}
        self._grew: set[int] = set()  # keys of runs that were growing at the last request
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
        """True while a request is scheduled, waits or is computed."""
        return self.worker.busy or self._pause.isActive()

    def stop(self) -> None:
        """Cancel all requests and wait for the thread; `schedule` then does nothing."""
        self._stopped = True
        self._pause.stop()
        self.worker.close()

    def _runs_with_own_file(self) -> dict[int, OpenRun]:
        """Return the open runs with a loaded file of their own, by key.

        A run in whose place a recording is shown is left out.
        """
        return {
            run.key: run
            for run in self._display.session
            if run.data is not None and not run.stands_in
        }

    def _request_mark(self, run: OpenRun) -> tuple[int, int, bool]:
        """Return what a bracket depends on: numbers of frames and of proved margins, and growth."""
        # Frames in the file, of which the window may not have read all.
        frames = 0 if run.data is None else run.data.run.frames
        return frames, len(self._results(run.key).proved_margins), run.grows

    def _on_runs_changed(self) -> None:
        """Cancel the requests of closed runs, and schedule those of new and finished ones."""
        runs = self._runs_with_own_file()
        self._requested = {key: mark for key, mark in self._requested.items() if key in runs}
        self.worker.cancel(except_keys=runs)
        self.schedule()

    def schedule(self) -> None:
        """Start the timer of the requests if a run or its proved margins have changed.

        Do nothing while the timer runs.
        """
        if self._stopped or self._pause.isActive():
            return
        runs = self._runs_with_own_file().values()
        if any(self._request_mark(run) != self._requested.get(run.key) for run in runs):
            live = any(run.grows for run in self._display.session)
            self._pause.start(GROWING_MS if live and self._requested else SOON_MS)

    def _request_stale(self) -> None:
        """Request the brackets of all changed runs with frames.

        While the worker works or a view waits for frames, only start the timer again.
        """
        if self.worker.busy or self._display.waits_for_frames:
            self._pause.start(SOON_MS)
            return
        for key, run in self._runs_with_own_file().items():
            mark = self._request_mark(run)
            if mark[0] and mark != self._requested.get(key):
                self._requested[key], results = mark, self._results(key)
                # The bracket of a growing run was computed in less time.
                before = None if run.key in self._grew else results.final
                self.worker.request(key, run.path, results.proved_margins, before, key=key)
                (self._grew.add if run.grows else self._grew.discard)(key)
