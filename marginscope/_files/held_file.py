"""Whether a file that this process writes was removed or moved by another program."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import final

DESCRIPTORS = Path("/proc/self/fd")  # where Linux names the places of open files


@final
class HeldFile:
    """A second descriptor of a file; without effect on Windows, where open files stay in place.

    Closing it takes away SQLite's locks of the file in this process: close it after SQLite.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        if sys.platform != "win32":
            with suppress(OSError):
                self._descriptor = os.open(path, os.O_RDONLY)

    def is_removed(self) -> bool:
        """Return True if the file has no name any more, so that nobody can open it."""
        try:
            return self._descriptor >= 0 and os.fstat(self._descriptor).st_nlink == 0
        except OSError:
            return False

    def place(self) -> Path:
        """Return where the file is now, as far as the system says."""
        with suppress(OSError):
            if self._descriptor < 0 or self._is_at(self._path):
                return self._path
        with suppress(OSError):
            place = (DESCRIPTORS / str(self._descriptor)).readlink()
            if self._is_at(place):
                return place
        return self._path

    def _is_at(self, path: Path) -> bool:
        return os.path.samestat(os.fstat(self._descriptor), path.stat())

    def close(self) -> None:
        """Close the descriptor; harmless when repeated."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
