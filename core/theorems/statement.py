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
DELTA = 0.05  # default of delta, the user's failure probability of random statements
NAN = float("nan")
ROUNDING = states.ROUNDING
UNCHECKED = 1e-4  # margins of a flow are accurate to a third of this


@final
class Verdict(Enum):
    """Judgement of a statement on a run; the value is the verdict in words.

    HOLDS and VIOLATED need all hypotheses met. HOLDS_ANYWAY and VIOLATED_NOT_MET are the same for
    hypotheses that fail or are undecided.
    """

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
    state at each frame, the last of which agrees with `met`; None for a condition that is the same
    at all times.
    """

    text: str
    needed: str
    present: str
    met: bool | None
    at: States | None = field(default=None, compare=False, repr=False)

    def states(self) -> Any:
        """Return `at`, the states of all T frames; the single state of `met` if `at` is None."""
        return states.state_of(self.met) if self.at is None else self.at


@final
@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Measured value and its bound.

    `sense` is "<=" or ">=": measured `sense` bound. `bound_trace` and `measured_trace` (T,) are
    both values at every frame, None for a single number. `view` names the plot that shows them: an
    observable, "margins", or "" for none. `bound_trace` is NaN at frames of which the statement
    says nothing. `holds` is None if undecided; `why` gives the reason, or a remark. `states` (T,)
    are those of each frame, None for a comparison that belongs to no time. `frame` is the index
    that `bound` and `measured` belong to, -1 for the last frame, None for none. An index counts
    from t = 0, also where traces of a continued run do not. `limit`: only the last frame decides.
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
        """True if `frame` is -1 and no frame has a state, so that earlier frames are unknown."""
        return self.states is None and self.frame == -1

    @property
    def slack(self) -> float:
        """Bound - measured for "<=", measured - bound for ">="; negative if the bound is missed."""
        sign = 1.0 if self.sense == "<=" else -1.0
        return sign * (self.bound - self.measured)

    @property
    def ratio(self) -> float:
        """Bound/measured for "<=", measured/bound for ">="; below 1 if the bound is missed.

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

    `source` is the paper's short name, and may add a place after a comma; `name` is the number in
    the paper. `applies` decides which runs the statement is about, and `where` describes these
    runs. `text` is one short sentence, `formula` is TeX for matplotlib's mathtext without dollar
    signs. `hypotheses` and `compare` evaluate conditions and conclusion on a run. `slip` is the
    error of the printed text, and what is evaluated instead; "" for none. `printed` is true if the
    printed constant, known to be wrong, is evaluated (Example 4.1 of homogeneity). `constants` is
    false for conclusions with O(.), which get no verdict.
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
        """Paper of the statement: `source` up to its first comma."""
        return self.source.partition(",")[0].strip()

    @property
    def key(self) -> str:
        """Unique key "paper name": two papers may both have a Lemma 2.3."""
        return f"{self.paper} {self.name}"

    def full_name(self) -> str:
        """Return "source, name", which is unique and the key of the registry."""
        return f"{self.source}, {self.name}"


def proved_below(margin: ReferenceMargin) -> bool:
    """Return True if the lower end of a reference margin is proved, so that a statement may use it.

    True for a certified bracket, and for every margin whose bracket cannot fail by chance: some
    predictor attained its lower end. False for gamma_ntk from drawn neurons, known with some
    probability only. Also True for a bracket without a number (`lower` checks that).
    """
    return margin.bracket.certified or margin.reference.failure == 0.0


@final
@dataclass(frozen=True, eq=False)
class Context:
    """A run and the inputs of its judgement: reference margins by name, and delta.

    A margin that was not computed (yet) is missing from `margins`. `delta` is the probability with
    which a statement about random starts or data may fail. `watch` is checked between frames.
    """

    run: Run
    margins: Mapping[str, ReferenceMargin]
    delta: float = DELTA
    watch: CancelToken | None = None

    def lower(self, name: str) -> float:
        """Return the proved lower end of a reference margin; NaN if unknown, unproved or zero.

        A margin that is proved to be zero has a bracket without a number, and gives NaN too.
        """
        margin = self.margins.get(name)
        proved = margin is not None and margin.bracket.exists and proved_below(margin)
        return margin.bracket.lower if margin is not None and proved else NAN

    def upper(self, name: str) -> float:
        """Return the upper end of a reference margin, proved or not; NaN if unknown or zero."""
        margin = self.margins.get(name)
        return margin.bracket.upper if margin is not None and margin.bracket.exists else NAN

    def is_proved(self, name: str) -> bool:
        """Return True if both ends of a reference margin are proved; False if not computed.

        True also for a margin that is proved to be zero.
        """
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

    `premises` (T,) is the state of all hypotheses together at the frames of the run's own file,
    without earlier frames of a run that it continues; None if not requested.
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
        """True if the comparison has a state at each frame, and the conclusion is no O(.)."""
        return self.statement.constants and self.comparison.states is not None

    @property
    def is_decided_at_end(self) -> bool:
        """True if the conclusion is no O(.), and `Comparison.is_final_only`."""
        return self.statement.constants and self.comparison.is_final_only


def assess(statement: Statement, context: Context) -> Assessment:
    """Judge one statement.

    Undecided hypotheses count as not met: a violated statement is then "violated with hypotheses
    not met", and one that holds is "holds although the hypotheses are not met". The timing covers
    all frames of the context's run. Premises, traces and states have those of its own file alone.
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

    Only a violation in the view "margins", with traces and without `limit`, of a run integrated in
    ln t changes. It holds, with a remark in `why`, if no frame falls short by more than the error
    there plus that of the frame before. Without any error estimate (older files, the exact mirror
    flow) it is undecided if no frame falls short by `UNCHECKED` or more. States change likewise.
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

    Zeros if the run has no estimate, or if `count` is not its number of frames; 0 where NaN.
    """
    from core.observables.registry import OBSERVABLES

    observable = OBSERVABLES["integration_error"]
    if not observable.applies(run) or count != run.frames:
        return np.zeros(count)
    return np.nan_to_num(observable.trace(run), nan=0.0)


def _at_own_frames(comparison: Comparison, before: int) -> Comparison:
    """Return the comparison with traces and states cut to the frames from index `before` on.

    `before` counts the frames before a continued run's own file. `frame` is not shifted.
    """
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
    """Return the verdict; an undecided hypothesis counts as not met.

    `TEXT_SLIP` needs a violated conclusion, all hypotheses met, and a statement that is `printed`.
    """
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
