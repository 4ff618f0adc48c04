"""One cell of a sweep, recorded into its run file by any process."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, final

from core import trust
from core.errors import DiskError, MarginscopeError, RunFileError
from core.files import replace_file, temporary_folder
from core.problem.problem import Problem, resolve_problem, with_dynamics
from core.run_files.meta import printable
from core.runs import Recorder, Run, open_run
from core.settings import Registry, Section
from core.studies.cell_table import Row, State
from core.study_file.experiment import Experiment
from core.training.control import Control

if TYPE_CHECKING:
    from core.studies.moments import ValueRequest

COPY_BYTES = 1 << 20


@final
@dataclass(frozen=True, slots=True)
class Task:
    """Content of a worker's order to record a cell; small, and readable on any machine.

    `requested` are the values that the study's figure and claims need of the row
    (core.studies.moments), and `compute_values` computes other values of the finished run, by name;
    it can be pickled. `extensions` are the modules of kinds that are not this program's own.
    `stage` records in a folder of the worker's own and moves the finished file to `path`, for
    folders that several machines share, on which run files cannot grow (SQLite's WAL needs one
    machine's memory). `trusted` are the SHA-256 of code that the user has trusted where the task
    was made; a worker on another machine has a trust folder of its own.
    """

    name: str
    path: str
    experiment: Experiment
    folder: Path | None
    title: str
    source: str
    columns: tuple[str, ...]
    stage: bool = False
    requested: tuple[ValueRequest, ...] = ()
    compute_values: Callable[[Run], Mapping[str, float]] | None = None
    extensions: tuple[str, ...] = field(default_factory=Registry.extensions)
    trusted: tuple[str, ...] = ()

    def problem(self) -> Problem:
        """Return the cell's problem, data and parameters; raise InputError if it cannot be made."""
        for digest in self.trusted:
            trust.trust_digest(digest)
        return resolve_problem(self.experiment, self.folder, self.title, self.source)


def expected_experiment(problem: Problem, recorded: Experiment | None = None) -> Experiment:
    """Return the experiment in a run file of this problem: every default made explicit.

    A default step is that of `recorded`, a run of this problem: to solve for it takes an eigenvalue
    problem of n examples.
    """
    from core.dynamics.registry import prepare

    dynamics: Section = problem.experiment.dynamics
    if recorded is not None and getattr(dynamics, "step", 1.0) is None:
        step = getattr(recorded.dynamics, "step", None)
        problem = with_dynamics(problem, dynamics.model_copy(update={"step": step}))
    return prepare(problem).experiment


def is_complete(path: Path) -> bool:
    """Return True if a run file is complete: its run completed or diverged, and was not cut off."""
    try:
        with open_run(path) as recorded:
            return recorded.is_complete
    except (RunFileError, OSError):
        return False


def row_of(run_: Run, name: str, columns: Sequence[str], seconds: float, worker: str = "") -> Row:
    """Return the row of a finished run file.

    Parameters
    ----------
    run_ : Run
        Open run.
    name : str
        Name of the cell.
    columns : sequence of str
        Scalar observables, whose values at the last frame are stored; NaN for those that the run
        does not have, and for a run without frames.
    seconds : float
        Time that the recording took.
    worker : str
        Name of the worker, for clusters.

    Returns
    -------
    Row
    """
    from core.observables.registry import OBSERVABLES

    last = run_.frames - 1
    values = {}
    for column in columns:
        observable = OBSERVABLES.get(column)
        is_known = observable is not None and last >= 0
        values[column] = float(observable.value_at(run_, last)) if is_known else float("nan")  # type: ignore[union-attr]
    reason = run_.reason or "cancelled"
    state: State = "done" if reason in ("completed", "diverged") else "failed"
    if reason == "cancelled":
        state = "cancelled"
    words = _failure_reason(run_) if reason == "failed" else reason
    return Row(name, state, words, seconds, run_.engine, values, run_.bytes_on_disk, worker)


def _failure_reason(run_: Run) -> str:
    """Return the run's own explanation of a failed end."""
    notes = [payload.get("note", "") for _, kind, payload in run_.events() if kind == "stalled"]
    words = printable(str(notes[-1])) if notes else ""
    return words or "the flow's steps became too small to continue"


def run_cell(task: Task, control: Control | None = None) -> Row:
    """Record a cell over any file at its path; failures become rows.

    Raises DiskError, since a full disk fails every other cell as well.
    """
    start = time.perf_counter()
    worker = f"{socket.gethostname()}:{os.getpid()}"
    try:
        path = _record(task, control)
        if path is None:
            return Row(task.name, "cancelled", "cancelled", worker=worker)
        return replace(row_of_recording(task, path, worker), seconds=time.perf_counter() - start)
    except DiskError:
        raise
    except MarginscopeError as error:
        return _failed_row(task, str(error), start, worker)
    except Exception as error:
        return _failed_row(task, f"{type(error).__name__}: {error}", start, worker)


def _failed_row(task: Task, reason: str, start: float, worker: str) -> Row:
    """Return the row of a cell that failed, with the seconds since `start`."""
    return Row(task.name, "failed", reason, time.perf_counter() - start, worker=worker)


def row_of_recording(task: Task, path: Path, worker: str = "") -> Row:
    """Return the row of a run that was just recorded at `path`.

    The file of a cancelled run is removed if it lies beside an older run at `task.path`. The row
    has 0 seconds.

    Parameters
    ----------
    task : Task
        Cell.
    path : Path
        File of the run: `task.path`, or a file beside an older, finished run at that path.
    worker : str
        Name of the worker, for clusters.

    Returns
    -------
    Row
    """
    with open_run(path) as recorded:
        row = row_of(recorded, task.name, task.columns, 0.0, worker)
        if row.state == "done" and task.requested:
            from core.studies.moments import values_of

            row = replace(row, moments=values_of(recorded, task.requested))
        if row.state == "done" and task.compute_values is not None:
            row = replace(row, moments={**row.moments, **task.compute_values(recorded)})
    if path.name != Path(task.path).name and row.state == "cancelled":
        path.unlink(missing_ok=True)
    return row


def _record(task: Task, control: Control | None) -> Path | None:
    """Record the run and return its file; None if the sweep was stopped before."""
    from core.training.trajectory import run  # loads numba, which planning does not need

    path = Path(task.path)
    for module in task.extensions:  # a worker is another process, without the extensions
        import_module(module)
    if not task.stage:
        return run(task.problem(), partial(Recorder, path, force=True), control).path
    with temporary_folder("cell") as folder:
        local = folder / path.name
        run(task.problem(), partial(Recorder, local), control)
        publish(local, path)
    return path


def publish(local: Path, path: Path) -> None:
    """Copy a finished file into a shared folder, whole or not at all, despite other writers.

    A file at `path` is replaced.
    """
    # Two workers with the same cell write separate files, whose suffix keeps both out of listings.
    with replace_file(path, path.with_suffix(".cell")) as (_, file), local.open("rb") as recorded:
        shutil.copyfileobj(recorded, file, COPY_BYTES)


def run_batch(tasks: Sequence[Task]) -> list[Row]:
    """Run several cells one after another in a worker, each on one thread."""
    one_thread()
    return [run_cell(task) for task in tasks]


@cache  # finding the libraries takes as long as a small cell
def one_thread() -> None:
    """Restrict this process to one thread of numerics: the sweep has as many workers as cores.

    Kernels are never parallel, so that numba needs no limit.
    """
    from threadpoolctl import threadpool_limits

    # PyTorch takes two seconds to import, and few cells need it; it reads this on import.
    os.environ["OMP_NUM_THREADS"] = "1"
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)
    # Not as a context manager: the limit lasts for the process.
    threadpool_limits(1)
