"""Runs of a study in a folder, and the numbers that the formulas of a layout stand for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, did_you_mean
from core.observables.observable import Shape
from core.observables.registry import OBSERVABLES
from core.reference.cancel_token import CancelToken
from core.reference.registry import REFERENCES, compute
from core.runs import Run, open_run
from core.studies.formulas import ABSENT, FACTOR, FUNCTIONS, SYMBOLS, VARIANT, evaluate
from core.studies.moments import START, Moment, ValueRequest, names_of, observables_of, split
from core.studies.statistics import SEEDS
from core.studies.study import Study
from core.studies.tables import Cell, flatten_sections, value_text
from core.study_file.experiment import Experiment

Array = NDArray[np.float64]
NAN = float("nan")
MARGIN_SECONDS = 20.0  # limit for a reference margin; then the bracket found so far is used


@final
@dataclass(frozen=True, eq=False)
class RecordedValues:
    """Content of a run file: log10 t and steps of its frames, each (T,).

    `at` gives an observable at a frame. `run` is open, for panels that show data and functions.
    """

    log10_times: Array
    steps: NDArray[np.int64]
    at: Callable[[str, int], float]
    activation: Any = None
    run: Run | None = None


@final
@dataclass(frozen=True, eq=False)
class StudyCell:
    """One run of a study: its settings by dotted key, its factors and its variant.

    `recorded` opens the run's file when a value is needed that `known` does not have. `known` has
    values of observables by the names of core.studies.moments, as in a sweep's table.
    """

    settings: Mapping[str, Any]
    recorded: Callable[[], RecordedValues]
    name: str = ""
    known: Mapping[str, float] = field(default_factory=dict)
    memo: dict[tuple[str, int | Moment], float] = field(default_factory=dict)

    @cached_property
    def record(self) -> RecordedValues:
        """Content of the run file, read once."""
        return self.recorded()

    def value_at(self, formula: str, moment: Moment) -> float:
        """Return the value of a formula at a moment; NaN where the run has no such frame."""
        key = (formula, moment)
        if key not in self.memo:
            answer = self.known_value(formula, moment)
            if answer is None:
                frame = moment.frame(self.record.log10_times, self.record.steps)
                answer = NAN if frame is None else self.value(formula, frame)
            self.memo[key] = answer
        return self.memo[key]

    def known_value(self, formula: str, moment: Moment) -> float | None:
        """Return a formula at a moment from `symbols`; None if only the run file has it."""
        symbols = dict(self.symbols)
        for name in observables_of(formula):
            observable, at_start = split(name)
            answer = self.known.get(ValueRequest(observable, START if at_start else moment).key)
            if answer is None:
                return None
            symbols[name] = answer
        # Sizes left to the data or to a default are known from the file only.
        if names_of(formula) - symbols.keys() - set(FUNCTIONS):
            return None
        return _evaluate(formula, symbols)

    @property
    def seeds(self) -> tuple[Any, ...]:
        """Seeds, which distinguish repetitions of a setting."""
        return tuple(self.settings.get(key) for key in SEEDS)

    def setting(self, formula: str) -> Any:
        """Return a setting, the variant, or a formula over d, n, m, k and factors.

        A setting is given by its dotted key. Raises InputError for names that the cell does not
        have.
        """
        if formula in self.settings:
            return self.settings[formula]
        if "." in formula and " " not in formula and formula.split(".")[0].isalpha():
            raise InputError(f"{formula} is not a setting of these runs; write one such as data.d.")
        return evaluate(formula, self.symbols)

    @cached_property
    def symbols(self) -> Mapping[str, float]:
        """d, n, m, k, and factors by their names."""
        settings = {s: self.settings.get(".".join(parts)) for s, parts in SYMBOLS.items()}
        for key, value in self.settings.items():
            if key.startswith(f"{FACTOR}."):
                settings[key.removeprefix(f"{FACTOR}.")] = value
        symbols = {name: float(value) for name, value in settings.items() if value is not None}
        return {**ABSENT, **symbols}

    def value(self, formula: str, frame: int) -> float:
        """Return a formula over observables and symbols at a frame; NaN where undefined.

        NAME_0 is an observable at t = 0. Raises InputError for names that do not exist.
        """
        key = (formula, frame)
        if key not in self.memo:
            self.memo[key] = self._value(formula, frame)
        return self.memo[key]

    def _value(self, formula: str, frame: int) -> float:
        symbols = dict(self.symbols)
        for name in observables_of(formula):
            observable, at_start = split(name)
            symbols[name] = self.record.at(observable, 0 if at_start else frame)
        return _evaluate(formula, symbols)


def _evaluate(formula: str, symbols: Mapping[str, float]) -> float:
    """Evaluate a formula of known names; NaN where it is not defined."""
    # Before the formula: min and max may skip a NaN, depending on the order.
    if not all(math.isfinite(value) for value in symbols.values()):
        return NAN
    try:
        return evaluate(formula, symbols)
    except InputError:
        if names_of(formula) - symbols.keys() - set(FUNCTIONS):
            raise
        return NAN


def check_formula(formula: str, symbols: Iterable[str] = tuple(SYMBOLS)) -> None:
    """Raise InputError for a formula that names neither a scalar observable nor a symbol."""
    for name in sorted(names_of(formula)):
        observable, _ = split(name)
        if observable in OBSERVABLES:
            if OBSERVABLES[observable].shape is not Shape.SCALAR:
                raise InputError(f"{formula}: {name} has more than one number a frame.")
        elif name not in (*symbols, *FUNCTIONS, *REFERENCES):
            scalars = [k for k, o in OBSERVABLES.items() if o.shape is Shape.SCALAR]
            hint = did_you_mean(name, [*scalars, *REFERENCES])
            raise InputError(f"{formula}: {name} is not known; {hint}")


# -------------------------------------------------------------------------------------- reading


def runs_of(study_id: str, folder: Path) -> list[Path]:
    """Return the run files of a study in a folder, sorted by name."""
    paths = sorted(folder.glob("*.msrun"))
    return [p for p in paths if p.stem == study_id or p.stem.startswith(f"{study_id}__")]


def studies_in(folder: Path, ids: Sequence[str]) -> list[str]:
    """Return the ids, in their order, with which some run file of the folder begins."""
    stems = {path.stem.split("__")[0] for path in folder.glob("*.msrun")}
    return [name for name in ids if name in stems]


def settings_of(experiment: Experiment) -> dict[str, Any]:
    """Return the settings of an experiment: dotted key -> value."""
    return flatten_sections(experiment.model_dump(mode="json"))


def cell_of(run: Run, study: Study) -> StudyCell:
    """Return a run as a cell; factors and variant are read from the file's name."""
    settings = settings_of(run.experiment)
    # Factors belong to no section: only the file name records them.
    for part in run.path.stem.split("__")[1:]:
        key, _, text = part.partition("=")
        # The exact value from the study: the name has six digits.
        if key.startswith(f"{FACTOR}."):
            values = [value for value in study.axes.get(key, ()) if value_text(value) == text]
            settings[key] = values[0] if values else _factor(run, key, text)
        elif key == VARIANT:
            settings[key] = next((v for v in study.variants if value_text(v) == text), text)
    record = recorded_of(run)
    return StudyCell(settings, lambda: record, run.path.stem)


def _factor(run: Run, key: str, text: str) -> float:
    """Return the factor in a file's name. Raises InputError unless it is a number."""
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"its name says {key} = {text[:40]}, which is not a number",
            where=run.path,
            remedy="rename the file, or move it elsewhere",
        ) from None


def recorded_of(run: Run) -> RecordedValues:
    """Return the content of an open run."""
    frames, margins = run.frames, dict[str, float]()

    # Reference margins depend on the data only: the same at every frame.
    def at(name: str, frame: int) -> float:
        if name not in REFERENCES:
            return float(OBSERVABLES[name].value_at(run, frame))
        if name not in margins:
            margins[name] = margin_of(run, name, CancelToken(MARGIN_SECONDS))
        return margins[name]

    activation = getattr(run.network, "activation", None)
    times, steps = np.array(run.log10_time[:frames]), np.array(run.steps[:frames])
    return RecordedValues(times, steps, at, activation, run)


def cell_by_row(
    cell: Cell,
    path: Path,
    known_values: Mapping[str, float],
    study: Study,
    register: Callable[[Run], Run],
) -> StudyCell:
    """Return a cell of the grid from its row; its file is opened when a value needs it.

    Parameters
    ----------
    cell : Cell
        Its experiment has the settings; defaults that the run resolved itself may be None.
    path : Path
        Run file.
    known_values : mapping of str to float
        Values of the row, by the names of core.studies.moments.
    study : Study
        Study of the cell.
    register : callable
        Takes the opened run, and closes it later.

    Returns
    -------
    StudyCell
    """

    def recorded() -> RecordedValues:
        return cell_of(register(open_run(path)), study).record

    settings = settings_of(cell.experiment) | dict(cell.values)
    return StudyCell(settings, recorded, path.stem, known_values)


def margin_of(run: Run, name: str, watch: CancelToken) -> float:
    """Return the number to quote of a reference margin of a run's data and start.

    Parameters
    ----------
    run : Run
        Open run.
    name : str
        Name in REFERENCES.
    watch : CancelToken
        Limit of the computation, which returns its bracket then.

    Returns
    -------
    float
        NaN where the margin is not defined, or has no number.
    """
    reference = REFERENCES[name]
    if not reference.applies(run.problem):
        return NAN
    return compute(reference, run.problem, watch).bracket.value


def open_cell(path: Path, study: Study, register: Callable[[Run], Run]) -> StudyCell | None:
    """Open a run file as a cell of its study.

    Parameters
    ----------
    path : Path
        Run file.
    study : Study
        Study of the run.
    register : callable
        Takes the opened run, and closes it later.

    Returns
    -------
    StudyCell or None
        None for a run without frames.
    """
    run = register(open_run(path))
    return cell_of(run, study) if run.frames else None
