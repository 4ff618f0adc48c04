"""Which process writes a file: a machine, its boot and its container, and a lock that it holds.

Process numbers mean something only within one boot of one machine, and within one container. Two
containers with one host name and a shared folder have the same numbers for different processes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import socket
import sys
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import final

HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)
TRIES, BETWEEN_S = 50, 0.001  # `is_locked` of another process holds a lock for microseconds
BOOT, NAMESPACE = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
_UNKNOWN = secrets.token_hex(4)  # another one for each process


def machine_name() -> str:
    """Return the host name and a mark of boot and container, as file names hold them.

    Where Linux does not say which container this is, the mark belongs to this process alone, so
    that no process is taken for one of another container. Elsewhere there is no mark.

    >>> machine_name() == machine_name(), "." in machine_name()
    (True, False)
    """
    host = re.sub(r"[^\w-]", "_", socket.gethostname(), flags=re.ASCII) or "here"
    return f"{host}-{_mark()}" if sys.platform.startswith("linux") else host


def _mark() -> str:
    try:
        known = f"{BOOT.read_text().strip()} {NAMESPACE.readlink()}"
    except OSError:
        return _UNKNOWN
    return hashlib.sha256(known.encode()).hexdigest()[:8]


@final
class WriterLock:
    """Lock of a file or folder, held until `release` or the end of the process.

    Without effect where the system has no such locks, and on Windows, where an open file could not
    be renamed.
    """

    def __init__(self, path: Path) -> None:
        descriptor = None if sys.platform == "win32" else _locked(path)
        self.is_held = descriptor is not None
        self._end = weakref.finalize(self, _unlock, descriptor, os.getpid())

    def release(self) -> None:
        """Release the lock; harmless when repeated."""
        self._end()


def _locked(path: Path) -> int | None:
    """Return a descriptor with an exclusive lock; None where there can be none."""
    try:
        # For writing: NFS refuses the lock otherwise.
        descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    except OSError:
        return None
    for _ in range(TRIES):
        try:
            _flock(descriptor, "LOCK_EX")
            return descriptor
        except OSError as error:
            if error.errno not in HELD:
                break
        time.sleep(BETWEEN_S)
    os.close(descriptor)
    return None


def _unlock(descriptor: int | None, owner: int) -> None:
    if descriptor is None:
        return
    if os.getpid() == owner:  # a copy of the process must not end the lock of the original
        with suppress(OSError):
            _flock(descriptor, "LOCK_UN")
    os.close(descriptor)


def _flock(descriptor: int, operation: str) -> None:
    """Lock or unlock at once. Raises OSError."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(descriptor, getattr(fcntl, operation) | fcntl.LOCK_NB)


def is_locked(path: Path) -> bool:
    """Return True if a process holds a `WriterLock` of a path, in whichever container."""
    if sys.platform == "win32":
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        _flock(descriptor, "LOCK_SH")
    except OSError as error:
        return error.errno in HELD
    finally:
        os.close(descriptor)
    return False
