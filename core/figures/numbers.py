"""Numbers as people read them: with the digits they deserve, .0124 and 10^2.31 and 3.2 k."""

from __future__ import annotations

import math
import re

import numpy as np

MINUS = "\u2212"
# Beyond these a number is written with a power of ten.
LARGE, SMALL = 1e4, 1e-4
LEAST_SPAN = 1e-280  # of ticks: their step has a reciprocal
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
WHOLE_POWER = re.compile(r"(\w+|[|)])\^(-?\d+)(?!\.?\d)")


def _dropped_zero(text: str) -> str:
    """Without the zero before the point, and with a real minus sign."""
    sign = MINUS if text.startswith("-") else ""
    text = text.lstrip("-")
    if text.startswith("0."):
        text = text[1:]
    return sign + text


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def number_text(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, trailing zeros dropped.

    >>> number_text(0.01238), number_text(14.21), number_text(1000.0), number_text(0.0)
    ('.0124', '14.2', '1000', '0')
    >>> number_text(6.6e5), number_text(1.04e-7), number_text(float("nan"))
    ('6.6 10^5', '1.04 10^-7', 'none')
    """
    if math.isnan(value):
        return "none"
    if value == 0.0:
        return "0"
    # Rounded first: 9.996 with three digits is 10, which has another exponent.
    rounded = float(f"{value:.{digits - 1}e}")
    if math.isinf(rounded):  # also where the largest floats are rounded up
        return "infinite" if value > 0 else f"{MINUS}infinite"
    # A power of ten has its own exponent, however log10 rounds it.
    exponent = math.floor(math.log10(abs(rounded)) + 1e-12)
    if SMALL <= abs(rounded) < LARGE:
        return _dropped_zero(_fixed(rounded, max(digits - 1 - exponent, 0)))
    mantissa = _dropped_zero(_fixed(float(f"{rounded:e}".split("e")[0]), digits - 1))
    return f"10^{exponent}" if mantissa == "1" else f"{mantissa} 10^{exponent}"


def count_text(value: float) -> str:
    """A count or a rate with two or three digits and a prefix.

    >>> count_text(3210), count_text(212_400), count_text(87), count_text(9.97), count_text(1.06e6)
    ('3.2 k', '212 k', '87', '10', '1.1 M')
    """
    for size, prefix in PREFIXES:
        scaled = value / size
        # What would be shown as 1000 has the next prefix, and what as 10.0 has no decimals.
        if abs(scaled) >= 0.9995:
            return f"{_dropped_zero(_fixed(scaled, 1 if abs(scaled) < 9.95 else 0))} {prefix}"
    return _dropped_zero(_fixed(value, 1 if abs(value) < 9.95 else 0))


def power_text(exponent: float, decimals: int = 2) -> str:
    """10 to a power, plain where that is shorter.

    >>> [power_text(x) for x in (2.31, 2.0, 1.0, 0.0, -1.0, -2.0, 0.5)]
    ['10^2.31', '10^2', '10', '1', '.1', '10^-2', '3.16']
    >>> power_text(1.0334), power_text(2000.0), power_text(2.5e6)
    ('10.8', '10^2000', '10^(2.5 10^6)')
    """
    if abs(exponent) >= LARGE:
        return f"10^({number_text(exponent)})"
    if -1.0 <= exponent < 1.5:
        return number_text(10.0**exponent)
    text = _fixed(exponent, max(decimals - max(len(f"{abs(exponent):.0f}") - 2, 0), 0))
    return f"10^{text}"


def step_text(log10_time: float) -> str:
    """Return the moment of a run whose t counts steps.

    >>> step_text(2.0), step_text(float("-inf")), step_text(8.25)
    ('step 100', 'step 0', 'step 10^8.25')
    """
    if log10_time < 7.0:
        return f"step {10.0**log10_time:.0f}"
    return f"step {power_text(log10_time + 1e-9)}"


def time_text(log10_time: float, steps: bool = False) -> str:
    """A moment, for running text; t = 0 is where log10 t is -inf. `steps`: t counts steps.

    >>> time_text(2.305), time_text(float("-inf")), time_text(1.0)
    ('t = 10^2.31', 't = 0', 't = 10')
    >>> time_text(2.0e3), time_text(1e4)
    ('log10 t = 2000', 'log10 t = 10^4')
    """
    if steps:
        return step_text(log10_time)
    if log10_time == -math.inf:
        return "t = 0"
    if abs(log10_time) >= 1000.0:
        return f"log10 t = {number_text(log10_time, 4)}"
    # A decimal that ends in 5 may be a little less in binary, and would be rounded down.
    return f"t = {power_text(log10_time + 1e-9)}"


def clock_text(log10_time: float, steps: bool = False) -> str:
    """A moment with a fixed number of decimals, so that a running display does not jump; `steps`: t
    counts steps.

    >>> clock_text(2.3), clock_text(123.456), clock_text(-0.5), clock_text(float("-inf"))
    ('t = 10^2.30', 't = 10^123.5', 't = 10^-0.50', 't = 0')
    """
    if steps:
        return step_text(log10_time)
    if log10_time == -math.inf:
        return "t = 0"
    if abs(log10_time) >= 1000.0:
        return f"log10 t = {number_text(log10_time, 4)}"
    return f"t = 10^{log10_time:.{2 if abs(log10_time) < 100.0 else 1}f}"


# ---------------------------------------------------------------- as matplotlib's mathtext


def math_text(text: str) -> str:
    """The powers, `log10` and `t` of a text from this module.

    >>> math_text("t = 10^2.31"), math_text("log10 t = 2000"), math_text("6.6 10^5")
    ('$t$ = $10^{2.31}$', '$\\\\log_{10}\\\\,t$ = 2000', '6.6 $\\\\times$ $10^{5}$')
    """
    nested = re.sub(r"\((\S+) 10\^(\S+)\)", r"\1\\times10^{\2}", text)
    text = re.sub(r"(?<=\d) (?=10\^)", r" $\\times$ ", nested)
    text = re.sub(r"10\^(\S+)", lambda match: f"$10^{{{match[1]}}}$", text)
    text = text.replace("log10 t", "$\\log_{10}\\,t$")
    return re.sub(r"(^|\s)t(?= =)", r"\1$t$", text)


def math_number(text: str) -> str:
    """A single number of this module, as one formula where it is a power.

    >>> math_number("10^2.31"), math_number("6.6 10^5"), math_number("14.2")
    ('$10^{2.31}$', '$6.6\\\\times 10^{5}$', '14.2')
    """
    mantissa, ten, exponent = text.partition("10^")
    if not ten:
        return text
    times = f"{mantissa.strip()}\\times " if mantissa.strip() else ""
    return f"${times}10^{{{exponent.strip('()').replace(MINUS, '-')}}}$"


def math_words(text: str) -> str:
    """A sentence with whole powers and +- as they are set; what is a formula already stays.

    >>> math_words("d = 10^4, 10^-2 +- 1, |W|^2, d^4")
    'd = $10^{4}$, $10^{-2}$ \u00b1 1, |W$|^{2}$, $d^{4}$'
    """
    parts = text.replace("+-", "\u00b1").split("$")  # every other one is a formula
    parts[::2] = [WHOLE_POWER.sub(r"$\1^{\2}$", part) for part in parts[::2]]
    return "$".join(parts)


# ------------------------------------------------------------------------------------ ticks


def nice_step(span: float, most: int) -> float:
    """The smallest step 1, 2 or 5 times a power of ten that cuts a span into at most `most` parts.

    >>> nice_step(1.0, 5), nice_step(0.09, 4)
    (0.2, 0.05)
    """
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1.0, 2.0, 5.0, 10.0):
        # A span of exactly so many steps must not lose one to rounding.
        if factor * power >= rough * (1.0 - 1e-9):
            return factor * power
    raise AssertionError("10 times the power of ten below a number is larger than the number")


def linear_ticks(low: float, high: float, most: int = 5) -> tuple[tuple[float, str], ...]:
    """Ticks in [low, high] at multiples of a nice step, with their texts; none where there is no
    such range of floats.

    >>> linear_ticks(-0.02, 0.05, 4)
    ((-0.02, '\u2212.02'), (0.0, '0'), (0.02, '.02'), (0.04, '.04'))
    """
    if not LEAST_SPAN <= high - low < math.inf:
        return ()
    step = nice_step(high - low, most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    # Rounded: 3 times .1 is .30000000000000004.
    places = [float(np.round(k * step, decimals)) for k in range(first, last + 1)]
    if step >= LARGE or step < SMALL:
        return tuple((place, number_text(place)) for place in places)
    return tuple((place, _dropped_zero(_fixed(place, decimals))) for place in places)
