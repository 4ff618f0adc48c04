"""Axes of comparisons: names, ticks, and places in words."""

from __future__ import annotations

from app.views.pixels import log10_text, resolved_text
from app.widgets.axis import NORM_SQUARED, logarithmic, plain, powers
from core.figures.ticks import TickMaker, Ticks

RANKS = (0.0, 1.02)
MOMENTS = ("log10_time", "time")


def falling(low: float, high: float, most: int) -> Ticks:
    """Return the ticks of an axis of -log10 of a quantity, labelled by the quantity."""
    return tuple((-place, text) for place, text in powers(-high, -low, most)[::-1])


# Title of an axis, and its ticks.
AXES: dict[str, tuple[str, TickMaker]] = {
    "log10_time": ("time t", powers),
    "time": ("time t", plain),
    "step": ("steps", powers),
    "norm_squared": (NORM_SQUARED, logarithmic),
    "risk": ("risk", falling),
    "share": ("hard margin as a share of \u03b3_gl / 2", plain),
    "rank": ("rank / m", plain),
}


def place_words(against: str, place: float, grain: float, steps: bool) -> str:
    """Return a place of an axis in words, rounded to a grain; `steps`: t counts steps.

    >>> place_words("rank", 0.5, 0.01, False), place_words("step", 2.0, 0.01, False)
    ('rank / m = .5', 'step 100')
    """
    if against == "step" or (steps and against in MOMENTS):
        return f"step {10.0**place:.0f}" if place < 15.0 else f"step {log10_text(place, grain)}"
    if against in MOMENTS:
        return f"t = {log10_text(place, grain)}"
    if against == "rank":
        return f"rank / m = {resolved_text(place, grain)}"
    if against == "norm_squared":
        return f"{NORM_SQUARED} = {log10_text(place, grain)}"
    if against == "risk":  # the axis holds minus log10 of the risk
        return f"risk {log10_text(-place, grain)}"
    return f"{resolved_text(place, grain)} of \u03b3_gl / 2"
