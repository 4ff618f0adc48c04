"""Judged statements as one line of words, and as values for programs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, final

from core.numbers import replace_nonfinite, time_text
from core.theorems.common import format_number
from core.theorems.statement import Assessment


@final
@dataclass(frozen=True, slots=True)
class Style:
    """Text form of numbers, and of moments: `moment` takes log10 t, and True if t counts steps."""

    number: Callable[[float], str] = format_number
    moment: Callable[[float, bool], str] = time_text


PLAIN = Style()


def timing_words(one: Assessment, style: Style = PLAIN) -> str:
    """Return the time and slack of a conclusion in words; "" if neither is known, or for an O(.).

    The time is that from which on it holds, or of its first failure. The slack is the distance of
    bound and measured value, in the units of the statement, with their ratio and the moment of
    these numbers. A conclusion that belongs to no time has no other moment.
    """
    comparison, timing = one.comparison, one.timing
    if not one.statement.constants:
        return ""
    moment = "" if timing.told is None else f" at {style.moment(timing.told, one.steps)}"
    if comparison.states is None:
        slack = _slack(one, style)
        return f"{slack}{moment}" if slack else moment.removeprefix(" ")
    when = ""
    if comparison.holds and timing.holds_from is not None:
        when = f"from {style.moment(timing.holds_from, one.steps)} on"
    elif comparison.holds is False and timing.first_violated is not None:
        when = f"first violated at {style.moment(timing.first_violated, one.steps)}"
    slack = _slack(one, style, "" if comparison.limit else "least ")
    return ", ".join(part for part in (when, f"{slack}{moment}" if slack else "") if part)


def _slack(one: Assessment, style: Style, least: str = "") -> str:
    """Return the slack in words, after the word `least`; "" unless the slack is finite.

    The ratio of `Comparison.ratio` follows if both sides are positive.
    """
    slack, ratio = one.comparison.slack, one.comparison.ratio
    if not math.isfinite(slack):
        return ""
    # Numbers that are equal up to rounding are printed without a sign.
    words = (
        f"{least}slack {style.number(slack)}"
        if slack >= 0.0 or one.comparison.holds
        else (f"short by {style.number(-slack)}")
    )
    return f"{words} (ratio {style.number(ratio)})" if math.isfinite(ratio) else words


# ---------------------------------------------------------------------------------------- values

MET = {True: "met", False: "NOT MET", None: "not decided"}
WIDTH = 96


@final
@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One condition of a statement.

    Attributes
    ----------
    text : str
        The condition.
    needed : str
        What the statement needs.
    present : str
        What the run has.
    met : bool or None
        None where it cannot be decided.
    """

    text: str
    needed: str
    present: str
    met: bool | None


@final
@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """A statement of a paper judged on a run; `print` shows all of it.

    Attributes
    ----------
    name : str
        Name in the paper, such as "Lemma A.2 (norms)".
    source : str
        Short name of the paper.
    text : str
        The statement.
    verdict : str
        Value of a `Verdict`, such as "holds", "violated", "not decided" or "no constant stated".
    hypotheses : tuple of Hypothesis
        Conditions of the statement.
    sense : str
        "<=" or ">=": how `measured` is compared with `bound`.
    bound, measured : float
        Compared numbers, in the units of the statement; NaN where there is none.
    slack : float
        Room between both, below 0 where the bound is violated; NaN if one number is NaN.
    ratio : float
        `bound`/`measured` for "<=", the inverse for ">=": below 1 where the bound is violated. NaN
        unless both are positive.
    times : mapping of str to float or None
        Moments as log10 t, -inf for t = 0 and None for no moment: `told` (of the numbers),
        `holds_from` and `first_violated`.
    when : str
        The moments and the slack in words (`timing_words`); "" if neither is known.
    why : str
        Reason of an undecided verdict, or a remark; "" for none.
    slip : str
        Error in the paper's printed text; "" for none.
    """

    name: str
    source: str
    text: str
    verdict: str
    hypotheses: tuple[Hypothesis, ...]
    sense: str
    bound: float
    measured: float
    slack: float
    ratio: float
    times: Mapping[str, float | None]
    when: str
    why: str
    slip: str

    @property
    def holds(self) -> bool | None:
        """True or False if the conclusion holds or is violated, whatever the hypotheses; else None.

        None also for statements without a constant, and for a printed constant that does not hold.
        """
        if self.verdict.startswith("holds"):
            return True
        return False if self.verdict.startswith("violated") else None

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values; numbers that are not finite are None."""
        result: dict[str, Any] = replace_nonfinite(asdict(self))
        return result

    def __repr__(self) -> str:
        """Return source, name and verdict in angle brackets."""
        return f"<{self.source}, {self.name}: {self.verdict}>"

    def __str__(self) -> str:
        """Return source, name and verdict, then text, numbers, reason and hypotheses on lines."""
        lines = [f"{self.source}, {self.name}: {self.verdict}", _line(self.text)]
        if self.when:
            lines.append(_line(self.when[0].upper() + self.when[1:]))
        if not math.isnan(self.bound):
            fails = " does not hold" if self.holds is False else ""
            sense = f"{self.measured:.6g} {self.sense} {self.bound:.6g}"
            lines.append(_line(f"measured {sense}{fails}"))
        elif not math.isnan(self.measured):
            lines.append(_line(f"measured {self.measured:.6g}"))
        if self.why:
            lines.append(_line(self.why))
        lines += [
            _line(f"- {one.text}: {one.needed}; {one.present}: {MET[one.met]}")
            for one in self.hypotheses
        ]
        if self.slip:
            lines.append(_line(f"Note: {self.slip}"))
        return "\n".join(lines)


def _line(text: str) -> str:
    """Return the text wrapped at `WIDTH` columns, indented by 4, continued lines by 6."""
    return textwrap.fill(text, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 6)


def report(one: Assessment) -> Report:
    """Return an assessment as the plain values of the command line and of Python programs."""
    statement, comparison = one.statement, one.comparison
    return Report(
        name=statement.name,
        source=statement.source,
        text=statement.text,
        verdict=one.verdict.value,
        hypotheses=tuple(
            Hypothesis(each.text, each.needed, each.present, each.met) for each in one.hypotheses
        ),
        sense=comparison.sense,
        bound=comparison.bound,
        measured=comparison.measured,
        slack=comparison.slack,
        ratio=comparison.ratio,
        times=asdict(one.timing),
        when=timing_words(one),
        why=comparison.why,
        slip=statement.slip,
    )
