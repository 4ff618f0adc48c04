"""Strips: curves above each other in one panel, each on an axis of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.figures.primitives import LOG, Strip
from core.figures.ticks import FARTHEST

Floats = NDArray[np.float64]
WIDE = 100.0  # ratio of largest to smallest value above which positive curves are shown by log10
AIR = 0.06  # space above and below a curve, relative to its range
FLAT = 1e-12  # relative to the larger value: a range of rounding errors only


@final
@dataclass(frozen=True, slots=True)
class Extent:
    """Least, largest and least positive one of some values; infinite if there is none.

    >>> Extent(1.0, 2.0, 1.0) | Extent(-3.0, 0.5, 0.5)
    Extent(low=-3.0, high=2.0, positive=0.5)
    """

    low: float = math.inf
    high: float = -math.inf
    positive: float = math.inf

    def __or__(self, other: Extent) -> Extent:
        low, positive = min(self.low, other.low), min(self.positive, other.positive)
        return Extent(low, max(self.high, other.high), positive)


def extent_of(values: Floats) -> Extent:
    """Return the extent of those values that are finite."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return Extent()
    positive = float(finite[finite > 0.0].min(initial=math.inf))
    return Extent(float(finite.min()), float(finite.max()), positive)


def stack_strips(
    extents: Mapping[str, Extent], head: float = 0.0, logarithmic: bool = False
) -> tuple[Strip, ...]:
    """Return a strip for each observable, the first on top, over its extent with some air.

    Positive values that span more than a factor WIDE are shown by their logarithms.

    Parameters
    ----------
    extents : mapping of str to Extent
        Extents of observables by name.
    head : float
        Share of a strip for its title, 0 <= head < 1.
    logarithmic : bool
        Show the logarithms of all observables with positive values, and label those that are
        logarithms in terms of their arguments.

    Returns
    -------
    tuple of Strip
        Each takes 1 of the stack; a single one has the units of its own axis.

    Examples
    --------
    >>> risk, angle = stack_strips({"risk": Extent(1e-4, 1.0, 1e-4), "angle": Extent(-1.0, 1.0)})
    >>> risk.shows, risk.start, angle.shows, angle.heights(np.array([0.0, np.inf])).tolist()
    ('log', 1.0, 'plain', [0.5, nan])
    """
    strips = []
    for place, (name, extent) in enumerate(extents.items(), start=1):
        low, high, is_log = extent.low, extent.high, name.startswith(LOG)
        several = low > 0.0 and high > WIDE * low
        takes_log = not is_log and extent.positive < math.inf and (logarithmic or several)
        if takes_log:
            low, high = math.log10(extent.positive), math.log10(high)
        shows = "log" if takes_log or (is_log and logarithmic) else "plain"
        low, high = with_air(low, high) if low <= high else (0.0, 1.0)
        start = float(len(extents) - place)
        ends = start, start + 1.0 - head, start + 1.0
        if len(extents) == 1:
            ends = low, high, low + (high - low) / (1.0 - head)
        strips.append(Strip(name, *ends, low, high, shows, takes_log))
    return tuple(strips)


def stack_limits(strips: Sequence[Strip]) -> tuple[float, float]:
    """Return the lower and the upper end of a stack; 0 and 1 without strips."""
    return (strips[-1].start, strips[0].end) if strips else (0.0, 1.0)


def strip_room(strips: Sequence[Strip], place: int) -> tuple[float, float]:
    """Return the heights between which lines of a strip may be; infinite at ends of the stack.

    >>> strip_room(stack_strips({"a": Extent(0.0, 1.0), "b": Extent(0.0, 1.0)}), 0)
    (1.0, inf)
    """
    strip, last = strips[place], len(strips) - 1
    return strip.start if place < last else -math.inf, strip.top if place else math.inf


def with_air(low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis for values from `low` to `high`, with air on both sides.

    Equal values v are in the middle of a range of width |v|, of width 1 if they are 0.

    >>> with_air(0.0, 1.0), with_air(4.0, 4.0), with_air(0.0, 0.0)
    ((-0.06, 1.06), (2.0, 6.0), (-0.5, 0.5))
    """
    span, size = high - low, max(abs(low), abs(high))
    flat = span <= max(FLAT * size, 1.0 / FARTHEST)
    air = (0.5 * size or 0.5) if flat else AIR * span
    return low - air, high + air
