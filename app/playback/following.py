"""Follows run files that other programs record: frames are seen half a second after they are safe.

A timer asks for a look, a thread takes it (app.playback.follower), and the display reads what it
found. Nothing is open between two looks (docs/decisions/0002).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.playback.display import DisplayController
from app.playback.endings import lost_sentence
from app.playback.follower import Look, Seen, seen
from app.state.session import Growth, OpenRun
from app.worker import Worker
from core.problem.schedule import coordinate

SOON_MS = 150  # while frames come
LATER_MS = 300  # while none came for so many seconds
QUIET_S = 10.0
REST_MS = 2000  # of files that nobody is seen to write
# How long a file is taken to be recorded of which nothing comes, where the system does not tell who
# has it open, and where it tells that nobody here has.
PATIENCE_S, UNHELD_S = 60.0, 5.0


@final
@dataclass(slots=True)
class Trace:
    """What the looks at one file have shown: `held` once another program was seen to have it open,
    `gone` how many looks since then found that none has."""

    signs: tuple[Any, ...] = ()
    idle: float = 0.0
    held: bool = False
    gone: int = 0
    waiting: bool = False


@final
class FollowController(QObject):
    """`ended(path)`: another program has finished a run. message(sentence): it never will."""

    ended = Signal(str)
    message = Signal(str)

    def __init__(self, display: DisplayController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._display = display
        self._traces: dict[int, Trace] = {}
        self._stopped = False
        self._worker = Worker("follow", seen, self)
        self._worker.result.connect(self._on_seen)
        self._timer = QTimer(self, interval=SOON_MS)
        self._timer.setObjectName("follow")
        self._timer.timeout.connect(self._look)
        display.runs_changed.connect(self._watch)

    @property
    def interval(self) -> int:
        """Milliseconds between two looks; 0 where there is nothing to look at."""
        return self._timer.interval() if self._timer.isActive() else 0

    def stop(self) -> None:
        """Look no more, and wait for the thread."""
        self._stopped = True
        self._timer.stop()
        self._worker.close()

    def _unfinished(self) -> dict[int, OpenRun]:
        return {run.key: run for run in self._display.session if run.unfinished}

    def _watch(self) -> None:
        """Other runs are open, or one has ended."""
        runs = self._unfinished()
        new = runs.keys() - self._traces.keys()
        self._traces = {key: self._traces.get(key, Trace()) for key in runs}
        self._worker.cancel(keep=runs.keys())
        if not runs:
            self._timer.stop()
        elif new and not self._stopped:
            self._look()

    def _look(self) -> None:
        for key, run in self._unfinished().items():
            trace = self._traces[key]
            # One at a time: of a slow disk an answer may take longer than the timer.
            if not trace.waiting and run.data is not None:
                trace.waiting = True
                self._worker.ask(Look(key, run.data.run, trace.signs), key=key)
        self._pace()

    def _pace(self) -> None:
        growing = [key for key, run in self._unfinished().items() if run.grows]
        interval = REST_MS
        if growing:
            idle = min(self._traces[key].idle for key in growing if key in self._traces)
            interval = SOON_MS if idle < QUIET_S else LATER_MS
        if not self._timer.isActive() or interval != self._timer.interval():
            self._timer.start(interval)

    # ------------------------------------------------------------------------------- answers

    def _on_seen(self, answer: Seen | None) -> None:
        if answer is None or self._stopped:
            return
        run, trace = self._display.session.get(answer.look.key), self._traces.get(answer.look.key)
        if run is None or trace is None or run.data is None or run.data.run is not answer.look.run:
            return
        trace.waiting, trace.signs, trace.idle = False, answer.signs, answer.idle
        run.path = run.data.run.path  # which a recording that replaces an old file changes
        if answer.problem:
            self._display.lost(run.key, lost_sentence(run, answer.problem))
        elif not run.unfinished:
            self._end(run)
        else:
            self._go_on(run, trace, answer)

    def _end(self, run: OpenRun) -> None:
        assert run.data is not None
        run.growth = Growth.ENDED
        # As when it is opened: it goes no further than its frames, wherever it was to end.
        times = run.data.run.log10_time[1:]
        run.until = float(coordinate(times[-1])) if times.size else run.until
        self._display.ended(run.key)
        self._display.renamed(run)
        self.ended.emit(str(run.path))

    def _go_on(self, run: OpenRun, trace: Trace, answer: Seen) -> None:
        before, run.growth = run.growth, _growth(run, trace, answer)
        if answer.written:
            self._display.grew(run.key, run.data.run.frames - 1 if run.data else 0)
        if run.growth is not before:
            self._pace()
            self._display.renamed(run)
            if run.growth is Growth.LEFT:
                self.message.emit(lost_sentence(run))
            self._display.refresh()
            self._display.runs_changed.emit()


def _growth(run: OpenRun, trace: Trace, answer: Seen) -> Growth:
    """How it stands with a file that is not finished, from the latest look."""
    trace.held = trace.held or answer.held is True
    trace.gone = trace.gone + 1 if answer.held is False else 0
    if answer.held or answer.written:
        return Growth.GROWS
    # Twice: between two things that a look sees a recorder may have come to its end.
    if trace.held and answer.held is False:
        return Growth.LEFT if trace.gone > 1 else run.growth
    patience = PATIENCE_S if answer.held is None else UNHELD_S
    if answer.idle < patience:
        return Growth.GROWS
    return Growth.LEFT if trace.gone > 1 else Growth.RESTS
