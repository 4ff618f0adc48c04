"""Worker threads that compute reference margins, cheap ones first.

The most expensive margin of each run, the last of its references, has a thread of its own, so that
the margins of a run opened meanwhile need not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.errors import LOG
from app.worker import Request, Worker

if TYPE_CHECKING:
    from core.problem.problem import Problem
    from core.reference.cancel_token import CancelToken
    from core.reference.margin import Reference, ReferenceMargin

    Compute = Callable[[Reference, Problem, CancelToken], ReferenceMargin]
    References = Callable[[Problem], tuple[Reference, ...]]

FAST_LANE, SLOW_LANE = LANES = (0, 1)
FAILED = "Computation failed (internal error). Details are in the log."


@final
@dataclass(frozen=True, slots=True, eq=False)
class Planning:
    """Task of listing the reference margins of one run's problem, and its result.

    `key` is that of the run; `references` are empty until a worker has listed them, or if that
    failed. `lane` is the number of the worker.
    """

    key: int
    problem: Problem
    references: tuple[Reference, ...] = ()
    lane: int = FAST_LANE


@final
@dataclass(frozen=True, slots=True, eq=False)
class Computing:
    """Task of computing a margin of one run, and its result.

    `key` is that of the run. Of the waiting tasks of a `lane` the one of lowest `rank` starts,
    whichever run it belongs to. `margin` is None until a worker has computed it.
    """

    key: int
    problem: Problem
    reference: Reference
    rank: int
    lane: int
    margin: ReferenceMargin | None = None


def references_of(problem: Problem) -> tuple[Reference, ...]:
    """Return the reference margins that are computed for a problem, cheap ones first."""
    from core.reference.registry import references_of

    return references_of(problem)


def compute(reference: Reference, problem: Problem, watch: CancelToken) -> ReferenceMargin:
    """Return a reference margin, from the cache file if possible.

    The first call loads the numerical libraries. A cancelled `watch` raises CancelledError.
    """
    from core.reference.registry import compute

    return compute(reference, problem, watch)


@final
class MarginWorker(QObject):
    """Computes the reference margins of the requested runs in two threads, the lanes.

    Signals arrive in the window's thread, none for cancelled work. `references` and `compute`
    replace the listing and the computation, both called in the worker threads.
    """

    margins_planned = Signal(int, object)  # key of the run, tuple of references to be computed
    margin_started = Signal(int, object)
    """Lane, and the Reference being computed; None once the lane computes nothing.

    Not emitted at the start of a margin known from another run.
    """
    result = Signal(int, object)
    """Key of the run, and a ReferenceMargin: without a number if its computation failed."""

    def __init__(
        self,
        parent: QObject | None = None,
        references: References = references_of,
        compute: Compute = compute,
    ) -> None:
        super().__init__(parent)
        self._references, self._compute = references, compute
        self._problems: dict[int, Problem] = {}  # of the requested runs, by key
        self._unplanned: list[int] = []  # keys of runs whose references are not listed
        self._tasks: list[Computing] = []  # waiting, of both lanes
        # By name and digest of the data. Written by both threads without a lock: at worst a margin
        # is computed twice.
        self._known: dict[tuple[str, str], ReferenceMargin] = {}
        self._at_work: dict[int, Planning | Computing] = {}  # by lane
        self._held: Callable[[], bool] = bool  # `bool` returns False
        self._workers = tuple(Worker("margins", self._perform, self, one_core=True) for _ in LANES)
        for worker in self._workers:
            worker.progress.connect(self._on_progress)
            worker.result.connect(self._on_result)

    @property
    def busy(self) -> bool:
        """True while a margin or a list of references is computed or waits, also on hold."""
        waiting = bool(self._unplanned or self._tasks)
        return waiting or any(worker.busy for worker in self._workers)

    def request(self, problems: Mapping[int, Problem]) -> None:
        """Compute the margins of the new ones of these runs, and cancel work on all other runs.

        Work on a run of the last request continues; cancelled margins of such a run remain so.
        """
        new = [key for key in problems if key not in self._problems]
        self._problems = dict(problems)
        self._unplanned = [key for key in self._unplanned if key in problems] + new
        self._tasks = [task for task in self._tasks if task.key in problems]
        for lane, work in tuple(self._at_work.items()):
            if work.key not in problems:
                self._cancel(lane)
        self.wake()

    def set_hold_condition(self, condition: Callable[[], bool]) -> None:
        """Start no margin while `condition()` is true; list references all the same.

        A computation at work continues. Call `wake` when the condition may have changed.
        """
        self._held = condition

    def set_cpu_share(self, share: Callable[[], float]) -> None:
        """Limit each thread to `share()` of a core, called in these threads.

        The limit holds from the next task on. See core.reference.cancel_token.
        """
        for worker in self._workers:
            worker.share = share

    def cancel(self) -> None:
        """Cancel waiting and running work on all requested runs until `resume`.

        The margins of a run that is requested later are computed all the same. Emit
        `margin_started` with None for each lane that was at work.
        """
        self._unplanned, self._tasks = [], []
        for lane in LANES:
            self._cancel(lane)

    def resume(self) -> None:
        """List and compute the margins of all requested runs again.

        Computed margins are reused, and their results emitted again; a computation at work is
        cancelled and starts again.
        """
        self.cancel()
        self._unplanned = list(self._problems)
        self.wake()

    def close(self) -> None:
        """Cancel all work, forget the requested runs, and wait for the threads."""
        self.request({})
        for worker in self._workers:
            worker.close()

    def wake(self) -> None:
        """Start the next task of each idle lane, if any.

        The fast lane lists references before it computes, even on hold. The slow lane starts a task
        only while the fast lane is idle; a task once started continues.
        """
        if FAST_LANE not in self._at_work:
            if self._unplanned:
                key = self._unplanned.pop(0)
                self._send(Planning(key, self._problems[key]))
            else:
                self._start_task(FAST_LANE)
        if SLOW_LANE not in self._at_work and FAST_LANE not in self._at_work:
            self._start_task(SLOW_LANE)

    def _start_task(self, lane: int) -> None:
        """Start the lane's waiting margin of lowest rank, of any run, unless on hold."""
        mine = [task for task in self._tasks if task.lane == lane]
        if mine and not self._held():
            task = min(mine, key=attrgetter("rank"))
            self._tasks.remove(task)
            self._send(task)

    def _send(self, work: Planning | Computing) -> None:
        """Send work to the worker of its lane, which must be idle."""
        self._at_work[work.lane] = work
        self._workers[work.lane].request(work)

    def _cancel(self, lane: int) -> None:
        """Cancel the work of a lane, and emit `margin_started` with None unless it was idle."""
        self._workers[lane].cancel()
        if self._at_work.pop(lane, None) is not None:
            self.margin_started.emit(lane, None)

    def _on_progress(self, task: Computing) -> None:
        """Emit that a lane now computes the margin of a task."""
        self.margin_started.emit(task.lane, task.reference)

    def _on_result(self, work: Planning | Computing) -> None:
        """Emit references or margin, start the next tasks, and emit if the lane is then idle."""
        del self._at_work[work.lane]
        if isinstance(work, Planning):
            self._tasks += _tasks_of(work)
            self.margins_planned.emit(work.key, work.references)
        else:
            self.result.emit(work.key, work.margin)
        self.wake()
        if work.lane not in self._at_work:
            self.margin_started.emit(work.lane, None)

    # ------------------------------------------------------------------------------ worker threads

    def _perform(self, request: Request, work: Planning | Computing) -> Planning | Computing:
        """Return a copy of the work with its result: the references, or the margin."""
        if isinstance(work, Planning):
            return replace(work, references=self._references_of(work.problem))
        return replace(work, margin=self._margin_of(request, work))

    def _references_of(self, problem: Problem) -> tuple[Reference, ...]:
        """Return the references of a problem; (), with the error in the log, if that fails."""
        try:
            return self._references(problem)
        except Exception:
            LOG.exception("the reference margins of a run cannot be listed")
            return ()

    def _margin_of(self, request: Request, task: Computing) -> ReferenceMargin:
        """Return the margin, known from a run with the same data or computed now.

        If computing fails, the margin has no number and the error is in the log. Progress is
        reported before computing, not for a known margin. Cancelling raises CancelledError.
        """
        from core.reference.cancel_token import CancelledError
        from core.reference.margin import ReferenceMargin, absent_bracket

        try:
            # Runs on the same data share most margins, even with other widths or initial weights.
            mark = (task.reference.name, task.reference.key(task.problem))
            if mark not in self._known:
                request.progress(task)
                self._known[mark] = self._compute(task.reference, task.problem, request.watch)
            # Leaky networks share gamma_linear with others, but not what it bounds.
            return replace(
                self._known[mark], is_comparable=task.reference.is_comparable(task.problem)
            )
        except CancelledError:
            raise
        except Exception:
            LOG.exception("%s cannot be computed", task.reference.name)
            return ReferenceMargin(task.reference, absent_bracket(FAILED), 0.0)


def _tasks_of(plan: Planning) -> list[Computing]:
    """Return a task for each reference, ranked in order; the last of several is slow.

    A single reference gets the fast lane.
    """
    last = len(plan.references) - 1
    return [
        Computing(plan.key, plan.problem, one, rank, SLOW_LANE if 0 < rank == last else FAST_LANE)
        for rank, one in enumerate(plan.references)
    ]
