"""A whole study as its window has it: what is to be run, and what came of it so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

from core.studies.study import Study, load_study, shipped_ids
from core.studies.tables import Cell

if TYPE_CHECKING:
    from core.studies.cell_table import Row


@final
@dataclass(frozen=True, slots=True, eq=False)
class StudyRuns:
    """The cells of a study at a size, where their runs go, and what came of those that are there.

    No cells: nothing is known, and nothing can be run.
    """

    study: Study
    size: str | None = None
    folder: Path = Path()
    cells: tuple[Cell, ...] = ()
    paths: Mapping[str, Path] = field(default_factory=dict)
    rows: Mapping[str, Row] = field(default_factory=dict)

    @property
    def done(self) -> tuple[Path, ...]:
        """The run files of the cells that are done, in the order of the grid."""
        rows = self.rows
        return tuple(
            path for name, path in self.paths.items() if name in rows and rows[name].state == "done"
        )

    @property
    def failed(self) -> tuple[Row, ...]:
        """The rows of the cells that failed."""
        return tuple(row for row in self.rows.values() if row.state == "failed")

    @property
    def failures(self) -> str:
        """What to say of the cells that failed: how many, and the sentence of the first."""
        if not self.failed:
            return ""
        count = len(self.failed)
        words = "1 cell failed" if count == 1 else f"{count} cells failed, the first"
        return f"{words}: {self.failed[0].reason} The table of cells has them all."

    @property
    def figures(self) -> Mapping[str, Mapping[str, float]]:
        """The numbers that the rows have of the runs, by the names of cells."""
        from core.studies.cell_table import known_values

        return known_values(self.rows, self.paths)


@final
@dataclass(frozen=True, slots=True, eq=False)
class WholeStudy:
    """The study that is shown, as it was chosen, and its runs at the size that was chosen.

    `edited`: it is not one of those that are shipped, as it is shipped.
    """

    study: Study
    edited: bool
    runs: StudyRuns


def whole_study(study: Study) -> WholeStudy:
    """A study of whose runs nothing is known yet."""
    # By what it says and not by its id: an edited study has its runs in a folder of its own
    # (docs/decisions/0010).
    edited = study.id not in shipped_ids() or load_study(study.id).to_toml() != study.to_toml()
    return WholeStudy(study, edited, StudyRuns(study))
