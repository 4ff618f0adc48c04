"""Objectives of a hunt: a formula over the observables of a run, or the room of a statement.

A formula is one of claims (core.studies.cells): scalar observables, NAME_0 at t = 0, reference
margins, d, n, m, k and factors, as in hard_margin / (gamma_gl / 2). `slack:NAME` is the room that a
statement of the papers leaves at its worst frame, negative if it is violated; `ratio:NAME` the
larger of bound and measured over the smaller, 1 if all of the room is used. Statements are named
as `describe theorems` has them, or by the beginning of that with - for all other signs:
telgarsky22-theorem-3-3-margin.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from core.errors import InputError, did_you_mean
from core.extremes.question import Frames
from core.observables.observable import LABELLED
from core.observables.registry import OBSERVABLES
from core.runs import Run
from core.studies.cells import StudyCell, check_formula, recorded_of, settings_of
from core.studies.formulas import arithmetic, not_a_formula, parse
from core.studies.hunt_kinds import Take
from core.studies.measures.frame_measures import RunMargins
from core.studies.moments import claim_moment, observables_of, split
from core.study_file.experiment import Experiment
from core.theorems.registry import STATEMENTS, applicable_statements
from core.theorems.statement import Context, Statement, Verdict, assess

VALUE, VERDICT, UNFIT = "objective", "verdict", "unfit"  # column names in rows
Kind = Literal["slack", "ratio"]
ROOM = re.compile(r"(slack|ratio)\s*(?::|\(\s*['\"])\s*(.+?)\s*(?:['\"]\s*\))?")
VERDICTS = tuple(Verdict)
NAN = math.nan


@final
@dataclass(frozen=True, slots=True)
class Objective:
    """Number of a run to minimise or maximise.

    Of a formula: its value at log10 t = `at`, at the end, or the least or largest of all frames
    (`take`), counted from the first frame on at which the formula `after` is positive. Of a
    `statement`, by its full name: its room.
    """

    text: str
    least: bool
    take: Take = "last"
    at: float | None = None
    after: str = ""
    statement: str = ""
    kind: Kind = "slack"
    fit: bool = False  # only count runs that end without training errors

    def score(self, value: float) -> float:
        """Return the number that a search minimises: `value` or its negative; +inf for NaN."""
        if math.isnan(value):
            return math.inf
        return value if self.least else -value


@final
@dataclass(frozen=True, slots=True)
class ObjectiveReader:
    """Objective of a study's cell, as a worker gets it.

    `values` are those of the study's axes, in pairs, since a run file has no factors and variants.
    """

    objective: Objective
    values: tuple[tuple[str, Any], ...] = ()

    def __call__(self, run: Run) -> Mapping[str, float]:
        """Return the value under `VALUE`, and a statement's verdict, as an index into VERDICTS.

        The value is NaN for a run without frames, and for one with training errors if the
        objective requires a fit; the latter also has `UNFIT`: 1. Raises InputError for a run that
        the objective is not about.
        """
        if not run.frames:
            return {VALUE: NAN}
        if (
            self.objective.fit
            and float(OBSERVABLES["train_error"].value_at(run, run.frames - 1)) > 0.0
        ):
            return {VALUE: NAN, UNFIT: 1.0}
        if self.objective.statement:
            return _room(run, self.objective)
        return {VALUE: self._formula(run)}

    def _formula(self, run: Run) -> float:
        """Return the value of the formula at the objective's frames; NaN if none is finite.

        Raises InputError for a wrong formula, and for an observable that the run does not have.
        """
        objective, record = self.objective, recorded_of(run)
        cell = StudyCell(settings_of(run.experiment) | dict(self.values), lambda: record)
        for formula in filter(None, (objective.text, objective.after)):
            check_formula(formula, cell.symbols)
            for name in _names_in(formula):
                if not OBSERVABLES[name].applies(run):
                    raise _wrong_runs(formula, name)
        if objective.take == "last":
            return cell.value_at(objective.text, claim_moment(objective.at))
        frames = range(run.frames)
        if objective.after:
            later_frames = (frame for frame in frames if cell.value(objective.after, frame) > 0.0)
            frames = range(next(later_frames, run.frames), run.frames)
        values = np.array([cell.value(objective.text, frame) for frame in frames])
        finite = values[np.isfinite(values)]
        if not finite.size:
            return NAN
        return float(finite.min() if objective.take == "least" else finite.max())


def _names_in(formula: str) -> list[str]:
    """Return the observables that a formula names."""
    return [name for name, _ in map(split, observables_of(formula)) if name in OBSERVABLES]


def _wrong_runs(formula: str, name: str) -> InputError:
    """Return the error for an observable that these runs do not have."""
    return InputError(
        f"{name} is defined for {OBSERVABLES[name].where}, which these runs do not have; choose "
        "another observable, such as risk.",
        where=formula,
    )


def check_labels(objective: Objective, experiments: Iterable[Experiment]) -> None:
    """Raise InputError for a formula about labels if all data have real targets."""
    if objective.statement or not all(one.data.real for one in experiments):
        return
    for formula in filter(None, (objective.text, objective.after)):
        for name in _names_in(formula):
            if OBSERVABLES[name].where == LABELLED:
                raise _wrong_runs(formula, name)


def _room(run: Run, objective: Objective) -> Mapping[str, float]:
    """Return the slack or ratio of a statement at its worst frame, and its verdict.

    The keys are `VALUE`, NaN if the statement is undecided, and `VERDICT`, an index into
    `VERDICTS`. Raises InputError if the statement does not apply to the run.
    """
    statement = STATEMENTS[objective.statement]
    if statement not in applicable_statements(run):
        raise InputError(
            f"{objective.statement} does not apply to this run, but to {statement.where}."
        )
    with np.errstate(all="ignore"):  # late frames overflow
        one = assess(statement, Context(run, RunMargins(run)))
    stated = one.comparison
    value = NAN if stated.holds is None else getattr(stated, objective.kind)
    return {VALUE: float(value), VERDICT: float(VERDICTS.index(one.verdict))}


def verdict_words(number: float) -> str:
    """Return the words of a verdict that a row stores as a number; "" for none."""
    return "" if math.isnan(number) else VERDICTS[int(number)].value


# ------------------------------------------------------------------------------------------ parsing


def slug(text: str) -> str:
    """Return a name with - for all that is no letter or digit.

    >>> slug("telgarsky22, Theorem 3.3 (margin)")
    'telgarsky22-theorem-3-3-margin'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def objective_of(text: str, least: bool, frames: Frames, symbols: Iterable[str]) -> Objective:
    """Parse an objective.

    Parameters
    ----------
    text : str
        Formula, `slack:NAME` or `ratio:NAME`.
    least : bool
        Minimise; else maximise.
    frames : Frames
        Frames of a formula's value.
    symbols : iterable of str
        Names of sizes and factors that the cells of the study have.

    Returns
    -------
    Objective

    Raises
    ------
    InputError
        The text is neither a formula nor a statement, or does not go with `frames`.
    """
    text, take, at, after = text.strip(), frames.take, frames.at, frames.after.strip()
    if after and take == "last":
        raise InputError("--after selects frames for a least or largest value; add --take.")
    if at is not None and take != "last":
        raise InputError(
            f"the {take} of all frames has no time; leave one of them out.",
            where=take,
            option="--take",
        )
    if room := ROOM.fullmatch(text):
        if frames != Frames():
            raise InputError(
                f"{text}: a statement is evaluated at its frame of least slack; leave out --at, "
                "--take and --after."
            )
        statement = find_statement(room[2])
        if not statement.constants:
            raise InputError(
                f"{text}: a conclusion with O(.) states no constant, so it has no slack."
            )
        kind: Kind = "slack" if room[1] == "slack" else "ratio"
        return Objective(text, least, statement=statement.full_name(), kind=kind)
    for formula in filter(None, (text, after)):
        check_arithmetic(formula)
        check_formula(formula, tuple(symbols))
    return Objective(text, least, take, at, after)


def check_arithmetic(text: str) -> None:
    """Raise InputError for a text that is no formula. Its names may be unknown."""
    node = parse(text)
    if node is None:
        raise InputError(
            f"{text[:60]!r} is not a formula; write one such as hard_margin / gamma_gl."
        )

    def named_(name: str) -> Any:
        if "." in name:
            raise not_a_formula(text)
        return lambda _: 1.0

    arithmetic(node, text, named_)


def find_statement(text: str) -> Statement:
    """Return the statement of a name, or of its beginning; raise InputError for none or several."""
    slugs = {slug(name): one for name, one in STATEMENTS.items()}
    slug_of_text = slug(text)
    if slug_of_text in slugs:
        return slugs[slug_of_text]
    matches = [name for name in slugs if slug_of_text and name.startswith(f"{slug_of_text}-")]
    if len(matches) == 1:
        return slugs[matches[0]]
    if matches:
        raise InputError(f"{text} may be {' or '.join(matches)}; write one of them.")
    raise InputError(f"{text} is not a statement; {did_you_mean(slug_of_text, slugs)}")
