"""Faults, and the counts of their results."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of the results of faults.

    told: frames, files and words that the program had said are safe; lost: those of them that were
    not there, or not as they were, afterwards; crashes: programs that ended by themselves in a
    traceback, by a signal or as an internal error; unsaid: refusals that are not one sentence;
    left: processes, and half-written files under their final names, that stayed behind.
    """

    told: int = 0
    lost: int = 0
    crashes: int = 0
    unsaid: int = 0
    left: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.told + other.told,
            self.lost + other.lost,
            self.crashes + other.crashes,
            self.unsaid + other.unsaid,
            self.left + other.left,
        )

    @property
    def clean(self) -> bool:
        """Return True if nothing went wrong."""
        return not (self.lost or self.crashes or self.unsaid or self.left)


@final
@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, injected by `attempt(folder, number)` in an empty folder of its own.

    `holds` is what must be so afterwards; what is not is counted, or an AssertionError. `times` is
    how often all of it is tried, and `part` how often in `make test-long`. `quick` holds the
    numbers of the attempts in `make test`.
    """

    name: str
    holds: str
    attempt: Callable[[Path, int], Tally]
    times: int
    part: int
    quick: tuple[int, ...] = ()
    mounts: bool = False  # whether it needs a disk of its own, which only root can mount


def kept_folder(name: str) -> Path:
    """Return a new folder for several attempts, deleted when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix=f"marginscope-fault-{name}-"))
    atexit.register(_take_away, folder, os.getpid())
    return folder


def _take_away(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not a process that was forked from it, and ends sooner
        shutil.rmtree(folder, ignore_errors=True)
