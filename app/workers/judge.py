"""Judges runs by the theorems, and looks for alarms, in a thread of its own.

It reads the files through runs of its own, so that a run may grow, or be closed in the window,
while it is being judged.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, final

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from core.reference.margin import ReferenceMargin
    from core.reference.watch import Watch
    from core.runs import Run
    from core.theorems.statement import Assessment

log = logging.getLogger(__name__)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A run to be judged by the margins known of it so far."""

    key: int
    path: Path
    margins: Mapping[str, ReferenceMargin]
    delta: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """What the first `frames` frames of a run say; `alarms` are core.observables.alarms.Alarm."""

    frames: int
    assessments: tuple[Assessment, ...]
    alarms: tuple[Any, ...]
    failed: bool = False


class Court(Protocol):
    """Who judges: core.theorems.registry and core.observables.alarms, or a stand-in."""

    def assess(self, run: Run, case: Case, watch: Watch) -> Sequence[Assessment]:
        """Every statement that applies."""

    def alarms(self, run: Run) -> Sequence[Any]:
        """Where a run is not to be trusted."""


@final
class Papers:
    """The statements of the papers."""

    def assess(self, run: Run, case: Case, watch: Watch) -> Sequence[Assessment]:
        """Every statement that applies."""
        from core.theorems.registry import assess_all

        return tuple(assess_all(run, case.margins, case.delta, watch))

    def alarms(self, run: Run) -> Sequence[Any]:
        """Where a run is not to be trusted."""
        from core.observables.alarms import alarms

        return tuple(alarms(run))


@final
class Judge(QObject):
    """`judged(key, Judgement)` arrives in the thread of the window, for cases still of interest."""

    judged = Signal(int, object)
    _done = Signal(int, object, object)

    def __init__(self, parent: QObject | None = None, court: Court | None = None) -> None:
        super().__init__(parent)
        self._court: Court = court or Papers()
        self._lock = threading.Lock()
        self._wish = threading.Event()
        self._cases: dict[int, Case] = {}
        self._open: dict[int, Run] = {}
        self._kept: frozenset[int] = frozenset()
        self._current: Case | None = None
        self._watch: Watch | None = None
        self._closed = False
        self._share: Callable[[], float] | None = None
        self._thread: threading.Thread | None = None
        self._done.connect(self._on_done)

    # --------------------------------------------------------------- the thread of the window

    @property
    def busy(self) -> bool:
        """Whether a case is at work or waits."""
        with self._lock:
            return bool(self._cases) or self._current is not None

    def sharing(self, share: Callable[[], float]) -> None:
        """Take no more of a core than this at any time (core.reference.watch)."""
        self._share = share

    def keep(self, keys: frozenset[int]) -> None:
        """Only these runs are of interest from now on."""
        with self._lock:
            self._kept = keys
            self._cases = {key: case for key, case in self._cases.items() if key in keys}
            if self._current is not None and self._current.key not in keys and self._watch:
                self._watch.cancel()
        if self._thread is not None:
            self._wish.set()

    def ask(self, case: Case) -> None:
        """Judge a run; of several cases of one run the last one counts."""
        if self._closed:
            return
        with self._lock:
            self._cases[case.key] = case
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="judge")
            self._thread.start()
        self._wish.set()

    def close(self) -> None:
        """Cancel, and wait for the thread; nothing is said any more."""
        self._closed = True
        self.keep(frozenset())
        self._wish.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _on_done(self, key: int, case: object, judgement: object) -> None:
        if not self._closed and key in self._kept:
            self.judged.emit(key, judgement)

    # ----------------------------------------------------------------------- the other thread

    def _work(self) -> None:
        from threadpoolctl import ThreadpoolController  # looks through all loaded libraries

        libraries = ThreadpoolController()
        while not self._closed:
            self._wish.wait()
            self._wish.clear()
            self._let_go()
            with libraries.limit(limits=1, user_api="blas"):
                while self._turn():
                    pass
        self._let_go()

    def _let_go(self) -> None:
        for key in [key for key in self._open if key not in self._kept]:
            self._open.pop(key).close()

    def _turn(self) -> bool:
        from core.reference.watch import CancelledError, Watch

        with self._lock:
            if not self._cases:
                return False
            case = self._cases.pop(next(iter(self._cases)))
            self._current, self._watch = case, Watch(share=self._share)
        try:
            self._done.emit(case.key, case, self._judgement(case, self._watch))
        except CancelledError:
            log.debug("a run is no longer of interest")
        except Exception:
            log.exception("a run cannot be judged")
        finally:
            with self._lock:
                self._current = self._watch = None
        return True

    def _judgement(self, case: Case, watch: Watch) -> Judgement:
        run = self._opened(case)
        frames = run.refresh()
        if frames == 0:
            return Judgement(0, (), ())
        alarms = tuple(self._court.alarms(run))
        watch.look()
        found = self._assessments(run, case, watch)
        return Judgement(frames, found or (), alarms, failed=found is None)

    def _assessments(self, run: Run, case: Case, watch: Watch) -> tuple[Assessment, ...] | None:
        """The statements; None where judging fails, so that the alarms are told all the same."""
        from core.reference.watch import CancelledError

        try:
            return tuple(self._court.assess(run, case, watch))
        except CancelledError:
            raise
        except Exception:
            log.exception("the statements about a run cannot be judged")
            return None

    def _opened(self, case: Case) -> Run:
        from core.runs import open_run

        if case.key not in self._open:
            self._open[case.key] = open_run(case.path)
        return self._open[case.key]
