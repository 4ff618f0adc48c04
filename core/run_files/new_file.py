"""Making a new run file: claim its name, and write everything but the frames."""

from __future__ import annotations

import errno
import os
import sqlite3
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.errors import DiskError, InputError
from core.run_files.active_recorders import is_recorded, read_wal_header, sqlite_companion
from core.run_files.journal import (
    Journal,
    OpenFile,
    connect_to_write,
    is_of_file_system,
    start_journal,
    usable_journals,
)
from core.run_files.meta import dump_json
from core.run_files.schema import APPLICATION_ID, PAGE_SIZE, SCHEMA_VERSION, TABLES, UPDATE_META

SIDE_FILES = ("-wal", "-shm", "-journal")
# Full disk, quota, limit of file size, failing disk: another name would not help.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def check_free(path: Path, overwrite: bool, otherwise: str = "") -> None:
    """Raise InputError, in Python's words, for an existing file that is not to be replaced.

    Parameters
    ----------
    path : Path
        Path of the new file.
    overwrite : bool
        Allow an existing file.
    otherwise : str
        Start of the advice in the message.

    Raises
    ------
    InputError
        The file exists.
    """
    if path.exists() and not overwrite:
        raise InputError(
            f"The run file {path} already exists; {otherwise}replace it with overwrite=True, or "
            "choose another path."
        )


def claim(path: Path, force: bool) -> Path:
    """Make an empty file that no other program has, and return its path.

    With `force` an old file stays where it is, and the new one is made beside it, to replace the
    old one at the end (`replace_target`); a rest of an earlier attempt is removed first.
    """
    side_files = [sqlite_companion(path, suffix) for suffix in SIDE_FILES]
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name the run file to write in it.")
        path.parent.mkdir(parents=True, exist_ok=True)
        target = path
        if force:
            target = new_beside(path) if path.exists() else path
            for one in (path, target):
                if is_recorded(one):
                    raise InputError(
                        f"{one} is being recorded",
                        remedy="wait until the recording ends, or choose another name",
                        typed="wait until the recording ends, or choose another file with --out",
                    )
            for leftover in (target, *(sqlite_companion(target, suffix) for suffix in SIDE_FILES)):
                leftover.unlink(missing_ok=True)
        elif path.exists():
            raise InputError(
                f"The run file {path} already exists",
                remedy="move it",
                typed="overwrite it with --force",
            )
        # SQLite would replay an old `-wal` into the new file.
        elif any(leftover.exists() for leftover in side_files):
            raise InputError(
                f"{path.name}-wal or {path.name}-shm, next to {path}, belongs to a run whose "
                "file is gone",
                remedy="move it back to its file",
                typed="move it back to its file, or remove it with --force",
            )
        # O_EXCL: of two recorders that start at once only one gets the name.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) in FULL:
            raise DiskError(
                f"The disk refused to create {path} ({error}); free some space."
            ) from error
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"The run file {path} cannot be written ({reason})",
            remedy="choose a writable folder",
            typed="choose a writable folder, with --out",
        ) from error
    return target


def new_beside(path: Path) -> Path:
    """Return the path under which a run is recorded that replaces an older one in the end.

    >>> new_beside(Path("runs/a.msrun")).name
    'a.new.msrun'
    """
    return path.with_name(f"{path.stem}.new{path.suffix}")


def place_of(path: Path) -> Path | None:
    """Return the final path of a file recorded beside an old one; None for any other file.

    >>> place_of(Path("runs/a.new.msrun")).name, place_of(Path("runs/a.msrun"))
    ('a.msrun', None)
    """
    stem, mark, _ = path.stem.rpartition(".new")
    return path.with_name(f"{stem}{path.suffix}") if mark and path.stem.endswith(mark) else None


def replace_target(temporary: Path, path: Path) -> None:
    """Replace an old file and its side files by a closed one. Raises OSError."""
    for suffix in SIDE_FILES:
        sqlite_companion(path, suffix).unlink(missing_ok=True)
    temporary.replace(path)
    for suffix in SIDE_FILES:  # none, unless another program keeps the file open
        with suppress(FileNotFoundError):
            sqlite_companion(temporary, suffix).replace(sqlite_companion(path, suffix))


def create_run_file(
    path: Path, rows: Mapping[str, str], arrays: Mapping[str, NDArray[np.float64]]
) -> OpenFile:
    """Make a new run file without frames, with the best journal that its place allows.

    Parameters
    ----------
    path : Path
        Claimed, empty file.
    rows : mapping of str to str
        Rows of meta, JSON texts.
    arrays : mapping of str to array
        Contiguous little-endian float64, by name.

    Returns
    -------
    OpenFile

    Raises
    ------
    sqlite3.OperationalError, OSError
        The file cannot be written.
    """
    usable = usable_journals(path.parent)
    for journal in usable:
        try:
            return OpenFile(_create(path, rows, arrays, journal), journal)
        except sqlite3.OperationalError as error:
            if journal is usable[-1] or not is_of_file_system(error):
                raise
        for suffix in SIDE_FILES:
            sqlite_companion(path, suffix).unlink(missing_ok=True)
        os.truncate(path, 0)
    raise AssertionError


def _create(
    path: Path,
    rows: Mapping[str, str],
    arrays: Mapping[str, NDArray[np.float64]],
    journal: Journal,
) -> sqlite3.Connection:
    """Make a new run file and return a connection to it.

    Content that cannot be lost yet is written without a journal and synced once; none is ever left.
    """
    connection = connect_to_write(path, journal)
    try:
        # The page size first: it is fixed once a page is written.
        for pragma in (
            f"page_size={PAGE_SIZE}",
            "journal_mode=MEMORY",
            "synchronous=OFF",
            f"application_id={APPLICATION_ID}",
            f"user_version={SCHEMA_VERSION}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        for statement in TABLES:
            connection.execute(statement)
        connection.executemany("INSERT INTO meta VALUES (?, ?)", rows.items())
        for name, array in arrays.items():
            row = (name, "float64", dump_json(array.shape), zlib.crc32(array.data), array.data)
            connection.execute("INSERT INTO array VALUES (?, ?, ?, ?, ?)", row)
        connection.execute("COMMIT")
        start_journal(connection, journal)
        # A new `-wal` has no older content that it could be confused with: its header, and its name
        # in the folder, are synchronised with the first checkpoint.
        connection.execute("PRAGMA synchronous=OFF")
        note_wal(connection, path)
        connection.execute("PRAGMA synchronous=NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def note_wal(connection: sqlite3.Connection, path: Path) -> None:
    """Write the name of the file's own `-wal`, as its first transaction.

    By the journal of that write readers know that a recorder is active.
    """
    connection.execute(UPDATE_META, ("0", "wal"))  # a changed value: an equal one writes nothing
    header = read_wal_header(sqlite_companion(path, "-wal"))
    noted = None if header is None else header.recording
    connection.execute(UPDATE_META, (dump_json(noted), "wal"))


def remove(path: Path) -> None:
    """Remove a run file and SQLite's files beside it, as far as that is possible."""
    for leftover in (path, *(sqlite_companion(path, suffix) for suffix in SIDE_FILES)):
        with suppress(OSError):
            leftover.unlink()
