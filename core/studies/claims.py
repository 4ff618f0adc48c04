"""The `[[claims]]` and the `[sweep]` table of a study: what its runs are to show, and its columns.

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

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, final

from core.errors import InputError, did_you_mean

OVER = ("mean", "median", "min", "max", "sum")
COMPARE = (">=", "<=", "~")
RELATIONS = ("difference", "ratio")
SIZES = ("quick", "paper")
COLUMNS = ("risk", "hard_margin", "smoothed_margin", "norm_squared", "train_error", "test_error")
MOST_CLAIMS = 50


@final
@dataclass(frozen=True, slots=True)
class Quantity:
    """A number to measure on the runs of a study."""

    measure: str
    where: tuple[tuple[str, Any], ...] = ()
    at: float | None = None
    over: Literal["mean", "median", "min", "max", "sum"] = "mean"
    exclude_unfit: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper and the comparison that decides it.

    ">=" confirms where measured >= value - tolerance, "<=" where measured <= value + tolerance, "~"
    where |measured - value| <= tolerance. With `interval` it is the whole .95 interval of what was
    measured that has to be there. At most the share `missing` of the runs may have no number.
    `basis` tells where the sentence stands in the paper, or that the figure is ours, and why the
    value and the tolerance are what they are.
    """

    text: str
    quantity: Quantity
    compare: Literal[">=", "<=", "~"]
    value: float
    tolerance: float = 0.0
    against: Quantity | None = None
    relation: Literal["difference", "ratio"] | None = None
    sizes: tuple[str, ...] = SIZES
    reason: str = ""
    missing: float = 0.0
    interval: bool = False
    basis: str = ""

    def confirmed(self, measured: float) -> bool:
        """Whether a measured number bears the claim out; NaN never does.

        >>> Claim("", Quantity("risk"), "~", 1.0, tolerance=0.1).confirmed(1.05)
        True
        """
        if self.compare == "~":
            return abs(measured - self.value) <= self.tolerance
        if self.compare == ">=":
            return measured >= self.value - self.tolerance
        return measured <= self.value + self.tolerance


@final
@dataclass(frozen=True, slots=True)
class SweepTable:
    """`[sweep]`: scalar observables that stand in the table of results, and whether the statistics
    of groups leave out the runs that did not fit (train_error > 0 at the end).
    """

    columns: tuple[str, ...] = COLUMNS
    exclude_unfit: bool = False


def parse_sweep(table: Any, where: str) -> SweepTable:
    """The `[sweep]` table; InputError for unknown keys and wrong values."""
    _check(table, ("columns", "exclude_unfit"), f"{where}: sweep")
    columns = table.get("columns", list(COLUMNS))
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise InputError(f"{where}: sweep.columns must be a list of names of observables.")
    flag = _flag(table.get("exclude_unfit", False), f"{where}: sweep.exclude_unfit")
    return SweepTable(tuple(columns), flag)


def parse_claims(entries: Any, where: str) -> tuple[Claim, ...]:
    """The claims of a study; InputError for unknown keys and wrong values."""
    if not isinstance(entries, list) or len(entries) > MOST_CLAIMS:
        raise InputError(f"{where}: claims must be at most {MOST_CLAIMS} tables [[claims]].")
    return tuple(_claim(entry, f"{where}: claim {k}") for k, entry in enumerate(entries, 1))


_QUANTITY = ("measure", "where", "at", "over", "exclude_unfit", "options")
_CLAIM = (
    "text",
    *_QUANTITY,
    "compare",
    "value",
    "tolerance",
    "against",
    "relation",
    "sizes",
    "reason",
    "missing",
    "interval",
    "basis",
)


def _claim(entry: Any, where: str) -> Claim:
    _check(entry, _CLAIM, where)
    for key in ("text", "measure", "compare", "value"):
        if key not in entry:
            raise InputError(f"{where}: {key} is missing.")
    against, relation = entry.get("against"), entry.get("relation")
    if (against is None) != (relation is None):
        raise InputError(f"{where}: against and relation (difference, ratio) go together.")
    second = None
    if against is not None:
        _check(against, _QUANTITY, f"{where}: against")
        second = _quantity({k: entry[k] for k in _QUANTITY if k in entry} | against, where)
    sizes = entry.get("sizes", list(SIZES))
    if not isinstance(sizes, list) or not all(size in SIZES for size in sizes):
        raise InputError(f"{where}: sizes must be a list of quick and paper, or empty.")
    reason = _text(entry.get("reason", ""), f"{where}: reason")
    if len(sizes) < len(SIZES) and not reason:
        raise InputError(f"{where}: a claim for some sizes needs the reason why not at the others.")
    tolerance = _number(entry.get("tolerance", 0.0), f"{where}: tolerance")
    if tolerance < 0.0:
        raise InputError(f"{where}: tolerance must be zero or more.")
    missing = _number(entry.get("missing", 0.0), f"{where}: missing")
    if not 0.0 <= missing < 1.0:
        raise InputError(f"{where}: missing is a share of the runs, at least 0 and below 1.")
    return Claim(
        text=_text(entry["text"], f"{where}: text"),
        quantity=_quantity(entry, where),
        compare=_choice(entry["compare"], COMPARE, f"{where}: compare"),
        value=_number(entry["value"], f"{where}: value"),
        tolerance=tolerance,
        against=second,
        relation=None if relation is None else _choice(relation, RELATIONS, f"{where}: relation"),
        sizes=tuple(sizes),
        reason=reason,
        missing=missing,
        interval=_flag(entry.get("interval", False), f"{where}: interval"),
        basis=_text(entry.get("basis", ""), f"{where}: basis"),
    )


def _quantity(entry: Mapping[str, Any], where: str) -> Quantity:
    kept, options = entry.get("where", {}), entry.get("options", {})
    if not isinstance(kept, dict):
        raise InputError(f'{where}: where must be a table such as {{ "network.m" = 16 }}.')
    if not isinstance(options, dict):
        raise InputError(f"{where}: options must be a table.")
    moment = entry.get("at")
    return Quantity(
        measure=_text(entry["measure"], f"{where}: measure"),
        where=tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in kept.items()),
        at=None if moment is None else _number(moment, f"{where}: at"),
        over=_choice(entry.get("over", "mean"), OVER, f"{where}: over"),
        exclude_unfit=_flag(entry.get("exclude_unfit", False), f"{where}: exclude_unfit"),
        options=dict(options),
    )


def _check(table: Any, allowed: tuple[str, ...], where: str) -> None:
    if not isinstance(table, dict):
        raise InputError(f"{where} must be a table.")
    for key in table:
        if key not in allowed:
            raise InputError(f"{where}: {key} does not exist; {did_you_mean(key, allowed)}")


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} must be text in quotes.")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{where} must be a number.")
    return float(value)


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{where} must be true or false.")
    return value


def _choice(value: Any, choices: tuple[str, ...], where: str) -> Any:
    if value not in choices:
        raise InputError(f"{where} = {value!r}; allowed: {', '.join(choices)}.")
    return value
