"""How a long computation is cancelled, and how it tells what it has so far."""

from __future__ import annotations

import threading
import time
from typing import final


class CancelledError(Exception):
    """The computation was cancelled; it has no result."""


@final
class Watch:
    """Looked at by a computation at least every 50 ms; any thread may cancel it.

    `limit` are the seconds after which a computation that can stop early ends with the bracket at
    hand; `math.inf` for as long as it takes.
    """

    def __init__(self, limit: float = 120.0) -> None:
        self._cancelled = threading.Event()
        self._begin = time.perf_counter()
        self.limit = limit

    def cancel(self) -> None:
        """Ask for the end; the computation raises CancelledError at its next look."""
        self._cancelled.set()

    def within(self, seconds: float) -> Watch:
        """A watch that is cancelled with this one, and late after so many seconds or with it."""
        part = Watch(min(self.limit, self.seconds + seconds))
        part._cancelled, part._begin = self._cancelled, self._begin
        return part

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    @property
    def seconds(self) -> float:
        """Seconds since the watch was made."""
        return time.perf_counter() - self._begin

    @property
    def late(self) -> bool:
        """Whether the time that was allowed is over."""
        return self.seconds > self.limit

    def look(self) -> None:
        """Raise CancelledError when cancelled."""
        if self.cancelled:
            raise CancelledError
