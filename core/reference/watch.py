"""How a long computation is cancelled, and kept to its time and to its share of a core."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import final

SHORTEST_S = 0.005  # work after which it is worth while to sleep
# However long the work before it was: a late look must not put a computation to sleep for minutes.
LONGEST_S = 10.0
NAP_S = 0.1  # how soon a sleeper sees that it may have all of a core again
# With none at all it would sleep for ever.
LEAST_SHARE = 0.01


class CancelledError(Exception):
    """The computation was cancelled; it has no result."""


@final
class _Clock:
    """When a computation began, when it last looked, and what it slept; one for all its parts."""

    def __init__(self) -> None:
        self.begin = self.looked = time.perf_counter()
        self.slept = 0.0


@final
class Watch:
    """Looked at by a computation at least every 50 ms; any thread may cancel it.

    `limit` are the seconds after which a computation that can stop early ends with the bracket at
    hand; `math.inf` for as long as it takes. `share` says at each look how much of a core the
    computation may take, from 0 to 1: it sleeps in `look` so that it takes no more, and what it
    slept does not count towards the limit.
    """

    def __init__(self, limit: float = 120.0, share: Callable[[], float] | None = None) -> None:
        self._cancelled = threading.Event()
        self._clock = _Clock()
        self._share = share
        self.limit = limit

    def cancel(self) -> None:
        """Ask for the end; the computation raises CancelledError at its next look."""
        self._cancelled.set()

    def within(self, seconds: float) -> Watch:
        """A watch that is cancelled with this one, and late after so many seconds or with it."""
        part = Watch(min(self.limit, self.seconds + seconds), self._share)
        part._cancelled, part._clock = self._cancelled, self._clock
        return part

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    @property
    def seconds(self) -> float:
        """Seconds since the watch was made, without those slept."""
        return time.perf_counter() - self._clock.begin - self._clock.slept

    @property
    def late(self) -> bool:
        """Whether the time that was allowed is over."""
        return self.seconds > self.limit

    def look(self) -> None:
        """Raise CancelledError when cancelled; before, sleep for what is not its share."""
        if self._share is not None:
            self._rest(self._share)
        if self.cancelled:
            raise CancelledError

    def _rest(self, share_now: Callable[[], float]) -> None:
        """Sleep until the work since the last look is its share of the time; short rests are left
        for later."""
        begun = time.perf_counter()
        worked, share = begun - self._clock.looked, share_now()
        if share < 1.0:
            if worked < SHORTEST_S:
                return
            end = begun + min(worked * (1.0 - share) / max(share, LEAST_SHARE), LONGEST_S)
            while time.perf_counter() < end and share_now() < 1.0:
                # Waiting for the flag itself: who cancels need not wait for a sleeper.
                if self._cancelled.wait(min(NAP_S, max(end - time.perf_counter(), 0.0))):
                    break
        self._clock.looked = time.perf_counter()
        self._clock.slept += self._clock.looked - begun
