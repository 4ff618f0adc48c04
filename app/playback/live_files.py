"""Run files recorded by other programs, shown half a second after their frames are safe.

A timer requests polls, a thread polls the files, and app.playback.open_runs reads what was found.
Nothing is open between two polls (docs/decisions/0002).
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.playback.display import DisplayController
from app.playback.open_runs import OpenRunController
from app.playback.run_status import lost_sentence
from app.state.session import OpenRun, RecordingState
from app.worker import Request, Worker
from core.errors import MarginscopeError
from core.problem.schedule import coordinate

if TYPE_CHECKING:  # loads core.runs and with it scipy, which would delay the start
    from core.runs import Run

SOON_MS = 150  # while frames arrive
LATER_MS = 300  # after some seconds without frames
QUIET_S = 10.0
REST_MS = 2000  # for files that no known program is writing
# Seconds without a write after which a file no longer counts as being recorded: if the system
# cannot say which programs have it open, and if no program on this machine has.
PATIENCE_S, UNHELD_S = 60.0, 5.0
# Windows updates the times of an open file only when it is closed.
TIMES_LATE = os.name == "nt"


@final
@dataclass(frozen=True, slots=True, eq=False)
class PollRequest:
    """Run file to poll; `signs` are those of the last poll, () for the first poll."""

    key: int
    run: Run
    signs: tuple[Any, ...] = ()


@final
@dataclass(frozen=True, slots=True, eq=False)
class PollResult:
    """Result of a poll of a file.

    `written`: the file changed since the poll before. `idle`: seconds since the last write. `held`:
    another program has the file open (None: not known). `problem` is a sentence about a file that
    cannot be read any more.
    """

    request: PollRequest
    signs: tuple[Any, ...] = ()
    written: bool = False
    idle: float = 0.0
    held: bool | None = None
    problem: str = ""


def poll(_request: Request, polled: PollRequest) -> PollResult | None:
    """Poll a run file, in the thread; return None if the run was closed in the meantime."""
    from core.run_files.active_recorders import held_elsewhere
    from core.runs.changing_files import file_signature

    run = polled.run
    try:
        # Take the signature before reading: the next poll then finds what is written during the
        # read.
        signs = file_signature(run.path.resolve())
        if signs == polled.signs and not TIMES_LATE:
            return PollResult(polled, signs, False, _idle(signs), held_elsewhere(run.path))
        before = run.frames
        frames = run.refresh()
    except ValueError:
        return None
    except MarginscopeError as error:
        return PollResult(polled, problem=error.sentence)
    except OSError as error:
        return PollResult(polled, problem=f"Could not read {run.path}: {error.strerror or error}.")
    return PollResult(polled, signs, frames > before, _idle(signs), held_elsewhere(run.path))


def _idle(signs: tuple[Any, ...]) -> float:
    """Return the seconds since one of the two files was written to."""
    times = [sign[-1] for sign in signs if isinstance(sign, tuple)]
    return max(0.0, time.time() - max(times, default=0) / 1e9)


@final
@dataclass(slots=True)
class PollHistory:
    """Results of the polls of one file.

    `held`: another program had it open at some poll. `gone` counts the polls since then that found
    it closed.
    """

    signs: tuple[Any, ...] = ()
    idle: float = 0.0
    held: bool = False
    gone: int = 0
    waiting: bool = False


@final
class LiveFileController(QObject):
    """Polls the open run files that other programs record."""

    recording_finished = Signal(str)
    """Another program finished a run; path of its file."""
    message = Signal(str)
    """Sentence about a run that another program will never finish."""

    def __init__(
        self,
        display: DisplayController,
        open_runs: OpenRunController,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._display, self._open_runs = display, open_runs
        self._polls: dict[int, PollHistory] = {}
        self._stopped = False
        self._worker = Worker("follow", poll, self)
        self._worker.result.connect(self._on_result)
        self._timer = QTimer(self, interval=SOON_MS)
        self._timer.setObjectName("follow")
        self._timer.timeout.connect(self._poll)
        display.runs_changed.connect(self._watch)

    @property
    def interval(self) -> int:
        """Milliseconds between two polls; 0 without files to poll."""
        return self._timer.interval() if self._timer.isActive() else 0

    def stop(self) -> None:
        """Stop polling, and wait for the thread."""
        self._stopped = True
        self._timer.stop()
        self._worker.close()

    def _unfinished_runs(self) -> dict[int, OpenRun]:
        return {run.key: run for run in self._display.session if run.is_unfinished}

    def _watch(self) -> None:
        """Poll the unfinished runs, and forget others."""
        runs = self._unfinished_runs()
        new = runs.keys() - self._polls.keys()
        self._polls = {key: self._polls.get(key, PollHistory()) for key in runs}
        self._worker.cancel(except_keys=runs.keys())
        if not runs:
            self._timer.stop()
        elif new and not self._stopped:
            self._poll()

    def _poll(self) -> None:
        for key, run in self._unfinished_runs().items():
            past = self._polls[key]
            # One request at a time: a slow disk may take longer than the timer's interval.
            if not past.waiting and run.data is not None:
                past.waiting = True
                self._worker.request(PollRequest(key, run.data.run, past.signs), key=key)
        self._pace()

    def _pace(self) -> None:
        """Poll soon while frames come, and rarely while no file grows."""
        growing = [key for key, run in self._unfinished_runs().items() if run.grows]
        interval = REST_MS
        if growing:
            idle = min(self._polls[key].idle for key in growing if key in self._polls)
            interval = SOON_MS if idle < QUIET_S else LATER_MS
        if not self._timer.isActive() or interval != self._timer.interval():
            self._timer.start(interval)

    # ------------------------------------------------------------------------------------- results

    def _on_result(self, answer: PollResult | None) -> None:
        if answer is None or self._stopped:
            return
        run, past = (
            self._display.session.get(answer.request.key),
            self._polls.get(answer.request.key),
        )
        if (
            run is None
            or past is None
            or run.data is None
            or run.data.run is not answer.request.run
        ):
            return
        past.waiting, past.signs, past.idle = False, answer.signs, answer.idle
        run.path = run.data.run.path  # a recording that replaces an old file changes the path
        if answer.problem:
            self._open_runs.on_lost(run.key, lost_sentence(run, answer.problem))
        elif not run.is_unfinished:
            self._finish_run(run)
        else:
            self._update(run, past, answer)

    def _finish_run(self, run: OpenRun) -> None:
        """End a run that another program has finished, and emit its path."""
        assert run.data is not None
        run.growth = RecordingState.ENDED
        # As for an opened file: the run ends at its last frame, whatever its horizon.
        times = run.data.run.log10_time[1:]
        run.until = float(coordinate(times[-1])) if times.size else run.until
        self._open_runs.on_finished(run.key)
        self._display.update_heading(run)
        self.recording_finished.emit(str(run.path))

    def _update(self, run: OpenRun, past: PollHistory, answer: PollResult) -> None:
        """Show new frames of a run, and what became of its recording."""
        before, run.growth = run.growth, _growth(run, past, answer)
        if answer.written:
            self._open_runs.on_frames(run.key, run.data.run.frames - 1 if run.data else 0)
        if run.growth is not before:
            self._pace()
            self._display.update_heading(run)
            if run.growth is RecordingState.LEFT:
                self.message.emit(lost_sentence(run))
            self._display.refresh()
            self._display.runs_changed.emit()


def _growth(run: OpenRun, past: PollHistory, answer: PollResult) -> RecordingState:
    """Return the state of an unfinished file after the latest poll."""
    past.held = past.held or answer.held is True
    past.gone = past.gone + 1 if answer.held is False else 0
    if answer.held or answer.written:
        return RecordingState.GROWS
    # Twice, since the recorder may finish between the two checks of one poll.
    if past.held and answer.held is False:
        return RecordingState.LEFT if past.gone > 1 else run.growth
    patience = PATIENCE_S if answer.held is None else UNHELD_S
    if answer.idle < patience:
        return RecordingState.GROWS
    return RecordingState.LEFT if past.gone > 1 else RecordingState.RESTS
