"""Cells of a study as claims see them; run files are opened only when a value needs them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, did_you_mean
from core.observables.observable import Observable, Shape
from core.observables.registry import OBSERVABLES, of_shape
from core.reference.cancel_token import CancelToken
from core.reference.registry import REFERENCES
from core.runs import Run, open_run
from core.studies.cell_table import Row
from core.studies.cells import (
    RecordedValues,
    StudyCell,
    cell_of,
    check_formula,
    margin_of,
    settings_of,
)
from core.studies.claims import Quantity
from core.studies.moments import claim_moment, observables_of, requested_of, values_of
from core.studies.statistics import Key, apart_from_seeds, fits, matches
from core.studies.study import Study
from core.studies.tables import Cell

Array = NDArray[np.float64]
MARGIN = "margin:"
Opened = Callable[[Path], AbstractContextManager[Run]]


def _ignore_run() -> RecordedValues:
    raise AssertionError("a trial opens its file itself")


@final
class Trial:
    """A cell that was run: its settings (axes, factors, variant), row and run file."""

    def __init__(
        self, study: Study, cell: Cell, row: Row, path: Path, opened: Opened | None = None
    ) -> None:
        self.row, self.path = row, path
        self._opened: Opened = opened or open_run
        self._study = study
        self._cell = StudyCell(
            settings_of(cell.experiment) | dict(cell.values), _ignore_run, known=row.all_values
        )
        self._known: dict[tuple[str, float | None], float] = {}
        self._traces: dict[str, Array] = {}

    @property
    def seeds(self) -> tuple[Any, ...]:
        """Seeds, which distinguish repetitions of a setting."""
        return self._cell.seeds

    @property
    def has_failed(self) -> bool:
        """True if the cell ended without a finished run, so that nothing can be measured on it."""
        return self.row.state == "failed"

    @property
    def fit(self) -> bool:
        """True if the run ends without training errors; False also if that is unknown."""
        return fits(self.value("train_error", None)) is True

    @property
    def apart_from_seeds(self) -> Key:
        """All settings except the seeds, which distinguish other cells."""
        return apart_from_seeds(self._cell.settings)

    @cached_property
    def log10_times(self) -> Array:
        """log10 t of each frame, (T,)."""
        with self._opened(self.path) as run:
            return np.array(run.log10_time[: run.frames])

    def trace(self, formula: str) -> Array:
        """Evaluate a formula over observables at every frame.

        Parameters
        ----------
        formula : str
            Formula over scalar observables, symbols and factors.

        Returns
        -------
        array (T,)
            NaN where the formula is not defined.

        Raises
        ------
        InputError
            An unknown name.
        """
        if formula not in self._traces:
            with self._opened(self.path) as run:
                cell = cell_of(run, self._study)
                check_formula(formula, cell.symbols)
                values = [cell.value(formula, frame) for frame in range(run.frames)]
            self._traces[formula] = np.array(values, dtype=np.float64)
        return self._traces[formula]

    def node_trace(self, name: str, reduced: Callable[[Array], float]) -> Array:
        """Reduce an observable of neurons to a number at every frame.

        Parameters
        ----------
        name : str
            Observable of neurons, such as rotation.
        reduced : callable
            Array (m,) to a number.

        Returns
        -------
        array (T,)

        Raises
        ------
        InputError
            No such observable.
        """
        with self._opened(self.path) as run:
            each = _of_nodes(name)
            values = [reduced(np.asarray(each.value_at(run, frame))) for frame in range(run.frames)]
        return np.array(values, dtype=np.float64)

    def setting(self, formula: str) -> Any:
        """Return a setting, the variant, or a formula over d, n, m, k and factors."""
        return self._cell.setting(formula)

    def value(self, formula: str, at: float | None) -> float:
        """Return a formula over observables at the frame nearest to log10 t = `at`, or the last.

        NaN where no frame is near `at`. "margin:NAME" is the reference margin of that name, NaN
        where there is none. Raises InputError for names that do not exist.
        """
        key = (formula, at)
        if key not in self._known:
            self._known[key] = self._value(formula, at)
        return self._known[key]

    def nodes(self, name: str, at: float | None) -> Array:
        """Return an observable of each neuron at the frame nearest to a time.

        Parameters
        ----------
        name : str
            Observable of neurons, such as rotation.
        at : float or None
            log10 t; None for the last frame.

        Returns
        -------
        array (m,)
            A single NaN where no frame is near `at`.

        Raises
        ------
        InputError
            No such observable.
        """
        observable = _of_nodes(name)
        with self._opened(self.path) as run:
            frame = claim_moment(at).frame(run.log10_time[: run.frames], run.steps[: run.frames])
            value = math.nan if frame is None else observable.value_at(run, frame)
        return np.atleast_1d(np.asarray(value, dtype=np.float64))

    def _value(self, formula: str, at: float | None) -> float:
        moment = claim_moment(at)
        if observables_of(formula):
            answer = self._cell.known_value(formula, moment)
            if answer is not None:
                return answer
        with self._opened(self.path) as run:
            if formula.startswith(MARGIN):
                return _margin(run, formula.removeprefix(MARGIN))
            if not run.frames:
                return math.nan
            cell = cell_of(run, self._study)
            check_formula(formula, cell.symbols)
            self._take(run)
            return cell.value_at(formula, moment)

    def _take(self, run: Run) -> None:
        """Read all that the study needs of an open run and its row does not have."""
        # Opening a file takes longest: read everything that the study may need.
        requested = requested_of(self._study)
        known_values = self._cell.known
        if not {one.key for one in requested} <= known_values.keys():
            self._cell = replace(self._cell, known={**known_values, **values_of(run, requested)})


def _of_nodes(name: str) -> Observable:
    """Return the observable of neurons with a name. Raises InputError for others."""
    observable = OBSERVABLES.get(name)
    if observable is None or observable.shape is not Shape.NODE:
        hint = did_you_mean(name, [item.name for item in of_shape(Shape.NODE)])
        raise InputError(f"{name} is not a value of each neuron; {hint}")
    return observable


def _margin(run: Run, name: str) -> float:
    """Return a reference margin of a run. Raises InputError for other names."""
    if name not in REFERENCES:
        raise InputError(f"{name} is not a reference margin; {did_you_mean(name, REFERENCES)}")
    return margin_of(run, name, CancelToken())


def trials_of(
    study: Study, rows: Mapping[str, Row], paths: Mapping[str, Path], opened: Opened | None = None
) -> tuple[Trial, ...]:
    """Return the finished and failed cells of a study, in the order of its grid.

    Parameters
    ----------
    study : Study
        Study of the cells.
    rows : mapping of str to Row
        Rows by the names of the cells.
    paths : mapping of str to Path
        Run files likewise.
    opened : callable, optional
        Opens a run file for a `with` block; `open_run` by default.

    Returns
    -------
    tuple of Trial
    """
    return tuple(
        Trial(study, cell, rows[cell.name], paths[cell.name], opened)
        for cell in study.cells()
        if cell.name in rows and rows[cell.name].state in ("done", "failed")
    )


def select_trials(trials: Sequence[Trial], quantity: Quantity) -> list[Trial]:
    """Return the trials that a quantity is about, by `where` and `exclude_unfit`."""
    matching = [trial for trial in trials if matches(trial, quantity.where)]
    return [trial for trial in matching if trial.fit] if quantity.exclude_unfit else matching
