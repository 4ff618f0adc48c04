"""Lock between programs that change the notes of runs in one folder."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.errors import InputError

WAIT_S = 3.0  # a change takes milliseconds; only a suspended program holds the lock for longer
RETRY_S = 0.005
HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which the system releases if the program ends in any way.

    On a file system without locks the block runs without one.

    Raises
    ------
    InputError
        Another program held the lock for `WAIT_S` seconds.
    """
    descriptor = _open(folder)
    try:
        if descriptor is not None:
            _wait(descriptor, folder)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _open(folder: Path) -> int | None:
    """Open what is locked: the folder itself or, on Windows, one file of the user."""
    with suppress(OSError):
        if sys.platform == "win32":
            place = Path(tempfile.gettempdir()) / "marginscope-notes.lock"
            return os.open(place, os.O_RDWR | os.O_CREAT)
        return os.open(folder, os.O_RDONLY)
    return None


def _wait(descriptor: int, folder: Path) -> None:
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            _lock(descriptor)
            return
        except OSError as error:
            if error.errno not in HELD:
                return
        if time.monotonic() > deadline:
            raise InputError(
                f"Another program has been changing notes in {folder} for {WAIT_S:g} seconds; "
                "close it, or try again."
            )
        time.sleep(RETRY_S)


def _lock(descriptor: int) -> None:
    """Lock for this descriptor alone, or raise OSError at once."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
