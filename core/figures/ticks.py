"""Ticks of axes on screen and paper: of plain numbers, powers, far times, roots and strips.

Texts are those of core.figures.numbers; screens raise their powers, and figures typeset them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from core.figures.numbers import linear_ticks, math_number, named_ticks, nice_step
from core.figures.primitives import Axis, Strip
from core.numbers import power_text
from core.problem.schedule import coordinate, inverse_coordinate

Ticks = tuple[tuple[float, str], ...]
# (low, high, most) -> about `most` ticks between the ends of an axis, in its own coordinate:
# increasing positions, and texts in terms of the quantity. () for an impossible range.
TickMaker = Callable[[float, float, int], Ticks]
# Limits of ranges that a user types or zooms to: products of two spans, in transforms of plots,
# stay finite, and a range has at least 4,000 different float64 numbers.
FARTHEST, FINEST = 1e100, 1e-12
MOST_EXPONENT = 250.0  # decimal exponent of numbers whose fractions are floats too
FARTHEST_TIME = 700.0  # in the schedule's coordinate: beyond, log10 t is infinite


def range_problem(low: float, high: float) -> str:
    """Return the allowed ends of a range if the user's are invalid, else "".

    >>> range_problem(0.0, 1.0), range_problem(1.0, 1.0)
    ('', 'left must be less than right, and bottom less than top')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return "the limits of a range must be finite numbers"
    if not low < high:
        return "left must be less than right, and bottom less than top"
    size = max(abs(low), abs(high))
    if size > FARTHEST:
        return "the limits of a range must lie between -10^100 and 10^100"
    if high - low < max(FINEST * size, 1.0 / FARTHEST):
        return (
            "the limits of a range must differ by at least 10^-100, and by 10^-12 of the larger one"
        )
    return ""


def whole_numbers(low: float, high: float, max_count: int) -> range:
    """Return the multiples in [low, high] of a nice step.

    Parameters
    ----------
    low, high, max_count : float, float, int
        Ends, and about how many multiples fit.

    Returns
    -------
    range
        Empty if the ends are not finite, or not in order.

    Examples
    --------
    >>> list(whole_numbers(-1.0, 7.0, 4))
    [0, 2, 4, 6]
    """
    if not 0.0 <= high - low < math.inf:
        return range(0)
    # 1e-9: an integer end stays an integer after rounding.
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    step = max(1, round(nice_step(max(last - first, 1), max_count)))
    # From multiple to multiple, since the range may contain very many integers.
    return range(-(-first // step) * step, last + 1, step)


def multiples(first: int, last: int, max_count: int) -> range:
    """Return the multiples in [first, last] of a step: 1, 2, 5, 10, 20 and so on.

    Parameters
    ----------
    first, last, max_count : int
        Ends; the step is the least of which at most `max_count` + 1 multiples fit.

    Returns
    -------
    range

    Examples
    --------
    >>> list(multiples(-3, 8, 6)), list(multiples(-300, 10, 6))
    ([-2, 0, 2, 4, 6, 8], [-300, -200, -100, 0])
    """
    steps = (digit * 10**k for k in count() for digit in (1, 2, 5))
    step = next(one for one in steps if (last - first) // one < max_count)
    return range(-(-first // step) * step, last + 1, step)


def root_ticks(low: float, high: float, max_ticks: int) -> Ticks:
    """Return ticks of an axis that shows signed roots of a quantity, in terms of the quantity.

    Parameters
    ----------
    low, high, max_ticks : float, float, int
        As of `TickMaker`; the ends are signed roots.

    Returns
    -------
    Ticks
        Evenly spaced places x, with the text of sign(x) x^2.

    Examples
    --------
    >>> root_ticks(-1.0, 2.0, 3)
    ((-1.0, '\u22121'), (0.0, '0'), (1.0, '1'), (2.0, '4'))
    """
    places = [place for place, _ in linear_ticks(low, high, max_ticks)]
    return named_ticks(places, [math.copysign(x * x, x) if x else 0.0 for x in places])


def power_ticks(low: float, high: float, max_ticks: int) -> Ticks:
    """Return ticks of an axis that shows log10 of a quantity, in terms of the quantity.

    Parameters
    ----------
    low, high, max_ticks : float, float, int
        As of `TickMaker`; the ends are log10 of the quantity.

    Returns
    -------
    Ticks
        At whole powers of ten if the range has two, otherwise at round numbers between them.

    Examples
    --------
    >>> power_ticks(-1.2, 3.0, 5)
    ((-1.0, '.1'), (0.0, '1'), (1.0, '10'), (2.0, '10^2'), (3.0, '10^3'))
    """
    if not 0.0 < high - low < math.inf:
        return ()
    if math.ceil(low - 1e-9) < math.floor(high + 1e-9):
        return tuple((float(k), power_text(float(k))) for k in whole_numbers(low, high, max_ticks))
    return _between_powers(low, high, max_ticks)


def log_ticks(low: float, high: float, max_ticks: int) -> Ticks:
    """Return ticks of an axis that shows log10 of a quantity, round numbers where it is short.

    Parameters
    ----------
    low, high, max_ticks : float, float, int
        As of `TickMaker`; the ends are log10 of the quantity.

    Returns
    -------
    Ticks
        Below 1.5 decades at 1 and 3, or at 1, 2 and 5, times powers of ten, or at closer round
        numbers; otherwise as of `power_ticks`.

    Examples
    --------
    >>> [text for _, text in log_ticks(0.0, 1.4, 5)], [text for _, text in log_ticks(0.0, 2.0, 5)]
    (['1', '3', '10'], ['1', '10', '10^2'])
    """
    return (_between_powers if 0.0 < high - low < 1.5 else power_ticks)(low, high, max_ticks)


def _between_powers(low: float, high: float, max_ticks: int) -> Ticks:
    """Return ticks of a short axis at 1 and 3, or 1, 2 and 5 times powers.

    >>> [text for _, text in _between_powers(0.4, 1.9, 5)]
    ['3', '10', '30']
    """
    if max(-low, high) > MOST_EXPONENT:
        exponents = [x for x, _ in linear_ticks(low, high, max_ticks)]
        return named_ticks(exponents, exponents, power_text)
    digits: tuple[float, ...] = (1.0, 3.0) if high - low > 1.0 else (1.0, 2.0, 5.0)
    digits = digits if high - low > 0.35 else tuple(0.5 * k for k in range(2, 20))
    places = [
        (math.log10(digit) + k, digit * 10.0**k)
        for k in range(math.floor(low), math.floor(high) + 1)
        for digit in digits
    ]
    visible = [(place, value) for place, value in places if low <= place <= high]
    if len(visible) < 2:  # use round numbers of the quantity itself
        values = linear_ticks(10.0**low, 10.0**high, max_ticks)
        return tuple((math.log10(value), text) for value, text in values if value > 0)
    step = -(-len(visible) // max(max_ticks, 2))
    few = visible[::step]
    return named_ticks([place for place, _ in few], [value for _, value in few])


def far_times(low: float, high: float, max_ticks: int) -> Ticks:
    """Return ticks of an axis in the coordinate u of far schedules, in terms of log10 t.

    Parameters
    ----------
    low, high, max_ticks : float, float, int
        As of `TickMaker`; the ends are u(log10 t) of core.problem.schedule.

    Returns
    -------
    Ticks
        log10 t = 1, 10, 100 and so on, and -4, -2 and 0 unless the axis is too long for these.
        Evenly spaced log10 t if these are at most 1, or span less than a decade.

    Examples
    --------
    >>> [text for _, text in far_times(0.0, 10.0, 5)]
    ['0', '1', '10', '100', '1000']
    """
    if not 0.0 < high - low < math.inf:
        return ()
    ends = np.minimum(np.array([low, high]), FARTHEST_TIME)
    least, largest = (float(x) for x in inverse_coordinate(ends))
    decades = math.log10(max(largest, 1.0) / max(least, 1.0))
    if largest <= 1.0 or decades < 1.0:
        times = [x for x, _ in linear_ticks(least, largest, max_ticks)]
    else:
        last = math.floor(math.log10(largest)) + 1
        step = max(1, round(nice_step(max(last, 1), max_ticks)))
        times = [10.0**k for k in range(0, last + 1, step)]
        # Early times too, unless the axis is so long that they would crowd together.
        times = [x for x in (-4.0, -2.0, 0.0) if step < 3] + times
    times = [x for x in times if least <= x <= largest]
    return named_ticks([float(coordinate(x)) for x in times], times)


def integer_ticks(low: float, high: float, max_ticks: int) -> Ticks:
    """Return ticks of an axis that shows whole numbers.

    Parameters
    ----------
    low, high, max_ticks : float, float, int
        As of `TickMaker`.

    Returns
    -------
    Ticks
        At `whole_numbers`.

    Examples
    --------
    >>> integer_ticks(-0.5, 2.5, 8)
    ((0.0, '0'), (1.0, '1'), (2.0, '2'))
    >>> integer_ticks(1503.0, 1505.0, 8)
    ((1503.0, '1503'), (1504.0, '1504'), (1505.0, '1505'))
    """
    numbers = [float(k) for k in whole_numbers(low, high, max_ticks)]
    return named_ticks(numbers, numbers)


# By the meaning of an axis (core.figures.primitives.Axis).
MAKERS: Mapping[str, TickMaker] = {
    "plain": linear_ticks,
    "powers": power_ticks,
    "log": log_ticks,
    "far": far_times,
    "roots": root_ticks,
    "whole": integer_ticks,
}


def with_range(axis: Axis, low: float, high: float, max_ticks: int = 5) -> Axis:
    """Return an axis over another range.

    Parameters
    ----------
    axis : Axis
        Its `shows` or strips decide the ticks.
    low, high : float
        Ends of the range.
    max_ticks : int
        About the most ticks.

    Returns
    -------
    Axis
    """
    if axis.strips:
        n_strips = sum(low < strip.end and strip.start < high for strip in axis.strips)
        ticks = strip_ticks(axis.strips, low, high, max(FEW * n_strips, max_ticks))
    else:
        ticks = MAKERS[axis.shows](low, high, max_ticks)
    inside = tuple((place, math_number(text)) for place, text in ticks if low <= place <= high)
    return replace(axis, low=low, high=high, ticks=inside)


LARGE_RATIO = 2.0  # decades of |W|^2 above which its axis is logarithmic
MOST_SPAN = 300.0  # beyond, numbers or the span of an axis overflow


def needs_logarithm(low: float, high: float) -> bool:
    """Return True if |W|^2 from 10^low to 10^high is shown on a logarithmic axis.

    >>> needs_logarithm(0.0, 1.5), needs_logarithm(0.0, 3.0), needs_logarithm(700.0, 700.1)
    (False, True, True)
    """
    return high - low > LARGE_RATIO or max(-low, high) > MOST_SPAN


# ---------------------------------------------------------------------------------- ticks of strips

MOST_TRIED = 6
FEW = 3.0  # ticks of a strip of unknown height


def _visible_ticks(shows: str, low: float, high: float, max_ticks: int) -> Ticks:
    return tuple(tick for tick in MAKERS[shows](low, high, max_ticks) if low <= tick[0] <= high)


def strip_ticks(strips: Sequence[Strip], low: float, high: float, room: float) -> Ticks:
    """Return the ticks of all strips between two heights of the stack.

    Parameters
    ----------
    strips : sequence of Strip
        Strips from the top down.
    low, high : float
        Heights of the stack.
    room : float
        Ticks that fit between the heights.

    Returns
    -------
    tuple of (float, str)
        Heights and texts, sorted.

    Examples
    --------
    >>> angle = Strip("angle", start=-1.1, top=1.1, end=1.1, low=-1.1, high=1.1)
    >>> strip_ticks((angle,), -1.1, 1.1, 3.0)
    ((-1.0, '\u22121'), (0.0, '0'), (1.0, '1'))
    >>> strength = Strip("risk", start=-3.2, top=-0.8, end=-0.8, low=-3.2, high=-0.8, shows="log")
    >>> [height for height, _ in strip_ticks((strength,), -3.2, -0.8, 2.0)]
    [-3.0, -1.0]
    """
    ticks: list[tuple[float, str]] = []
    for strip in strips:
        ends = max(low, strip.start), min(high, strip.top)
        if not (ends[0] < ends[1] and 0.0 < strip.unit < math.inf):
            continue
        first, last = (strip.low + (end - strip.start) / strip.unit for end in ends)
        fit = max_ticks = int(np.clip(room * (ends[1] - ends[0]) / (high - low), 2, 8))
        places = _visible_ticks(strip.shows, first, last, max_ticks)
        while len(places) < 2 and max_ticks < MOST_TRIED:  # one tick gives no scale
            max_ticks += 1
            places = _visible_ticks(strip.shows, first, last, max_ticks)
        if fit == 2 < len(places):  # .001, .01 and .1 where two have room
            places = places[0], places[-1]
        ticks += [(strip.start + (value - strip.low) * strip.unit, text) for value, text in places]
    return tuple(sorted(ticks))  # pages omit texts too close to the one before
