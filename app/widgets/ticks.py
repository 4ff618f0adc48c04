"""Ticks on the screen: those of the figures (core.figures.ticks), with raised powers."""

from __future__ import annotations

from app.widgets.screen_text import raised
from core.figures import ticks
from core.figures.numbers import linear_ticks
from core.figures.ticks import TickMaker, Ticks

LOG10 = "log\u2081\u2080"
NORM_SQUARED = "|W|\u00b2"


def _raised(made: Ticks) -> Ticks:
    return tuple((place, raised(text)) for place, text in made)


def plain(low: float, high: float, most: int) -> Ticks:
    """Ticks at round numbers."""
    return _raised(linear_ticks(low, high, most))


def whole(low: float, high: float, most: int) -> Ticks:
    """Ticks of an axis that shows whole numbers."""
    return _raised(ticks.whole(low, high, most))


def rooted(low: float, high: float, most: int) -> Ticks:
    """Ticks of an axis that shows signed roots, in terms of the quantity."""
    return _raised(ticks.rooted(low, high, most))


def powers(low: float, high: float, most: int) -> Ticks:
    """Ticks of an axis that shows log10 of a quantity, in terms of the quantity."""
    return _raised(ticks.powers(low, high, most))


def logarithmic(low: float, high: float, most: int) -> Ticks:
    """Ticks of an axis that shows log10 of a quantity, closer where it is short."""
    return _raised(ticks.logarithmic(low, high, most))


def far_times(low: float, high: float, most: int) -> Ticks:
    """Ticks of an axis in the schedule's coordinate, in terms of log10 t."""
    return _raised(ticks.far_times(low, high, most))


__all__ = [
    "LOG10",
    "NORM_SQUARED",
    "TickMaker",
    "Ticks",
    "far_times",
    "logarithmic",
    "plain",
    "powers",
    "rooted",
]
