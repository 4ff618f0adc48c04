"""Cancellation token of long computations, with a time limit and a share of a core."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import final

SHORTEST_S = 0.005  # seconds of work after which sleeping is worthwhile
# Limit of a sleep, however long the work before it was: a late check must not pause for minutes.
LONGEST_S = 10.0
NAP_S = 0.1  # seconds after which a sleeper notices that it may use a whole core again
# A share of 0 would sleep for ever.
LEAST_SHARE = 0.01


class CancelledError(Exception):
    """Error of a computation that was cancelled and has no result."""


@final
class _Clock:
    """Start, last check and sleep of a computation; shared by all its parts."""

    def __init__(self) -> None:
        self.started_at = self.checked_at = time.perf_counter()
        self.slept = 0.0


@final
class CancelToken:
    """Cancellation token. Call `check` at least every 50 ms; any thread may cancel.

    `limit` are the seconds after which a computation that can stop early ends with its present
    bracket; `math.inf` for no limit. `share` returns at each check the share of a core that the
    computation may use, from 0 to 1. `check` sleeps to keep to it, and sleep does not count towards
    the limit.
    """

    def __init__(self, limit: float = 120.0, share: Callable[[], float] | None = None) -> None:
        self._cancelled = threading.Event()
        self._clock = _Clock()
        self._share = share
        self.limit = limit

    def cancel(self) -> None:
        """Cancel the computation, which raises CancelledError at its next check."""
        self._cancelled.set()

    def with_timeout(self, seconds: float) -> CancelToken:
        """Return a token that is cancelled with this one, and has at most `seconds` left."""
        part = CancelToken(min(self.limit, self.seconds + seconds), self._share)
        part._cancelled, part._clock = self._cancelled, self._clock
        return part

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    @property
    def seconds(self) -> float:
        """Seconds since the token was made, without sleep."""
        return time.perf_counter() - self._clock.started_at - self._clock.slept

    @property
    def timed_out(self) -> bool:
        """True if the time limit is over."""
        return self.seconds > self.limit

    def check(self) -> None:
        """Raise CancelledError if cancelled; sleep first to keep to the share."""
        if self._share is not None:
            self._sleep(self._share)
        if self.is_cancelled:
            raise CancelledError

    def _sleep(self, share_now: Callable[[], float]) -> None:
        """Sleep until work since the last check is its share of the time; defer short sleeps."""
        now = time.perf_counter()
        worked, share = now - self._clock.checked_at, share_now()
        if share < 1.0:
            if worked < SHORTEST_S:
                return
            end = now + min(worked * (1.0 - share) / max(share, LEAST_SHARE), LONGEST_S)
            while time.perf_counter() < end and share_now() < 1.0:
                # Waits on the flag, so that cancelling ends the sleep.
                if self._cancelled.wait(min(NAP_S, max(end - time.perf_counter(), 0.0))):
                    break
        self._clock.checked_at = time.perf_counter()
        self._clock.slept += self._clock.checked_at - now
