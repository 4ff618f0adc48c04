"""Runs a whole study beside the window: plans it, hands its cells out, and keeps their rows.

    start --> planned --> moved, moved, ... --> ended(sentence, or "")

What came of the cells is read by `rows`, how far it is by `status`; signals only say that there is
something new. They arrive in the thread of the window.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from core.errors import MarginscopeError
from core.studies.study import Study

if TYPE_CHECKING:
    from core.studies.row import Row
    from core.sweep.control import SweepControl, SweepStatus

log = logging.getLogger(__name__)
NO_MEMORY = "There is not enough memory for this study; run fewer jobs at a time."
OUR_ERROR = (
    "The study stopped because of an error in the program; what is recorded stays, and the log "
    "says more."
)
TELL_SECONDS = 0.1


@final
@dataclass(frozen=True, slots=True)
class Order:
    """A study at a size, where its runs go, and who works: so many processes here, a cluster at
    an address, or this process, with cells of one shape as one batch of tensors.
    """

    study: Study
    folder: Path
    size: str | None = None
    jobs: int | None = None
    cluster: str | None = None
    together: bool = False


@final
class SweepWorker(QObject):
    """One study at a time. planned: the cells are known; moved: there is more; ended(sentence)."""

    planned = Signal()
    moved = Signal()
    ended = Signal(str)
    _planned = Signal(object)
    _moved = Signal(object)
    _thread_done = Signal(object, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._rows: dict[str, Row] = {}
        self._paths: dict[str, Path] = {}
        self._control: SweepControl | None = None
        self._thread: threading.Thread | None = None
        self._planned.connect(self._on_planned)
        self._moved.connect(self._on_moved)
        self._thread_done.connect(self._on_done)

    # --------------------------------------------------------------- the thread of the window

    @property
    def busy(self) -> bool:
        """Whether a study is being run."""
        return self._thread is not None

    @property
    def status(self) -> SweepStatus | None:
        """How far it is; None before the first study."""
        return None if self._control is None else self._control.status

    @property
    def paused(self) -> bool:
        """Whether a pause is asked for."""
        return self._control is not None and self._control.pause_requested

    @property
    def stopping(self) -> bool:
        """Whether it was cancelled."""
        return self._control is not None and self._control.stop_requested

    def rows(self) -> dict[str, Row]:
        """What came of each cell so far."""
        with self._lock:
            return self._rows

    def paths(self) -> dict[str, Path]:
        """The run file of each cell, empty before `planned`."""
        with self._lock:
            return self._paths

    def start(self, order: Order) -> None:
        """Run what is left of a study; there must be none at work."""
        from core.sweep.control import SweepControl

        assert self._thread is None, "one study at a time"
        self._rows, self._paths = {}, {}
        self._control = SweepControl()
        self._thread = threading.Thread(
            target=self._work, args=(order, self._control), name="sweep"
        )
        self._thread.start()

    def pause(self, held: bool) -> None:
        """Start no more cells, or go on."""
        if self._control is not None:
            (self._control.pause if held else self._control.resume)()

    def stop(self) -> None:
        """End it; `ended` follows. What is recorded stays."""
        if self._control is not None:
            self._control.stop()

    def close(self) -> None:
        """Stop, and wait for the thread; nothing is said any more."""
        self.stop()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _on_planned(self, control: object) -> None:
        if self._thread is not None and control is self._control:
            self.planned.emit()

    def _on_moved(self, control: object) -> None:
        if self._thread is not None and control is self._control:
            self.moved.emit()

    def _on_done(self, control: object, wrong: str) -> None:
        if control is not self._control or self._thread is None:  # closed meanwhile
            return
        thread, self._thread = self._thread, None
        thread.join()
        self.ended.emit(wrong)

    # ----------------------------------------------------------------------- the other thread

    def _work(self, order: Order, control: SweepControl) -> None:
        wrong = ""
        try:
            self._sweep(order, control)
        except MarginscopeError as error:
            wrong = error.sentence
        except MemoryError:
            wrong = NO_MEMORY
        except Exception:
            log.exception("a study could not be run")
            wrong = OUR_ERROR
        self._thread_done.emit(control, wrong)

    def _sweep(self, order: Order, control: SweepControl) -> None:
        from core.sweep.loop import sweep
        from core.sweep.plan import plan
        from core.sweep.pools import pool_for

        made = plan(order.study, order.folder, order.size, shared=order.cluster is not None)
        with self._lock:
            self._paths = dict(made.paths)
            self._rows = {row.name: row for row in made.kept}
        self._planned.emit(control)
        if control.stop_requested:
            return
        if made.tasks:
            made.tasks[0].problem()  # says what is wrong with the data before anything starts
        pool = pool_for(made.tasks, order.jobs, order.cluster, control.cell, order.together)
        told = -1.0
        for status in sweep(made, pool, control):
            if status.ended or time.monotonic() - told > TELL_SECONDS:
                told = time.monotonic()
                rows = {name: entry.row for name, entry in made.ledger.entries.items()}
                with self._lock:
                    self._rows = rows
                self._moved.emit(control)
