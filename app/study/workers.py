"""Background work for the window of a whole study (app.worker).

Short answers: which runs exist, verdicts on the claims, the figure, and what running would cost.
Long tasks: a sweep and a hunt. Each has a control that says how far it is, and pauses and stops it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

from PySide6.QtCore import QObject, Signal

from app.study.whole_study import StudyRuns
from app.worker import Request, Worker
from core.errors import InputError
from core.extremes.question import Question
from core.figures.export import FigureProcess
from core.figures.palette import PALETTES
from core.studies.study import Study
from core.sweep.control import SweepControl

if TYPE_CHECKING:
    from core.extremes.hunt import Hunt, HuntStatus, TrialResult
    from core.runs import Run
    from core.studies.cell_table import Row
    from core.studies.verdicts import JudgedClaim
    from core.sweep.cost import Cost

LEAST_DPI, MOST_DPI = 40.0, 600.0
NO_MEMORY = "Not enough memory for this {what}. Choose fewer processes."
OUR_ERROR = "The {what} stopped (internal error). Recorded runs are kept. Details are in the log."
# Least seconds between reports: cells that take milliseconds would fill the window's event queue
# with copies of all rows.
SWEEP_REPORT_S, HUNT_REPORT_S = 0.1, 0.2
MOST_LISTED = 200  # findings; the table in the folder has all


@final
@dataclass(frozen=True, slots=True, eq=False)
class StudyFigure:
    """Figure of a study as PNG, and the number of its runs."""

    png: bytes
    runs: int


def study_runs(request: Request, study: Study, size: str | None, folder: Path) -> StudyRuns:
    """Find the runs of a study at a size in a folder."""
    from core.sweep.plan import ledger_rows

    paths, rows = ledger_rows(study, folder)
    return StudyRuns(study, size, folder, study.cells(), paths, rows)


def claims_judged(request: Request, runs: StudyRuns) -> tuple[JudgedClaim, ...]:
    """Judge the claims one after another until the request is cancelled."""
    from core.studies.trials import trials_of
    from core.studies.verdicts import each_judged

    trials = trials_of(runs.study, runs.rows, runs.paths)
    claims = each_judged(runs.study, trials, runs.size if runs.study.sizes else None)
    return tuple(takewhile(lambda _: not request.is_cancelled(), claims))


def figure_drawn(
    request: Request, runs: StudyRuns, palette: str, width: int, process: FigureProcess
) -> StudyFigure:
    """Draw the finished runs, `width` pixels of the screen wide."""
    from core.figures.primitives import MM_PER_INCH
    from core.figures.study_figure import figure_of_runs

    with ExitStack() as stack:

        def register(run: Run) -> Run:
            stack.enter_context(run)
            if request.is_cancelled():  # opening very many files takes long
                raise InputError("This figure is no longer needed.")
            return run

        rows, known_figures = runs.done, runs.figures
        scene = figure_of_runs(
            runs.study, rows, register, PALETTES[palette], known_values=known_figures
        )
        # One dot per screen pixel, within limits, since a window may be a few pixels or a wall
        # wide.
        dpi = min(max(width * MM_PER_INCH / scene.width_mm, LEAST_DPI), MOST_DPI)
        return StudyFigure(process.draw(scene, ".png", dpi, request.is_cancelled), len(rows))


def cost_estimated(
    request: Request, study: Study, cores: int, rows: Mapping[str, Row]
) -> Cost | None:
    """Estimate the cost of a study, from the seconds of its rows or by measuring.

    Cells are measured in a process of their own, which ends when the request is cancelled.
    """
    from core.processes import run_in_process
    from core.sweep.cost import estimate

    arguments = (estimate, study, cores, 20.0, rows)
    return run_in_process("The cost is unknown", request.is_cancelled, *arguments)


class SweepUpdate(NamedTuple):
    """Planned run file and finished row of each cell, by its name."""

    paths: dict[str, Path]
    rows: dict[str, Row]


@final
@dataclass(frozen=True, slots=True)
class SweepOrder:
    """Study at a size, folder of its runs, and workers: processes here, or a cluster."""

    study: Study
    folder: Path
    size: str | None = None
    jobs: int | None = None
    cluster: str | None = None


@final
@dataclass(frozen=True, slots=True)
class HuntOrder:
    """Question about a study at a size, folder of its findings, limits, and workers.

    No run is started after `runs` in all (None: no limit), or after `seconds`.
    """

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
class Finding:
    """Found run as a line of a table. `rank` is 0 without a value, `path` None if not kept."""

    rank: int
    value: float
    where: str  # place in the grid, and seeds
    how: str  # search method
    state: str  # how the run ended
    verdict: str
    path: Path | None


@final
@dataclass(frozen=True, slots=True)
class HuntUpdate:
    """Status of a hunt, its findings, best first, and True if nothing is left to try."""

    status: HuntStatus
    findings: tuple[Finding, ...]
    exhausted: bool = False


@final
class StudyWorker(QObject):
    """Worker of one sweep or hunt at a time; signals arrive in the window's thread."""

    progress = Signal()  # `latest` has changed
    finished = Signal(str)  # error, or ""

    def __init__(self, name: str, task: Callable[..., None], parent: QObject | None = None) -> None:
        """Run `task(request, order, control)`, which reports SweepNews or HuntNews as progress."""
        super().__init__(parent)
        self.latest: Any = None  # SweepNews or HuntNews; None before the first report
        self.control = SweepControl()
        self._worker = Worker(
            name,
            task,
            self,
            no_memory=NO_MEMORY.format(what=name),
            our_error=OUR_ERROR.format(what=name),
        )
        self._worker.progress.connect(self._on_progress)
        self._worker.result.connect(self._on_result)
        self._worker.error.connect(self.finished)

    @property
    def busy(self) -> bool:
        """True while a task runs."""
        return self._worker.busy

    def start(self, order: SweepOrder | HuntOrder) -> None:
        """Start or continue a task; none may be running."""
        assert not self.busy, "one task at a time"
        self.latest, self.control = None, SweepControl()
        self._worker.request(order, self.control)

    def close(self) -> None:
        """Stop the task, and wait for the thread."""
        self.control.stop()
        self._worker.close()

    def _on_progress(self, update: object) -> None:
        self.latest = update
        self.progress.emit()

    def _on_result(self, _: object) -> None:
        self.finished.emit("")


def run_sweep(request: Request, order: SweepOrder, control: SweepControl) -> None:
    """Plan a study, run its missing cells, and report their rows."""
    from core.sweep.loop import sweep
    from core.sweep.plan import plan
    from core.sweep.pools import pool_for

    sweep_plan = plan(order.study, order.folder, order.size, shared=order.cluster is not None)
    paths = dict(sweep_plan.paths)
    request.progress(SweepUpdate(paths, {row.name: row for row in sweep_plan.kept}))
    if control.stop_requested:  # cancelled while it was planned
        return
    if sweep_plan.tasks:
        sweep_plan.tasks[0].problem()  # raises an error of the data before anything starts
    pool = pool_for(sweep_plan.tasks, order.jobs, order.cluster, control.cell)
    reported = -1.0
    for status in sweep(sweep_plan, pool, control):
        if status.ended or time.monotonic() - reported > SWEEP_REPORT_S:
            reported = time.monotonic()
            request.progress(SweepUpdate(paths, sweep_plan.ledger.rows))


def run_hunt(request: Request, order: HuntOrder, control: SweepControl) -> None:
    """Hunt, and leave a table of all runs in the folder."""
    from core.extremes.hunt import Budget, FileRetention
    from core.extremes.hunt_building import hunt_for, pool_of, table
    from core.studies.cell_table import write_rows
    from core.studies.tables import MAX_CELLS

    hunt = hunt_for(order.study, order.question, FileRetention(order.folder), order.size)
    if control.stop_requested:  # cancelled while its data were read
        return
    pool = pool_of(hunt, order.jobs, order.cluster, control.cell)
    budget, reported = Budget(order.runs or MAX_CELLS, order.seconds), -1.0
    status = hunt.status()
    for status in hunt.run(pool, control, budget):
        if time.monotonic() - reported > HUNT_REPORT_S:
            reported = time.monotonic()
            request.progress(HuntUpdate(status, findings(hunt)))
    request.progress(HuntUpdate(status, findings(hunt), hunt.exhausted))
    if rows := table(hunt):
        write_rows(rows, order.folder / f"{order.study.id}.hunt.csv")


def findings(hunt: Hunt) -> tuple[Finding, ...]:
    """List the tried runs, the best first, those without a value last."""
    from core.extremes.hunt_building import seeds_words, state_of
    from core.extremes.objective import VERDICT, verdict_words

    ranked = hunt.ranked_runs()
    lines = []
    for rank, one in enumerate([*ranked, *hunt.unranked_runs()][:MOST_LISTED], start=1):
        file = hunt.run_file(one.index)
        values = hunt.space.cells[one.place].values
        lines.append(
            Finding(
                rank if rank <= len(ranked) else 0,
                one.value,
                seeds_words(one, values, hunt.space.over),
                _describe_origin(one),
                state_of(one),
                verdict_words(one.row.moments.get(VERDICT, math.nan)),
                file if file.is_file() else None,
            )
        )
    return tuple(lines)


def _describe_origin(one: TrialResult) -> str:
    """Return in words how a run was found."""
    if one.parent >= 0:
        return f"run {one.index}, {one.phase} from run {one.parent}"
    return f"run {one.index}, " + (
        "the study's own settings" if one.phase == "study" else one.phase
    )
