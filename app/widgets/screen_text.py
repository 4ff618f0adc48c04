"""Numbers from core.figures.numbers as a screen can show them: small raised whole powers."""

from __future__ import annotations

import math
import re

from core.figures.numbers import MINUS, number_text

RAISED = str.maketrans(
    "0123456789-", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b"
)
# There are raised digits in Unicode but no raised point: 10^2.31 stays as it is.
WHOLE_POWER = re.compile(r"(?<=10)\^(-?\d+)(?![\d.])")
SQUARE = re.compile(r"\^2(?![\d.])")
NARROW_SPACE = "\u202f"
# Four digits are read without it.
GROUP_FROM = 10_000


def raised(text: str) -> str:
    """Whole powers raised, and a cross before a power of ten; other powers stay as they are.

    >>> raised("1.04 10^-7") == "1.04 \u00d7 10\u207b\u2077", raised("t = 10^2.31")
    (True, 't = 10^2.31')
    """
    crossed = re.sub(r"(?<=\d) (?=10\^)", " \u00d7 ", text)
    return SQUARE.sub("\u00b2", WHOLE_POWER.sub(_raise, crossed)).replace("^-", "^" + MINUS)


def _raise(match: re.Match[str]) -> str:
    return match[1].translate(RAISED)


def shown_number(value: float, digits: int = 3) -> str:
    """A number for a panel; what is not there is a dash."""
    return "\u2013" if math.isnan(value) else raised(number_text(value, digits))


def whole_text(value: int) -> str:
    """A whole number, its digits in groups of three from five digits on.

    >>> whole_text(8120), whole_text(1234567).replace("\u202f", " ")
    ('8120', '1 234 567')
    """
    return f"{value:,}".replace(",", NARROW_SPACE) if abs(value) >= GROUP_FROM else str(value)


def duration_text(seconds: float) -> str:
    """A time to wait, coarser the longer it is.

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
    """Bytes as people read them.

    >>> size_text(999), size_text(18_400_000), size_text(2.5e9), size_text(3e12)
    ('1 kB', '18.4 MB', '2.5 GB', '3.0 TB')
    """
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor:
            return f"{size / factor:.{1 if size < 100 * factor else 0}f} {unit}"
    return f"{size / 1e3:.0f} kB"
