"""Observables: named pure functions of a run and a frame, memoised in the run.

Functions of one frame have the signature (run, index): an open run, and the frame's index,
0 <= index < run.frames.
"""

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
    "the norm of the trained parameters to the power L, the degree of f in them"
)
LOOP = "loop."  # name prefix of numbers that a recorded loop passed with its frames
MEAN = "with 1/n"
SHARE = "share"  # a fraction, from 0 to 1
PLAIN = "none, at the physical scale of the parameters"
MEMO_BYTES = 64 * 2**20  # arrays per frame are cached only while a whole run of them fits


@final
class Shape(Enum):
    """Index set of an observable's values."""

    SCALAR = "one number per frame"
    NODE = "one number per neuron, in neuron order"
    POINT = "one number per example, in data order"


def exists_always(run: Run) -> bool:
    """Return True: the observable exists in every run, if only as NaN."""
    return True


def has_labels(run: Run) -> bool:
    """Return True for labels. Margins and errors are undefined for real targets."""
    return not run.dataset.real


LABELLED = "labels, not real targets"


@final
@dataclass(frozen=True, slots=True)
class Landmark:
    """Reference value of an observable, drawn as a dashed line beside its curve.

    `label` is its name on the screen, `tex` its name in figures, `tip` its explanation.
    """

    value: float
    label: str
    tex: str
    tip: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Observable:
    """Quantity of one frame. `formula` uses the symbols of the papers; `unit` may be empty.

    `tex` is the formula in the part of TeX that matplotlib's mathtext knows, without dollar signs.
    `normalisation` is the divisor, empty if the number has none.

    `costly`: each frame takes a decomposition, a sample, or an optimisation, so that a table of all
    frames may take long.

    `on_request`: included in tables and among last values only if named.

    `applies` decides for which runs the observable exists, and `where` describes these runs. Tables
    leave the observable out of other runs, where its value is NaN or undefined. No value is
    infinite: a number beyond float64 and the logarithm of 0 are NaN. (Where runs reach such times,
    the logarithm is an observable of its own.)

    `landmark` returns the reference value of a run, if any. `error` bounds the error of a value
    found by a search; None if rounding is the only error.
    """

    name: str
    title: str
    formula: str
    source: str
    function: Callable[[Run, int], Any]
    shape: Shape = Shape.SCALAR
    unit: str = ""
    applies: Callable[[Run], bool] = exists_always
    where: str = ""
    tex: str = ""
    normalisation: str = ""
    costly: bool = False
    on_request: bool = False
    landmark: Callable[[Run], Landmark | None] | None = None
    error: Callable[[Run, int], float] | None = None

    def value_at(self, run: Run, index: int) -> Any:
        """Return the value at a frame, memoised in the run; infinite values become NaN.

        Parameters
        ----------
        run : Run
            Open run.
        index : int
            Index of the frame, 0 <= index < run.frames.

        Returns
        -------
        float or array (m,) or (n,)
            By `shape`: one number, one number a neuron, or one number an example.
        """
        return _memoised_value(run, self.name, index, self._finite)

    def _finite(self, run: Run, index: int) -> Any:
        # Weights of a diverging run have squares beyond float64: the value is infinite.
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.function(run, index)
        if isinstance(value, np.ndarray):
            return np.where(np.isinf(value), np.nan, value) if np.isinf(value).any() else value
        return float("nan") if math.isinf(value) else value

    def trace(self, run: Run, poll: Callable[[], None] | None = None) -> Array:
        """Return the values at all committed frames.

        Parameters
        ----------
        run : Run
            Open run.
        poll : callable, optional
            Called before each frame. It may wait, or cancel by raising an exception.

        Returns
        -------
        array (T,), (T, m) or (T, n)
            One row a frame; the shape of a row is that of `value_at`.
        """
        values = []
        for index in range(run.frames):
            if poll is not None:
                poll()
            values.append(self.value_at(run, index))
        return np.array(values, dtype=np.float64)


def _memoised_value(run: Run, name: object, index: int, function: Callable[[Run, int], Any]) -> Any:
    """Return function(run, index), memoised in the run if small enough for all its frames."""
    key = (name, index)
    if key in run.memo:
        return run.memo[key]
    value = function(run, index)
    size = value.nbytes if isinstance(value, np.ndarray) else 8
    if size * max(run.planned_frames, 1) <= MEMO_BYTES:
        run.memo[key] = value
    return value


def cached_per_frame(function: Callable[[Run, int], T]) -> Callable[[Run, int], T]:
    """Wrap a function of a frame to memoise values in the run, if small enough for all frames."""

    @wraps(function)
    def at(run: Run, index: int) -> T:
        value: T = _memoised_value(run, function, index, function)
        return value

    return at


def cached_per_run(function: Callable[[Run], T]) -> Callable[[Run], T]:
    """Wrap a function of the whole run to compute its value once, and store it in the run."""

    @wraps(function)
    def of(run: Run) -> T:
        if function not in run.memo:
            run.memo[function] = function(run)
        value: T = run.memo[function]
        return value

    return of
