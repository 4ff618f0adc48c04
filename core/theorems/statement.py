"""A statement of a paper, and its judgement on one run: hypotheses, bound, measured, verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.reference.cancel_token import CancelToken
from core.reference.margin import ReferenceMargin
from core.runs import Run
from core.theorems import states
from core.theorems.states import State, States
from core.theorems.timing import NO_TIME, Timing, make_timing

Array = NDArray[np.float64]
DELTA = 0.05  # default of the user's failure probability
NAN = float("nan")
ROUNDING = states.ROUNDING
UNCHECKED = 1e-4  # margins of a flow are accurate to a third of this


@final
class Verdict(Enum):
    """Judgement of a statement on a run."""

    HOLDS = "holds"
    HOLDS_ANYWAY = "holds although the hypotheses are not met"
    VIOLATED_NOT_MET = "violated with hypotheses not met"
    VIOLATED = "violated"
    NO_CONSTANT = "no constant stated"
    TEXT_SLIP = "the text's constant does not hold"
    UNDECIDED = "not decided"


@final
@dataclass(frozen=True, slots=True)
class Hypothesis:
    """Condition of a statement: the needed and the present value, in words with the numbers.

    `met` is None if undecided (a margin that is not known, data from a file). `at` (T,) is the
    state at each frame, the last of which is `met`; None for a condition that is the same at all
    times.
    """

    text: str
    needed: str
    present: str
    met: bool | None
    at: States | None = field(default=None, compare=False, repr=False)

    def states(self) -> Any:
        """Return the condition's state, or the states of all frames (T,)."""
        return states.state_of(self.met) if self.at is None else self.at


@final
@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Measured value and its bound.

    `sense` is "<=" or ">=": measured `sense` bound. `bound_trace` and `measured_trace` (T,) follow
    the run if both have a value at every frame, in the view named by `view` (an observable's name,
    or "margins"); NaN at frames of which the statement says nothing. `holds` is None if undecided,
    for the reason `why`. `states` (T,) are those of each frame, None for a comparison that belongs
    to no time. `frame` is the one that `bound` and `measured` belong to, -1 for the last one, None
    for none. `limit`: only the last frame decides.
    """

    sense: str
    bound: float
    measured: float
    holds: bool | None
    view: str = ""
    bound_trace: Array | None = None
    measured_trace: Array | None = None
    why: str = ""
    states: States | None = None
    frame: int | None = None
    limit: bool = False

    @property
    def is_final_only(self) -> bool:
        """True for a comparison of the last frame, and of no other."""
        return self.states is None and self.frame == -1

    @property
    def slack(self) -> float:
        """Room left, in the units of the statement; negative if the bound is missed."""
        sign = 1.0 if self.sense == "<=" else -1.0
        return sign * (self.bound - self.measured)

    @property
    def ratio(self) -> float:
        """Larger of bound and measured over the smaller if it holds, the inverse if not.

        NaN unless both are positive.
        """
        above, below = (
            (self.bound, self.measured) if self.sense == "<=" else (self.measured, self.bound)
        )
        return above / below if above > 0.0 and below > 0.0 else NAN


@final
@dataclass(frozen=True, slots=True)
class Statement:
    """Theorem, lemma or proposition, or one item of it, with the paper's own numbering.

    `applies` decides which runs it is about, and `where` describes these runs. `text` is one short
    sentence, `formula` is TeX for matplotlib's mathtext without dollar signs. `slip` is the error
    of the printed text, and what is evaluated instead; `printed` is true if the printed constant,
    known to be wrong, is evaluated (Example 4.1 of homogeneity). `constants` is false for
    conclusions with O(.), which get no verdict.
    """

    source: str
    name: str
    text: str
    formula: str
    applies: Callable[[Run], bool]
    where: str
    hypotheses: Callable[[Context], tuple[Hypothesis, ...]]
    compare: Callable[[Context], Comparison]
    slip: str = ""
    printed: bool = False
    constants: bool = True

    @property
    def paper(self) -> str:
        """Paper of the statement, the first part of `source`."""
        return self.source.partition(",")[0].strip()

    @property
    def key(self) -> str:
        """Unique name: two papers may both have a Lemma 2.3."""
        return f"{self.paper} {self.name}"

    def full_name(self) -> str:
        """Return the paper and its numbering, a unique name."""
        return f"{self.source}, {self.name}"


def proved_below(margin: ReferenceMargin) -> bool:
    """Return True if the lower end of a reference margin is proved, so that a statement may use it.

    The lower end of a certified bracket is. Otherwise a margin of the examples themselves is one
    that was reached; that of gamma_ntk, an expectation over neurons, is only that of a sample.
    """
    return margin.bracket.certified or margin.reference.failure == 0.0


@final
@dataclass(frozen=True, eq=False)
class Context:
    """A run and the inputs of its judgement: reference margins by name, and delta.

    A margin that was not computed (yet) is missing from `margins`. The watch is checked between
    frames.
    """

    run: Run
    margins: Mapping[str, ReferenceMargin]
    delta: float = DELTA
    watch: CancelToken | None = None

    def lower(self, name: str) -> float:
        """Return the proved lower end of a reference margin; NaN if unknown or unproved."""
        margin = self.margins.get(name)
        proved = margin is not None and margin.bracket.exists and proved_below(margin)
        return margin.bracket.lower if margin is not None and proved else NAN

    def upper(self, name: str) -> float:
        """Return the upper end of a reference margin, proved or not; NaN if unknown."""
        margin = self.margins.get(name)
        return margin.bracket.upper if margin is not None and margin.bracket.exists else NAN

    def is_proved(self, name: str) -> bool:
        """Return True if both ends of a reference margin are proved."""
        margin = self.margins.get(name)
        # Not `proved_below`: a violation needs the upper end too, which only a certificate proves.
        return margin is not None and margin.bracket.certified

    def trace(self, observable: str) -> Array:
        """Return an observable at all frames.

        Parameters
        ----------
        observable : str
            Name in OBSERVABLES.

        Returns
        -------
        array (T,)
            NaN for a run that the observable does not apply to.
        """
        from core.observables.registry import OBSERVABLES

        one, run = OBSERVABLES[observable], self.run
        if not one.applies(run):
            return np.full(run.frames, NAN)
        return one.trace(run, self.watch.check if self.watch is not None else None)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Assessment:
    """A statement judged on a run.

    `premises` (T,) is the state of all hypotheses together at the frames of the run's own file;
    None if not requested.
    """

    statement: Statement
    hypotheses: tuple[Hypothesis, ...]
    comparison: Comparison
    verdict: Verdict
    timing: Timing = NO_TIME
    premises: States | None = None
    steps: bool = False  # t counts steps

    @property
    def has_times(self) -> bool:
        """True if the statement is about time, in a way that a run can decide."""
        return self.statement.constants and self.comparison.states is not None

    @property
    def is_decided_at_end(self) -> bool:
        """True if the last frame alone decides, and nothing is known of the others."""
        return self.statement.constants and self.comparison.is_final_only


def assess(statement: Statement, context: Context) -> Assessment:
    """Judge one statement.

    Undecided hypotheses count as not met; a statement that is violated is then "violated with
    hypotheses not met". A statement whose printed constant is known to be wrong gets `TEXT_SLIP`.
    """
    hypotheses = statement.hypotheses(context)
    run = context.run
    comparison = allow_integration_error(run, statement.compare(context))
    timing = make_timing(comparison.states, comparison.frame, run.log10_time[: run.frames])
    premises = states.combine_states((one.states() for one in hypotheses), run.frames)[
        run.frames_before :
    ]
    comparison = _at_own_frames(comparison, run.frames_before)
    verdict = _verdict(statement, hypotheses, comparison)
    counts = run.counts_steps
    return Assessment(statement, hypotheses, comparison, verdict, timing, premises, counts)


def allow_integration_error(run: Run, comparison: Comparison) -> Comparison:
    """Judge a comparison of margins along a flow against the flow's own integration error.

    The comparison holds, with a remark, if it falls short of its bound at no frame by more than the
    error there, and that of the frame before. Runs whose steps were not checked (older files, the
    exact mirror flow) decide nothing if they fall short by less than `UNCHECKED`.
    """
    bound, measured = comparison.bound_trace, comparison.measured_trace
    is_violated = (
        comparison.holds is False and comparison.view == "margins" and not comparison.limit
    )
    if not is_violated or bound is None or measured is None or not run.experiment.dynamics.log_time:
        return comparison
    errors = _errors(run, measured.size)
    sign = 1.0 if comparison.sense == "<=" else -1.0
    with np.errstate(invalid="ignore"):
        short = np.nan_to_num(sign * (measured - bound), nan=0.0, posinf=np.inf)
    # A comparison with an earlier margin has the errors of both.
    largest, room = float(short.max()), errors + np.concatenate([[0.0], errors[:-1]])
    is_defined = ~np.isnan(bound)
    state = (
        states.frame_states(comparison.sense, bound, measured, is_defined)
        if comparison.states is None
        else comparison.states
    )
    fails = state == State.FAILS
    spared = short <= room + ROUNDING * np.abs(measured)
    states_left = np.where(fails & spared, State.HOLDS, state).astype(np.int8)
    if not errors.any():  # the scale of a small deviation is unknown
        states_left = np.where(
            (states_left == State.FAILS) & (short < UNCHECKED), State.OPEN, states_left
        )
        states_left = states_left.astype(np.int8)
    comparison = replace(comparison, states=states_left)
    if not (fails & ~spared).any():
        tolerance = float(room[int(short.argmax())])
        text = f"off by {largest:.1e}, within the integration error {tolerance:.1e}"
        return replace(comparison, holds=True, why=text)
    if not (states_left == State.FAILS).any():
        text = f"off by {largest:.1e}; the integration error of this run is not known"
        return replace(comparison, holds=None, why=text)
    return comparison


def _errors(run: Run, count: int) -> Array:
    """Return the integration error at each frame, (count,).

    Zeros if the run has none, or if a trace of `count` values is not one of the run's frames.
    """
    from core.observables.registry import OBSERVABLES

    observable = OBSERVABLES["integration_error"]
    if not observable.applies(run) or count != run.frames:
        return np.zeros(count)
    return np.nan_to_num(observable.trace(run), nan=0.0)


def _at_own_frames(comparison: Comparison, before: int) -> Comparison:
    """Return the comparison with traces at the frames of a continued run's own file."""
    if before == 0:
        return comparison
    own = comparison
    if own.bound_trace is not None and own.measured_trace is not None:
        bound, measured = own.bound_trace[before:], own.measured_trace[before:]
        own = replace(own, bound_trace=bound, measured_trace=measured)
    return own if own.states is None else replace(own, states=own.states[before:])


def _verdict(
    statement: Statement, hypotheses: tuple[Hypothesis, ...], comparison: Comparison
) -> Verdict:
    # First: a conclusion with O(.) can neither hold nor be violated.
    if not statement.constants:
        return Verdict.NO_CONSTANT
    if comparison.holds is None:
        return Verdict.UNDECIDED
    met = all(hypothesis.met for hypothesis in hypotheses)
    if comparison.holds:
        return Verdict.HOLDS if met else Verdict.HOLDS_ANYWAY
    # Only Example 4.1 of homogeneity is evaluated as printed, since its text has no other reading
    # that could be (docs/theory.md, 8.1).
    if statement.printed and met:
        return Verdict.TEXT_SLIP
    return Verdict.VIOLATED if met else Verdict.VIOLATED_NOT_MET
