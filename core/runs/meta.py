"""The table `meta` as one checked value, and the lineage of a run among its rows.

Both may come from an untrusted file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from core.dynamics.solver_state import STATE_VERSION
from core.numbers import time_text
from core.problem.problem import Problem
from core.run_files.meta import Description, printable
from core.run_files.schema import (
    MAX_EVENTS,
    MAX_LOG10_TIME,
    MAX_METRICS,
    MAX_NAME,
    MAX_RHO,
    MIN_LOG10_TIME,
    MIN_RHO,
    OPTIMIZER_KEY,
)
from core.settings import MAX_ELEMENTS, MAX_FRAMES
from core.study_file.words import setting_words

# ------------------------------------------------------------------------------------------ lineage

LONGEST, MOST_CHANGES, MOST_HEADED = 200, 40, 3
Changes = Mapping[str, tuple[Any, Any]]  # (before, now) by dotted keys, None for a missing one


@final
@dataclass(frozen=True, slots=True)
class Lineage:
    """Parent of a run: its file, its random name ("" if it has none), and the frame.

    `log10_time` is that of the frame: -inf at t = 0, NaN if the file does not have it. `changes`
    lists the changes of a branch; it is empty for a continued run.
    """

    file: str
    run: str
    frame: int
    log10_time: float
    changes: str

    @property
    def moment(self) -> str:
        """Moment of the frame, in a few letters."""
        is_known = not math.isnan(self.log10_time)
        return time_text(self.log10_time) if is_known else f"frame {self.frame}"

    @property
    def heading(self) -> str:
        """Changes and their moment, as the heading of a branch; empty for other runs."""
        parts = []
        for change in self.changes.split(", ") if self.changes else ():
            key, _, value = change.partition(" = ")
            parts.append(setting_words(key, value))
        ellipsis = ["..."] if len(parts) > MOST_HEADED else []
        return f"{', '.join([*parts[:MOST_HEADED], *ellipsis])} from {self.moment}" if parts else ""

    @property
    def words(self) -> str:
        """Lineage as a phrase."""
        if not self.changes:
            return f"continued from {self.file} at {self.moment}"
        return f"branched from {self.file} at {self.moment}: {self.changes}"


def lineage_of(continues: Mapping[str, Any] | None) -> Lineage | None:
    """Return the lineage in `meta.start.continues`; None for a run without parent.

    >>> told = {"file": "a.msrun", "frame": 3, "log10_time": 2.5, "changes": {"loss.l2": [0, 1]}}
    >>> lineage_of(told).words
    'branched from a.msrun at t = 316: loss.l2 = 1'
    >>> lineage_of(told).heading
    '\u03bb = 1 from t = 316'
    >>> lineage_of({"file": "a.msrun", "frame": 3}).words
    'continued from a.msrun at frame 3'
    """
    if continues is None:
        return None
    frame, time = continues.get("frame"), continues.get("log10_time", math.nan)
    if time is None:  # JSON has no -inf
        time = -math.inf
    real = isinstance(time, int | float) and type(time) is not bool
    if not real or not (time == -math.inf or MIN_LOG10_TIME <= time <= MAX_LOG10_TIME):
        time = math.nan
    return Lineage(
        _text(continues.get("file"), LONGEST),
        _text(continues.get("run"), MAX_NAME),
        frame if type(frame) is int and frame >= 0 else 0,
        float(time),
        _changes(continues.get("changes")),
    )


def _text(value: object, longest: int) -> str:
    # Control characters would act on a reader's terminal.
    return printable(value)[:longest].replace("\n", " ") if isinstance(value, str) else ""


def _changes(value: object) -> str:
    if not isinstance(value, Mapping) or len(value) > MOST_CHANGES:
        return ""
    pairs = {key: pair for key, pair in value.items() if isinstance(pair, list) and len(pair) == 2}
    words = changes_text({key: (before, now) for key, (before, now) in pairs.items()})
    return _text(words, 4 * LONGEST)


def changes_text(changes: Changes) -> str:
    """Return changes as text for users.

    >>> changes_text({"dynamics.step": (0.5, 0.25), "loss.kind": ("exponential", "logistic")})
    'dynamics.step = 0.25, loss.kind = logistic'
    >>> changes_text({"data.points": ([[0.5, 1], [1, -1]], [[0.5, -1], [1, 1]])})
    'data.points = 2 rows'
    """
    return ", ".join(f"{key} = {_short(now)}" for key, (_, now) in changes.items())


def _short(value: object) -> str:
    """Return a value as text of at most 40 characters; rows as their number."""
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple):
        return f"{len(value)} rows"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 40 else f"{text[:40]} ..."


# ---------------------------------------------------------------------------------------- the table

MOST_DIGITS = 20  # of an integer: 64-bit ones have 19 digits and a sign
Status = Literal["recording", "finished"]
Reason = Literal["completed", "cancelled", "diverged", "failed", "disk_full"]


def _checked_key(key: str) -> str:
    if OPTIMIZER_KEY.fullmatch(key) is None:
        raise ValueError("optimizer has a setting with a name that is not allowed")
    return key


OptimizerKey = Annotated[str, AfterValidator(_checked_key)]
Plain = bool | int | float | Annotated[str, Field(max_length=100)]
PlainList = Annotated[list[Plain | None], Field(max_length=64)]
OptimizerValue = Plain | Annotated[list[Plain | PlainList | None], Field(max_length=64)]


class Value(BaseModel):
    """Frozen part of meta: types exactly as declared, no NaN, unknown keys left out."""

    # Ignore unknown keys: a newer program may have written more.
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, allow_inf_nan=False)


@final
class Sizes(Value):
    """n examples of dimension d, m neurons, k outputs; n d and m d are at most 5e7."""

    n: int = Field(ge=1, le=MAX_ELEMENTS)
    d: int = Field(ge=1, le=MAX_ELEMENTS)
    m: int = Field(ge=1, le=MAX_ELEMENTS)
    k: int = Field(1, ge=1, le=10_000)


@final
class StartMeta(Value):
    """Start of the run; `log10_time` is None at t = 0, as JSON has no -inf."""

    rho: float = Field(0.0, ge=MIN_RHO, le=MAX_RHO)
    step: int = Field(0, ge=0, le=2**63 - 1)
    log10_time: float | None = Field(None, ge=MIN_LOG10_TIME, le=MAX_LOG10_TIME)
    continues: dict[str, Any] | None = None


@final
class Counts(Value):
    """Numbers of rows in the growing tables when the run ended."""

    frame: int = Field(ge=0, le=MAX_FRAMES)
    metric: int = Field(ge=0, le=MAX_FRAMES * MAX_METRICS)
    event: int = Field(ge=0, le=MAX_EVENTS)


@final
class RunEnd(Value):
    """Values of `meta` that change when a run ends; `counts` are missing in older files."""

    status: Status
    reason: Reason | None = None
    counts: Counts | None = None


@final
class Meta(Value):
    """All keys of `meta` that a reader needs; only keys with a default may be missing."""

    program: str = Field(max_length=100)
    created: str = Field(max_length=40)
    engine: str = Field(max_length=200)
    dtype: Literal["float64", "float32"]
    layout: list[list[Any]] = Field(max_length=16)
    network: str = Field(max_length=100)
    sizes: Sizes
    experiment: dict[str, dict[str, Any]]
    title: str = ""
    source: str = ""
    planned: int = Field(ge=0, le=MAX_FRAMES)
    temperature_cap: float | None = Field(None, gt=0)
    start: StartMeta
    state: int = Field(0, ge=0, le=2**31)  # version of the solver states; 0 without states
    status: Status
    reason: Reason | None = None
    counts: Counts | None = None
    name: str = Field("", max_length=64)
    recorded: bool = False  # recorded from another program's training loop: see marginscope.record
    # Settings reported by the loop's optimizer, for information only.
    optimizer: dict[OptimizerKey, OptimizerValue] = Field({}, max_length=64)
    # Factors of a recorded loop's outputs and loss, which the frames already include.
    loop: dict[Literal["scale", "loss_factor"], float] = Field({}, max_length=2)
    wal: int | None = Field(None, ge=0, lt=2**32)


def parse_json(text: str) -> Any:
    """Parse JSON; raise ValueError for NaN, lone surrogates and too deep nesting too."""
    try:
        # Python would accept NaN and Infinity, which are invalid JSON, and parse long integers in
        # quadratic time.
        value = json.loads(text, parse_constant=_no_constant, parse_int=_integer)
        # An unpaired surrogate fails here, not later.
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"it holds a number of {len(digits)} digits")
    return int(digits)


def _no_constant(name: str) -> Any:
    raise ValueError(f"it holds {name}")


def meta_of(
    problem: Problem, engine: str, planned: int, temperature_cap: float | None
) -> Description:
    """Return the description of a problem at the start of a recording.

    Parameters
    ----------
    problem : Problem
        Problem to be run.
    engine : str
        Engine in words.
    planned : int
        Number of frames on the schedule, frame 0 included.
    temperature_cap : float or None
        Cap of the flow's dual weights.

    Returns
    -------
    Description
    """
    network, start, data = problem.network, problem.start, problem.dataset
    return Description(
        engine=engine,
        dtype=problem.experiment.run.precision,
        layout=tuple((block.name, block.shape) for block in network.layout),
        network=network.kind,
        sizes={"n": data.n, "d": data.d, "m": network.m, "k": network.k},
        experiment=problem.experiment.to_file_values(),
        planned=planned,
        title=problem.title,
        source=problem.source,
        temperature_cap=temperature_cap,
        rho=float(start.rho),
        step=int(start.step),
        log10_time=float(start.log10_time),
        continues=start.continues,
        state=STATE_VERSION,
    )
