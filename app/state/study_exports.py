"""What is exported of a whole study, without Qt: its figure, and its table."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

from app.state.exports import (
    Cancelled,
    ExportJob,
    Progress,
    SceneJob,
    done_words,
    draw_here,
)
from core.figures.palette import LIGHT, PALETTES

if TYPE_CHECKING:
    from core.figures.export import Draw
    from core.figures.primitives import FigureScene
    from core.studies.cell_table import Row
    from core.studies.study import Study


@final
@dataclass(frozen=True, slots=True)
class StudyFigureJob(SceneJob):
    """The figure of a whole study, with the verdicts below it."""

    study: Study
    runs: tuple[Path, ...]
    path: Path
    dpi: float = 300.0
    palette: str = LIGHT.name
    verdicts: tuple[str, ...] = ()
    figures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def scene(self) -> FigureScene:
        from core.figures.study_figure import figure_of_runs

        with ExitStack() as stack:
            keep, palette = stack.enter_context, PALETTES[self.palette]
            return figure_of_runs(self.study, self.runs, keep, palette, self.verdicts, self.figures)


@final
@dataclass(frozen=True, slots=True)
class TableJob(ExportJob):
    """The table of a whole study as CSV, NPZ or Parquet: its cells, or their means over seeds."""

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
        return done_words([self.path])
