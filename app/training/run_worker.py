"""Training thread: interleaves all runs of a study, one chunk of each in turn.

    submit --> waiting for the libraries and kernels --> recorded chunk by chunk --> ended
                          |                                        |
                          +--> run_replaced (a shipped recording)      +--> failed (a sentence)

Each run's Control receives pause, resume and stop; `wake` makes a sleeping thread check it. A
signal carries the key of a run and an index; frames are in the file before their index is emitted.
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

# A chunk, a commit and leaving WAL mode take a second. A hanging disk must not block closing.
PATIENCE_S = 15.0
IN_THE_PROGRAM = "stopped (internal error). Details are in the log."


@final
@dataclass(frozen=True, slots=True)
class TrainingJob:
    """Run to be trained: its key, its file, its Control, and its recipe."""

    key: int
    path: Path
    control: Control
    recipe: Recipe


@final
class TrainingRun:
    """Running job: the generator of its chunks, and what was last reported of it."""

    def __init__(self, job: TrainingJob, chunks: Iterator[Status]) -> None:
        self.job = job
        self.chunks = chunks
        self.reported, self.noted = -1, 0


def _sleeps(one: TrainingRun) -> bool:
    """Return True if a run is paused and has reported so: its frames are safe by then."""
    control = one.job.control
    return control.pause_requested and control.status.state is RunState.PAUSED


@final
class RunWorker(QObject):
    """Owner of the training thread. Its methods are for the window's thread.

    ready: the libraries are loaded, run files can be opened. started(key): the file exists.
    progress(key, index): so many frames are safe. finished(key): the run has ended. error(key,
    sentence): it ended with this error. code_refused(key, error): because of untrusted Python code,
    after `error`. status(sentence): the present work, or "". run_replaced(key, path): this
    recording may be shown while the kernels are compiled. waiting(key, so): the run waits for its
    kernels without a recording; or it has started, or was stopped.
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
        # Folder of recordings shown until the kernels are compiled.
        self._folder: Path | None = None
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
        """Check the Controls again: a run was resumed or stopped."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def close(self, patience: float = PATIENCE_S) -> bool:
        """Stop every run, finish its file and end the thread; False if that took too long."""
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

    # ------------------------------------------------------------------------------- worker thread

    def _train(self, request: Request) -> None:
        try:
            self._prepare()
        except Exception:  # report any failure to the window
            LOG.exception("The libraries for training could not be loaded.")
            self.status.emit(
                "The libraries for training could not be loaded. Details are in the log."
            )
            return
        recordings: list[TrainingRun] = []
        while not self._closing.is_set():
            recordings += self._take_jobs(recordings)
            recordings = [one for one in recordings if self._advance(one)]
        # On closing, each run takes one more chunk, which ends it and closes its file.
        for one in recordings:
            one.job.control.stop()
            while self._advance(one):
                pass

    def _prepare(self) -> None:
        """Load the libraries for training and for the first painting."""
        # Modules that the views import at their first painting. Imported there, they would block
        # the window's thread for 390 ms (docs/decisions/0014).
        import core.figures.margin_curves
        import core.figures.neurons
        import core.observables.final_margin
        import core.observables.margins
        import core.observables.registry
        import core.observables.spectrum
        import core.runs.settings
        import core.training.shipped_recording

        lacking = self.compiler.check_cache()
        self.ready.emit()
        if lacking:
            # Compile the kernels of submitted runs before the rest.
            self._hold(self._pop_submitted())
            self.compiler.request(())
        import core.training.continuation
        import core.training.trajectory  # noqa: F401 - load numba after the first picture

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
        """Return the jobs submitted since the last call."""
        with self._changed:
            new, self._new = self._new, []
        return new

    def _is_able(self, job: TrainingJob, groups: tuple[str, ...]) -> bool:
        """Return True if the kernels of a job are compiled, or it need only be stopped."""
        return job.control.stop_requested or not self.compiler.is_missing(groups)

    def _hold(self, jobs: list[TrainingJob]) -> None:
        """Hold jobs until their kernels are compiled, and have these compiled first."""
        for job in jobs:
            try:
                groups = job.recipe.groups()
            except Exception:  # opening the file will report the error
                groups = ()
            if not self._is_able(job, groups):
                if not self._show_recording(job):  # first, so that it is visible at once
                    self.waiting.emit(job.key, True)
                self.compiler.request(groups)
            self._held.append((job, groups))

    def _show_recording(self, job: TrainingJob) -> bool:
        """Show the shipped recording of a waiting run; return False if it has none."""
        from core.training.shipped_recording import file_of, unpack

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
        """Start recording a job; return None if it was stopped before or fails."""
        from core.runs import Recorder
        from core.training.trajectory import record

        self.waiting.emit(job.key, False)
        if job.control.stop_requested:  # stopped while it waited: there is nothing to save
            job.control.publish(state=RunState.FINISHED, reason=FinishReason.CANCELLED)
            self.finished.emit(job.key)
            return None
        try:
            problem = job.recipe.problem()
            return TrainingRun(job, record(problem, partial(Recorder, job.path), job.control))
        except Exception as error:  # a run that cannot start must not stop the others
            self._report_failure(job, error)
            return None

    def _advance(self, one: TrainingRun) -> bool:
        """Train one chunk; return True if more are to come."""
        job = one.job
        try:
            status = next(one.chunks, None)
        except Exception as error:  # a failing run must not stop the others
            self._report_failure(job, error)
            return False
        if status is None:
            self.finished.emit(job.key)
            return False
        # A flow that will take hours reports so long before its second frame.
        if status.committed > one.reported or len(status.notes) > one.noted:
            if one.reported < 0:  # the file cannot be opened before the first frame is committed
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
