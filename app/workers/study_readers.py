"""What is read of a study's runs beside the window: the cells that are there, the verdicts on the
claims, the figure, and what running it would cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from app.workers.latest import LatestWorker
from core.errors import InputError
from core.figures.palette import PALETTES
from core.studies.study import Cell, Study

if TYPE_CHECKING:
    from core.runs import Run
    from core.studies.row import Row
    from core.studies.verdicts import Judged

MM_PER_INCH = 25.4
LEAST_DPI, MOST_DPI = 40.0, 600.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """The cells of a study, where their runs go, and what came of those that are there; and whether
    this computer has a CUDA device.
    """

    study: Study
    size: str | None
    folder: Path
    cells: tuple[Cell, ...]
    paths: Mapping[str, Path]
    rows: Mapping[str, Row]
    has_gpu: bool = False

    @property
    def done(self) -> tuple[Path, ...]:
        """The run files of the cells that are done, in the order of the grid."""
        rows = self.rows
        return tuple(
            path for name, path in self.paths.items() if name in rows and rows[name].state == "done"
        )

    @property
    def told(self) -> Mapping[str, Mapping[str, float]]:
        """What the rows tell of the runs, by the names of cells."""
        from core.studies.row import told_of

        return told_of(self.rows, self.paths)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A study's figure as PNG, and of how many runs."""

    png: bytes
    runs: int


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread of numerics: the idle ones of a BLAS spin, and cells are being run beside this."""
    from threadpoolctl import ThreadpoolController  # looks through all loaded libraries

    with ThreadpoolController().limit(limits=1, user_api="blas"):
        yield


@final
class ShelfReader(LatestWorker):
    """A request is a study at a size, that size's name, and a folder; the answer a Shelf."""

    NAME = "shelf"
    OUR_ERROR = "The folder could not be read because of an error; the log says more."

    def compute(self, *request: Any) -> object:
        """Look what is there."""
        from core.sweep.plan import found_rows
        from core.sweep.pools import cuda_is_present

        study, size, folder = request
        paths, rows = found_rows(study, folder)
        return Shelf(study, size, folder, study.cells(), paths, rows, cuda_is_present())


@final
class ClaimJudge(LatestWorker):
    """A request is a Shelf; the answer a tuple of Judged."""

    NAME = "claims"
    OUR_ERROR = "The claims could not be judged because of an error; the log says more."

    def compute(self, *request: Any) -> object:
        """Judge one claim after another, as long as somebody wants to know."""
        from core.studies.trials import trials_of
        from core.studies.verdicts import each_judged

        (shelf,) = request
        trials = trials_of(shelf.study, shelf.rows, shelf.paths)
        found: list[Judged] = []
        with one_thread():
            for one in each_judged(shelf.study, trials, shelf.size if shelf.study.sizes else None):
                if self.given_up:
                    break
                found.append(one)
        return tuple(found)


@final
class FigurePainter(LatestWorker):
    """A request is a Shelf, the name of a palette, and how wide the figure is to be, in pixels of
    the screen; the answer a Picture.
    """

    NAME = "study figure"
    OUR_ERROR = "The figure could not be drawn because of an error; the log says more."

    def compute(self, *request: Any) -> object:
        """Draw the runs that are finished."""
        from core.figures.export import figure_bytes
        from core.figures.study_figure import figure_of_runs

        shelf, palette, width = request
        with one_thread(), ExitStack() as stack:

            def keep(run: Run) -> Run:
                stack.enter_context(run)
                if self.given_up:  # opening very many files takes long
                    raise InputError("Nobody waits for this figure any more.")
                return run

            done, told = shelf.done, shelf.told
            scene = figure_of_runs(shelf.study, done, keep, PALETTES[palette], told=told)
            dpi = min(max(width * MM_PER_INCH / scene.width_mm, LEAST_DPI), MOST_DPI)
            return Picture(figure_bytes(scene, ".png", dpi), len(done))


@final
class CostReader(LatestWorker):
    """A request is a study, a number of cores, and rows of cells that are done; the answer a Cost.

    Cells are measured in a process of its own, which is ended when nobody wants to know any more.
    """

    NAME = "cost"
    OUR_ERROR = "The cost could not be estimated because of an error; the log says more."

    def compute(self, *request: Any) -> object:
        """Measure, or go by the seconds of the rows."""
        from core.sweep.cost import estimate
        from core.sweep.pools import elsewhere

        study, cores, rows = request
        return elsewhere(self._given_up.is_set, estimate, study, cores, 20.0, rows)
