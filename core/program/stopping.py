"""Ctrl-C and SIGTERM: a program of the command line ends at once, with one line at most.

Python's own answer is an exception at any place, which is a traceback in unexpected places
(while a library is imported, for instance) and can be lost in a callback. Here the signal ends the
program, after removing what must not stay; its workers end when it is gone (core.processes).
While a run is recorded or a sweep goes on, these answer signals themselves (core.cli.training).

Imports nothing but what the interpreter has loaded or loads in no time: this comes first.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn, final

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

INTERRUPTED, TERMINATED = 130, 143
PATIENCE_S = 0.5  # time for the interpreter to answer, which may be deep in compiled code
_temporary: set[Path] = set()
_answered_elsewhere = 0  # number of nested blocks in which a run or sweep answers signals itself


@contextmanager
def removed_when_stopped(place: Path) -> Iterator[None]:
    """Remove a file or folder if `exit_now` ends the program in the block, as after a signal."""
    _temporary.add(place)
    try:
        yield
    finally:
        _temporary.discard(place)


@contextmanager
def answered_elsewhere() -> Iterator[None]:
    """Leave signals to the handlers of the caller within the block."""
    global _answered_elsewhere
    _answered_elsewhere += 1
    try:
        yield
    finally:
        _answered_elsewhere -= 1


@final
class FirstSignal:
    """Handler of signals: the first calls `stop` and sets `heard`; a second interrupts at once."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self.heard = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.heard:
            raise KeyboardInterrupt
        self.heard = True
        self._stop()


@contextmanager
def first_signal(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at the first Ctrl-C or SIGTERM within the block.

    A second signal raises KeyboardInterrupt. The earlier handlers return after the block.
    """
    handle = FirstSignal(stop)
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_now(number: int) -> NoReturn:
    """End the process as after this signal: status 130 and a line for Ctrl-C, 143 for SIGTERM.

    First delete what `removed_when_stopped` names. Python's own clean-up does not run.
    """
    for place in tuple(_temporary):
        if place.is_dir() and not place.is_symlink():
            import shutil

            shutil.rmtree(place, ignore_errors=True)
        else:
            with suppress(OSError):
                place.unlink()
    if number == signal.SIGINT:
        with suppress(OSError):
            # os.write, not print, which fails if the signal interrupted another print.
            os.write(2, b"marginscope: interrupted.\n")
    os._exit(INTERRUPTED if number == signal.SIGINT else TERMINATED)


def _exit_on_signal(number: int, frame: FrameType | None) -> None:
    """Handle a signal of a command: end the program at once."""
    exit_now(number)


def _watch(reader: int) -> None:
    """End the program after `PATIENCE_S` if its main thread does not, as while LLVM compiles.

    Runs in a thread, and reads the numbers of signals from the pipe `reader`.
    """
    from threading import Event

    while signals := os.read(reader, 64):
        for number in signals:
            if number in (signal.SIGINT, signal.SIGTERM) and not _answered_elsewhere:
                Event().wait(PATIENCE_S)
                if not _answered_elsewhere:
                    exit_now(number)


def exit_when_input_closes() -> None:
    """Have this program end as by SIGTERM once its standard input is closed.

    The system closes it when the program that started this one is gone, also by a kill.
    """
    from threading import Thread

    Thread(target=_wait_for_input_end, daemon=True).start()


def _wait_for_input_end() -> None:
    """Read and discard standard input to its end, then end the program; at once without one."""
    # os.read, not sys.stdin.read: Python aborts at exit while a thread waits in the buffered read.
    while sys.stdin is not None and os.read(sys.stdin.fileno(), 1024):
        pass
    exit_now(signal.SIGTERM)


def hold_streams() -> None:
    """Open those of the three standard streams that are closed, to reserve their numbers.

    Writing to a closed standard output stays an error, as on a full disk.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)


def answer_signals() -> None:
    """Make Ctrl-C and SIGTERM end this program at once. Call from the main thread of a command."""
    hold_streams()
    signal.signal(signal.SIGINT, _exit_on_signal)
    signal.signal(signal.SIGTERM, _exit_on_signal)
    if sys.platform != "win32":
        from threading import Thread

        reader, writer = os.pipe()
        # set_wakeup_fd requires a non-blocking descriptor.
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        Thread(target=_watch, args=(reader,), daemon=True).start()
