"""The one training thread. All runs of a study are interleaved in it, a chunk each in turn.

    submit --> waiting for the libraries and kernels --> recorded chunk by chunk --> ended
                                                                   |
                                                                   +--> failed (a sentence)

Pause, resume and stop are asked of each run's Control; `wake` makes a sleeping thread look. A
signal carries the key of a run and an index, and frames are in the file before their index is told.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, Signal

from app.errors import LOG
from app.workers import kernels
from app.workers.recipes import Recipe
from core.control import Control, FinishReason, RunState, Status
from core.errors import MarginscopeError

PATIENCE_S = 15.0
IN_THE_PROGRAM = "stopped because of an error in the program; the log has the details."


@final
@dataclass(frozen=True, slots=True)
class Job:
    """One run to be trained: its key, the file it goes to, its Control, and what it is made of."""

    key: int
    path: Path
    control: Control
    recipe: Recipe


@final
class Recording:
    """A job under way: the generator of its chunks, and what was told of it last."""

    def __init__(self, job: Job, chunks: Iterator[Status]) -> None:
        self.job = job
        self.chunks = chunks
        self.told = -1


def _sleeps(one: Recording) -> bool:
    """Whether a run is paused, and has been told so: what it had is safe by then."""
    control = one.job.control
    return control.pause_requested and control.status.state is RunState.PAUSED


@final
class RunWorker(QObject):
    """Owns the training thread. Its methods are for the window's thread.

    ready: the libraries are loaded, run files can be opened. begun(key): the file exists.
    grew(key, index): so many frames are safe. ended(key): nothing more will come.
    failed(key, sentence): it ended because of that. said(sentence): what it is busy with, or "".
    """

    ready = Signal()
    begun = Signal(int)
    grew = Signal(int, int)
    ended = Signal(int)
    failed = Signal(int, str)
    said = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._changed = threading.Condition()
        self._new: list[Job] = []
        self._woken = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="marginscope-training", daemon=True)

    def start(self) -> None:
        """Load what training needs, then wait for runs."""
        self._thread.start()

    def submit(self, *jobs: Job) -> None:
        """Train some more runs."""
        with self._changed:
            self._new += jobs
            self._changed.notify_all()

    def wake(self) -> None:
        """Look at the Controls again: one was resumed or stopped."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def close(self, patience: float = PATIENCE_S) -> bool:
        """Stop every run, finish its file and end the thread; False if it did not in time."""
        self._closing.set()
        self.wake()
        if self._thread.is_alive():
            self._thread.join(patience)
        return not self._thread.is_alive()

    # ------------------------------------------------------------------------ in the thread

    def _work(self) -> None:
        try:
            self._prepare()
        except Exception:  # the window must learn of it, whatever it was
            LOG.exception("The libraries for training could not be loaded.")
            self.said.emit("The libraries for training could not be loaded; see the log.")
            return
        recordings: list[Recording] = []
        while not self._closing.is_set():
            recordings += self._taken(recordings)
            recordings = [one for one in recordings if self._advanced(one)]
        for one in recordings:
            one.job.control.stop()
            while self._advanced(one):
                pass

    def _prepare(self) -> None:
        import core.continuation
        import core.runs
        import core.trajectory  # noqa: F401 - loaded here, so that the window need not wait

        self.ready.emit()
        if not kernels.are_cached():
            self.said.emit("Compiling the kernels (once, about ten seconds) ...")
            kernels.compile_in_subprocess(self._closing)
            self.said.emit("")

    def _taken(self, recordings: list[Recording]) -> list[Recording]:
        """The jobs that are new; sleeps while there is nothing to do."""
        with self._changed:
            while not (self._new or self._woken or self._closing.is_set()):
                if not all(map(_sleeps, recordings)):
                    break
                self._changed.wait()
            self._woken = False
            new, self._new = self._new, []
        if self._closing.is_set():
            return []
        return [one for job in new if (one := self._opened(job)) is not None]

    def _opened(self, job: Job) -> Recording | None:
        from core.runs import Recorder
        from core.trajectory import record

        if job.control.stop_requested:  # asked while it was waiting: there is nothing to keep
            job.control.publish(state=RunState.FINISHED, reason=FinishReason.CANCELLED)
            self.ended.emit(job.key)
            return None
        try:
            problem = job.recipe.problem()
            return Recording(job, record(problem, partial(Recorder, job.path), job.control))
        except Exception as error:  # a run that cannot begin must not end the others
            self._lost(job, error)
            return None

    def _advanced(self, one: Recording) -> bool:
        """Train one chunk; whether there is more to come."""
        job = one.job
        try:
            status = next(one.chunks, None)
        except Exception as error:  # a run that fails must not end the others
            self._lost(job, error)
            return False
        if status is None:
            self.ended.emit(job.key)
            return False
        if status.committed > one.told:
            if one.told < 0:
                self.begun.emit(job.key)
            one.told = status.committed
            self.grew.emit(job.key, status.committed)
        return True

    def _lost(self, job: Job, error: Exception) -> None:
        reason = job.control.status.reason or FinishReason.FAILED
        job.control.publish(state=RunState.FINISHED, reason=reason)
        if isinstance(error, MarginscopeError):
            self.failed.emit(job.key, str(error))
            return
        LOG.error("The run %s failed.", job.path.name, exc_info=error)
        self.failed.emit(job.key, f"The run {job.path.stem} {IN_THE_PROGRAM}")
