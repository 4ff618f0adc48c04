"""Read-only SQLite connection to a file that may come from a stranger.

Nothing in the file is trusted: SQLite may do no more than SELECT, with limits on lengths and on
work, and the schema must be the expected one letter by letter before any table is read.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, final

from core.errors import RunFileError
from core.files import scratch_prefix
from core.program import headless_program
from core.run_files.active_recorders import (
    held_elsewhere,
    is_foreign,
    is_journal_locked,
    is_listed,
    read_wal_header,
    sqlite_companion,
)
from core.run_files.journal import NO_LOCKS, NO_SHARED_MEMORY, is_left
from core.run_files.meta import printable
from core.run_files.schema import (
    APPLICATION_ID,
    MAX_TEXT_BYTES,
    SCHEMA_VERSION,
    expected_schema,
)
from core.runs.changing_files import (
    FRESH_COPY,
    damaged_file_error,
    file_signature,
    identity,
    reason_of,
    regular_file,
    retry_while_changing,
    status_of,
)
from core.runs.restrictions import LIMITS, PRAGMAS, authorise

WAIT_S = 2.0  # seconds to wait for a recorder that is closing the file
IDLE_S = 5.0  # seconds: a `-wal` untouched for longer has no recorder about to close it
OPS_PER_TICK, MAX_TICKS = 10_000, 3_000  # 3e7 operations; reading a whole run takes under 1e6
# A run file has seven entries; a longer schema is foreign, and need not be read completely.
MAX_SCHEMA_ROWS = 100
# Python cannot decode SQLite's own message if it quotes a damaged schema.
READ_ERRORS = (sqlite3.Error, UnicodeError)
# End of a rollback journal that names a super-journal.
JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_WITHOUT_LOCKS: set[int] = set()  # devices on which locking failed


# SQLite enforces STRICT and NOT NULL on writing only; a foreign page may violate both.
def typed_column(column: str, kind: str) -> str:
    """Return SQL for a column's value if it has a type, else NULL (without reading it).

    >>> typed_column("step", "integer")
    "CASE typeof(step) WHEN 'integer' THEN step END"
    """
    return f"CASE typeof({column}) WHEN '{kind}' THEN {column} END"


@final
class Connection:
    """Read-only connection with a checked schema.

    `shown` is the path in messages; `real` the file that is read, which differs for a private copy.
    """

    def __init__(self, path: Path, real: Path, *, immutable: bool, folder: Path | None) -> None:
        self.shown, self.real = path, real
        self.identity: tuple[int, int] | None = None  # of the file, just before it was opened
        self.copied: tuple[Path, tuple[object, ...]] | None = None  # original and its signature
        self._immutable = immutable
        self._ticks = 0
        # Garbage collection of the connection removes the private copy at the latest.
        self._remove = weakref.finalize(self, _remove_folder, folder)
        wal = sqlite_companion(real, "-wal")
        self._shared_wal = wal if folder is None and (immutable or wal.exists()) else None
        uri = f"{real.as_uri()}?mode=ro{'&immutable=1' if immutable else ''}"
        try:
            self._sqlite = sqlite3.connect(
                uri, uri=True, timeout=WAIT_S, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error:
            self._remove()
            raise
        try:
            self._restrict()
            self._check_header()
            self._check_schema()
        except BaseException:
            self.close()
            raise

    def _restrict(self) -> None:
        for limit, value in LIMITS.items():
            self._sqlite.setlimit(limit, value)
        self._sqlite.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_TEXT_BYTES)
        for pragma in PRAGMAS:
            self._sqlite.execute(f"PRAGMA {pragma}").fetchall()
        self._sqlite.set_progress_handler(self._tick, OPS_PER_TICK)

    def _check_header(self) -> None:
        """Check the two numbers of the header, which SQLite reads before the schema."""
        values = [
            int(self._sqlite.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("application_id", "user_version")
        ]
        if values[0] != APPLICATION_ID:
            if self.real.stat().st_size == 0:  # a recorder was killed just after creating the file
                raise RunFileError(
                    f"{self.shown} is empty: its recording ended before the first frame; record "
                    "the run again."
                )
            raise RunFileError(
                f"{self.shown} is a database of another program, not a run file; name a file that "
                f"`{headless_program()} run` or the window has recorded."
            )
        if values[1] > SCHEMA_VERSION:
            raise RunFileError(
                f"{self.shown} was written by a newer version of Marginscope (run format "
                f"{values[1]}; this one reads up to {SCHEMA_VERSION}); update the program."
            )
        if values[1] < 1:
            raise damaged_file_error(self.shown, f"its run format is {values[1]}")
        self._version = values[1]

    def _check_schema(self) -> None:
        # Only now: the authoriser would reject the two PRAGMAs of the header.
        self._sqlite.set_authorizer(authorise)
        columns = "type, name, tbl_name, sql, rootpage"
        rows = list(self.query(f"SELECT {columns} FROM sqlite_schema LIMIT {MAX_SCHEMA_ROWS}"))
        expected = expected_schema(self._version)
        roots = {row[4] for row in rows}
        if len(rows) != len(expected) or {row[:4] for row in rows} != expected:
            raise damaged_file_error(self.shown, "its tables are not exactly those of a run file")
        # With shared pages, a row written into one table is read from the other.
        if len(roots) != len(rows):
            raise damaged_file_error(self.shown, "two of its tables share their pages")

    def query(
        self, sql: str, parameters: tuple[object, ...] = (), *, longest: int = MAX_TEXT_BYTES
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of one SELECT, with limits on work and on the length of values.

        Parameters
        ----------
        sql : str
            Statement; the program's own, never text from the file.
        parameters : tuple
            Values of its question marks.
        longest : int
            Largest length of a value in bytes.

        Yields
        ------
        tuple
            Values of one row.

        Raises
        ------
        RunFileError
            SQLite fails in any way, refuses the statement, or a value is too long.
        """
        self._ticks = 0
        try:
            # Set for each statement: only parameters and arrays may be long.
            self._sqlite.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
            yield from self._sqlite.execute(sql, parameters)
        except MemoryError as error:
            raise self.fault("a value is larger than this machine's memory") from error
        except READ_ERRORS as error:
            raise _sentence(self.shown, error) from error

    def fault(self, problem: str) -> RunFileError:
        """Return the error for content that a run file cannot have."""
        return damaged_file_error(self.shown, problem)

    def to_be_reopened(self) -> bool:
        """Return True if a recorder may be active, which needs the file for itself at its end.

        True only if a `-wal` was written to within the last seconds, or another process has it
        open: the frames of a slow loop are minutes apart.
        """
        if self.copied is not None:
            return file_signature(self.copied[0]) != self.copied[1]
        if self._shared_wal is None:
            return False
        try:
            modified = self._shared_wal.stat().st_mtime
        except OSError:
            return False
        if self._immutable or time.time() - modified < IDLE_S:
            return True
        return held_elsewhere(self.real) is True

    def close(self) -> None:
        """Close the connection and remove a private copy; harmless when repeated."""
        self._sqlite.close()
        self._remove()

    def _tick(self) -> int:
        self._ticks += 1
        return int(self._ticks > MAX_TICKS)


def _sentence(path: Path, error: Exception) -> RunFileError:
    code = getattr(error, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_NOTADB and path.suffix == ".msrun":
        return damaged_file_error(path, "it does not begin as one")
    if code == sqlite3.SQLITE_NOTADB:
        return RunFileError(f"{path} is not a run file; run files end in .msrun.")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return RunFileError(
            f"{path} is locked by another program; close that program and open the file again."
        )
    if code == sqlite3.SQLITE_CANTOPEN:
        return RunFileError(f"{path} cannot be opened; check read access to it and its folder.")
    if code == sqlite3.SQLITE_INTERRUPT:
        return damaged_file_error(path, "reading takes longer than for any run file")
    if code == sqlite3.SQLITE_TOOBIG:
        return damaged_file_error(path, "a value is longer than allowed")
    return damaged_file_error(path, printable(str(error))[:200])


def _remove_folder(folder: Path | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def connect(path: Path) -> Connection:
    """Open a run file, finished, growing, or left by a crash with its `-wal`, and check it.

    If SQLite cannot put its shared memory beside a `-wal` (a read-only folder), both files are
    copied to a temporary folder, which is removed when the connection is closed.
    Raises RunFileError.
    """

    def open_file() -> Connection:
        real = regular_file(path)
        opened = identity(real)
        try:
            connection = _connect(path, real)
        except READ_ERRORS as error:
            raise _sentence(path, error) from error
        except OSError as error:
            raise RunFileError(f"{path} cannot be opened: {reason_of(error)}.") from error
        connection.identity = opened
        return connection

    return retry_while_changing(path, open_file)


def check_wal(connection: Connection) -> None:
    """Raise RunFileError if the `-wal` beside a run file belongs to another run.

    The file is read once without it. It names its own `-wal` from the first checkpoint on; before
    that the first transaction of either run, which names it, is still in the `-wal`. Files of
    earlier versions name none.
    """
    header = read_wal_header(sqlite_companion(connection.real, "-wal"))
    if header is None:
        return
    try:
        alone = Connection(connection.shown, connection.real, immutable=True, folder=None)
    except (RunFileError, *READ_ERRORS):
        return  # after a crash within a checkpoint only file and `-wal` together are complete
    try:
        name, wal = _names(alone)
    finally:
        alone.close()
    if is_foreign(header, wal, wal != "null" or name == _names(connection)[0]):
        path = connection.shown
        raise RunFileError(
            f"{path} has a {path.name}-wal next to it from another run; move that file away "
            "and open this one again."
        )


def _names(connection: Connection) -> tuple[str, str]:
    """Return a run's name and its `-wal` from `meta`; empty if missing."""
    rows = _texts(connection, "name", "wal")
    return rows.get("name") or "", rows.get("wal") or ""


def _texts(connection: Connection, *keys: str) -> dict[str, str | None]:
    sql = f"SELECT {typed_column('key', 'text')}, {typed_column('value', 'text')} FROM meta"
    marks = ", ".join("?" * len(keys))
    return dict(connection.query(f"{sql} WHERE key IN ({marks}) LIMIT {len(keys)}", keys))


def _connect(path: Path, real: Path) -> Connection:
    wal = status_of(sqlite_companion(real, "-wal")) is not None
    if not wal and (is_journal_locked(real) or real.stat().st_dev in _WITHOUT_LOCKS):
        return _connected_without_locks(path, real)
    immutable = not wal and _left_in_wal_mode(real)
    try:
        return Connection(path, real, immutable=immutable, folder=None)
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0)
        locks = code in NO_LOCKS or (code & 0xFF == sqlite3.SQLITE_BUSY and not is_listed(real))
        if locks:
            _WITHOUT_LOCKS.add(real.stat().st_dev)
        if not wal and (locks or code == sqlite3.SQLITE_READONLY_ROLLBACK):
            return _connected_without_locks(path, real)
        shared = code in NO_SHARED_MEMORY or code & 0xFF in (
            sqlite3.SQLITE_CANTOPEN,
            sqlite3.SQLITE_READONLY,
        )
        if not wal or not (shared or locks):
            raise
    return _connected_to_copy(path, real)


def _connected_without_locks(path: Path, real: Path) -> Connection:
    """Connect to a file without a `-wal` whose file system or recorder has no locks.

    A finished file is read in place; a growing or journaled one as a private copy.
    """
    was_abandoned, finished = is_left(real), False
    try:
        alone = Connection(path, real, immutable=True, folder=None)
        try:
            finished = _texts(alone, "status").get("status") == '"finished"'
        finally:
            if was_abandoned or not finished:
                alone.close()
        if finished and not was_abandoned:
            return alone
    except (RunFileError, *READ_ERRORS):
        if not was_abandoned:  # otherwise only file and journal together are complete
            raise
    if finished or (was_abandoned and _names_others(sqlite_companion(real, "-journal"))):
        raise RunFileError(
            f"{path} has a journal of another program next to it ({path.name}-journal) with "
            f"changes to apply; {FRESH_COPY}."
        )
    return _connected_to_copy(path, real)


def _names_others(journal: Path) -> bool:
    """Return True if a journal names a super-journal, which SQLite would open or remove.

    See SQLite's "Database File Format", section 3.
    """
    with journal.open("rb") as file:
        file.seek(-min(8, journal.stat().st_size), 2)
        return file.read(8) == JOURNAL_MAGIC


def _connected_to_copy(path: Path, real: Path) -> Connection:
    """Connect to a private copy, which must be one of a single moment."""
    # mkdtemp gives access to this user only: the original may not be readable for others.
    folder = Path(tempfile.mkdtemp(prefix=scratch_prefix("copy")))
    before = file_signature(real)
    try:
        for source in (real, sqlite_companion(real, "-wal"), sqlite_companion(real, "-journal")):
            if source == real or status_of(source) is not None:
                shutil.copyfile(source, folder / source.name)
        # A file and a `-wal` of different moments do not form a run.
        if file_signature(real) != before:
            raise RunFileError(f"{path} is being written; open it again in a moment.")
        if is_left(folder / real.name):
            with closing(sqlite3.connect(folder / real.name)) as copy:
                copy.execute("PRAGMA user_version").fetchone()  # rolls back after a crash
    except BaseException:
        _remove_folder(folder)
        raise
    connection = Connection(path, folder / real.name, immutable=False, folder=folder)
    connection.copied = (real, before)
    return connection


def _left_in_wal_mode(real: Path) -> bool:
    """Return True if the header says WAL but no `-wal` exists: a crash at the very end.

    Opening it as usual would leave an empty `-wal` and `-shm` behind. An active recorder has a
    `-wal`, so this never closes a file that it has locks on.
    """
    with real.open("rb") as file:
        return file.read(20)[18:] == b"\x02\x02"
