"""Numbers from core.figures.numbers as a screen can show them: small raised whole powers."""

from __future__ import annotations

import math

from core.numbers import number_text
from core.numbers import raised as raised


def shown_number(value: float, digits: int = 3) -> str:
    """A number for a panel; what is not there is a dash."""
    return "\u2013" if math.isnan(value) else raised(number_text(value, digits))
