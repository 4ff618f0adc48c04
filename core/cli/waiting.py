"""While a command works: what ends it, and what it says before it can begin."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from core.stopping import answered_elsewhere
from core.training.control import Control


@contextmanager
def stopped_by_signals(control: Control) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM ends the run cleanly; a second Ctrl-C interrupts at once."""

    def handle(number: int, frame: FrameType | None) -> None:
        if control.stop_requested:
            raise KeyboardInterrupt
        control.stop()

    with answered_elsewhere():
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, handle) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def compiling_words(groups: Sequence[str]) -> str:
    """What is said before kernels are compiled."""
    return f"Compiling kernels ({', '.join(groups)}), once for this machine."
