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
