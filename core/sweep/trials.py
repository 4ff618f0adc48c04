"""The cells of a study as claims see them: settings at hand, run files opened only when asked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.figures.study_cells import Recorded, StudyCell, cell_of, check_formula, settings_of
from core.figures.study_values import same
from core.runs import Run, open_run
from core.study import Cell, Study
from core.study_claims import Quantity
from core.sweep.cell import Row

Array = NDArray[np.float64]
MARGIN = "margin:"


def _nothing() -> Recorded:
    raise AssertionError("a trial opens its file itself")


@final
class Trial:
    """A finished cell: its settings (axes, factors, variant), row and run file."""

    def __init__(self, study: Study, cell: Cell, row: Row, path: Path) -> None:
        self.row, self.path = row, path
        self._study = study
        self._cell = StudyCell(settings_of(cell.experiment) | dict(cell.values), _nothing)
        self._known: dict[tuple[str, float | None], float] = {}

    @property
    def seeds(self) -> tuple[Any, ...]:
        """What tells repetitions of a setting apart."""
        return self._cell.seeds

    @property
    def fit(self) -> bool:
        """Whether the run ends without training errors."""
        return self.value("train_error", None) == 0.0

    def setting(self, formula: str) -> Any:
        """A setting, the variant, or a formula over d, n, m, k and factors."""
        return self._cell.setting(formula)

    def value(self, formula: str, at: float | None) -> float:
        """A formula over observables at the frame nearest to log10 t = `at`, or at the last.

        "margin:NAME" is the reference margin of that name; NaN where there is none. Raises
        InputError for names that do not exist.
        """
        key = (formula, at)
        if key not in self._known:
            self._known[key] = self._value(formula, at)
        return self._known[key]

    def nodes(self, name: str, at: float | None) -> Array:
        """An observable of each node, (m,), such as rotation; InputError for other names."""
        with open_run(self.path) as run:
            return _nodes(run, name, at)

    def _value(self, formula: str, at: float | None) -> float:
        if at is None and formula in self.row.values:
            return self.row.values[formula]
        with open_run(self.path) as run:
            if formula.startswith(MARGIN):
                return _margin(run.problem, formula.removeprefix(MARGIN))
            if not run.frames:
                return math.nan
            cell = cell_of(run, self._study)
            check_formula(formula, cell.symbols())
            frame = run.frames - 1 if at is None else cell.frame_at(at)
            return cell.value(formula, frame)


def _nodes(run: Run, name: str, at: float | None) -> Array:
    from core.errors import InputError, did_you_mean
    from core.observables.observable import Shape
    from core.observables.registry import OBSERVABLES, of_shape

    observable = OBSERVABLES.get(name)
    if observable is None or observable.shape is not Shape.NODE:
        hint = did_you_mean(name, [item.name for item in of_shape(Shape.NODE)])
        raise InputError(f"There is no value of each node called {name}; {hint}")
    times = np.maximum(run.log10_time[: run.frames], -1e9)
    frame = run.frames - 1 if at is None else int(np.argmin(np.abs(times - at)))
    return np.asarray(observable.at(run, frame), dtype=np.float64)


def _margin(problem: Any, name: str) -> float:
    from core.errors import InputError, did_you_mean
    from core.reference.registry import REFERENCES, compute
    from core.reference.watch import Watch

    reference = REFERENCES.get(name)
    if reference is None:
        raise InputError(f"There is no margin {name}; {did_you_mean(name, REFERENCES)}")
    if not reference.applies(problem):
        return math.nan
    return compute(reference, problem, Watch()).bracket.value


def trials_of(
    study: Study, rows: Mapping[str, Row], paths: Mapping[str, Path]
) -> tuple[Trial, ...]:
    """The finished cells of a study, in the order of its grid."""
    return tuple(
        Trial(study, cell, rows[cell.name], paths[cell.name])
        for cell in study.cells()
        if cell.name in rows and rows[cell.name].state == "done"
    )


def kept(trials: Sequence[Trial], quantity: Quantity) -> list[Trial]:
    """Those that a quantity is about: `where`, and with exclude_unfit those that fit."""
    found = [trial for trial in trials if _chosen(trial, quantity)]
    return [trial for trial in found if trial.fit] if quantity.exclude_unfit else found


def _chosen(trial: Trial, quantity: Quantity) -> bool:
    for key, wanted in quantity.where:
        allowed = wanted if isinstance(wanted, tuple) else (wanted,)
        if not any(same(trial.setting(key), value) for value in allowed):
            return False
    return True


def grouped(trials: Iterable[Trial], formula: str) -> list[tuple[float, list[Trial]]]:
    """Trials by the number that a setting or formula is for them, in increasing order."""
    groups: dict[float, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(float(trial.setting(formula)), []).append(trial)
    return sorted(groups.items())
