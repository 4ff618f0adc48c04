"""While a command works: what ends it, and what it says before it can begin."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from core.stopping import FirstSignal, answered_elsewhere
from core.training.control import Control

NO_WORKERS = (
    "No worker of the cluster is left; the cells wait until one joins. Start workers, or stop with "
    "Ctrl-C: the same command goes on later."
)


@contextmanager
def first_signal(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM calls `stop`; a second one interrupts at once."""
    handle = FirstSignal(stop)
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stopped_by_signals(control: Control) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM ends the run cleanly; a second one interrupts at once."""
    with answered_elsewhere(), first_signal(control.stop):
        yield
