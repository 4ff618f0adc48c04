"""The `[hunt]` table of a study: which of its runs `hunt` looks for, unless the command says.

    [hunt]
    minimise = "hard_margin / (gamma_gl / 2)"   # or maximise; a formula, slack:NAME or ratio:NAME
    over = "seeds"                              # or data, start
    take = "last"                               # of each run: its last value, or least, largest
    at = 3.0                                    # log10 t; without it the last frame
    after = "smoothed_margin"                   # least or largest of the frames once that is > 0
    exclude_unfit = true                        # only runs that end without training errors
    seeds = [0, 999]                            # the first and the last seed that may be drawn
    drawn = 1000                                # runs that are drawn before any is refined
    runs = 1000                                 # all runs
    quick = { drawn = 12, runs = 16 }           # the same with --quick

core.extremes says what it means, and looks for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, final

from pydantic import BeforeValidator, Field, model_validator

from core.settings import MAX_SEED
from core.studies.hunt_kinds import Over, Take
from core.studies.tables import MAX_CELLS
from core.study_file.tables import Table, listed
from core.study_file.validation import table_of

COUNT = f"must be a whole number from 1 to {MAX_CELLS}"
SEEDS = "must be two whole numbers, the first seed and the last"
Seeds = Annotated[tuple[int, int], BeforeValidator(listed)]


@final
class Counts(Table):
    """How many runs are drawn before any is refined, and how many there are in all."""

    drawn: int | None = Field(None, ge=1, le=MAX_CELLS, description=COUNT)
    runs: int | None = Field(None, ge=1, le=MAX_CELLS, description=COUNT)


@final
class HuntTable(Table):
    """`[hunt]`: what is looked for, among what, and in how many runs."""

    minimise: str | None = None
    maximise: str | None = None
    over: Over = "seeds"
    take: Take = "last"
    at: float | None = None
    after: str = ""
    exclude_unfit: bool = False
    seeds: Seeds | None = Field(None, description=SEEDS)
    drawn: int | None = Field(None, ge=1, le=MAX_CELLS, description=COUNT)
    runs: int | None = Field(None, ge=1, le=MAX_CELLS, description=COUNT)
    quick: Counts = Counts()

    @model_validator(mode="after")
    def _one_sense(self) -> HuntTable:
        if (self.minimise is None) == (self.maximise is None):
            raise ValueError("give either minimise or maximise")
        if self.seeds is not None and not 0 <= self.seeds[0] <= self.seeds[1] <= MAX_SEED:
            raise ValueError("seeds must be the first seed and the last, 0 or more")
        return self

    def counts(self, size: str | None) -> Counts:
        """How many runs at a size of the study."""
        plain = Counts(drawn=self.drawn, runs=self.runs)
        return self.quick if size == "quick" else plain


def hunt_of(results: Mapping[str, Any], where: str) -> HuntTable | None:
    """The `[hunt]` table of a study's results; None where there is none.

    Raises InputError for unknown keys and wrong values.
    """
    return (
        table_of(HuntTable, results["hunt"], f"{where}: hunt", ".") if "hunt" in results else None
    )
