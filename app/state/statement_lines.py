"""When statements hold, as stretches of a time axis: what the theorem time line draws.

Made of the states that the verdicts are made of (core.theorems.states), in the judge's thread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from core.numbers import MINUS, time_text
from core.problem.schedule import coordinate

if TYPE_CHECKING:  # they load the numerical libraries
    import numpy as np
    from numpy.typing import NDArray

    from core.theorems.statement import Assessment
    from core.theorems.states import States

# What is said of each state of the conclusion and of the hypotheses, by its name in core.
CONCLUSION = {
    "HOLDS": "the conclusion holds",
    "FAILS": "the conclusion does not hold",
    "OPEN": "the conclusion is not decided",
    "SILENT": "nothing is said of these times",
}
# Of a conclusion that only the last frame decides, and what its row says.
AT_END = {"OPEN": "the conclusion is decided at the end alone, and is not decided"}
LAST = "At the end alone:"
PREMISES = {
    "HOLDS": "the hypotheses hold",
    "FAILS": "the hypotheses do not hold",
    "OPEN": "the hypotheses are not decided",
    "SILENT": "nothing is said of these times",
}


@final
@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the time axis with one state, from a moment to the next one's, in the coordinate
    of core.problem.schedule; `words` say it with the times. `promised`: the hypotheses hold."""

    state: str
    begin: float
    end: float
    words: str
    promised: bool = True


@final
@dataclass(frozen=True, slots=True)
class StatementLine:
    """A statement's two lanes over the time axis."""

    key: str
    name: str
    text: str
    verdict: str
    premises: tuple[Stretch, ...]
    conclusion: tuple[Stretch, ...]

    def lane(self, upper: bool) -> tuple[Stretch, ...]:
        """The hypotheses are the upper lane, and the conclusion is the lower one."""
        return self.premises if upper else self.conclusion


def statement_lines(
    assessments: Sequence[Assessment], log10_time: NDArray[np.float64]
) -> tuple[StatementLine, ...]:
    """Those of the statements that say something about time, over frames at log10 t (T,), and
    those that the last frame alone decides, which say so."""
    lines = []
    for one in assessments:
        premises = one.premises
        if premises is None or not (one.has_times or one.at_end):
            continue
        states, words = one.comparison.states, CONCLUSION
        if states is None:
            states, words = _at_end(one, premises.size), CONCLUSION | AT_END
        elif not _says_something(states, premises):
            continue
        statement = one.statement
        paper = statement.source.partition(",")[0].strip()
        lines.append(
            StatementLine(
                f"{paper} {statement.name}",
                statement.name,
                f"{LAST} {statement.text}" if one.at_end else statement.text,
                one.verdict.value,
                _stretches(premises, log10_time, PREMISES, steps=one.steps),
                _stretches(states, log10_time, words, premises, one.steps),
            )
        )
    return tuple(lines)


def _at_end(one: Assessment, frames: int) -> States:
    """The states of a conclusion that the last frame alone decides: open before."""
    import numpy as np

    from core.theorems.states import State, state_of

    states = np.full(frames, State.OPEN, dtype=np.int8)
    states[-1:] = state_of(one.comparison.holds)
    return states


def _says_something(states: States, premises: States) -> bool:
    """Whether there is anything to be seen: a conclusion at some frame, or a hypothesis that
    begins or ends."""
    from core.theorems.states import State

    decided = (states == State.HOLDS) | (states == State.FAILS)
    return bool(decided.any() or (premises != premises[0]).any())


def _stretches(
    states: States,
    log10_time: NDArray[np.float64],
    words: dict[str, str],
    premises: States | None = None,
    steps: bool = False,
) -> tuple[Stretch, ...]:
    """The spans of one state; where the conclusion's meet a change of the hypotheses they are cut,
    since failing means something else where the statement promises."""
    from core.theorems.states import State, bounds

    parts = []
    last = states.size - 1
    promised = None if premises is None else premises == State.HOLDS
    cut = promised is not None and (states == State.FAILS) & promised
    both = 2 * states + cut
    for first, through in bounds(both):
        end = min(through + 1, last)
        state = State(int(states[first])).name
        times = _between(float(log10_time[first]), float(log10_time[end]), steps)
        sure = True if promised is None else bool(promised[first])
        begin, until = (_moment(float(log10_time[frame])) for frame in (first, end))
        parts.append(Stretch(state, begin, until, f"{words[state]} {times}", sure))
    return tuple(parts)


def _moment(log10_time: float) -> float:
    return float(coordinate(log10_time)) if math.isfinite(log10_time) else -math.inf


def _between(first: float, last: float, steps: bool = False) -> str:
    """From when to when, in words; `steps`: t counts steps.

    >>> _between(-math.inf, 2.0), _between(2.0, 2.0)
    ('from t = 0 to t = 10^2', 'at t = 10^2')
    """
    begin, end = (time_text(one, steps).replace("-", MINUS) for one in (first, last))
    return f"at {begin}" if begin == end else f"from {begin} to {end}"
