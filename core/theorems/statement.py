"""A statement of a paper, and what it says of one run: hypotheses, bound, measured, verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.reference.margin import ReferenceMargin
from core.runs import Run

Array = NDArray[np.float64]
DELTA = 0.05  # the user's failure probability, unless another is given
NAN = float("nan")
ROUNDING = 1e-9  # relative
UNCHECKED = 1e-4  # a flow's margins are good to a third of this


@final
class Verdict(Enum):
    """What a run says about a statement."""

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
    """One condition: what is needed and what is present, in words with the numbers.

    `met` is None where it cannot be decided (a margin that is not known, data from a file).
    """

    text: str
    needed: str
    present: str
    met: bool | None


@final
@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A bound beside what was measured.

    `sense` is "<=" or ">=": measured `sense` bound. `bound_trace` and `measured_trace` (T,) follow
    the run where they have a value at every frame, in the view named by `view` (an observable's
    name, or "margins"); NaN at frames of which the statement says nothing. `holds` is None where it
    is not decided, with `why`.
    """

    sense: str
    bound: float
    measured: float
    holds: bool | None
    view: str = ""
    bound_trace: Array | None = None
    measured_trace: Array | None = None
    why: str = ""


@final
@dataclass(frozen=True, slots=True)
class Statement:
    """A theorem, lemma or proposition, or one item of it, with the paper's own numbering.

    `applies` says which runs it is about, and `where` says it in words.
    `text` is one short sentence, `formula` is TeX for matplotlib's mathtext without dollar signs,
    `slip` what the printed text has wrong and what is evaluated instead; `printed` is true where
    the printed constant, known to be wrong, is evaluated (Example 4.1 of homogeneity). `constants`
    is false for conclusions with O(.), which get no verdict.
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

    def full_name(self) -> str:
        """The paper and its numbering: no two statements have the same."""
        return f"{self.source}, {self.name}"


def proved_below(margin: ReferenceMargin) -> bool:
    """Whether the lower end of a reference margin is proved, so that a statement may use it.

    Where the bracket is certified it is. Elsewhere a margin of the examples themselves still is
    one that was reached; that of gamma_ntk, an expectation over nodes, is only that of a sample.
    """
    return margin.bracket.certified or not margin.reference.by_chance


@final
@dataclass(frozen=True, eq=False)
class Context:
    """A run with what its statements are judged by: reference margins by name, and delta.

    A margin that was not computed (yet) is missing from `margins`.
    """

    run: Run
    margins: Mapping[str, ReferenceMargin]
    delta: float = DELTA

    def lower(self, name: str) -> float:
        """The proved lower end of a reference margin; NaN where none is known or proved."""
        margin = self.margins.get(name)
        proved = margin is not None and margin.bracket.exists and proved_below(margin)
        return margin.bracket.lower if margin is not None and proved else NAN

    def upper(self, name: str) -> float:
        """The upper end of a reference margin; NaN where it is not known, or none was found."""
        margin = self.margins.get(name)
        return margin.bracket.upper if margin is not None and margin.bracket.exists else NAN

    def proved(self, name: str) -> bool:
        """Whether both ends of a reference margin are proved."""
        margin = self.margins.get(name)
        # Not `proved_below`: what violates needs the upper end too, which only a certificate
        # proves.
        return margin is not None and margin.bracket.certified

    def trace(self, observable: str) -> Array:
        """An observable at all frames, (T,); NaN for a run that it does not apply to."""
        from core.observables.registry import OBSERVABLES

        one, run = OBSERVABLES[observable], self.run
        return one.trace(run) if one.applies(run) else np.full(run.frames, NAN)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Assessment:
    """A statement judged on a run."""

    statement: Statement
    hypotheses: tuple[Hypothesis, ...]
    comparison: Comparison
    verdict: Verdict

    def as_json(self) -> dict[str, Any]:
        """The fields of `python -m core theorems --json`."""
        return {
            "name": self.statement.name,
            "source": self.statement.source,
            "hypotheses": [asdict(hypothesis) for hypothesis in self.hypotheses],
            "bound": self.comparison.bound,
            "measured": self.comparison.measured,
            "verdict": self.verdict.value,
        }


def assess(statement: Statement, context: Context) -> Assessment:
    """Judge one statement.

    Undecided hypotheses count as not met; a statement that is violated is then "violated with
    hypotheses not met". One whose printed constant is known to be wrong says `TEXT_SLIP` then.
    """
    hypotheses = statement.hypotheses(context)
    comparison = within_error(context.run, statement.compare(context))
    comparison = _at_own_frames(comparison, context.run.before)
    return Assessment(
        statement, hypotheses, comparison, _verdict(statement, hypotheses, comparison)
    )


def within_error(run: Run, comparison: Comparison) -> Comparison:
    """A comparison of margins along a flow, judged against the flow's own integration error.

    What falls short of a bound at no frame by more than the error there, and that of the frame
    before, holds, and says so. Runs whose steps were not checked (older files, the exact mirror
    flow) decide nothing where they fall short by less than `UNCHECKED`.
    """
    bound, measured = comparison.bound_trace, comparison.measured_trace
    if comparison.holds is not False or comparison.view != "margins":
        return comparison
    if bound is None or measured is None or not run.experiment.dynamics.log_time:
        return comparison
    errors = _errors(run, measured.size)
    sign = 1.0 if comparison.sense == "<=" else -1.0
    with np.errstate(invalid="ignore"):
        short = np.nan_to_num(sign * (measured - bound), nan=0.0, posinf=np.inf)
    # A margin that is compared with an earlier one is off by what either of both is off by.
    most, room = float(short.max()), errors + np.concatenate([[0.0], errors[:-1]])
    if (short <= room + ROUNDING * np.abs(measured)).all():
        there = float(room[int(short.argmax())])
        text = f"off by {most:.1e}, within the integration error {there:.1e}"
        return replace(comparison, holds=True, why=text)
    if not errors.any() and most < UNCHECKED:
        text = f"off by {most:.1e}; the integration error of this run is not known"
        return replace(comparison, holds=None, why=text)
    return comparison


def _errors(run: Run, count: int) -> Array:
    """The integration error at each frame, (T,); 0 where it is not known."""
    from core.observables.registry import OBSERVABLES

    known = OBSERVABLES["integration_error"]
    if not known.applies(run) or count != run.frames:
        return np.zeros(count)
    return np.nan_to_num(known.trace(run), nan=0.0)


def _at_own_frames(comparison: Comparison, before: int) -> Comparison:
    """The traces at the frames of the run's own file, where it continues another."""
    bound, measured = comparison.bound_trace, comparison.measured_trace
    if before == 0 or bound is None or measured is None:
        return comparison
    return replace(comparison, bound_trace=bound[before:], measured_trace=measured[before:])


def _verdict(
    statement: Statement, hypotheses: tuple[Hypothesis, ...], comparison: Comparison
) -> Verdict:
    # First of all: a conclusion with O(.) can neither hold nor be violated.
    if not statement.constants:
        return Verdict.NO_CONSTANT
    if comparison.holds is None:
        return Verdict.UNDECIDED
    met = all(hypothesis.met for hypothesis in hypotheses)
    if comparison.holds:
        return Verdict.HOLDS if met else Verdict.HOLDS_ANYWAY
    # Example 4.1 of homogeneity alone is evaluated as printed, since its text states nothing else
    # that could be (docs/theory.md, 8.1).
    if statement.printed and met:
        return Verdict.TEXT_SLIP
    return Verdict.VIOLATED if met else Verdict.VIOLATED_NOT_MET
