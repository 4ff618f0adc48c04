"""Made-up reference margins and statements for the window, with known numbers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from app.theory.final_margin import FinalBracket
from app.theory.judge import Case
from app.worker import Request
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.margin import Bracket, Reference, ReferenceMargin
from core.runs import Run, open_run
from core.theorems.statement import (
    Assessment,
    Comparison,
    Context,
    Hypothesis,
    Statement,
    Verdict,
)
from core.theorems.states import State, States
from core.theorems.timing import make_timing


@final
class MadeUp(Reference):
    """Margin with a given bracket; it can wait until it is released or cancelled."""

    def __init__(
        self, name: str, factor: float | None, bracket: Bracket, wait: threading.Event | None = None
    ) -> None:
        self.name, self.factor, self.bracket, self._wait = name, factor, bracket, wait
        self.title = f"The margin {name}"
        self.formula = "max over |theta| <= 1 of min_i y_i f(x_i; theta)"
        self.source = "telgarsky22, Section 1"
        self.label = name if factor in (None, 1.0) else f"{name} / {1.0 / factor:g}"
        self.computed = 0
        self.begun = threading.Event()

    def __getstate__(self) -> dict[str, object]:
        """Leave out the events: the process of a film needs only the margin's values."""
        return {**vars(self), "_wait": None, "begun": None}

    def applies(self, problem: Problem) -> bool:
        return True

    def key(self, problem: Problem) -> str:
        return f"{problem.dataset.n}"

    def compute(self, problem: Problem, watch: CancelToken) -> Bracket:
        self.computed += 1
        self.begun.set()
        while self._wait is not None and not self._wait.wait(0.01):
            watch.check()
        return self.bracket


def no_final_margin(request: Request, key: int, path: Path, *_: object) -> FinalBracket:
    """Return the result of `bracket_final_margin` for a run without a bracket."""
    with open_run(path) as run:
        return FinalBracket(key, run.frames)


def compute(reference: Reference, problem: Problem, watch: CancelToken) -> ReferenceMargin:
    """Compute a margin like core.reference.registry.compute, without a disk."""
    return ReferenceMargin(reference, reference.compute(problem, watch), 0.25)


GLOBAL = MadeUp("gamma_gl", 0.5, Bracket(0.0800, 0.0813, 0.0812, True, "branch and bound"))
TANGENT = MadeUp("gamma_ntk", None, Bracket(0.0511, 0.0512, 0.0511, True, "4000 sampled nodes"))
LINEAR = MadeUp(
    "gamma_linear", 0.5, Bracket(float("nan"), float("nan"), float("nan"), False, "Not separable.")
)
NARROW = MadeUp("gamma_l1", 0.5, Bracket(0.0810, 0.0830, 0.0825, False, "best of 40 starts"))
FAR = MadeUp("gamma_nc", 1.0, Bracket(3.0, 3.0, 3.0, True, "closed form"))


def references_of(problem: Problem) -> tuple[Reference, ...]:
    return (LINEAR, GLOBAL, TANGENT, NARROW, FAR)


def everywhere(run: Run) -> bool:
    return True


def _nothing(context: Context) -> tuple[Hypothesis, ...]:
    return ()


def _never(context: Context) -> Comparison:
    raise AssertionError("the verdict is made up")


def statement(name: str, source: str, slip: str = "") -> Statement:
    return Statement(
        source,
        name,
        "The normalised margin reaches a constant share of gamma_gl with probability 1 - delta.",
        r"\min_i \frac{p_i(W_t)}{\|W_t\|^2} \geq \frac{\hat\gamma_{gl}}{4096}, "
        r"\quad \|W_t - W_0\| \leq \frac{\gamma\sqrt{m}}{32} \ln(n/\delta)",
        everywhere,
        "telgarsky22 Section 2",
        _nothing,
        _never,
        slip,
    )


FITS, BEGINS = 4, 9  # frames


def premises_of(frames: int) -> States:
    """Return hypotheses that hold from frame FITS on."""
    return np.where(np.arange(frames) < FITS, State.FAILS, State.HOLDS).astype(np.int8)


def states_of(frames: int) -> States:
    """Return states: silent before FITS; then the conclusion fails, and holds from BEGINS on."""
    states = np.where(np.arange(frames) < BEGINS, State.FAILS, State.HOLDS)
    return np.where(np.arange(frames) < FITS, State.SILENT, states).astype(np.int8)


@final
@dataclass
class MadeUpStatements:
    """Statements with the same verdicts for every run, one of each kind."""

    verdicts: Sequence[Verdict] = tuple(Verdict)
    asked: int = 0

    def assess(self, run: Run, case: Case, watch: CancelToken) -> Sequence[Assessment]:
        self.asked += 1
        trace = np.linspace(-0.01, 0.03, run.frames)
        made, told = [], min(BEGINS, run.frames - 1)
        for number, verdict in enumerate(self.verdicts):
            source = "telgarsky22, Section 2" if number < 4 else "homogeneity, Section 3"
            comparison = Comparison(
                ">=",
                0.0203,
                0.0318,
                True,
                "margins" if number % 2 == 0 else "distance",
                trace,
                trace + 0.01,
                states=states_of(run.frames) if number % 2 == 0 else None,
                frame=told,
            )
            hypotheses = (
                Hypothesis("width", "m >= 1.1 10^9", f"m = {run.network.m}", False),
                Hypothesis("size of the data", "|x_i| <= 1", "max_i |x_i| = 1", True),
                Hypothesis("gamma_gl", "positive", "not known yet", None),
            )
            slip = "The text says ln; evaluated is log(2n/delta)." if number == 0 else ""
            made.append(
                Assessment(
                    statement(f"Theorem {number + 1}", source, slip),
                    hypotheses,
                    comparison,
                    verdict,
                    make_timing(comparison.states, told, run.log10_time[: run.frames]),
                    premises_of(run.frames),
                )
            )
        return made

    def alarms(self, run: Run, watch: CancelToken) -> Sequence[MadeUpAlarm]:
        frame = run.frames // 2
        return (
            MadeUpAlarm(
                frame,
                "margin",
                "The smoothed margin falls.",
                int(run.steps[frame]),
                float(run.log10_time[frame]),
            ),
        )


@final
@dataclass(frozen=True)
class MadeUpAlarm:
    """Alarm with the attributes of core.observables.alarms.Alarm."""

    frame: int
    kind: str
    text: str
    step: int
    log10_time: float
    calm: bool = False


STATEMENTS = MadeUpStatements()
