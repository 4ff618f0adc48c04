"""Hunts beside the window: asks, trains, and tells what was found so far.

start --> progress, progress, ... --> finished(sentence, or "")
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.state.hunted import Finding
from app.worker import Request, Worker
from core.extremes.question import Question
from core.studies.study import Study
from core.sweep.control import SweepControl

if TYPE_CHECKING:
    from core.extremes.hunt import Hunt, HuntStatus, Tried

NO_MEMORY = "There is not enough memory for this hunt; run fewer processes at a time."
OUR_ERROR = (
    "The hunt stopped because of an error in the program; what was found stays, and the log says "
    "more."
)
REPORT_SECONDS = 0.2
MOST_LISTED = 200  # the table in the folder has all of them


@final
@dataclass(frozen=True, slots=True)
class HuntOrder:
    """A question about a study at a size, the folder of its findings, who works, and when no more
    runs are begun: after so many in all (None for no such end), or so many seconds."""

    study: Study
    size: str | None
    question: Question
    folder: Path
    runs: int | None = None
    seconds: float = math.inf
    jobs: int | None = None
    cluster: str | None = None


@final
@dataclass(frozen=True, slots=True)
class HuntNews:
    """How far a hunt is, its findings, the best first, and whether nothing is left to be tried."""

    status: HuntStatus
    findings: tuple[Finding, ...]
    exhausted: bool = False


@final
class HuntWorker(QObject):
    """One hunt at a time; `news` is None before there is any."""

    progress = Signal()
    finished = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.news: HuntNews | None = None
        self.control = SweepControl()
        self._worker = Worker("hunt", self._hunt, self, no_memory=NO_MEMORY, our_error=OUR_ERROR)
        self._worker.progress.connect(self._on_progress)
        self._worker.result.connect(self._on_result)
        self._worker.error.connect(self.finished)

    @property
    def busy(self) -> bool:
        """Whether a hunt is on."""
        return self._worker.busy

    def start(self, order: HuntOrder) -> None:
        """Begin a hunt, or go on with it; there must be none on."""
        assert not self.busy, "one hunt at a time"
        self.news, self.control = None, SweepControl()
        self._worker.ask(order, self.control)

    def close(self) -> None:
        """Stop, and wait for the thread; nothing is said any more."""
        self.control.stop()
        self._worker.close()

    def _on_progress(self, news: HuntNews) -> None:
        self.news = news
        self.progress.emit()

    def _on_result(self, _: object) -> None:
        self.finished.emit("")

    def _hunt(self, request: Request, order: HuntOrder, control: SweepControl) -> None:
        """Hunt, in the thread, and leave a table of all runs in the folder."""
        from core.extremes.answering import hunt_for, pool_of, table
        from core.extremes.hunt import Budget, Keeping
        from core.studies.cell_table import write_rows
        from core.studies.tables import MAX_CELLS

        made = hunt_for(order.study, order.question, Keeping(order.folder), order.size)
        if control.stop_requested:  # while its data were read
            return
        pool = pool_of(made, order.jobs, order.cluster, control.cell)
        budget, reported = Budget(order.runs or MAX_CELLS, order.seconds), -1.0
        status = made.status()
        for status in made.run(pool, control, budget):
            if time.monotonic() - reported > REPORT_SECONDS:
                reported = time.monotonic()
                request.progress(HuntNews(status, findings(made)))
        request.progress(HuntNews(status, findings(made), made.exhausted))
        if rows := table(made):
            write_rows(rows, order.folder / f"{order.study.id}.hunt.csv")


def findings(made: Hunt) -> tuple[Finding, ...]:
    """The lines of the table: the best first, those without a value last."""
    from core.extremes.answering import seeds_words, state_of
    from core.extremes.objective import VERDICT, verdict_words

    ranked = made.ranked()
    lines = []
    for rank, one in enumerate([*ranked, *made.unranked()][:MOST_LISTED], start=1):
        file = made.run_file(one.index)
        values = made.space.cells[one.place].values
        lines.append(
            Finding(
                rank if rank <= len(ranked) else 0,
                one.value,
                seeds_words(one, values, made.space.over),
                _how(one),
                state_of(one),
                verdict_words(one.row.moments.get(VERDICT, math.nan)),
                file if file.is_file() else None,
            )
        )
    return tuple(lines)


def _how(one: Tried) -> str:
    """How a run came to be tried."""
    if one.parent >= 0:
        return f"run {one.index}, {one.phase} from run {one.parent}"
    return f"run {one.index}, " + ("as the study has it" if one.phase == "study" else one.phase)
