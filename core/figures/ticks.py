"""Ticks and scales of axes: linear, logarithmic or twice logarithmic, on screen and paper.

Texts are those of core.figures.numbers; screens raise their powers and figures set them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import count
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.figures.numbers import linear_ticks, math_number, nice_step
from core.figures.primitives import Axis
from core.numbers import number_text, power_text
from core.problem.schedule import coordinate, inverse_coordinate

Ticks = tuple[tuple[float, str], ...]
TickMaker = Callable[[float, float, int], Ticks]
# Ranges that a user gives or zooms to. Products of two spans, in the transforms of plots, are
# floats up to there, and a range of doubles has 4,000 different numbers at least.
FARTHEST, FINEST = 1e100, 1e-12
MOST_EXPONENT = 250.0  # of numbers that are floats, and parts of them too
FARTHEST_TIME = 700.0  # in the schedule's coordinate: beyond, log10 t is no float


def range_problem(low: float, high: float) -> str:
    """Return what is allowed instead of the ends of a range that a user gives; "" for good ones.

    >>> range_problem(0.0, 1.0), range_problem(1.0, 1.0)
    ('', 'left is less than right, and bottom less than top')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return "the ends of a range are finite numbers"
    if not low < high:
        return "left is less than right, and bottom less than top"
    size = max(abs(low), abs(high))
    if size > FARTHEST:
        return "the ends of a range lie between -10^100 and 10^100"
    if high - low < max(FINEST * size, 1.0 / FARTHEST):
        return "the ends of a range differ by at least 10^-100, and by 10^-12 of the larger one"
    return ""


def whole_numbers(low: float, high: float, most: int) -> range:
    """Return the multiples in [low, high] of a nice step of which about `most` fit.

    >>> list(whole_numbers(-1.0, 7.0, 4))
    [0, 2, 4, 6]
    """
    if not 0.0 <= high - low < math.inf:
        return range(0)
    # An end that is a whole number is one, although it may have been rounded.
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    step = max(1, round(nice_step(max(last - first, 1), most)))
    # From multiple to multiple: the whole numbers between may be without number.
    return range(-(-first // step) * step, last + 1, step)


def multiples(first: int, last: int, most: int) -> range:
    """Return the multiples in [first, last] of 1, 2, 5, 10, ..., of which at most `most` + 1 fit.

    >>> list(multiples(-3, 8, 6)), list(multiples(-300, 10, 6))
    ([-2, 0, 2, 4, 6, 8], [-300, -200, -100, 0])
    """
    steps = (digit * 10**k for k in count() for digit in (1, 2, 5))
    step = next(one for one in steps if (last - first) // one < most)
    return range(-(-first // step) * step, last + 1, step)


def rooted(low: float, high: float, most: int) -> Ticks:
    """Ticks of an axis that shows signed roots, in terms of the quantity: evenly spaced squares.

    >>> rooted(-1.0, 2.0, 3)
    ((-1.0, '\u22121'), (0.0, '0'), (1.0, '1'), (2.0, '4'))
    """
    return tuple(
        (place, number_text(math.copysign(place * place, place) if place else 0.0))
        for place, _ in linear_ticks(low, high, most)
    )


def powers(low: float, high: float, most: int) -> Ticks:
    """Ticks of an axis that shows log10 of a quantity, in terms of the quantity.

    >>> powers(-1.2, 3.0, 5)
    ((-1.0, '.1'), (0.0, '1'), (1.0, '10'), (2.0, '10^2'), (3.0, '10^3'))
    """
    if not 0.0 < high - low < math.inf:
        return ()
    if math.ceil(low - 1e-9) < math.floor(high + 1e-9):
        return tuple((float(k), power_text(float(k))) for k in whole_numbers(low, high, most))
    return _between_powers(low, high, most)


def logarithmic(low: float, high: float, most: int) -> Ticks:
    """Return ticks of an axis that shows log10 of a quantity, round numbers where it is short."""
    return (_between_powers if 0.0 < high - low < 1.5 else powers)(low, high, most)


def _between_powers(low: float, high: float, most: int) -> Ticks:
    """Return ticks of a short axis at 1 and 3, or 1, 2 and 5 times powers.

    >>> [text for _, text in _between_powers(0.4, 1.9, 5)]
    ['3', '10', '30']
    """
    if max(-low, high) > MOST_EXPONENT:
        return tuple((x, power_text(x)) for x, _ in linear_ticks(low, high, most))
    digits: tuple[float, ...] = (1.0, 3.0) if high - low > 1.0 else (1.0, 2.0, 5.0)
    digits = digits if high - low > 0.35 else tuple(0.5 * k for k in range(2, 20))
    places = [
        (math.log10(digit) + k, digit * 10.0**k)
        for k in range(math.floor(low), math.floor(high) + 1)
        for digit in digits
    ]
    shown = [(place, value) for place, value in places if low <= place <= high]
    if len(shown) < 2:  # round numbers of the quantity itself
        values = linear_ticks(10.0**low, 10.0**high, most)
        return tuple((math.log10(value), text) for value, text in values if value > 0)
    step = -(-len(shown) // max(most, 2))
    return tuple((place, number_text(value)) for place, value in shown[::step])


def far_times(low: float, high: float, most: int) -> Ticks:
    """Ticks of an axis in the schedule's coordinate, in terms of log10 t."""
    if not 0.0 < high - low < math.inf:
        return ()
    ends = np.minimum(np.array([low, high]), FARTHEST_TIME)
    least, largest = (float(x) for x in inverse_coordinate(ends))
    decades = math.log10(max(largest, 1.0) / max(least, 1.0))
    if largest <= 1.0 or decades < 1.0:
        times = [x for x, _ in linear_ticks(least, largest, most)]
    else:
        last = math.floor(math.log10(largest)) + 1
        step = max(1, round(nice_step(max(last, 1), most)))
        times = [10.0**k for k in range(0, last + 1, step)]
        # Early times too, where the axis is not so far that they would crowd together.
        times = [x for x in (-4.0, -2.0, 0.0) if step < 3] + times
    places = [(float(coordinate(x)), x) for x in times if least <= x <= largest]
    return tuple((place, number_text(x)) for place, x in places)


def whole(low: float, high: float, most: int) -> Ticks:
    """Ticks of an axis that shows whole numbers.

    >>> whole(-0.5, 2.5, 8)
    ((0.0, '0'), (1.0, '1'), (2.0, '2'))
    """
    return tuple((float(k), number_text(float(k))) for k in whole_numbers(low, high, most))


# By the name of what an axis shows (core.figures.primitives.Axis).
MAKERS: Mapping[str, TickMaker] = {
    "plain": linear_ticks,
    "powers": powers,
    "log": logarithmic,
    "far": far_times,
    "roots": rooted,
    "whole": whole,
}


def ranged(axis: Axis, low: float, high: float, most: int = 5) -> Axis:
    """The same axis over another range."""
    ticks = MAKERS[axis.shows](low, high, most)
    inside = tuple((place, math_number(text)) for place, text in ticks if low <= place <= high)
    return replace(axis, low=low, high=high, ticks=inside)


# --------------------------------------------------------- the vertical axis that suits some curves

Floats = NDArray[np.float64]
WIDE = 100.0  # largest over smallest value beyond which positive curves are shown by their log10
FLAT = 0.04  # share of the axis that every curve must use; else each has a range of its own
LOG = "log10_"  # of the names of observables that are logarithms


LARGE_RATIO = 2.0  # decades of |W|^2 beyond which its axis is logarithmic
MOST_SPAN = 300.0  # beyond, a number or the span of an axis is no float


def needs_logarithm(low: float, high: float) -> bool:
    """Return whether |W|^2 from 10^low to 10^high is shown on a logarithmic axis.

    >>> needs_logarithm(0.0, 1.5), needs_logarithm(0.0, 3.0), needs_logarithm(700.0, 700.1)
    (False, True, True)
    """
    return high - low > LARGE_RATIO or max(-low, high) > MOST_SPAN


@final
class CurveScale(Enum):
    """What the vertical axis shows."""

    LINEAR = "the values"
    LOGARITHMIC = "their logarithms"
    OWN = "each curve from its least to its largest value"


def scaled(values: Floats, scale: CurveScale, among: Floats | None = None) -> Floats:
    """Values as an axis shows them; those it cannot show are NaN.

    Where each curve has a range of its own, it is that of `among` if that is given.
    """
    finite = np.where(np.isfinite(values), values, np.nan)
    if scale is CurveScale.LINEAR:
        return finite
    if scale is CurveScale.LOGARITHMIC:
        return np.log10(np.where(finite > 0.0, finite, np.nan))
    range_of = finite if among is None else np.where(np.isfinite(among), among, np.nan)
    low, high = (float(f.reduce(range_of, initial=np.nan)) for f in (np.fmin, np.fmax))
    return np.where(np.isnan(finite), np.nan, (finite - low) / (high - low if high > low else 1.0))


def scale_of(curves: Sequence[Floats], alike: bool = False) -> CurveScale:
    """Which axis suits some curves; those that are `alike`, as shares are, are read beside each
    other, however flat one of them is.

    >>> a, b = np.array([1.0, 2.0]), np.array([1.0, 1e4])
    >>> scale_of([a]).name, scale_of([a, b]).name, scale_of([a, -b]).name
    ('LINEAR', 'LOGARITHMIC', 'OWN')
    >>> scale_of([np.array([0.0, 0.9]), np.array([0.95, 0.96])], alike=True).name
    'LINEAR'
    """
    finite = [values[np.isfinite(values)] for values in curves]
    finite = [values for values in finite if values.size]
    if not finite:
        return CurveScale.LINEAR
    low, high = min(float(v.min()) for v in finite), max(float(v.max()) for v in finite)
    if low > 0.0 and high > WIDE * low:
        return CurveScale.LOGARITHMIC
    if alike:
        return CurveScale.LINEAR
    spans = [float(np.ptp(values)) for values in finite]
    if len(finite) > 1 and min(spans) < FLAT * (high - low):
        return CurveScale.OWN
    return CurveScale.LINEAR
