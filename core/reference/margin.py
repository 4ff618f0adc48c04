"""A reference margin: a value with its bracket, how it was found, and what it is in the plot."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

from core.problem.problem import Problem
from core.reference.watch import Watch

NAN = float("nan")


@final
@dataclass(frozen=True, slots=True)
class Bracket:
    """lower <= the margin <= upper; `value` is what to quote, between them.

    `certified` says that both bounds are proved for these data up to rounding; a heuristic upper
    bound, such as the best of many starts, is not, nor are bounds that hold with some probability.
    `method` says in a few words how it was found, with the gap; where there is no number (`absent`,
    `nothing`, `unresolved`) it is the sentence that says why.
    """

    lower: float
    upper: float
    value: float
    certified: bool
    method: str

    @property
    def exists(self) -> bool:
        return math.isfinite(self.value)

    @property
    def open(self) -> bool:
        """Whether only an upper bound is known: a positive margin is neither shown nor excluded."""
        return not self.exists and self.upper > 0.0

    @property
    def nothing(self) -> bool:
        """Whether it is proved that no predictor has a positive margin."""
        return not self.exists and self.certified and self.upper == 0.0

    @property
    def gap(self) -> float:
        """Relative gap (upper - lower) / upper."""
        return (self.upper - self.lower) / self.upper if self.upper > 0.0 else NAN


def exact(value: float, method: str) -> Bracket:
    """A closed form: lower = upper = value, certified."""
    return Bracket(value, value, value, True, method)


def absent(sentence: str) -> Bracket:
    """No number, since it is not defined or was not computed, and the sentence that says why."""
    return Bracket(NAN, NAN, NAN, False, sentence)


def nothing(sentence: str) -> Bracket:
    """It is proved that no predictor separates the data (the best is 0), and how."""
    return Bracket(0.0, 0.0, NAN, True, sentence)


def unresolved(upper: float, size: float, certified: bool, why: str) -> Bracket:
    """Nothing is known but 0 <= margin <= upper, for data of a size such as max |x_i|.

    >>> unresolved(5e-10, 2.0, True, "two examples are near").method
    "Not resolved: between 0 and 5e-10, that is 2.5e-10 of the data's size; two examples are near."
    """
    sentence = (
        f"Not resolved: between 0 and {upper:.2g}, that is {upper / size:.2g} of the data's size; "
        f"{why}."
    )
    return Bracket(0.0, upper, NAN, certified, sentence)


class Reference(ABC):
    """A margin that theory promises: what it is, for which problems, and how it is computed.

    `label` and `factor` are what the plot of margins normalised by |W|^2 draws: factor * margin,
    under that name ("gamma_gl / 2" with 1/2); a factor of None means that it is not comparable
    with them and is only listed.
    """

    name: str
    title: str
    formula: str  # definition with its normalisation
    source: str
    label: str
    factor: float | None = None
    where: str = "data of two classes"  # in words, for which data and networks it is defined
    failure: float = 0.0  # chance that an uncertified bracket fails at either end; 0: not known
    version: int = 1  # of the method: another one does not use what this one has cached

    def drawn_in(self, problem: Problem) -> bool:
        """Whether factor * margin is comparable with the margins of this problem's network."""
        return self.factor is not None

    @abstractmethod
    def applies(self, problem: Problem) -> bool:
        """Whether it is defined for this problem's data and network."""

    @abstractmethod
    def key(self, problem: Problem) -> str:
        """What the value depends on, as a digest: the data set, and a network's frozen weights."""

    @abstractmethod
    def compute(self, problem: Problem, watch: Watch) -> Bracket:
        """The bracket; slow ones look at the watch. Data without a margin get `absent`."""


@final
@dataclass(frozen=True, slots=True)
class ReferenceMargin:
    """A computed reference margin; `seconds` is what it took when it was computed.

    `drawn` says whether it is comparable with the margins of the problem's network.
    """

    reference: Reference
    bracket: Bracket
    seconds: float
    drawn: bool = True

    @property
    def factor(self) -> float | None:
        """What the plot of margins multiplies the bracket by; None where it is only listed."""
        return self.reference.factor if self.drawn else None

    @property
    def drawable(self) -> bool:
        """Whether it is a line among a run's margins: it has a value, and is comparable."""
        return self.factor is not None and self.bracket.exists

    @property
    def certainty(self) -> str:
        """How far the bracket can be relied on, in words: proved, all but proved, or searched for.

        A bracket of a draw of nodes is no guess: both ends hold but for a known chance.
        """
        if self.bracket.certified:
            return "certified"
        if self.reference.failure > 0.0:
            return f"holds but for a chance of 10^{round(math.log10(self.reference.failure))}"
        return "heuristic"

    def as_json(self) -> dict[str, Any]:
        """The fields of `python -m core margins --json`; NaN where there is no number."""
        bracket = self.bracket
        return {
            "name": self.reference.name,
            "value": bracket.value,
            "lower": bracket.lower,
            "upper": bracket.upper,
            "certified": bracket.certified,
            "method": bracket.method,
            "seconds": self.seconds,
        }
