"""When a verdict was decided and by how much, in one line for the window and the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from core.problem.schedule import moment_text
from core.theorems.common import shown
from core.theorems.statement import Assessment


@final
@dataclass(frozen=True, slots=True)
class Style:
    """Numbers and moments (log10 t, or steps) as text."""

    number: Callable[[float], str] = shown
    moment: Callable[[float, bool], str] = moment_text


PLAIN = Style()


def timing_words(one: Assessment, style: Style = PLAIN) -> str:
    """From when the conclusion holds or where it first fails, and its slack: bound and measured
    apart, in the units of the statement, with their ratio. "" where nothing is known of either."""
    comparison, timing = one.comparison, one.timing
    if not one.statement.constants:
        return ""
    there = "" if timing.told is None else f" at {style.moment(timing.told, one.steps)}"
    if comparison.states is None:
        slack = _slack(one, style)
        return f"{slack}{there}" if slack else there.removeprefix(" ")
    when = ""
    if comparison.holds and timing.holds_from is not None:
        when = f"from {style.moment(timing.holds_from, one.steps)} on"
    elif comparison.holds is False and timing.first_violated is not None:
        when = f"first violated at {style.moment(timing.first_violated, one.steps)}"
    slack = _slack(one, style, "" if comparison.limit else "least ")
    return ", ".join(part for part in (when, f"{slack}{there}" if slack else "") if part)


def _slack(one: Assessment, style: Style, least: str = "") -> str:
    """The slack, with the ratio where both sides are positive."""
    slack, ratio = one.comparison.slack, one.comparison.ratio
    if not math.isfinite(slack):
        return ""
    # Two numbers that are equal but for rounding are told as what they are, without a sign.
    words = (
        f"{least}slack {style.number(slack)}"
        if slack >= 0.0 or one.comparison.holds
        else (f"short by {style.number(-slack)}")
    )
    return f"{words} (ratio {style.number(ratio)})" if math.isfinite(ratio) else words
