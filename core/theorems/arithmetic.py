"""Arithmetic of bounds that may be undefined or overflow, and numbers in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

NAN = float("nan")


def format_number(value: float) -> str:
    """Return a number with three digits: 1.1e9 and not 1100000000.

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
    """Return ln(count/delta), at least 0, of a number or a trace; NaN for a count of 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(count) > 0.0, np.maximum(np.log(count / delta), 0.0), NAN)[()]


def log(value: float) -> float:
    """Return ln; -inf at 0 (an R, a weight or a norm that vanishes), NaN below.

    >>> log(1.0), log(0.0)
    (0.0, -inf)
    """
    if not value > 0.0:
        return -math.inf if value == 0.0 else NAN
    return math.log(value)


def divide(numerator: float, denominator: float) -> float:
    """Return numerator/denominator; NaN unless the denominator, such as a margin, is positive.

    >>> divide(1.0, 4.0), divide(1.0, 0.0)
    (0.25, nan)
    """
    return numerator / denominator if denominator > 0.0 else NAN


def power(value: Any, exponent: float) -> Any:
    """Return value^exponent of a number or a trace; infinite beyond float64.

    >>> power(3.0, 2), power(1e-200, -2)
    (9.0, inf)
    """
    # A NumPy float, since Python's own raises on overflow.
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        powers = np.asarray(value, dtype=np.float64) ** exponent
    return powers if powers.ndim else float(powers)
