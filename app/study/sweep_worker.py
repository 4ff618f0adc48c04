"""Runs a whole study beside the window: plans it, hands its cells out, and keeps their rows.

    start --> planned --> progress, progress, ... --> finished(sentence, or "")

How far it is stands in its Control, by which it is paused and stopped too; signals only say that
there is something new. They arrive in the thread of the window.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.worker import Request, Worker
from core.studies.study import Study
from core.sweep.control import SweepControl

if TYPE_CHECKING:
    from core.studies.cell_table import Row

NO_MEMORY = "There is not enough memory for this study; run fewer jobs at a time."
OUR_ERROR = (
    "The study stopped because of an error in the program; what is recorded stays, and the log "
    "says more."
)
# Cells of milliseconds would otherwise fill the window's queue with copies of all rows.
REPORT_SECONDS = 0.1


@final
@dataclass(frozen=True, slots=True)
class Order:
    """A study at a size, where its runs go, and who works: processes here, or a cluster."""

    study: Study
    folder: Path
    size: str | None = None
    jobs: int | None = None
    cluster: str | None = None


@final
class SweepWorker(QObject):
    """One study at a time. planned: its cells are known; progress: there is more of it.

    `rows` and `paths` are what came of each cell so far and its run file, empty before `planned`.
    """

    planned = Signal()
    progress = Signal()
    finished = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: dict[str, Row] = {}
        self.paths: dict[str, Path] = {}
        self.control = SweepControl()
        self._worker = Worker("sweep", self._sweep, self, no_memory=NO_MEMORY, our_error=OUR_ERROR)
        self._worker.progress.connect(self._on_progress)
        self._worker.result.connect(self._on_result)
        self._worker.error.connect(self.finished)

    @property
    def busy(self) -> bool:
        """Whether a study is being run."""
        return self._worker.busy

    def start(self, order: Order) -> None:
        """Run what is left of a study; there must be none at work."""
        assert not self.busy, "one study at a time"
        self.rows, self.paths = {}, {}
        self.control = SweepControl()
        self._worker.ask(order, self.control)

    def close(self) -> None:
        """Stop, and wait for the thread; nothing is said any more."""
        self.control.stop()
        self._worker.close()

    def _on_progress(self, news: tuple[dict[str, Path], dict[str, Row]]) -> None:
        first = not self.paths
        self.paths, self.rows = news
        (self.planned if first else self.progress).emit()

    def _on_result(self, _: object) -> None:
        self.finished.emit("")

    def _sweep(self, request: Request, order: Order, control: SweepControl) -> None:
        """Run a study, in the thread."""
        from core.sweep.loop import sweep
        from core.sweep.plan import plan
        from core.sweep.pools import pool_for

        made = plan(order.study, order.folder, order.size, shared=order.cluster is not None)
        paths = dict(made.paths)
        request.progress((paths, {row.name: row for row in made.kept}))
        if control.stop_requested:  # cancelled while it was planned
            return
        if made.tasks:
            made.tasks[0].problem()  # says what is wrong with the data before anything starts
        pool = pool_for(made.tasks, order.jobs, order.cluster, control.cell)
        reported = -1.0
        for status in sweep(made, pool, control):
            if status.ended or time.monotonic() - reported > REPORT_SECONDS:
                reported = time.monotonic()
                rows = made.ledger.rows
                request.progress((paths, rows))
