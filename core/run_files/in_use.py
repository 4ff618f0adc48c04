"""Recorders at work on run files, so that no second one takes a name."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from core.run_files.machine import WriterLock, is_locked
from core.run_files.wal import beside

# Where Linux lists who holds locks, and the bytes of a database that each program in WAL mode keeps
# locked for as long as it has it open (SQLite's "File Locking And Concurrency").
LOCKS, IN_USE = Path("/proc/locks"), ["1073741826", "1073742335"]
# A reader has a file open for milliseconds; a recorder has it open at every look.
LOOKS, BETWEEN_S = 4, 0.05
# Held while a name is found free and taken: threads begin at once.
TAKING = threading.Lock()
_OURS: set[Path] = set()  # what recorders of this process write; the system does not tell


def hold(path: Path) -> None:
    """Note that this process records a file, until `let_go`."""
    _OURS.add(path.resolve())


def let_go(path: Path) -> None:
    """Note that this process has finished a file; harmless when repeated."""
    _OURS.discard(path.resolve())


def is_ours(path: Path) -> bool:
    """Return True if this process records a file."""
    return path.resolve() in _OURS


def is_listed(path: Path) -> bool:
    """Return True if a process of this computer holds a lock of a file, or that is not known."""
    try:
        number, lines = path.stat().st_ino, LOCKS.read_text().splitlines()
    except (OSError, ValueError):
        return True
    return any(line.split()[-3].rpartition(":")[2] == str(number) for line in lines)


def lock_journal(path: Path, suffix: str = "-wal") -> WriterLock:
    """Lock the journal of a file that this process records.

    SQLite has no locks on the journal itself: another descriptor of it takes none away.
    """
    return WriterLock(beside(path, suffix))


def is_journal_locked(path: Path) -> bool:
    """Return True if a recorder, in whichever container, holds the lock of a file's journal."""
    return any(is_locked(beside(path, suffix)) for suffix in ("-wal", "-journal"))


def is_recorded(path: Path) -> bool:
    """Return True if a recorder, of this process or another one, is at work on a file.

    Recorders lock their journal, also for other containers. Those of older versions are seen on
    Linux alone. Raises OSError.
    """
    if is_ours(path):
        return True
    if is_journal_locked(path):
        return True
    if not beside(path, "-wal").exists():  # every such recorder has one
        return False
    for look in range(LOOKS):
        if look:
            time.sleep(BETWEEN_S)
        if not held_elsewhere(path):
            return False
    return True


def has_recorder(path: Path) -> bool | None:
    """Return whether a recorder is at work on an unfinished file; None where that is not known."""
    try:
        return is_recorded(path) or (None if sys.platform == "win32" else False)
    except OSError:
        return None


def held_elsewhere(path: Path) -> bool | None:
    """Return True if another process has a run file open as a recorder does; None if unknown.

    A recorder is known by the lock of its journal. Only Linux lists the locks of others, and not
    those of other computers and containers.
    """
    if not is_ours(path) and is_journal_locked(path):
        return True
    try:
        number, lines = path.stat().st_ino, LOCKS.read_text().splitlines()
    except (OSError, ValueError):
        return None
    own = str(os.getpid())
    # 2: POSIX  ADVISORY  READ 26883 fe:00:2344305 1073741826 1073742335
    held = (line.split()[-4:] for line in lines)
    return any(
        pid != own and place.rpartition(":")[2] == str(number) and bounds == IN_USE
        for pid, place, *bounds in held
    )
