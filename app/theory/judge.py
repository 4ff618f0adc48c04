"""Background worker that judges runs by the theorems and finds alarms.

The judge opens the run files itself, so that a run may grow, or be closed in the window, while it
is being judged.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject

from app.errors import LOG
from app.theory.statement_lines import StatementLine, make_statement_lines
from app.worker import Request, Worker

if TYPE_CHECKING:
    from core.reference.cancel_token import CancelToken
    from core.reference.margin import ReferenceMargin
    from core.runs import Run
    from core.theorems.statement import Assessment

    Assess = Callable[[Run, "Case", CancelToken], Sequence[Assessment]]
    Alarms = Callable[[Run, CancelToken], Sequence[Any]]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Run to be judged by the margins computed so far.

    `key` is that of the open run, `path` its file. `margins` are by name, `delta` is the failure
    probability of statements about random starts.
    """

    key: int
    path: Path
    margins: Mapping[str, ReferenceMargin]
    delta: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Verdicts on the first `frames` frames of a run.

    `key` is that of the run. `alarms` are core.observables.alarms.Alarm, and `lines` say when the
    statements hold. For a run without frames all are empty. `failed`: an error was raised, which is
    in the log; no statement is judged, and alarms are those found before it.
    """

    key: int
    frames: int
    assessments: tuple[Assessment, ...] = ()
    alarms: tuple[Any, ...] = ()
    failed: bool = False
    lines: tuple[StatementLine, ...] = ()


def assess_by_papers(run: Run, case: Case, watch: CancelToken) -> Sequence[Assessment]:
    """Judge every applicable statement of the papers by a case's margins and delta.

    A cancelled `watch` raises CancelledError.
    """
    import core.theorems.report  # noqa: F401 - here, so that the window's thread need not wait
    from core.theorems.registry import assess_all

    return assess_all(run, case.margins, case.delta, watch)


def find_alarms(run: Run, watch: CancelToken) -> Sequence[Any]:
    """Return the alarms of a run, up to its last frame: moments at which it is unreliable.

    Frames examined by an earlier call are not examined again. A cancelled `watch` raises
    CancelledError.
    """
    from core.observables.alarms import find_alarms

    return find_alarms(run, watch.check)


@final
class Judge(QObject):
    """Judge of the requested runs, one after another in a thread of its own.

    `worker.result` emits a Judgement of each. `assess` and `alarms` replace the judging of
    statements and the search for alarms. A run's file remains open between
    judgements if the last `restrict_to` named the run; otherwise it is closed after each.
    """

    def __init__(
        self,
        parent: QObject | None = None,
        assess: Assess = assess_by_papers,
        alarms: Alarms = find_alarms,
    ) -> None:
        super().__init__(parent)
        self._assess, self._alarms = assess, alarms
        self._lock = threading.Lock()
        self._open: dict[int, Run] = {}
        self._wanted: frozenset[int] = frozenset()
        self._current: int | None = None
        self.worker = Worker("judge", self._judge_case, self, one_core=True)

    # ------------------------------------------------------------------------------- window thread

    @property
    def busy(self) -> bool:
        """True while a case is being judged or waits."""
        return self.worker.busy

    def set_cpu_share(self, share: Callable[[], float]) -> None:
        """Limit the thread to `share()` of a core, called in that thread, from the next request on.

        See core.reference.cancel_token.
        """
        self.worker.share = share

    def restrict_to(self, keys: frozenset[int]) -> None:
        """Cancel requests about runs not in `keys`, and close their files.

        The run being judged is closed when its judgement ends. Nothing is requested. The file of a
        run requested later without its key in `keys` is closed after its judgement.
        """
        self.worker.cancel(except_keys=keys)
        self._wanted = keys
        self._close_unused_runs()

    def request(self, case: Case) -> None:
        """Judge a run, after the runs already waiting.

        An earlier request about the same run is dropped; if at work, it ends without a result.
        """
        self.worker.request(case, key=case.key)

    def close(self) -> None:
        """Cancel all requests, close the files of all runs, and wait for the thread.

        Later requests do nothing.
        """
        self.restrict_to(frozenset())
        self.worker.close()

    # ------------------------------------------------------------------------- any thread

    def _close_unused_runs(self) -> None:
        """Close the files of all runs that `restrict_to` excludes, except of the one at work."""
        with self._lock:
            used_runs = self._wanted | {self._current}
            for key in [key for key in self._open if key not in used_runs]:
                self._open.pop(key).close()

    # ------------------------------------------------------------------------------ judge's thread

    def _judge_case(self, request: Request, case: Case) -> Judgement:
        """Judge a run, then close the files that the window no longer needs, also on an error."""
        with self._lock:
            self._current = case.key
        try:
            return self._make_judgement(case, request.watch)
        finally:
            with self._lock:
                self._current = None
            self._close_unused_runs()  # the window may have closed this one in the meantime

    def _make_judgement(self, case: Case, watch: CancelToken) -> Judgement:
        """Return alarms, assessments and lines over time, after reading new frames of the file.

        Without frames the judgement is empty. An error is logged, and the judgement has `failed`.
        Cancelling raises CancelledError.
        """
        from core.reference.cancel_token import CancelledError

        frames, alarms = 0, ()
        try:
            run = self._open_run(case)
            frames = run.refresh()
            if frames == 0:
                return Judgement(case.key, 0)
            alarms = tuple(self._alarms(run, watch))
            watch.check()
            assessments = tuple(self._assess(run, case, watch))
            lines = make_statement_lines(assessments, run.log10_time[:frames])
        except CancelledError:
            raise
        except Exception:
            if watch.is_cancelled:  # its file may be gone
                raise
            LOG.exception("the theorems about a run cannot be checked")
            return Judgement(case.key, frames, (), alarms, failed=True)
        return Judgement(case.key, frames, assessments, alarms, lines=lines)

    def _open_run(self, case: Case) -> Run:
        """Return the run of a case, open since an earlier judgement or opened now."""
        from core.runs import open_run

        with self._lock:
            if case.key not in self._open:
                # Kept open between judgements, with the frame values that the statements have
                # cached.
                self._open[case.key] = open_run(case.path)
            return self._open[case.key]
