"""Computes reference margins beside the window: cheap ones first, told as they come.

The dearest of each run, the last of its references, is left to a thread of its own, so that those
of a run that is opened meanwhile need not wait for it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from core.problem.problem import Problem
    from core.reference.margin import Reference, ReferenceMargin
    from core.reference.watch import Watch

    Compute = Callable[[Reference, Problem, Watch], ReferenceMargin]
    References = Callable[[Problem], tuple[Reference, ...]]

log = logging.getLogger(__name__)
QUICK, DEAR = LANES = (0, 1)
FAILED = "It could not be computed because of an error in the program; the log says more."
CANCELLED = "Cancelled; the menu Experiment computes it again."


@final
@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A margin of the problem of one run; `rank` is its place among those of that run."""

    generation: int
    rank: int
    key: int
    problem: Problem
    reference: Reference
    lane: int


@final
class MarginWorker(QObject):
    """Signals arrive in the thread of the window, and never for runs that are no longer asked for.

    planned(key, references): what will be computed for a run. began(lane, reference or None): what
    a thread is computing now. found(key, ReferenceMargin): one is there.
    """

    planned = Signal(int, object)
    began = Signal(int, object)
    found = Signal(int, object)
    _planned = Signal(int, int, object)
    _found = Signal(object, object)

    def __init__(
        self,
        parent: QObject | None = None,
        references: References | None = None,
        compute: Compute | None = None,
    ) -> None:
        """Those of core.reference.registry unless others are given."""
        super().__init__(parent)
        self._references, self._compute = references, compute
        self._lock = threading.Lock()
        self._wishes = tuple(threading.Event() for _ in LANES)
        self._wanted: dict[int, Problem] = {}
        self._unplanned: list[int] = []
        self._tasks: list[Task] = []
        self._known: dict[tuple[str, str], ReferenceMargin] = {}
        self._current: dict[int, tuple[int, Watch]] = {}  # the run and the watch of each lane
        self._held: Callable[[], bool] = _never
        self._share: Callable[[], float] | None = None
        self._generation = 0
        self._closed = False
        self._threads: tuple[threading.Thread, ...] = ()
        self._planned.connect(self._on_planned)
        self._found.connect(self._on_found)

    # --------------------------------------------------------------- the thread of the window

    @property
    def busy(self) -> bool:
        """Whether something is being computed or waits for it."""
        with self._lock:
            return bool(self._unplanned or self._tasks or self._current)

    def ask(self, problems: Mapping[int, Problem]) -> None:
        """Compute for these runs; work on others ends."""
        with self._lock:
            new = [key for key in problems if key not in self._wanted]
            self._wanted = dict(problems)
            self._unplanned = [key for key in self._unplanned if key in problems] + new
            self._tasks = [task for task in self._tasks if task.key in problems]
            for key, watch in self._current.values():
                if key not in problems:
                    watch.cancel()
        self._wake()

    def held_by(self, held: Callable[[], bool]) -> None:
        """Begin with nothing while this is true; `wake` when it may be true no more."""
        self._held = held

    def sharing(self, share: Callable[[], float]) -> None:
        """Take no more of a core than this at any time (core.reference.watch)."""
        self._share = share

    def wake(self) -> None:
        """Look again for something to compute."""
        if self._threads:
            self._call(*LANES)

    def cancel(self) -> None:
        """Compute nothing more until `again`."""
        with self._lock:
            self._generation += 1
            self._unplanned, self._tasks = [], []
            for _, watch in self._current.values():
                watch.cancel()

    def again(self) -> None:
        """Compute what is missing of all runs asked for."""
        with self._lock:
            self._generation += 1
            self._tasks = []
            self._unplanned = list(self._wanted)
        self._wake()

    def close(self) -> None:
        """Cancel, and wait for the thread; nothing is said any more."""
        self._closed = True
        self.cancel()
        self._wanted = {}
        self._call(*LANES)
        threads, self._threads = self._threads, ()
        for thread in threads:
            thread.join()

    def _wake(self) -> None:
        if self._closed or not self._unplanned:
            return
        if not self._threads:
            self._threads = tuple(
                threading.Thread(target=self._work, args=(lane,), name="margins") for lane in LANES
            )
            for thread in self._threads:
                thread.start()
        self._call(*LANES)

    def _call(self, *lanes: int) -> None:
        for lane in lanes:
            self._wishes[lane].set()

    def _on_planned(self, generation: int, key: int, references: object) -> None:
        if generation == self._generation and key in self._wanted:
            self.planned.emit(key, references)

    def _on_found(self, task: Task, margin: object) -> None:
        if task.generation == self._generation and task.key in self._wanted:
            self.found.emit(task.key, margin)

    # ---------------------------------------------------------------------- the other threads

    def _work(self, lane: int) -> None:
        from threadpoolctl import ThreadpoolController  # looks through all loaded libraries

        libraries = ThreadpoolController()
        while not self._closed:
            self._wishes[lane].wait()
            self._wishes[lane].clear()
            # The idle threads of a BLAS spin, and keep the processor from the window.
            with libraries.limit(limits=1, user_api="blas"):
                while self._planned_one() or self._computed_one(lane):
                    pass
            if not self._closed:
                self.began.emit(lane, None)
                self._call(*LANES[lane + 1 :])

    def _planned_one(self) -> bool:
        """Plan a run; whether there was one."""
        with self._lock:
            key = self._unplanned.pop(0) if self._unplanned else -1
            problem, generation = self._wanted.get(key), self._generation
        if problem is not None:
            self._plan(generation, key, problem)
            self._call(*LANES)
        return problem is not None

    def _computed_one(self, lane: int) -> bool:
        """Compute a margin; whether there was one."""
        from core.reference.watch import Watch

        if self._held():
            return False
        watch = Watch(share=self._share)
        with self._lock:
            mine = [task for task in self._tasks if task.lane == lane]
            quick = self._unplanned or QUICK in self._current or len(mine) < len(self._tasks)
            if not mine or (lane == DEAR and quick):
                return False
            task = min(mine, key=_rank)
            self._tasks.remove(task)
            self._current[lane] = task.key, watch
        try:
            self._finish(task, watch)
        finally:
            with self._lock:
                del self._current[lane]
        return True

    def _plan(self, generation: int, key: int, problem: Problem) -> None:
        try:
            references = self._references_of(problem)
        except Exception:
            log.exception("the reference margins of a run cannot be told")
            references = ()
        with self._lock:
            if generation == self._generation and key in self._wanted:
                self._tasks += [
                    Task(generation, rank, key, problem, reference, _lane(rank, len(references)))
                    for rank, reference in enumerate(references)
                ]
        self._planned.emit(generation, key, references)

    def _finish(self, task: Task, watch: Watch) -> None:
        """Compute a margin unless another run had the same, and hand it over."""
        from core.reference.watch import CancelledError

        try:
            mark = (task.reference.name, task.reference.key(task.problem))
            if mark not in self._known:
                self.began.emit(task.lane, task.reference)
                self._known[mark] = self._computed(task, watch)
            self._found.emit(task, self._known[mark])
        except CancelledError:
            log.debug("%s was cancelled", task.reference.name)
        except Exception:
            log.exception("%s cannot be computed", task.reference.name)
            self._found.emit(task, _failed(task.reference))

    def _references_of(self, problem: Problem) -> tuple[Reference, ...]:
        if self._references is not None:
            return self._references(problem)
        from core.reference.registry import references_of

        return references_of(problem)

    def _computed(self, task: Task, watch: Watch) -> ReferenceMargin:
        if self._compute is not None:
            return self._compute(task.reference, task.problem, watch)
        from core.reference.registry import compute

        return compute(task.reference, task.problem, watch)


def _never() -> bool:
    return False


def _rank(task: Task) -> int:
    return task.rank


def _lane(rank: int, count: int) -> int:
    return DEAR if 0 < rank == count - 1 else QUICK


def _failed(reference: Reference) -> ReferenceMargin:
    from core.reference.margin import ReferenceMargin, absent

    return ReferenceMargin(reference, absent(FAILED), 0.0)
