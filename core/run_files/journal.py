"""Journals of SQLite for a run file that is written, chosen by the abilities of its file system.

A recording is in WAL mode, which needs byte-range locks and shared memory. Network file systems may
have neither: then a rollback journal and SQLite's exclusive locking mode suffice. On a file system
without locks none are taken; the making of the file then ensures that one program has the name.
"""

from __future__ import annotations

import errno
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import final

from core.run_files.active_recorders import sqlite_companion
from core.run_files.meta import dump_json
from core.run_files.schema import GROWING, UPDATE_META

PATIENCE_S = 5.0  # seconds to wait for locks of readers
# Readers hold a growing file for milliseconds (`Run.batch`: under .1 s). Other programs may hold it
# for ever, and leave it in WAL mode, complete (docs/decisions/0002).
CLOSING_PATIENCE_S = 1.0
# Errors of a file system without working locks or shared memory, not of a full disk.
NO_LOCKS = {
    sqlite3.SQLITE_IOERR_LOCK,
    sqlite3.SQLITE_IOERR_RDLOCK,
    sqlite3.SQLITE_IOERR_UNLOCK,
    sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOLFS,
}
NO_SHARED_MEMORY = {
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
    sqlite3.SQLITE_IOERR_SHMLOCK,
}
# SQLite reports a page of shared memory that cannot be created only as "cannot open".
LOCKS_UNKNOWN = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)
ALSO = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN}


class Journal(Enum):
    """Ways to write a file, the best first."""

    WAL = "wal"
    EXCLUSIVE = "exclusive"
    WITHOUT_LOCKS = "without locks"

    @property
    def suffix(self) -> str:
        """Suffix of the journal's file name."""
        return "-wal" if self is Journal.WAL else "-journal"


JOURNALS = tuple(Journal)


@final
@dataclass(frozen=True, slots=True)
class OpenFile:
    """A connection that writes, and the journal that it keeps."""

    connection: sqlite3.Connection
    journal: Journal


def has_locks(folder: Path) -> bool:
    """Return True unless the file system of a folder refuses byte-range locks.

    A new file is tried: closing any descriptor of another one would release the locks that this
    process has of it. SQLite only reports "locked" for a file system without locks.
    """
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in LOCKS_UNKNOWN
    return True


def usable_journals(folder: Path) -> tuple[Journal, ...]:
    """Return the ways to write that are worth a try in a folder, the best first."""
    return JOURNALS if has_locks(folder) else JOURNALS[-1:]


def is_of_file_system(error: BaseException, also: bool = True) -> bool:
    """Return True for an error of locks or shared memory.

    `also` says that no other process has the file.
    """
    code = getattr(error, "sqlite_errorcode", 0)
    is_known = code in NO_LOCKS or code in NO_SHARED_MEMORY
    return is_known or (also and code & 0xFF in ALSO)


def connect_to_write(path: Path, journal: Journal) -> sqlite3.Connection:
    """Return a connection to an existing file, in autocommit mode. Raises sqlite3.Error."""
    options = "mode=rw" + ("&nolock=1" if journal is Journal.WITHOUT_LOCKS else "")
    connection = sqlite3.connect(
        f"{path.as_uri()}?{options}", uri=True, timeout=PATIENCE_S, isolation_level=None
    )
    try:
        if journal is not Journal.WAL:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    except BaseException:
        connection.close()
        raise
    return connection


def start_journal(connection: sqlite3.Connection, journal: Journal) -> None:
    """Choose the journal of a recording. Raises sqlite3.OperationalError if it is not possible."""
    connection.execute("PRAGMA synchronous=NORMAL")
    # PERSIST keeps the rollback journal, whose lock shows who records.
    mode = "wal" if journal is Journal.WAL else "persist"
    if connection.execute(f"PRAGMA journal_mode={mode}").fetchone()[0] != mode:
        error = sqlite3.OperationalError(f"the journal mode {mode} is refused")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMMAP
        raise error
    # A checkpoint waits for the disk; one every 4096 pages (32 MiB).
    connection.execute("PRAGMA wal_autocheckpoint=4096")


def close_as(connection: sqlite3.Connection, reason: str) -> None:
    """Write how the run ended and drop the journal, once no reader is in the middle of a row."""
    connection.execute("BEGIN IMMEDIATE")
    counts = {t: connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in GROWING}
    ending = {"status": "finished", "reason": reason, "counts": counts}
    changes = [(dump_json(value), key) for key, value in ending.items()]
    connection.executemany(UPDATE_META, changes)
    connection.execute("COMMIT")
    # Short and repeated: SQLite's own wait would ignore the deadline.
    connection.execute("PRAGMA busy_timeout=50")
    deadline = time.monotonic() + CLOSING_PATIENCE_S
    while not leave_journal(connection):
        if time.monotonic() > deadline:
            return  # another program keeps the file open; it is complete with its -wal
        time.sleep(0.002)


def leave_journal(connection: sqlite3.Connection) -> bool:
    """Move everything into the main file and drop the journal; False while a reader blocks it.

    The mode MEMORY leaves the same file as DELETE does, without a journal that a crash could leave.
    Only the checkpoint waits for the disk: the change of mode writes two bytes of the header, and a
    file that has lost those is read all the same.
    """
    try:
        connection.execute("PRAGMA synchronous=NORMAL")
        if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            return False
        connection.execute("PRAGMA synchronous=OFF")
        return bool(connection.execute("PRAGMA journal_mode=MEMORY").fetchone()[0] == "memory")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return False
        raise


def is_left(path: Path) -> bool:
    """Return True if a journal exists beside a file that is incomplete without it. Raises OSError.

    A rollback journal whose header is zeroed belongs to a transaction that was committed.
    """
    for suffix in ("-wal", "-journal"):
        with suppress(FileNotFoundError), sqlite_companion(path, suffix).open("rb") as file:
            head = file.read(1)
            if head and (suffix == "-wal" or head != b"\0"):
                return True
    return False


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Return a read-only connection, without locks where they fail and the file is whole.

    Raises sqlite3.Error, also where locks fail and a journal beside the file is needed.
    """
    try:
        if is_left(path) or has_locks(path.parent):
            return _connect(path, "mode=ro")
    except sqlite3.OperationalError as error:
        if not is_of_file_system(error) or is_left(path):
            raise
    return _connect(path, "mode=ro&immutable=1")


def _connect(path: Path, options: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?{options}", uri=True, timeout=1.0, isolation_level=None
    )
    try:
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def read_meta(connection: sqlite3.Connection, keys: tuple[str, ...] = ()) -> Mapping[str, str]:
    """Return the rows of meta, or some of them: key -> JSON text. Raises sqlite3.Error."""
    sql = "SELECT key, value FROM meta"
    if keys:
        sql += f" WHERE key IN ({', '.join('?' * len(keys))})"
    return dict(connection.execute(sql, keys).fetchall())


# -------------------------------------------------------------------- sentences about a file system

MOUNTS = Path("/proc/mounts")  # Linux: mounts; a space in a path is octal there


def name_file_system(path: Path) -> str:
    """Return kind and place of the file system of a path, such as "nfs4 file system at /scratch".

    "file system" alone where the system does not list its mounts.

    >>> "file system" in name_file_system(Path("/"))
    True
    """
    best_match: tuple[int, str] = (-1, "file system")
    try:
        folder, lines = path.resolve(), MOUNTS.read_text(errors="replace").splitlines()
    except (OSError, RuntimeError):
        return best_match[1]
    for line in lines:
        words = line.split(" ")
        if len(words) < 3:
            continue
        place = Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), words[1]))
        # The longest match; of several at one place the last, which hides the others.
        if folder.is_relative_to(place) and len(place.parts) >= best_match[0]:
            best_match = len(place.parts), f"{words[2]} file system at {place}"
    return best_match[1]


def explain_refusal(doing: str, path: Path, error: Exception) -> tuple[str, str]:
    """Explain a refusal by the disk or its file system.

    Parameters
    ----------
    doing : str
        Refused action, such as "the write".
    path : Path
        File concerned.
    error : Exception
        Error of SQLite or of the system.

    Returns
    -------
    (str, str)
        What was refused, and what to do.
    """
    if is_of_file_system(error, also=False):
        return (
            f"The {name_file_system(path)} refused {doing}: SQLite's locks or shared memory fail "
            f"there ({error})",
            "record on a local disk of this computer, and copy the file once it is finished",
        )
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY:
        return (
            f"The {name_file_system(path)} refused {doing} ({error})",
            "check that you may write to the file and its folder",
        )
    return f"The disk refused {doing} ({error})", "free some disk space"
