"""The one training thread. All runs of a study are interleaved in it, a chunk each in turn.

    submit --> waiting for the libraries and kernels --> recorded chunk by chunk --> ended
                          |                                        |
                          +--> stood_in (a shipped recording)      +--> failed (a sentence)

Pause, resume and stop are asked of each run's Control; `wake` makes a sleeping thread look. A
signal carries the key of a run and an index, and frames are in the file before their index is told.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, Signal

from app.errors import LOG
from app.training.kernels import CompilerProcess, Stage
from app.training.recipes import FromExperiment, Recipe
from app.worker import Request, Worker
from core.errors import MarginscopeError
from core.files import temporary_folder
from core.training.control import Control, FinishReason, RunState, Status
from core.trust import UntrustedCodeError

# A chunk, a commit and leaving WAL mode take a second; a disk that hangs must not keep the window.
PATIENCE_S = 15.0
IN_THE_PROGRAM = "stopped (internal error). Details are in the log."


@final
@dataclass(frozen=True, slots=True)
class TrainingJob:
    """One run to be trained: its key, the file it goes to, its Control, and what it is made of."""

    key: int
    path: Path
    control: Control
    recipe: Recipe


@final
class TrainingRun:
    """A job under way: the generator of its chunks, and what was told of it last."""

    def __init__(self, job: TrainingJob, chunks: Iterator[Status]) -> None:
        self.job = job
        self.chunks = chunks
        self.reported, self.noted = -1, 0


def _sleeps(one: TrainingRun) -> bool:
    """Whether a run is paused, and has been told so: what it had is safe by then."""
    control = one.job.control
    return control.pause_requested and control.status.state is RunState.PAUSED


@final
class RunWorker(QObject):
    """Owns the training thread. Its methods are for the window's thread.

    ready: the libraries are loaded, run files can be opened. started(key): the file exists.
    progress(key, index): so many frames are safe. finished(key): nothing more will come.
    error(key, sentence): it ended because of that. code_refused(key, error): because of untrusted
    Python code, after `error`. status(sentence): what it is busy with, or "".
    stood_in(key, path): while its kernels are compiled, this recording may be shown in its place.
    waiting(key, so): it starts once its kernels are compiled, and no recording is shown; or it has
    started, or was stopped.
    """

    ready = Signal()
    run_started = Signal(int)
    progress = Signal(int, int)
    finished = Signal(int)
    error = Signal(int, str)
    code_refused = Signal(int, object)
    status = Signal(str)
    run_replaced = Signal(int, object)
    waiting = Signal(int, bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.compiler = CompilerProcess(self)
        self.compiler.progress.connect(self._on_compiled)
        self._folder: Path | None = None  # of recordings that stand in for runs
        self._after = ExitStack()
        self._held: list[tuple[TrainingJob, tuple[str, ...]]] = []
        self._changed = threading.Condition()
        self._new: list[TrainingJob] = []
        self._woken = False
        self._closing = threading.Event()
        self._worker = Worker("marginscope-training", self._train, self)

    def start(self) -> None:
        """Load what training needs, then wait for runs."""
        self._worker.request()

    def submit(self, *jobs: TrainingJob) -> None:
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
        self.compiler.close()
        self.wake()
        ended = self._worker.close(patience)
        self._after.close()
        return ended

    def _on_compiled(self, stage: Stage | None) -> None:
        """Start runs that wait for kernels, after some were compiled."""
        self.status.emit("" if stage is None else stage.words)
        self.wake()

    # ------------------------------------------------------------------------ in the thread

    def _train(self, request: Request) -> None:
        try:
            self._prepare()
        except Exception:  # the window must learn of it, whatever it was
            LOG.exception("The libraries for training could not be loaded.")
            self.status.emit(
                "The libraries for training could not be loaded. Details are in the log."
            )
            return
        recordings: list[TrainingRun] = []
        while not self._closing.is_set():
            recordings += self._take_jobs(recordings)
            recordings = [one for one in recordings if self._advance(one)]
        # The window is closed: each run takes the chunk that ends it, and with it its file.
        for one in recordings:
            one.job.control.stop()
            while self._advance(one):
                pass

    def _prepare(self) -> None:
        # What the views import when they are first drawn, which is to be there by then: it would
        # hold up the window's thread for 390 ms (docs/decisions/0014).
        import core.figures.margin_curves
        import core.figures.neurons
        import core.observables.final_margin
        import core.observables.margins
        import core.observables.registry
        import core.observables.spectrum
        import core.runs.settings
        import core.training.recorded

        lacking = self.compiler.check_cache()
        self.ready.emit()
        if lacking:
            # Runs first: what they need is compiled before the rest.
            self._hold(self._pop_submitted())
            self.compiler.request(())
        import core.training.continuation
        import core.training.trajectory  # noqa: F401 - these load numba: after the first picture

    def _take_jobs(self, recordings: list[TrainingRun]) -> list[TrainingRun]:
        """Return the jobs that can start; sleeps while there is nothing to do."""
        with self._changed:
            while not (self._new or self._woken or self._closing.is_set()):
                if not all(map(_sleeps, recordings)):
                    break
                self._changed.wait()
            self._woken = False
        self._hold(self._pop_submitted())
        if self._closing.is_set():
            return []
        able = [job for job, groups in self._held if self._is_able(job, groups)]
        self._held = [one for one in self._held if one[0] not in able]
        return [one for job in able if (one := self._open_job(job)) is not None]

    def _pop_submitted(self) -> list[TrainingJob]:
        with self._changed:
            new, self._new = self._new, []
        return new

    def _is_able(self, job: TrainingJob, groups: tuple[str, ...]) -> bool:
        return job.control.stop_requested or not self.compiler.is_missing(groups)

    def _hold(self, jobs: list[TrainingJob]) -> None:
        """Keep jobs until their kernels are there, and have these compiled first."""
        for job in jobs:
            try:
                groups = job.recipe.groups()
            except Exception:  # its file cannot be read: that will be told when it is opened
                groups = ()
            if not self._is_able(job, groups):
                if not self._show_recording(job):  # first: it is to be seen at once
                    self.waiting.emit(job.key, True)
                self.compiler.request(groups)
            self._held.append((job, groups))

    def _show_recording(self, job: TrainingJob) -> bool:
        """Show the shipped recording of a run that must wait; False where there is none."""
        from core.training.recorded import file_of, unpack

        recipe = job.recipe
        if not isinstance(recipe, FromExperiment) or file_of(recipe.experiment) is None:
            return False
        try:
            if self._folder is None:
                self._folder = self._after.enter_context(temporary_folder("recording"))
            path = self._folder / f"{job.key}.msrun"
            if unpack(recipe.problem(), path):
                self.run_replaced.emit(job.key, path)
                return True
        except (MarginscopeError, OSError):
            LOG.exception("A recording could not be unpacked.")
        return False

    def _open_job(self, job: TrainingJob) -> TrainingRun | None:
        from core.runs import Recorder
        from core.training.trajectory import record

        self.waiting.emit(job.key, False)
        if job.control.stop_requested:  # asked while it was waiting: there is nothing to keep
            job.control.publish(state=RunState.FINISHED, reason=FinishReason.CANCELLED)
            self.finished.emit(job.key)
            return None
        try:
            problem = job.recipe.problem()
            return TrainingRun(job, record(problem, partial(Recorder, job.path), job.control))
        except Exception as error:  # a run that cannot begin must not end the others
            self._report_failure(job, error)
            return None

    def _advance(self, one: TrainingRun) -> bool:
        """Train one chunk; whether there is more to come."""
        job = one.job
        try:
            status = next(one.chunks, None)
        except Exception as error:  # a run that fails must not end the others
            self._report_failure(job, error)
            return False
        if status is None:
            self.finished.emit(job.key)
            return False
        # A flow that needs hours says so long before its second frame.
        if status.committed > one.reported or len(status.notes) > one.noted:
            if one.reported < 0:  # before the first frame is safe the file cannot be opened
                self.run_started.emit(job.key)
            one.reported, one.noted = status.committed, len(status.notes)
            self.progress.emit(job.key, status.committed)
        return True

    def _report_failure(self, job: TrainingJob, error: Exception) -> None:
        reason = job.control.status.reason or FinishReason.FAILED
        job.control.publish(state=RunState.FINISHED, reason=reason)
        if isinstance(error, MarginscopeError):
            self.error.emit(job.key, error.sentence)
            if isinstance(error, UntrustedCodeError):
                self.code_refused.emit(job.key, error)
            return
        LOG.error("The run %s failed.", job.path.name, exc_info=error)
        self.error.emit(job.key, f"The run {job.path.stem} {IN_THE_PROGRAM}")
