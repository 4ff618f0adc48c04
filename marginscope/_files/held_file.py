"""Whether a file that this process writes was removed or moved by another program.

No descriptor is opened for that: to close one would take away SQLite's locks of the file in this
process, those of readers too.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import final

DESCRIPTORS = Path("/proc/self/fd")  # where Linux names the places of open files


@final
class HeldFile:
    """A file that SQLite has open in this process, known by its inode."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = _identity(path)

    def is_removed(self) -> bool:
        """Return True if the file has no name any more; False where the system does not tell."""
        if _identity(self._path) == self._identity:
            return False
        descriptor = self._descriptor()
        with suppress(OSError):
            return descriptor is not None and descriptor.stat().st_nlink == 0
        return False

    def place(self) -> Path:
        """Return where the file is now, as far as the system says."""
        if _identity(self._path) == self._identity:
            return self._path
        descriptor = self._descriptor()
        if descriptor is not None:
            with suppress(OSError):
                place = descriptor.readlink()
                if _identity(place) == self._identity:
                    return place
        return self._path

    def _descriptor(self) -> Path | None:
        """Return what names SQLite's descriptor of the file; None elsewhere than on Linux."""
        with suppress(OSError):
            for one in DESCRIPTORS.iterdir():
                if self._identity is not None and _identity(one) == self._identity:
                    return one
        return None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
