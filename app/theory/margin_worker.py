"""Computes reference margins beside the window: cheap ones first, told as they come.

The dearest of each run, the last of its references, is left to a thread of its own, so that those
of a run that is opened meanwhile need not wait for it.
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
    from core.reference.margin import Reference, ReferenceMargin
    from core.reference.watch import Watch

    Compute = Callable[[Reference, Problem, Watch], ReferenceMargin]
    References = Callable[[Problem], tuple[Reference, ...]]

QUICK, DEAR = LANES = (0, 1)
FAILED = "It could not be computed because of an error in the program; the log says more."


@final
@dataclass(frozen=True, slots=True, eq=False)
class Planning:
    """To find which margins there are of the problem of one run; then, which they are."""

    key: int
    problem: Problem
    references: tuple[Reference, ...] = ()
    lane: int = QUICK


@final
@dataclass(frozen=True, slots=True, eq=False)
class Computing:
    """To compute a margin of one run; `rank` is its place among those of that run."""

    key: int
    problem: Problem
    reference: Reference
    rank: int
    lane: int
    margin: ReferenceMargin | None = None


def references_of(problem: Problem) -> tuple[Reference, ...]:
    """The reference margins of a problem."""
    from core.reference.registry import references_of

    return references_of(problem)


def compute(reference: Reference, problem: Problem, watch: Watch) -> ReferenceMargin:
    """A reference margin of a problem."""
    from core.reference.registry import compute

    return compute(reference, problem, watch)


@final
class MarginWorker(QObject):
    """Signals arrive in the thread of the window, and never for runs that are no longer asked for.

    planned(key, references): what will be computed for a run. started(lane, reference or None):
    what a thread is computing now. result(key, ReferenceMargin): one is there.
    """

    planned = Signal(int, object)
    started = Signal(int, object)
    result = Signal(int, object)

    def __init__(
        self,
        parent: QObject | None = None,
        references: References = references_of,
        compute: Compute = compute,
    ) -> None:
        super().__init__(parent)
        self._references, self._compute = references, compute
        self._problems: dict[int, Problem] = {}
        self._unplanned: list[int] = []
        self._tasks: list[Computing] = []
        # Written by both threads without a lock: at worst a margin is computed twice.
        self._known: dict[tuple[str, str], ReferenceMargin] = {}
        self._at_work: dict[int, Planning | Computing] = {}  # of each lane
        self._held: Callable[[], bool] = _never
        self._workers = tuple(Worker("margins", self._answer, self, one_core=True) for _ in LANES)
        for worker in self._workers:
            worker.progress.connect(self._on_progress)
            worker.result.connect(self._on_result)

    @property
    def busy(self) -> bool:
        """Whether something is being computed or waits for it."""
        waiting = bool(self._unplanned or self._tasks)
        return waiting or any(worker.busy for worker in self._workers)

    def ask(self, problems: Mapping[int, Problem]) -> None:
        """Compute for these runs; work on others ends."""
        new = [key for key in problems if key not in self._problems]
        self._problems = dict(problems)
        self._unplanned = [key for key in self._unplanned if key in problems] + new
        self._tasks = [task for task in self._tasks if task.key in problems]
        for lane, work in tuple(self._at_work.items()):
            if work.key not in problems:
                self._give_up(lane)
        self.wake()

    def held_by(self, held: Callable[[], bool]) -> None:
        """Compute nothing while this is true; `wake` when it may be true no more."""
        self._held = held

    def sharing(self, share: Callable[[], float]) -> None:
        """Take no more of a core than this at any time (core.reference.watch)."""
        for worker in self._workers:
            worker.share = share

    def cancel(self) -> None:
        """Compute nothing more until `again`."""
        self._unplanned, self._tasks = [], []
        for lane in LANES:
            self._give_up(lane)

    def again(self) -> None:
        """Compute what is missing of all runs asked for."""
        self.cancel()
        self._unplanned = list(self._problems)
        self.wake()

    def close(self) -> None:
        """Cancel, and wait for the threads; nothing is said any more."""
        self.ask({})
        for worker in self._workers:
            worker.close()

    def wake(self) -> None:
        """Give each lane that rests the next thing to do: a run is planned before any margin is
        computed, and dear margins wait until none is planned, computed or left to the quick lane.
        """
        if QUICK not in self._at_work:
            if self._unplanned:
                key = self._unplanned.pop(0)
                self._begin(Planning(key, self._problems[key]))
            else:
                self._begin_task(QUICK)
        if DEAR not in self._at_work and QUICK not in self._at_work:
            self._begin_task(DEAR)

    def _begin_task(self, lane: int) -> None:
        mine = [task for task in self._tasks if task.lane == lane]
        if mine and not self._held():
            task = min(mine, key=attrgetter("rank"))
            self._tasks.remove(task)
            self._begin(task)

    def _begin(self, work: Planning | Computing) -> None:
        self._at_work[work.lane] = work
        self._workers[work.lane].ask(work)

    def _give_up(self, lane: int) -> None:
        self._workers[lane].cancel()
        if self._at_work.pop(lane, None) is not None:
            self.started.emit(lane, None)

    def _on_progress(self, task: Computing) -> None:
        self.started.emit(task.lane, task.reference)

    def _on_result(self, work: Planning | Computing) -> None:
        del self._at_work[work.lane]
        if isinstance(work, Planning):
            self._tasks += _tasks_of(work)
            self.planned.emit(work.key, work.references)
        else:
            self.result.emit(work.key, work.margin)
        self.wake()
        if work.lane not in self._at_work:
            self.started.emit(work.lane, None)

    # ---------------------------------------------------------------------- the other threads

    def _answer(self, request: Request, work: Planning | Computing) -> Planning | Computing:
        if isinstance(work, Planning):
            return replace(work, references=self._planned(work.problem))
        return replace(work, margin=self._margin(request, work))

    def _planned(self, problem: Problem) -> tuple[Reference, ...]:
        try:
            return self._references(problem)
        except Exception:
            LOG.exception("the reference margins of a run cannot be told")
            return ()

    def _margin(self, request: Request, task: Computing) -> ReferenceMargin:
        """A margin, computed unless another run had the same."""
        from core.reference.margin import ReferenceMargin, absent
        from core.reference.watch import CancelledError

        try:
            # Runs of other widths or initial weights on the same data share most of their margins.
            mark = (task.reference.name, task.reference.key(task.problem))
            if mark not in self._known:
                request.progress(task)
                self._known[mark] = self._compute(task.reference, task.problem, request.watch)
            return self._known[mark]
        except CancelledError:
            raise
        except Exception:
            LOG.exception("%s cannot be computed", task.reference.name)
            return ReferenceMargin(task.reference, absent(FAILED), 0.0)


def _never() -> bool:
    return False


def _tasks_of(plan: Planning) -> list[Computing]:
    last = len(plan.references) - 1
    return [
        Computing(plan.key, plan.problem, one, rank, DEAR if 0 < rank == last else QUICK)
        for rank, one in enumerate(plan.references)
    ]
