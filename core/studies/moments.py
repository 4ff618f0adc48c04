"""Values of runs that the figure and the claims of their study need, and their moments.

A sweep writes them into the row of each cell (core.sweep.cell), so that its figure and its verdicts
need not open run files, of which some are hundreds of megabytes long.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from core.observables.observable import Shape
from core.observables.registry import OBSERVABLES
from core.reference.registry import REFERENCES
from core.runs import Run
from core.studies.claims import Quantity
from core.studies.layout import PanelLayout
from core.studies.study import Study

Array = NDArray[np.float64]
NAMES = re.compile(r"(?<![\w.])[A-Za-z_]\w*")  # does not match the e of 1e-3
AT_START = "_0"
# Largest distance in log10 t of a frame from a claim's moment: 12 % of t; later 2 % of log10 t,
# since late frames are spaced geometrically in log10 t.
NEAR, NEAR_LATE = 0.05, 0.02
MOST_REQUESTED = 24  # values per row; others are read from the files
FORMULAS = ("of", "y")  # options of measures that are formulas at a moment


@final
@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of runs: "start", "end", or the frame nearest to `place`.

    `place` is a number of steps ("step") or log10 t ("time"). "near" is the same as "time" within
    .05 or 2 % of `place`, and no frame beyond.
    """

    kind: Literal["start", "end", "step", "time", "near"] = "end"
    place: float = math.nan

    def frame(self, log10_times: Array, steps: NDArray[np.int64]) -> int | None:
        """Return the frame of a run with these times and steps, each (T,); None if it has none.

        >>> times, steps = np.array([-np.inf, 0.0, 1.0]), np.array([0, 10, 100])
        >>> Moment("time", 0.6).frame(times, steps), Moment("near", 0.6).frame(times, steps)
        (2, None)
        """
        count = log10_times.size
        if count == 0:
            return None
        if self.kind in ("start", "end"):
            return 0 if self.kind == "start" else count - 1
        if self.kind == "step":
            return int(np.argmin(np.abs(steps - self.place)))
        # t = 0 has log10 t = -inf, for which differences are undefined.
        distances = np.abs(np.maximum(log10_times, -1e9) - self.place)
        nearest = int(np.argmin(distances))
        far = distances[nearest] > max(NEAR, NEAR_LATE * abs(self.place))
        return None if self.kind == "near" and far else nearest


@final
@dataclass(frozen=True, slots=True)
class ValueRequest:
    """A scalar observable at a moment."""

    observable: str
    moment: Moment

    @property
    def key(self) -> str:
        """Name in rows: NAME at the end, NAME_0 at the start, or as in NAME@step=100.

        >>> moments = (Moment("near", -0.5), Moment("start"))
        >>> tuple(ValueRequest("risk", one).key for one in moments)
        ('risk@near=-0.5', 'risk_0')
        """
        if self.moment.kind == "end":
            return self.observable
        if self.moment.kind == "start":
            return f"{self.observable}{AT_START}"
        return f"{self.observable}@{self.moment.kind}={self.moment.place:.12g}"


START, END = Moment("start"), Moment("end")


@cache
def names_of(formula: str) -> frozenset[str]:
    """Return all names in a formula.

    >>> sorted(names_of("1e-3 * ln(risk) + 2 d"))
    ['d', 'ln', 'risk']
    """
    return frozenset(NAMES.findall(formula))


def split(name: str) -> tuple[str, bool]:
    """Return the observable of a name, and True if its value at t = 0 is meant.

    >>> split("stable_rank_0"), split("risk")
    (('stable_rank', True), ('risk', False))
    """
    is_known = name in OBSERVABLES or name in REFERENCES
    if not is_known and name.endswith(AT_START):
        return name.removesuffix(AT_START), True
    return name, False


def observables_of(formula: str) -> tuple[str, ...]:
    """Return the names of observables, with their _0, and of reference margins in a formula.

    >>> observables_of("stable_rank / stable_rank_0 + n")
    ('stable_rank', 'stable_rank_0')
    """
    names = OBSERVABLES.keys() | REFERENCES.keys()
    return tuple(sorted(name for name in names_of(formula) if split(name)[0] in names))


def requested_in(formula: str, moment: Moment) -> Iterator[ValueRequest]:
    """Yield the scalar observables of a formula at a moment, without reference margins."""
    for name in observables_of(formula):
        observable, at_start = split(name)
        item = OBSERVABLES.get(observable)
        # Margins depend on the data, not on a moment, and have their own cache.
        if item is not None and item.shape is Shape.SCALAR:
            yield ValueRequest(observable, START if at_start else moment)


def moments_of(panel: PanelLayout) -> tuple[Moment, ...]:
    """Return the moment of each line of a panel of the kind sweep, or the end of the runs."""
    listed = [Moment("step", step) for step in panel.steps]
    listed += [Moment("time", time) for time in panel.log10_times]
    return tuple(listed) or (END,)


def claim_moment(at: float | None) -> Moment:
    """Return the moment of a claim: near log10 t = `at`, or the end."""
    return END if at is None else Moment("near", at)


def requested_of(study: Study) -> tuple[ValueRequest, ...]:
    """Return the values at moments that a study's figure and claims need, each once.

    Columns of the study's table are left out, as rows have them. At most MOST_REQUESTED are
    returned; later ones are read from the files.
    """
    requested: dict[ValueRequest, None] = {}
    layout = study.layout()
    for panel in () if layout is None else layout.panels:
        if panel.kind in ("sweep", "crossing"):
            moments = moments_of(panel) if panel.kind == "sweep" else (END,)
            for formula in panel.y:
                requested.update((a, None) for m in moments for a in requested_in(formula, m))
    for claim in study.claims:
        for quantity in (claim, claim.against):
            if quantity is not None:
                requested.update(dict.fromkeys(_requested_by(quantity)))
    columns = study.sweep.columns
    return tuple(one for one in requested if one.key not in columns)[:MOST_REQUESTED]


def _requested_by(quantity: Quantity) -> Iterator[ValueRequest]:
    """Yield the values that the formulas of a quantity need."""
    formulas = [quantity.options.get(name) for name in FORMULAS]
    for formula in formulas if any(formulas) else [quantity.measure]:
        if isinstance(formula, str):
            yield from requested_in(formula, claim_moment(quantity.at))


def values_of(run: Run, requested: tuple[ValueRequest, ...]) -> Mapping[str, float]:
    """Return the requested values of a run by the names of rows; NaN where undefined."""
    times, steps = np.array(run.log10_time[: run.frames]), np.array(run.steps[: run.frames])
    values = {}
    for one in requested:
        frame = one.moment.frame(times, steps)
        value = math.nan if frame is None else OBSERVABLES[one.observable].value_at(run, frame)
        values[one.key] = float(value)
    return values
