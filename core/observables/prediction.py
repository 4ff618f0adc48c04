"""Predictions: curves that theory gives for an observable of a run, from its problem and start.

A prediction registers further observables: its own values, the ends of its band, and the residual,
so that tables, studies, figures and views know them as any other (docs/decisions/0057).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.observables.observable import Observable
from core.runs import Run

Array = NDArray[np.float64]
RESIDUAL = "_residual"
ENDS = ("_low", "_high")
TITLES = ("", ", lower end", ", upper end")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Curve of the observable `of` over time, with an optional band.

    `function` returns the values (T,) at times t (T,) of a run; `band` their lower and upper ends,
    (2, T). Both read the problem and the start of the run, and none of its later frames. `suits`
    says, without any computation, if the run is of the sort that the prediction is about, and
    `condition` returns a sentence on why the prediction does not apply to such a run, or "".
    `where` describes runs that suit. `label` names the curve in views and figures.
    """

    name: str
    of: str
    label: str
    title: str
    formula: str
    source: str
    function: Callable[[Run, Array], Array]
    suits: Callable[[Run], bool]
    condition: Callable[[Run], str]
    where: str
    tex: str = ""
    band: Callable[[Run, Array], Array] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the values and, with a band, of its ends."""
        return (self.name, *(f"{self.name}{end}" for end in ENDS if self.band is not None))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all observables of the prediction: columns, and the residual."""
        return (*self.columns, f"{self.name}{RESIDUAL}")

    def make_observables(self, observable: Observable) -> tuple[Observable, ...]:
        """Return columns of tables: the prediction, the ends of its band if any, the residual."""
        make = partial(
            Observable,
            source=self.source,
            unit=observable.unit,
            applies=self.applies,
            where=self.where,
            normalisation=observable.normalisation,
        )
        values = [
            make(name, title, self.formula, function=partial(self._value, row), tex=self.tex)
            for row, (name, title) in enumerate(
                zip(self.columns, (self.title + end for end in TITLES), strict=False)
            )
        ]
        return (
            *values,
            make(
                self.names[-1],
                f"residual of {self.title}",
                f"{self.of} - {self.name}",
                function=partial(self._residual, observable),
                tex=f"{observable.tex}-{self.tex}" if observable.tex and self.tex else "",
            ),
        )

    def refusal(self, run: Run) -> str:
        """Return a sentence on why the prediction does not apply to a run; empty if it does."""
        key = (Prediction, self.name)
        if key not in run.memo:
            sentence = f"the prediction {self.name} holds for {self.where}"
            if self.suits(run):
                sentence = "" if run.whole_run.complete else "the run has no frame at t = 0"
                sentence = sentence or self.condition(run)
            run.memo[key] = sentence
        return str(run.memo[key])

    def known_refusal(self, run: Run) -> str:
        """Return `refusal` if it was computed before, else ""."""
        return str(run.memo.get((Prediction, self.name), ""))

    def applies(self, run: Run) -> bool:
        """Return True if the prediction applies to a run."""
        return self.suits(run) and not self.refusal(run)

    def _value(self, row: int, run: Run, index: int) -> float:
        """Return the prediction (row 0) or an end of its band at a frame; NaN without one."""
        if not self.applies(run):
            return float("nan")
        t = np.asarray(run.t[index : index + 1], dtype=np.float64)
        if row:
            assert self.band is not None
            return float(self.band(run, t)[row - 1, 0])
        return float(self.function(run, t)[0])

    def _residual(self, observable: Observable, run: Run, index: int) -> float:
        return float(observable.value_at(run, index)) - self._value(0, run, index)


@final
@dataclass(frozen=True, slots=True, eq=False)
class PredictedCurve:
    """Prediction at the frames of a run: t, values and residual, each (T,); band (2, T) or None.

    `residual` is the measured value minus the predicted one, NaN where either is unknown. The band
    holds the lower ends, then the upper ones.
    """

    prediction: Prediction
    t: Array
    values: Array
    residual: Array
    band: Array | None = None

    @property
    def largest(self) -> float:
        """Largest |residual| of all frames; NaN residuals are left out, and none gives 0."""
        return float(np.nanmax(np.abs(self.residual), initial=0.0))

    @property
    def last(self) -> float:
        """Measured minus predicted value at the last frame."""
        return float(self.residual[-1])
