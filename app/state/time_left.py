"""How long something will still take, from how far it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

SURE = 1.0  # seconds after which a rate says something
PACE = 0.5  # seconds between two words


@final
@dataclass(slots=True)
class TimeLeft:
    """Seconds left by the mean rate since the beginning, which moves evenly; new words come twice a
    second at most. Times are in seconds of any clock.

    >>> left = TimeLeft(begun=10.0)
    >>> left.after(10.5, 1, 10), left.after(14.0, 4, 10), left.after(14.1, 5, 10)
    (nan, 6.0, 6.0)
    >>> left.after(20.0, 10, 10)
    0.0
    """

    begun: float
    _said: float = math.nan
    _at: float = -math.inf

    def after(self, now: float, done: int, total: int) -> float:
        """The seconds left when so many parts of all are done; NaN while too little is known."""
        spent = now - self.begun
        if done >= total:
            self._said = 0.0
        elif done > 0 and spent >= SURE and now - self._at >= PACE:
            self._said, self._at = spent * (total - done) / done, now
        return self._said
