"""How often the screen looks for news: the window must not take a core from what is trained."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import final

# Thirty looks a second where they are cheap.
TICK_MS = 33
# Twelve looks a second, however dear they are (docs/decisions/0015).
LONGEST_MS = 80
SHARE = 0.35  # of a core, for all that the window's thread does while something is trained


@final
class TickPace:
    """Milliseconds between ticks, from what the thread of the window took since the last one.

    Painting holds the interpreter, which the training needs between two chunks, and takes memory
    and a core from it. So the window looks less often where a look is dear, as long as something is
    trained; else, and where a look is cheap, thirty times a second.
    """

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        """`clock` tells the seconds that this thread has worked."""
        self._clock = clock
        self._last = clock()
        self._taken = 0.0  # a tick, painting included: a running mean

    def next(self, yielding: bool) -> int:
        """The milliseconds to the next tick, told at the beginning of one."""
        now = self._clock()
        taken, self._last = now - self._last, now
        if not yielding:
            self._taken = 0.0
            return TICK_MS
        # A mean over some four ticks: one dear tick alone must not slow the display down.
        self._taken = taken if self._taken == 0.0 else 0.75 * self._taken + 0.25 * taken
        return round(min(max(1000.0 * self._taken / SHARE, TICK_MS), LONGEST_MS))
