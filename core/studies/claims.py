"""Tables `[[claims]]`, `[sweep]` and `[hunt]` of a study: the claims that its runs must meet.

A claim compares a measured number with a value. The number is made in three steps: a formula is
taken at the end of each run (or `at` a moment) that `where` keeps, the runs are brought together
by `over`, and the result is compared; or a named measure of `core.studies.measures.registry` does
all that.

    [[claims]]
    text = "Wider networks rotate less."
    measure = "min_rotation"          # formula over scalar observables, NAME_0 at t = 0, d, n, m
    where = { "network.m" = 256 }     # settings, factors, variant; a list allows several values
    at = 3.0                          # log10 t; without it, the last frame
    over = "median"                   # over the seeds: mean, median, min, max, sum
    compare = ">="                    # or "<=", "~"
    value = 0.6
    tolerance = 0.05                  # how far beyond `value` still confirms; for ~, each way
    sizes = ["quick", "paper"]        # the sizes at which it can be judged; [] for none
    reason = ""                       # why not at the others
    exclude_unfit = false             # leave out runs with training errors
    missing = 0.0                     # the share of the runs that may have no number
    interval = false                  # judge the .95 interval: its lower end for >=, upper for <=
    basis = "section F.1: ..."        # where the value and the tolerance come from

`against = { where = ..., measure = ..., over = ..., at = ... }` measures a second number, keys that
it leaves out being those of the claim; `relation` says what of the two is compared with `value`:
"difference" (first minus second) or "ratio" (first / second). `measure = "margin:linear"` is the
reference margin of that name, of each run's data. `options` are the arguments of a named measure.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import Annotated, Any, Literal, final

from pydantic import BeforeValidator, Field, model_validator

from core.errors import InputError
from core.settings import MAX_SEED
from core.studies.hunt_kinds import Over, Take
from core.studies.tables import MAX_CELLS, SIZES, Size
from core.study_file.validation import Table, Where, table_of, to_tuple

COLUMNS = ("risk", "hard_margin", "smoothed_margin", "norm_squared", "train_error", "test_error")
MOST_CLAIMS = 50


class Quantity(Table, ABC):
    """A number to measure on the runs of a study."""

    measure: str
    where: Where = ()
    at: float | None = None
    over: Literal["mean", "median", "min", "max", "sum"] = "mean"
    exclude_unfit: bool = False
    options: dict[str, Any] = Field(default_factory=dict, description="must be a table")


@final
class Second(Quantity):
    """Number that a claim compares its own number with."""


@final
class Claim(Quantity):
    """A sentence of the paper, a number of the runs, and the comparison that decides it.

    ">=" confirms where measured >= value - tolerance, "<=" where measured <= value + tolerance, "~"
    where |measured - value| <= tolerance. With `interval` it is the whole .95 interval of what was
    measured that has to be there. At most the share `missing` of the runs may have no number.
    `basis` tells where the sentence stands in the paper, or that the figure is ours, and why the
    value and the tolerance are what they are.
    """

    text: str
    compare: Literal[">=", "<=", "~"]
    value: float
    tolerance: float = Field(0.0, ge=0.0, description="must be zero or more")
    against: Second | None = None
    relation: Literal["difference", "ratio"] | None = None
    sizes: Annotated[tuple[Size, ...], BeforeValidator(to_tuple)] = Field(
        SIZES, description="must be a list of quick and paper, or empty"
    )
    reason: str = ""
    missing: float = Field(
        0.0, ge=0.0, lt=1.0, description="must be a share of the runs, at least 0 and below 1"
    )
    interval: bool = False
    basis: str = ""

    @model_validator(mode="before")
    @classmethod
    def _second(cls, table: Any) -> Any:
        """Complete `against` with the keys of the claim that it leaves out."""
        against = table.get("against") if isinstance(table, dict) else None
        if not isinstance(against, dict):
            return table
        own = {key: table[key] for key in Quantity.model_fields if key in table}
        return {**table, "against": {**own, **against}}

    @model_validator(mode="after")
    def _complete(self) -> Claim:
        if (self.against is None) != (self.relation is None):
            raise ValueError("against and relation (difference, ratio) go together")
        if len(self.sizes) < len(SIZES) and not self.reason:
            raise ValueError("a claim for some sizes needs a reason for the others")
        return self

    def is_confirmed(self, measured: float) -> bool:
        """Return True if a measured number confirms the claim; NaN never does.

        >>> Claim(text="", measure="risk", compare="~", value=1.0, tolerance=0.1).is_confirmed(1.05)
        True
        """
        if self.compare == "~":
            return abs(measured - self.value) <= self.tolerance
        if self.compare == ">=":
            return measured >= self.value - self.tolerance
        return measured <= self.value + self.tolerance


@final
class SweepTable(Table):
    """`[sweep]`: scalar observables in the table of results.

    `exclude_unfit` leaves runs with train_error > 0 at the end out of the statistics of groups.
    """

    columns: Annotated[tuple[str, ...], BeforeValidator(to_tuple)] = Field(
        COLUMNS, description="must be a list of names of observables"
    )
    exclude_unfit: bool = False


def parse_sweep(table: Mapping[str, Any], where: str) -> SweepTable:
    """Return the `[sweep]` table. Raises InputError for unknown keys and wrong values."""
    return table_of(SweepTable, table, f"{where}: sweep", ".")


def parse_claims(entries: Any, where: str) -> tuple[Claim, ...]:
    """Return the claims of a study. Raises InputError for unknown keys and wrong values."""
    if not isinstance(entries, list) or len(entries) > MOST_CLAIMS:
        raise InputError(f"{where}: claims must be at most {MOST_CLAIMS} tables [[claims]].")
    return tuple(table_of(Claim, one, f"{where}: claim {k}") for k, one in enumerate(entries, 1))


# --------------------------------------------------------------------------------- the [hunt] table
# Default question of the command `hunt`; core.extremes answers it.
#
# [hunt]
# minimise = "hard_margin / (gamma_gl / 2)"   # or maximise; a formula, slack:NAME or ratio:NAME
# over = "seeds"                              # or data, start
# take = "last"                               # of each run: last, least or largest value
# at = 3.0                                    # log10 t; without it the last frame
# after = "smoothed_margin"                   # least or largest over frames after that is > 0
# exclude_unfit = true                        # only runs that end without training errors
# seeds = [0, 999]                            # first and last seed
# drawn = 1000                                # runs drawn before any is refined
# runs = 1000                                 # all runs
# quick = { drawn = 12, runs = 16 }           # the same with --quick

COUNT = f"must be a whole number from 1 to {MAX_CELLS}"
SEEDS = "must be two whole numbers, the first seed and the last"
Seeds = Annotated[tuple[int, int], BeforeValidator(to_tuple)]


@final
class Counts(Table):
    """Numbers of runs that are drawn before any is refined, and of all runs."""

    drawn: int | None = Field(None, ge=1, le=MAX_CELLS, description=COUNT)
    runs: int | None = Field(None, ge=1, le=MAX_CELLS, description=COUNT)


@final
class HuntTable(Table):
    """`[hunt]`: quantity to minimise or maximise, the space of runs, and their number."""

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
        """Return the numbers of runs at a size of the study."""
        plain = Counts(drawn=self.drawn, runs=self.runs)
        return self.quick if size == "quick" else plain


def hunt_of(results: Mapping[str, Any], where: str) -> HuntTable | None:
    """Return the `[hunt]` table of a study's results, if any.

    Raises InputError for unknown keys and wrong values.
    """
    return (
        table_of(HuntTable, results["hunt"], f"{where}: hunt", ".") if "hunt" in results else None
    )
