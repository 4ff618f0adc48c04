"""Arithmetic of bounds that may be undefined or overflow, and numbers in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

NAN = float("nan")


def format_number(value: float) -> str:
    """Return a number with three significant digits; whole numbers below 1e5 with all digits.

    Other numbers from 1e3 on and below 1e-4 have an exponent. NaN, inf and -inf become words.

    >>> tuple(map(format_number, (1.1e9, 256.0, 0.0511, float("nan"), float("inf"))))
    ('1.1e9', '256', '0.0511', 'not known', 'infinite')
    """
    if math.isnan(value):
        return "not known"
    if math.isinf(value):
        return "infinite" if value > 0.0 else "-infinite"
    if value == round(value) and abs(value) < 1e5:
        return str(int(value))
    mantissa, _, exponent = f"{value:.3g}".partition("e")
    return mantissa if not exponent else f"{mantissa}e{int(exponent)}"


def log_term(count: Any, delta: float) -> Any:
    """Return max(ln(count/delta), 0) of a number or an array; NaN unless count > 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(count) > 0.0, np.maximum(np.log(count / delta), 0.0), NAN)[()]


def log(value: float) -> float:
    """Return ln(value); -inf at 0 (a risk, a weight or a norm that vanishes), else NaN unless > 0.

    >>> log(1.0), log(0.0)
    (0.0, -inf)
    """
    if not value > 0.0:
        return -math.inf if value == 0.0 else NAN
    return math.log(value)


def divide(numerator: float, denominator: float) -> float:
    """Return numerator/denominator; NaN if the denominator is 0, negative or NaN.

    >>> divide(1.0, 4.0), divide(1.0, 0.0)
    (0.25, nan)
    """
    return numerator / denominator if denominator > 0.0 else NAN


def power(value: Any, exponent: float) -> Any:
    """Return value^exponent of a number or an array; infinite where it overflows float64.

    >>> power(3.0, 2), power(1e-200, -2)
    (9.0, inf)
    """
    # A NumPy float, since Python's own raises on overflow.
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        powers = np.asarray(value, dtype=np.float64) ** exponent
    return powers if powers.ndim else float(powers)
