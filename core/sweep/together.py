"""Cells that differ only in seeds, steps and penalties, trained as one batch of tensors.

For a CUDA device, on which one small run leaves most of it idle. Each cell has its run file and its
row all the same; what cannot go in a batch is trained by itself.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from core.dynamics.batch_descent import Batch, LeftBatchError, batch_key
from core.dynamics.registry import prepared
from core.errors import DiskError, MarginscopeError
from core.problem.problem import Problem
from core.runs import RecorderAt
from core.studies.row import Row
from core.sweep.cell import Task, ended_row, run_cell
from core.training.control import Control, RunState, Status
from core.training.trajectory import record

log = logging.getLogger(__name__)
TOGETHER = 256  # cells in a batch
BATCH_BYTES = 4_000_000_000  # activations and parameters of a batch
Member = tuple[Task, Problem]


def batchable(task: Task) -> bool:
    """Whether a cell may go in a batch, by its settings alone."""
    run, kind = task.experiment.run, task.experiment.dynamics.kind
    return kind == "gd" and run.device in ("auto", "cuda") and not task.stage


def share_shapes(tasks: Sequence[Task]) -> bool:
    """Return whether two or more cells, on average, share their data and network settings.

    This process would train cells of different shapes one after another.
    """
    shapes = set()
    for task in tasks:
        experiment = task.experiment
        parts = experiment.data, experiment.network, experiment.loss.kind, experiment.run.precision
        shapes.add(repr(parts))
    return 2 * len(shapes) <= len(tasks)


def run_together(tasks: Sequence[Task], control: Control, device: str) -> list[Row]:
    """Record cells, in batches where that is possible; failures become rows, as for `run_cell`."""
    groups: dict[Hashable, list[Member]] = {}
    alone: list[Task] = []
    for task in tasks:
        try:
            problem = prepared(task.problem())
            key = batch_key(problem)
        except DiskError:
            raise
        except Exception:  # trained by itself it becomes a row that says why
            key = None
        if key is None:
            alone.append(task)
        else:
            groups.setdefault(key, []).append((task, problem))
    rows = {task.name: run_cell(task, control) for task in alone}
    for members in groups.values():
        for some in _fitting(members):
            rows |= _one_batch(some, control, device)
    return [rows[task.name] for task in tasks]


def _fitting(members: Sequence[Member]) -> Iterator[Sequence[Member]]:
    """Parts of a group that fit into memory."""
    problem = members[0][1]
    n, d = problem.inputs.shape
    size = sum(block.size for block in problem.network.layout)
    each = 8 * (4 * n * problem.network.m + n * d + 4 * size)
    count = max(1, min(TOGETHER, BATCH_BYTES // each))
    for begin in range(0, len(members), count):
        yield members[begin : begin + count]


def _one_batch(members: Sequence[Member], control: Control, device: str) -> dict[str, Row]:
    if len(members) == 1:
        task = members[0][0]
        return {task.name: run_cell(task, control)}
    begin = time.perf_counter()
    sinks = {task.name: RecorderAt(Path(task.path)) for task, _ in members}
    try:
        left = _trained(members, sinks, control, device)
    except DiskError:
        raise
    except (
        Exception
    ):  # such as a device without enough memory; files of the batch are recorded anew
        log.exception("a batch of %d cells failed; they are trained one by one", len(members))
        left = [task for task, _ in members]
    seconds = (time.perf_counter() - begin) / len(members)
    done = [task for task, _ in members if task not in left]
    rows = {task.name: _row(task, sinks[task.name].path, seconds) for task in done}
    return rows | {task.name: run_cell(task, control) for task in left}


def _trained(
    members: Sequence[Member], sinks: Mapping[str, RecorderAt], control: Control, device: str
) -> list[Task]:
    """Record a batch; the cells that left it, to be trained by themselves."""
    batch = Batch([problem for _, problem in members], device)
    left: list[Task] = []
    with ExitStack() as stack:
        going: list[tuple[Task, Generator[Status]]] = []
        for (task, problem), run in zip(members, batch.runs, strict=True):
            chunks = record(problem, sinks[task.name], _follower(control), run)
            stack.callback(chunks.close)
            going.append((task, chunks))
        while going and not control.stop_requested:
            control.wait_while_paused(0.2)
            going = [one for one in going if _advanced(*one, left)]
    return left


def _follower(control: Control) -> Control:
    """A run's own control, stopped from the start where the whole is: each has its own status."""
    follower = Control()
    if control.stop_requested:
        follower.stop()
    return follower


def _advanced(task: Task, chunks: Iterator[Status], left: list[Task]) -> bool:
    """Record a chunk of a run; whether there is more to come from the batch."""
    try:
        status = next(chunks, None)
    except LeftBatchError:
        left.append(task)
        return False
    return status is not None and status.state is not RunState.FINISHED


def _row(task: Task, path: Path | None, seconds: float) -> Row:
    if path is None:
        return Row(task.name, "cancelled", "cancelled")
    try:
        return replace(ended_row(task, path), seconds=seconds)
    except DiskError:
        raise
    except MarginscopeError:
        return Row(task.name, "cancelled", "cancelled")
