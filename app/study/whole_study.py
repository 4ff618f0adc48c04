"""Whole study of a window: its cells, runs and rows, and the jobs that export it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.export.commands import command_words, paper_words
from app.export.jobs import Cancelled, ExportJob, Progress, SceneJob, draw_here, saved_text
from app.export.pictures import Exportable
from core.figures.names import PageSize
from core.figures.palette import LIGHT, PALETTES
from core.studies.study import Study, load_study, shipped_ids
from core.studies.tables import Cell
from core.terminal.text import path_argument

if TYPE_CHECKING:
    from core.figures.export import Draw
    from core.figures.primitives import FigureScene
    from core.studies.cell_table import Row


@final
@dataclass(frozen=True, slots=True, eq=False)
class StudyRuns:
    """Cells of a study at a size, with the paths of their runs and the rows of recorded ones.

    Without cells nothing is known, and nothing can be run.
    """

    study: Study
    size: str | None = None
    folder: Path = Path()
    cells: tuple[Cell, ...] = ()
    paths: Mapping[str, Path] = field(default_factory=dict)
    rows: Mapping[str, Row] = field(default_factory=dict)

    @property
    def done(self) -> tuple[Path, ...]:
        """Run files of the finished cells, in the order of the grid."""
        rows = self.rows
        return tuple(
            path for name, path in self.paths.items() if name in rows and rows[name].state == "done"
        )

    @property
    def failed_rows(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows.values() if row.state == "failed")

    @property
    def failures(self) -> str:
        """Sentence about the failed cells, "" for none."""
        if not self.failed_rows:
            return ""
        count = len(self.failed_rows)
        words = "1 run failed" if count == 1 else f"{count} runs failed. First failure"
        return f"{words}: {self.failed_rows[0].reason} See Runs for all failures."

    @property
    def figures(self) -> Mapping[str, Mapping[str, float]]:
        """Observables from the rows, by the names of cells."""
        from core.studies.cell_table import known_values

        return known_values(self.rows, self.paths)


@final
@dataclass(frozen=True, slots=True, eq=False)
class WholeStudy:
    """Study shown in a window, and its runs at the chosen size.

    `edited`: the study differs from all shipped ones.
    """

    study: Study
    edited: bool
    runs: StudyRuns


def make_whole_study(study: Study) -> WholeStudy:
    """Return a study with unknown runs."""
    # Compare contents, not ids: an edited study has its own folder of runs (docs/decisions/0010).
    edited = study.id not in shipped_ids() or load_study(study.id).to_toml() != study.to_toml()
    return WholeStudy(study, edited, StudyRuns(study))


@final
@dataclass(frozen=True, slots=True)
class StudyFigureJob(SceneJob):
    """Figure of a whole study on a sheet, with the verdicts below it."""

    study: Study
    runs: tuple[Path, ...]
    path: Path
    dpi: float = 300.0
    palette: str = LIGHT.name
    verdicts: tuple[str, ...] = ()
    figures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    sheet: PageSize = field(default_factory=PageSize)
    folder: Path = Path()

    def scene(self) -> FigureScene:
        from core.figures.study_figure import figure_of_runs

        with ExitStack() as stack:
            arguments = (self.study, self.runs, stack.enter_context, PALETTES[self.palette])
            return figure_of_runs(*arguments, self.verdicts, self.figures, self.sheet)


@command_words.register
def _figure_words(job: StudyFigureJob, exportable: Exportable) -> Iterator[list[str]]:
    words = ["figure", path_argument(job.folder), "--out", path_argument(job.path)]
    dark = [] if job.palette == LIGHT.name else ["--dark"]
    verdicts = [] if job.verdicts else ["--no-claims"]
    yield [*words, *paper_words(job.sheet, job.path, job.dpi), *dark, *verdicts]


@final
@dataclass(frozen=True, slots=True)
class TableJob(ExportJob):
    """Table of a whole study as CSV, NPZ or Parquet: its cells, or their means over seeds."""

    study: Study
    rows: Mapping[str, Row]
    path: Path
    means: bool = False

    @property
    def title(self) -> str:
        return f"Writing {self.path.name}"

    def work(self, progress: Progress, cancelled: Cancelled, draw: Draw = draw_here) -> str:
        from core.studies.cell_table import rows_of, write_means, write_table

        table = rows_of(self.study, self.rows)
        if self.means:
            write_means(self.study, table, self.path)
        else:
            write_table(table, self.path)
        return saved_text([self.path])
