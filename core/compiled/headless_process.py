"""Headless instance of this program in a process beside it, to compile kernels or run commands.

It ends with this program, however this program ends: its standard input is closed then. The command
that compiles kernels prints what core.compiled.kernel_groups describes. This module does not import
numba.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import final

from core.compiled import kernel_groups
from core.program import ROOT, package

HEADLESS = "--headless"  # option of the window's program, before a command of `python -m core`
POLL_SECONDS = 0.05


def headless(command: str) -> list[str]:
    """Return the words that start a command of `python -m core`; a bundle starts itself."""
    if getattr(sys, "frozen", False):
        return [sys.executable, HEADLESS, command]
    return [sys.executable, "-m", package("core"), command]


def warm_command() -> list[str]:
    """Return the command that compiles kernels."""
    return headless("warm")


def start(words: Sequence[str]) -> subprocess.Popen[str]:
    """Start such a command.

    The process is in a group of its own: Ctrl-C reaches this program alone, which ends the process.
    """
    return subprocess.Popen(
        words,
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def start_compiling(groups: Iterable[str]) -> subprocess.Popen[str]:
    """Start compiling groups of kernels, in this order."""
    return start([*warm_command(), "--progress", "--only", *groups])


@final
class Compiling:
    """Groups of kernels under compilation in another process; see `compiling`."""

    def __init__(self, process: subprocess.Popen[str] | None, groups: tuple[str, ...]) -> None:
        self._process, self._groups = process, groups
        self._next = 0.0

    def is_finished(self) -> bool:
        """Return True once all kernels are compiled, or if they cannot be.

        Cheap: polls the cache a few times a second.
        """
        if self._process is None:
            return True
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + POLL_SECONDS
        if self._process.poll() is not None or not kernel_groups.missing_groups(self._groups):
            self._process = None
        return self._process is None

    def wait(self, given_up: Callable[[], bool]) -> None:
        """Return when the compilation has ended, or once `given_up` returns True."""
        while not (self.is_finished() or given_up()):
            time.sleep(POLL_SECONDS)


@contextmanager
def compiling(groups: Iterable[str]) -> Iterator[Compiling]:
    """Compile groups of kernels in the background; the end of the block stops it.

    If no process can be started, or nothing be saved, this one compiles what it calls, as always.
    """
    requested = tuple(groups)
    try:
        process = start_compiling(requested) if requested else None
    except OSError:
        process = None
    try:
        yield Compiling(process, requested)
    finally:
        if process is not None:
            process.kill()
            # A killed process must still be waited for, and its pipes closed.
            process.communicate()
