"""Loop of every sweep: it sends batches, receives rows, and writes them to the ledger soon.

A generator of statuses, as `core.training.trajectory.record` is for a run: a window or a command
requests the next one. Cells are submitted a few at a time, so that pause and stop take effect
soon.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from itertools import islice
from typing import final

from core.compiled import kernel_groups
from core.compiled.headless_process import compiling
from core.dynamics.required_groups import groups_of
from core.errors import DiskError
from core.studies.cell_table import Row
from core.sweep.cell import Task
from core.sweep.control import SweepControl, SweepStatus
from core.sweep.plan import Plan
from core.sweep.pools import RETRIES, Pool

# Target seconds of a batch: short cells are batched, which makes dispatching cheap.
BATCH_SECONDS = 0.25
MOST_IN_BATCH = 64
AHEAD = 2  # batches per worker: one running, one queued
SAVE_SECONDS = 2.0
POLL_SECONDS = 0.1


@final
class _Work:
    """State of a sweep: its queue, its running batches, and the time that cells take."""

    def __init__(self, plan: Plan, pool: Pool, control: SweepControl) -> None:
        self.plan, self.pool, self.control = plan, pool, control
        self.queue: deque[Task] = deque(plan.tasks)
        self.running: dict[Future[list[Row]], tuple[Task, ...]] = {}
        self.tries: dict[str, int] = {}
        self.busy = 0.0  # seconds of all finished cells
        self.n_ended = 0
        self.started_at = time.perf_counter()
        self.saved_at = self.started_at

    def submit_batches(self) -> None:
        """Submit cells until every worker is supplied, unless a pause is requested."""
        while self.queue and len(self.running) < AHEAD * self.pool.workers:
            if self.control.pause_requested or self.control.stop_requested:
                return
            # A cell that has cost two workers runs alone, so that it takes down no other.
            if any(self._runs_alone(batch[0]) for batch in self.running.values()):
                return
            if self.running and self._runs_alone(self.queue[0]):
                return
            batch = tuple(self.queue.popleft() for _ in range(self._batch_size()))
            if self.pool.workers == 1:  # where `submit` may run the batch itself
                self.control.publish(at_work=frozenset(task.name for task in batch), running=1)
            self.running[self.pool.submit(batch)] = batch
            # With one worker `submit` may run the batch itself: submit no more before its rows are
            # stored.
            if self.pool.workers == 1 or self._runs_alone(batch[0]):
                return

    def _runs_alone(self, task: Task) -> bool:
        """Return True for a cell's last try, which runs alone: no other cell can then kill it."""
        return self.tries.get(task.name, 0) == RETRIES - 1

    def _batch_size(self) -> int:
        """Return the number of cells of the next batch: about `BATCH_SECONDS` of work.

        Towards the end batches are smaller, so that workers end together.
        """
        # Single cells, while durations are unknown, or to find the cell that kills its worker.
        if self.n_ended == 0 or any(task.name in self.tries for task in self.queue):
            return 1
        fair = len(self.queue) // (4 * self.pool.workers)
        needed = int(BATCH_SECONDS * self.n_ended / max(self.busy, 1e-9))
        return max(1, min(needed, fair, MOST_IN_BATCH, len(self.queue)))

    def collect_results(self) -> list[Row]:
        """Wait shortly; enter finished cells in the ledger (not saved), and return their rows.

        Cells of dead workers are requeued. Raises DiskError, and MarginscopeError for a lost
        scheduler.
        """
        ready, _ = wait(self.running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
        rows: list[Row] = []
        died = False
        for future in ready:
            batch = self.running.pop(future)
            try:
                error = future.exception()
            except CancelledError:
                raise self.pool.lost_workers_error() from None
            # A full disk would fail every other cell too.
            if isinstance(error, DiskError):
                raise error
            if error is None:
                rows += future.result()
            else:
                died = True
                rows += self._requeue(batch, error)
        if died:
            self._renew()
        for row in rows:
            self.plan.ledger.set_row(row, self.plan.digests[row.name])
            self.busy += row.seconds
            self.n_ended += 1
        return rows

    def _renew(self) -> None:
        """Replace dead workers; requeue all batches of a process pool, which loses all of them."""
        if not self.pool.shared:
            for batch in self.running.values():
                self.queue.extendleft(reversed(batch))
            self.running.clear()
        self.pool.renew()

    def _requeue(self, batch: tuple[Task, ...], error: BaseException) -> list[Row]:
        """Requeue the cells of a lost batch; return a failed row for cells lost too often."""
        rows = []
        for task in reversed(batch):
            self.tries[task.name] = self.tries.get(task.name, 0) + 1
            if self.tries[task.name] >= RETRIES:
                reason = f"its worker ended {RETRIES} times ({type(error).__name__}: {error})"
                rows.append(Row(task.name, "failed", reason[:500]))
            else:
                self.queue.appendleft(task)
        return rows

    def status(self, rows: list[Row]) -> SweepStatus:
        """Publish the progress of the sweep, and return it; `rows` are those of this poll."""
        states = [entry.row.state for entry in self.plan.ledger.entries.values()]
        n_done, n_failed = states.count("done"), states.count("failed")
        n_open = len(self.queue) + sum(map(len, self.running.values()))
        seconds = time.perf_counter() - self.started_at
        eta = n_open * seconds / self.n_ended if self.n_ended else (math.nan if n_open else 0.0)
        last = rows[-1] if rows else self.control.status.last
        return self.control.publish(
            total=len(self.plan.paths),
            done=n_done,
            kept=len(self.plan.kept),
            failed=n_failed,
            running=min(len(self.running), self.pool.workers),
            at_work=self._at_work(),
            seconds=seconds,
            eta=eta,
            paused=self.control.pause_requested,
            stopped=self.control.stop_requested,
            lacks_workers=bool(self.running) and not self.pool.has_workers(),
            last=last,
        )

    def _at_work(self) -> frozenset[str]:
        """Return the cells of the oldest batches, one for each worker; later batches are queued."""
        batches = islice(self.running.values(), self.pool.workers)
        return frozenset(task.name for batch in batches for task in batch)

    def save(self, now: bool = False) -> None:
        """Write the ledger, at most every two seconds unless `now`."""
        if now or time.perf_counter() - self.saved_at > SAVE_SECONDS:
            self.plan.ledger.save()
            self.saved_at = time.perf_counter()


def missing_kernels(tasks: Iterable[Task]) -> tuple[str, ...]:
    """Return the groups of kernels that cells need and that are not compiled, in global order."""
    needed = {group for task in tasks for group in groups_of(task.experiment)}
    return kernel_groups.missing_groups(group for group in kernel_groups.GROUPS if group in needed)


def _compile_first(work: _Work) -> Iterator[SweepStatus]:
    """Compile kernels once for all workers, each of which would do it; yield statuses meanwhile."""
    needed = missing_kernels(work.queue)
    with compiling(needed) as process:
        while not (process.is_finished() or work.control.stop_requested):
            yield work.control.publish(compiling=needed)
            time.sleep(POLL_SECONDS)
    work.control.publish(compiling=())
    work.started_at = time.perf_counter()


def sweep(
    plan: Plan, pool: Pool, control: SweepControl, retain_pool: bool = False
) -> Iterator[SweepStatus]:
    """Run the remaining cells of a plan, yielding a status after every poll.

    A failed cell is a row of the ledger and stops nothing. Stopping ends the workers at once; their
    unfinished cells are recorded from the start next time.

    Parameters
    ----------
    plan : Plan
        Cells, and the ledger to fill.
    pool : Pool
        Workers; closed at the end.
    control : SweepControl
        Requests and status.
    retain_pool : bool
        Close the pool only to end running cells.

    Yields
    ------
    SweepStatus
        The last one has `ended` true.

    Raises
    ------
    DiskError
        The disk is full.
    MarginscopeError
        A cluster's scheduler is lost.
    """
    work = _Work(plan, pool, control)
    at_once = True
    try:
        work.save(now=True)
        yield work.status([])
        if not pool.shared:  # workers of a cluster have their own caches
            yield from _compile_first(work)
        while (work.queue or work.running) and not control.stop_requested:
            if control.enough_requested:
                work.queue.clear()
            work.submit_batches()
            if work.queue and not work.running:  # paused
                control.cell.wait_while_paused(0.2)
            rows = work.collect_results() if work.running else []
            work.save()
            yield work.status(rows)
        at_once = control.stop_requested
    finally:
        for future in work.running:
            future.cancel()
        if at_once or not retain_pool:
            pool.close(at_once=at_once)
        work.save(now=True)
        work.running.clear()
        control.publish(ended=True)
    yield control.publish(
        running=0, at_work=frozenset(), ended=True, stopped=control.stop_requested
    )
