"""What is read of a study's runs beside the window: the cells that are there, the verdicts on the
claims, the figure, and what running it would cost. Each is the answer of a Worker (app.worker).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.state.study_runs import StudyRuns
from app.worker import Request
from core.errors import InputError
from core.figures.export import FigureProcess
from core.figures.palette import PALETTES
from core.studies.study import Study

if TYPE_CHECKING:
    from core.runs import Run
    from core.studies.cell_table import Row
    from core.studies.verdicts import Judged
    from core.sweep.cost import Cost

LEAST_DPI, MOST_DPI = 40.0, 600.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class StudyFigure:
    """A study's figure as PNG, and of how many runs."""

    png: bytes
    runs: int


def study_runs(request: Request, study: Study, size: str | None, folder: Path) -> StudyRuns:
    """Look which runs of a study at a size are in a folder."""
    from core.sweep.plan import ledger_rows

    paths, rows = ledger_rows(study, folder)
    return StudyRuns(study, size, folder, study.cells(), paths, rows)


def claims_judged(request: Request, runs: StudyRuns) -> tuple[Judged, ...]:
    """Judge one claim after another, as long as somebody wants to know."""
    from core.studies.trials import trials_of
    from core.studies.verdicts import each_judged

    trials = trials_of(runs.study, runs.rows, runs.paths)
    judged = each_judged(runs.study, trials, runs.size if runs.study.sizes else None)
    return tuple(takewhile(lambda _: not request.is_cancelled(), judged))


def figure_drawn(
    request: Request, runs: StudyRuns, palette: str, width: int, process: FigureProcess
) -> StudyFigure:
    """Draw the runs that are finished, so many pixels of the screen wide."""
    from core.figures.primitives import MM_PER_INCH
    from core.figures.study_figure import figure_of_runs

    with ExitStack() as stack:

        def keep(run: Run) -> Run:
            stack.enter_context(run)
            if request.is_cancelled():  # opening very many files takes long
                raise InputError("Nobody waits for this figure any more.")
            return run

        done, known = runs.done, runs.figures
        scene = figure_of_runs(runs.study, done, keep, PALETTES[palette], known=known)
        # As many dots as it has pixels on the screen; a window may be a few pixels wide, or a wall.
        dpi = min(max(width * MM_PER_INCH / scene.width_mm, LEAST_DPI), MOST_DPI)
        return StudyFigure(process.draw(scene, ".png", dpi, request.is_cancelled), len(done))


def cost_estimated(
    request: Request, study: Study, cores: int, rows: Mapping[str, Row]
) -> Cost | None:
    """What running a study on so many cores would cost, by the seconds of its rows or measured.

    Cells are measured in a process of its own, which is ended when nobody wants to know any more.
    """
    from core.processes import run_in_process
    from core.sweep.cost import estimate

    given = (estimate, study, cores, 20.0, rows)
    return run_in_process("The cost is not known", request.is_cancelled, *given)
