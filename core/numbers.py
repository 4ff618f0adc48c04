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


# ------------------------------------------------------------------------- bytes, and times to wait


def duration_text(seconds: float) -> str:
    """Return a time to wait as text, the coarser the longer it is.

    >>> duration_text(0.4), duration_text(12.3), duration_text(200), duration_text(7300)
    ('< 1 s', '12 s', '3 min', '2 h 2 min')
    """
    if seconds < 1.0:
        return "< 1 s"
    # Rounded up, 99.5 would be three digits of seconds.
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60.0)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} days"


def size_text(size: float) -> str:
    """Return a size in bytes as text, in kB to TB.

    >>> size_text(999), size_text(18_400_000), size_text(2.5e9), size_text(3e12)
    ('1 kB', '18.4 MB', '2.5 GB', '3.0 TB')
    """
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:.{1 if size < 100 * factor else 0}f} {unit}"
    return f"{size / 1e3:.0f} kB"


def natural_key(text: str) -> list[tuple[int, str]]:
    """Return a sort key by which ckpt-9 is before ckpt-10.

    >>> sorted(["ckpt-10", "ckpt-9", "a"], key=natural_key)
    ['a', 'ckpt-9', 'ckpt-10']
    """
    parts = re.split(r"(\d{1,18})", text)
    return [(int(part), part) if k % 2 else (-1, part) for k, part in enumerate(parts)]
