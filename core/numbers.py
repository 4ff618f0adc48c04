"""Numbers as the program prints them for people, and as people type them.

One convention, whatever the system's language: a decimal point, and narrow spaces between groups of
three digits from five digits on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

NARROW_SPACE = "\u202f"  # no line is broken at it
GROUP_FROM = 10_000  # four digits are read without it
# "0,5": one number, or two.
DECIMAL = re.compile(r"[+-]?\d*,\d+(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
# "1,000" and "1.000,5" and "1,000.5": digits in groups, or several numbers.
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d*)?|(?:\.\d{3})+,\d+)", re.ASCII)
MIXED = re.compile(r"\d,\d.*[\s;]|[\s;].*\d,\d", re.ASCII | re.DOTALL)


def whole_text(value: int) -> str:
    """Return a whole number in groups of three digits from five digits on.

    >>> whole_text(8120), whole_text(1234567).replace("\u202f", " ")
    ('8120', '1 234 567')
    """
    return f"{value:,}".replace(",", NARROW_SPACE) if abs(value) >= GROUP_FROM else str(value)


def is_ambiguous(text: str, whole: bool = False) -> bool:
    """Return True for numbers whose commas may be decimal ones, or stand between groups of digits.

    Of `whole` numbers no comma is a decimal one, nor where another number has a point.

    >>> is_ambiguous("0,5"), is_ambiguous("1.000,5"), is_ambiguous("1,5; 2,5")
    (True, True, True)
    >>> is_ambiguous("16, 32"), is_ambiguous("1,2,4"), is_ambiguous("0.1, 1,2")
    (False, False, False)
    >>> is_ambiguous("16,32", whole=True), is_ambiguous("1,024", whole=True)
    (False, True)
    """
    text = text.strip()
    if GROUPED.fullmatch(text):
        return True
    if whole or "." in text:
        return False
    return bool(DECIMAL.fullmatch(text) or MIXED.search(text))


def finite(value: Any) -> Any:
    """Return the value with every non-finite number replaced by None, for JSON.

    >>> finite({"a": [1.0, float("nan")], "b": float("-inf")})
    {'a': [1.0, None], 'b': None}
    """
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
