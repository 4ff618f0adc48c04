"""Detection of loss: a file that another program removes, cuts or moves while it is written.

No descriptor is opened for that: closing one would release SQLite's locks of the file in this
process, those of readers too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from core.errors import MarginscopeError
from core.run_files.frame import Frame
from core.run_files.journal import connect_to_read, read_meta
from core.run_files.meta import dump_json
from core.run_files.schema import DTYPES, WHOLE, frame_crc

DESCRIPTORS = Path("/proc/self/fd")  # Linux: paths of open files


REMOVED, CUT = "removed", "cut short"


@final
@dataclass(frozen=True, slots=True)
class Loss:
    """Damage to a run file, or to the journal beside it; `how` is REMOVED or CUT."""

    how: str
    of_journal: bool = False


class FileLostError(MarginscopeError):
    """Error: another program removed or cut short a run file during its recording."""

    def __init__(self, text: str, loss: Loss = Loss(REMOVED), *, remedy: str = "") -> None:
        super().__init__(text, remedy=remedy)  # pickle rebuilds the error from its text alone
        self.loss = loss


@final
class HeldFile:
    """File that SQLite has open in this process, known by its inode, and never gets shorter."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = _identity(path)
        self._size = 0

    def find_loss(self) -> str:
        """Return REMOVED if the file has no name any more, CUT if it is shorter than before.

        Empty if the system does not report it. Takes two microseconds for a file in its place.
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
        """Return True if `find_loss` may find a loss. Thread-safe."""
        try:
            status = self._path.stat()
        except OSError:
            return self._identity is not None
        is_other = (status.st_dev, status.st_ino) != self._identity
        return self._identity is not None and (is_other or status.st_size < self._size)

    def is_in_place(self) -> bool:
        """Return True if the name still leads to the file."""
        return self._identity is not None and _identity(self._path) == self._identity

    def place(self) -> Path:
        """Return the present path of the file, as far as the system reports it."""
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
        """Return the path of SQLite's descriptor of the file; None on systems other than Linux."""
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


# ------------------------------------------------------------------------------ content of the file

COLUMNS = "idx, step, time, log10_time, rho, parameters, dual"


def read_saved(
    connection: sqlite3.Connection, sums: Sequence[int], dtype: str, bare: list[int]
) -> Iterator[Frame | None]:
    """Yield the frames whose checksums are given; None for a frame that is lost or changed.

    The checksums are those that were written: pages of another run may have replaced these.

    Parameters
    ----------
    connection : sqlite3.Connection
        Open file.
    sums : sequence of int
        Checksums of frames 0, 1, ...
    dtype : str
        "float64" or "float32".
    bare : list of int
        Updated in place: indices of frames whose diagnostics cannot be read; these frames come
        without them.

    Yields
    ------
    Frame or None
    """
    for index, crc in enumerate(sums):
        row = _rows(connection, f"SELECT {COLUMNS} FROM frame WHERE idx = ?", index)
        if not row or frame_crc(*row[0]) != crc:
            yield None
            continue
        _, step, _, log10_time, rho, parameters, dual = row[0]
        q = None if dual is None else np.frombuffer(dual, "<f8")
        metrics = _rows(connection, "SELECT name, value FROM metric WHERE idx = ?", index)
        if metrics is None:
            bare.append(index)
        numbers = {name: np.nan if value is None else value for name, value in metrics or ()}
        yield Frame(step, log10_time, rho, np.frombuffer(parameters, DTYPES[dtype]), q, numbers)


def _rows(connection: sqlite3.Connection, sql: str, index: int) -> list[tuple[Any, ...]] | None:
    """Return the rows of a frame; None where they cannot be read."""
    try:
        return connection.execute(sql, (index,)).fetchall()
    except (sqlite3.Error, UnicodeError):
        return None


def is_intact(path: Path, sums: Sequence[int], dtype: str) -> bool:
    """Return True if a file, read by its name, has the frames of these checksums.

    Parameters
    ----------
    path : Path
        Run file.
    sums : sequence of int
        Checksums of frames 0, 1, ...
    dtype : str
        "float64" or "float32".

    Returns
    -------
    bool
    """
    try:
        with closing(connect_to_read(path)) as connection:
            bare: list[int] = []
            frames = read_saved(connection, sums, dtype, bare)
            return all(frame is not None for frame in frames) and not bare
    except (sqlite3.Error, OSError):
        return False


def is_whole(path: Path) -> bool:
    """Return True for a run that reached its end, which no shorter one may replace."""
    with suppress(sqlite3.Error, OSError), closing(connect_to_read(path)) as connection:
        meta = read_meta(connection, ("status", "reason"))
        reasons = {dump_json(reason) for reason in WHOLE}
        return meta.get("status") == '"finished"' and meta.get("reason") in reasons
    return False
