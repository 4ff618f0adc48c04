"""Small recorded runs, their reference margins, and the verdicts of the statements."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem, resolve_problem
from core.reference.cancel_token import CancelToken
from core.reference.margin import Bracket, Reference, ReferenceMargin, exact_bracket
from core.reference.registry import REFERENCES, compute, references_of
from core.runs import Recorder, Run, open_run
from core.study_file.validation import build_experiment
from core.theorems.registry import assess_all
from core.theorems.statement import DELTA, Assessment, Hypothesis, Verdict
from core.training.trajectory import run

Margins = Mapping[str, ReferenceMargin]


def problem_of(
    network: dict[str, Any],
    dynamics: dict[str, Any],
    loss: dict[str, Any] | str = "logistic",
    data: dict[str, Any] | None = None,
    frames: int = 8,
    seed: int = 0,
) -> Problem:
    """Return 2-parity at d = 6, n = 16, unless other data are given."""
    tables = {
        "data": data or {"d": 6, "n": 16},
        "network": network,
        "loss": {"kind": loss} if isinstance(loss, str) else loss,
        "dynamics": dynamics,
        "recording": {"frames": frames},
        "run": {"seed": seed},
    }
    return resolve_problem(build_experiment(tables, "test"))


def recorded_run(path: Path, problem: Problem) -> Run:
    """Train a problem into a run file, and open it."""
    run(problem, partial(Recorder, path))
    return open_run(path)


def margin(name: str, lower: float, upper: float | None = None) -> ReferenceMargin:
    upper = lower if upper is None else upper
    return ReferenceMargin(REFERENCES[name], Bracket(lower, upper, lower, True, "made up"), 0.0)


def margins_of(
    problem: Problem, limit: float = 5.0, without: Collection[str] = ()
) -> dict[str, ReferenceMargin]:
    """Return every reference margin defined for a problem, except those named."""
    return {
        reference.name: _margin_of(reference, problem, limit)
        for reference in references_of(problem)
        if reference.name not in without
    }


_BRACKETS: dict[tuple[str, str, float], Bracket] = {}


def _margin_of(reference: Reference, problem: Problem, limit: float) -> ReferenceMargin:
    """Compute a margin once for equal data, by the key of the program's own cache."""
    key = (reference.name, reference.key(problem), limit)
    if key not in _BRACKETS:
        _BRACKETS[key] = compute(reference, problem, CancelToken(limit)).bracket
    return ReferenceMargin(reference, _BRACKETS[key], 0.0, reference.is_comparable(problem))


def exactly(**values: float) -> dict[str, ReferenceMargin]:
    """Return made-up margins with exact values, by name."""
    return {
        name: ReferenceMargin(REFERENCES[name], exact_bracket(value, "made up"), 0.0)
        for name, value in values.items()
    }


def judge(run: Run, margins: Margins, delta: float = DELTA) -> dict[tuple[str, str], Assessment]:
    """Return every applicable statement's assessment by (source, name)."""
    found = assess_all(run, margins, delta)
    return {(one.statement.source, one.statement.name): one for one in found}


def of_paper(
    run: Run, margins: Margins, source: str, delta: float = DELTA
) -> dict[str, Assessment]:
    return {
        name: one for (paper, name), one in judge(run, margins, delta).items() if paper == source
    }


def condition(one: Assessment, part: str) -> Hypothesis:
    """Return the hypothesis whose text contains a part."""
    found = [hypothesis for hypothesis in one.hypotheses if part in hypothesis.text]
    assert len(found) == 1, [hypothesis.text for hypothesis in one.hypotheses]
    return found[0]


def violated_statements(found: Mapping[tuple[str, str], Assessment]) -> list[str]:
    """Return the statements that a run refutes although their hypotheses are met."""
    return [
        f"{source}, {name}: measured {one.comparison.measured:g} {one.comparison.sense} "
        f"{one.comparison.bound:g}"
        for (source, name), one in found.items()
        if one.verdict is Verdict.VIOLATED
    ]


def without_numbers(found: Mapping[tuple[str, str], Assessment]) -> list[str]:
    """Return the statements with a verdict but without a finite number to compare."""
    return [
        f"{source}, {name}: {one.verdict.value}, {one.comparison.measured} "
        f"{one.comparison.sense} {one.comparison.bound}"
        for (source, name), one in found.items()
        if one.verdict not in (Verdict.UNDECIDED, Verdict.NO_CONSTANT)
        and not (math.isfinite(one.comparison.bound) and math.isfinite(one.comparison.measured))
    ]


def check_margins(run: Run, best: ReferenceMargin | None) -> None:
    """Check hard <= l1/2 <= gamma_gl/2 on every frame with min p_i >= 0."""
    comparable = run.network.plain_relu or run.network.kind == "bias"
    if not comparable or run.dataset.classes != 2:
        return
    hard, l1 = OBSERVABLES["hard_margin"].trace(run), OBSERVABLES["l1_margin"].trace(run)
    nothing = np.isnan(l1)  # no effective weights at all: two-phase training before its first phase
    assert (hard[nothing] == 0.0).all()
    fits = (hard >= 0.0) & ~nothing
    assert (hard[fits] <= 0.5 * l1[fits] * (1.0 + 1e-9) + 1e-15).all()
    if best is not None and best.bracket.exists and run.network.plain_relu:
        assert (l1[~nothing] <= best.bracket.upper * (1.0 + 1e-9)).all()
