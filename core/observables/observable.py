"""An observable: a named pure function of a run and a frame, memoised in the run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from core.runs import Run

Array = NDArray[np.float64]
T = TypeVar("T")
HOMOGENEOUS = (
    "divided by |W|^L: |W|^2 = |a|^2 + |V|_F^2 for the standard and bias networks, |a|^2 + |b|^2 "
    "for the scalar and normalised ones and the head, |V| (L = 1) for a fixed outer layer, "
    "|a| |c| for batch norm, sum_j |theta_j|^3 (L = 3) for quadratic networks; for recorded ones "
    "the norm of what is trained, of the power L that f has in it"
)
MEAN = "with 1/n"
SHARE = "share"  # of something: from 0 to 1
PLAIN = "none, at the physical scale of the parameters"
MEMO_BYTES = 64 * 2**20  # arrays per frame are kept only while a whole run of them fits in this


@final
class Shape(Enum):
    """What an observable has one number of."""

    SCALAR = "one number a frame"
    NODE = "one number a node, in node order"
    POINT = "one number an example, in data order"


def everywhere(run: Run) -> bool:
    """For observables that every run has, if only as NaN."""
    return True


def has_labels(run: Run) -> bool:
    """For margins and errors: they are of labels, and not of real targets."""
    return not run.dataset.real


LABELLED = "labels, and no real targets"


@final
@dataclass(frozen=True, slots=True)
class Landmark:
    """A value that an observable's curve is compared with, drawn as a dashed line beside it.

    `label` names it on the screen, `tex` in figures, and `tip` tells what it is.
    """

    value: float
    label: str
    tex: str
    tip: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Observable:
    """A quantity of one frame. `formula` uses the symbols of the papers; `unit` may be empty.

    `tex` is the formula in the part of TeX that matplotlib's mathtext knows, without dollar signs;
    `normalisation` what the number is divided by, empty where by nothing.

    `costly`: a frame takes a decomposition, a sample, or an optimisation, so that a table of all
    frames may take long.

    `on_request`: it is in tables and among last values only where it is named.

    `applies` says for which runs it exists, and `where` says it in words; tables leave the others
    out. At a run that it does not apply to its value is NaN, or not defined. No value is infinite:
    it is NaN where the number is beyond float64 (its logarithm is an observable of its own where
    that happens at times that runs reach), or is the logarithm of 0.

    `landmark` is what its values in a run are compared with, if anything. `error` bounds how far
    values may be off that are searched for and not worked out; None where rounding is all.
    """

    name: str
    title: str
    formula: str
    source: str
    function: Callable[[Run, int], Any]
    shape: Shape = Shape.SCALAR
    unit: str = ""
    applies: Callable[[Run], bool] = everywhere
    where: str = ""
    tex: str = ""
    normalisation: str = ""
    costly: bool = False
    on_request: bool = False
    landmark: Callable[[Run], Landmark | None] | None = None
    error: Callable[[Run, int], float] | None = None

    def at(self, run: Run, index: int) -> Any:
        """The value at a frame: a float, or an array (m,) or (n,)."""
        return _kept(run, self.name, index, self._finite)

    def _finite(self, run: Run, index: int) -> Any:
        # Weights of a run that diverges have squares beyond float64: such a value is infinite.
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.function(run, index)
        if isinstance(value, np.ndarray):
            return np.where(np.isinf(value), np.nan, value) if np.isinf(value).any() else value
        return float("nan") if math.isinf(value) else value

    def trace(self, run: Run, between: Callable[[], None] | None = None) -> Array:
        """The values at all committed frames, (T,) or (T, m) or (T, n). `between` is called before
        each, and may wait, or end it by an exception."""
        values = []
        for index in range(run.frames):
            if between is not None:
                between()
            values.append(self.at(run, index))
        return np.array(values, dtype=np.float64)


def _kept(run: Run, name: object, index: int, function: Callable[[Run, int], Any]) -> Any:
    """function(run, index), kept in the run when small enough."""
    key = (name, index)
    if key in run.memo:
        return run.memo[key]
    value = function(run, index)
    size = value.nbytes if isinstance(value, np.ndarray) else 8
    if size * max(run.planned, 1) <= MEMO_BYTES:
        run.memo[key] = value
    return value


def memoised(function: Callable[[Run, int], T]) -> Callable[[Run, int], T]:
    """A function of a frame, its values kept in the run when small enough."""

    @wraps(function)
    def at(run: Run, index: int) -> T:
        value: T = _kept(run, function, index, function)
        return value

    return at


def once(function: Callable[[Run], T]) -> Callable[[Run], T]:
    """A property of the whole run, made once and kept in it."""

    @wraps(function)
    def of(run: Run) -> T:
        if function not in run.memo:
            run.memo[function] = function(run)
        value: T = run.memo[function]
        return value

    return of
