"""Times as they are typed, and as links have them."""

from __future__ import annotations

import math
import re

# ASCII digits only: float() takes those of any script, and underscores.
NUMBER = r"[+\-\u2212]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
POWER = re.compile(rf"^(?:t\s*=\s*)?10\s*\^\s*\(?({NUMBER})\)?$", re.IGNORECASE)
LOGARITHM = re.compile(rf"^(?:log10\s*t\s*=\s*)({NUMBER})$", re.IGNORECASE)
PLAIN = re.compile(rf"^(?:t\s*=\s*)?({NUMBER})$", re.IGNORECASE)


def parse_time(text: str) -> float | None:
    """log10 t of what was typed: "10^2.3", "t = 200", "log10 t = 3" or "0"; None for no time.

    >>> parse_time("10^2.5"), parse_time("t = 100"), parse_time("log10 t = 3"), parse_time("0")
    (2.5, 2.0, 3.0, -inf)
    >>> parse_time("soon"), parse_time("10^1e999")
    (None, None)
    """
    text = text.strip().replace("\u2212", "-")  # as the field itself writes it
    for pattern in (POWER, LOGARITHM):
        if match := pattern.match(text):
            log10_time = float(match[1])
            return log10_time if math.isfinite(log10_time) else None
    if (match := PLAIN.match(text)) and (time := float(match[1])) >= 0.0:
        return math.log10(time) if 0.0 < time < math.inf else -math.inf if time == 0.0 else None
    return None


def typed_time(log10_time: float) -> str:
    """A moment to the last digit, as `parse_time` reads it.

    >>> typed_time(2.5), typed_time(-math.inf)
    ('10^2.5', '0')
    """
    return f"10^{log10_time!r}" if math.isfinite(log10_time) else "0"
