"""Watch over a file that this process writes and another program may remove, cut or move.

No descriptor is opened for that: to close one would take away SQLite's locks of the file in this
process, those of readers too.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from core.errors import MarginscopeError

DESCRIPTORS = Path("/proc/self/fd")  # where Linux names the places of open files


REMOVED, CUT = "removed", "cut short"


@final
@dataclass(frozen=True, slots=True)
class Loss:
    """Damage to a run file, or to the journal beside it; `how` is REMOVED or CUT."""

    how: str
    of_journal: bool = False


class FileLostError(MarginscopeError):
    """A run file that another program has removed or cut short while it was recorded."""

    def __init__(self, text: str, loss: Loss, *, remedy: str) -> None:
        super().__init__(text, remedy=remedy)
        self.loss = loss


@final
class HeldFile:
    """A file that SQLite has open in this process, known by its inode, and never gets shorter."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = _identity(path)
        self._size = 0

    def find_loss(self) -> str:
        """Return REMOVED if the file has no name any more, CUT if it is shorter than it was.

        Empty where the system does not tell. Takes two microseconds where the file is in its place.
        """
        if self._identity is None:
            return ""
        with suppress(OSError):
            status = self._path.stat()
            if (status.st_dev, status.st_ino) == self._identity:
                before, self._size = self._size, status.st_size
                return CUT if status.st_size < before else ""
        descriptor = self._descriptor()
        with suppress(OSError):
            if descriptor is not None and descriptor.stat().st_nlink == 0:
                return REMOVED
        return ""

    def seems_lost(self) -> bool:
        """Return True if `find_loss` may find one; any thread may ask."""
        try:
            status = self._path.stat()
        except OSError:
            return self._identity is not None
        moved = (status.st_dev, status.st_ino) != self._identity
        return self._identity is not None and (moved or status.st_size < self._size)

    def is_in_place(self) -> bool:
        """Return True if the name still leads to the file."""
        return self._identity is not None and _identity(self._path) == self._identity

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
