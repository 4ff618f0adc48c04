"""A read-only SQLite connection to a file that may come from a stranger.

Nothing in the file is trusted: SQLite is told to do no more than SELECT, with limits on lengths and
on work, and the schema must be the expected one letter by letter before any table is read.
"""

from __future__ import annotations

import shutil
import sqlite3
import stat
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, final

from core.errors import RunFileError
from core.runs.meta import printable
from core.runs.schema import (
    APPLICATION_ID,
    MAX_TEXT_BYTES,
    SCHEMA_VERSION,
    expected_schema,
)

WAIT_S = 2.0  # for a recorder that is just closing the file
IDLE_S = 5.0  # a `-wal` untouched for this long has no recorder that is about to close it
OPS_PER_TICK, MAX_TICKS = 10_000, 3_000  # 3e7 operations: a whole run takes under 1e6
MAX_SCHEMA_ROWS = 100
LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 32,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 32,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 2,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 10_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 64,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 16,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
PRAGMAS = ("query_only=ON", "trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0")
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}
ALLOWED_FUNCTIONS = {"length", "typeof"}
FRESH_COPY = "get a fresh copy of the file or record the run again"
# Python fails to decode SQLite's own message where that quotes a damaged schema.
READ_ERRORS = (sqlite3.Error, UnicodeError)
# SQLite could not make or use the `-shm` beside the file, as in a folder that is read-only.
NO_SHARED_MEMORY = {
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
    sqlite3.SQLITE_IOERR_SHMLOCK,
}


def beside(path: Path, suffix: str) -> Path:
    """SQLite's own file next to a database: `-wal`, `-shm` or `-journal`."""
    return path.with_name(path.name + suffix)


def damaged(path: Path, what: str) -> RunFileError:
    """The error for a file whose content is not what a run file holds."""
    return RunFileError(f"{path} is damaged or not a run file: {what}; {FRESH_COPY}.")


@final
class Connection:
    """One read-only connection whose schema has been checked.

    `shown` is the path in messages; `real` the file that is read, which differs for a private copy.
    """

    def __init__(self, shown: Path, real: Path, *, immutable: bool, folder: Path | None) -> None:
        self.shown, self.real = shown, real
        self._immutable = immutable
        self._ticks = 0
        self._remove = _remover(self, folder)
        wal = beside(real, "-wal")
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
        """The two numbers of the header, which SQLite reads before it looks at the schema."""
        values = [
            int(self._sqlite.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("application_id", "user_version")
        ]
        if values[0] != APPLICATION_ID:
            raise RunFileError(
                f"{self.shown} is a database of another program, not a run file; name a file that "
                "`python -m core run` or the window has recorded."
            )
        if values[1] > SCHEMA_VERSION:
            raise RunFileError(
                f"{self.shown} was written by a newer version of Marginscope (run format "
                f"{values[1]}; this one reads up to {SCHEMA_VERSION}); update the program."
            )
        if values[1] < 1:
            raise damaged(self.shown, f"its run format is {values[1]}")
        self._version = values[1]

    def _check_schema(self) -> None:
        self._sqlite.set_authorizer(_authorise)
        columns = "type, name, tbl_name, sql, rootpage"
        rows = list(self.query(f"SELECT {columns} FROM sqlite_schema LIMIT {MAX_SCHEMA_ROWS}"))
        expected = expected_schema(self._version)
        roots = {row[4] for row in rows}
        if len(rows) != len(expected) or {row[:4] for row in rows} != expected:
            raise damaged(self.shown, "its tables are not exactly those of a run file")
        if len(roots) != len(rows):
            raise damaged(self.shown, "two of its tables share their pages")

    def query(
        self, sql: str, parameters: tuple[object, ...] = (), *, longest: int = MAX_TEXT_BYTES
    ) -> Iterator[tuple[Any, ...]]:
        """Rows of one SELECT; no value longer than `longest` bytes is read.

        Raises RunFileError for whatever SQLite objects to.
        """
        self._ticks = 0
        try:
            self._sqlite.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
            yield from self._sqlite.execute(sql, parameters)
        except MemoryError as error:
            raise damaged(self.shown, "a value is larger than this machine's memory") from error
        except READ_ERRORS as error:
            raise _sentence(self.shown, error) from error

    def damaged(self, what: str) -> RunFileError:
        """The error for content that is not what a run file holds."""
        return damaged(self.shown, what)

    def to_be_reopened(self) -> bool:
        """Whether a recorder may be at work, which wants to be alone with the file at its end.

        Only where a `-wal` lies beside the file and was written to within the last seconds.
        """
        if self._shared_wal is None:
            return False
        try:
            written = self._shared_wal.stat().st_mtime
        except OSError:
            return False
        return self._immutable or time.time() - written < IDLE_S

    def close(self) -> None:
        """Close the connection and remove a private copy; harmless when repeated."""
        self._sqlite.close()
        self._remove()

    def _tick(self) -> int:
        self._ticks += 1
        return int(self._ticks > MAX_TICKS)


def _authorise(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """Let SELECT and the reading of columns through, and two functions; nothing else."""
    if action in ALLOWED or (action == sqlite3.SQLITE_FUNCTION and second in ALLOWED_FUNCTIONS):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _sentence(path: Path, error: Exception) -> RunFileError:
    code = getattr(error, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_NOTADB:
        return RunFileError(f"{path} is not a run file; run files end in .msrun.")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return RunFileError(
            f"{path} is locked by another program; close that program and open the file again."
        )
    if code == sqlite3.SQLITE_READONLY_ROLLBACK:
        return RunFileError(
            f"{path} has a journal of another program beside it ({path.name}-journal), which would "
            f"have to be applied; {FRESH_COPY}."
        )
    if code == sqlite3.SQLITE_CANTOPEN:
        return RunFileError(f"{path} cannot be opened; check that you may read it and its folder.")
    if code == sqlite3.SQLITE_INTERRUPT:
        return damaged(path, "reading it takes longer than any run file needs")
    if code == sqlite3.SQLITE_TOOBIG:
        return damaged(path, "a value is longer than allowed")
    return damaged(path, printable(str(error))[:200])


def _remover(owner: Connection, folder: Path | None) -> weakref.finalize[..., Any]:
    """Removes a private copy's folder at the latest when the connection is forgotten."""
    finalizer = weakref.finalize(owner, _remove_folder, folder)
    if folder is None:
        finalizer.detach()
    return finalizer


def _remove_folder(folder: Path | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def regular_file(path: Path) -> Path:
    """The real path of an existing regular file.

    Raises RunFileError for anything else, a pipe or a device among them, before it is opened.
    """
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
        for suffix in ("-wal", "-journal"):
            other = beside(real, suffix)
            if other.exists() and not other.is_file():
                raise damaged(path, f"{other.name} beside it is not a plain file")
    except FileNotFoundError as error:
        raise RunFileError(f"There is no run file {path}; check the path.") from error
    except (OSError, ValueError, RuntimeError) as error:
        raise RunFileError(f"{path} cannot be opened: {_reason(error)}.") from error
    if stat.S_ISDIR(mode):
        raise RunFileError(f"{path} is a folder; name a run file (.msrun) in it.")
    if not stat.S_ISREG(mode):
        raise RunFileError(f"{path} is not a plain file; name a run file (.msrun).")
    return real


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def connect(path: Path) -> Connection:
    """A checked connection to a run file, finished, growing, or left by a crash with its `-wal`.

    Where SQLite cannot put its shared memory beside a `-wal` (a read-only folder), both files are
    copied to a temporary folder, which is removed when the connection is closed.
    Raises RunFileError.
    """
    real = regular_file(path)
    return _guarded(path, lambda: _connect(path, real))


def _connect(path: Path, real: Path) -> Connection:
    wal = beside(real, "-wal").exists()
    immutable = not wal and _left_in_wal_mode(real)
    try:
        return Connection(path, real, immutable=immutable, folder=None)
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0)
        shared = code in NO_SHARED_MEMORY or code & 0xFF in (
            sqlite3.SQLITE_CANTOPEN,
            sqlite3.SQLITE_READONLY,
        )
        if not wal or not shared or code == sqlite3.SQLITE_READONLY_ROLLBACK:
            raise
    folder = Path(tempfile.mkdtemp(prefix="marginscope-"))
    try:
        for source in (real, beside(real, "-wal")):
            shutil.copyfile(source, folder / source.name)
    except BaseException:
        _remove_folder(folder)
        raise
    return Connection(path, folder / real.name, immutable=False, folder=folder)


def _guarded(path: Path, make: Callable[[], Connection]) -> Connection:
    try:
        return make()
    except READ_ERRORS as error:
        raise _sentence(path, error) from error
    except OSError as error:
        raise RunFileError(f"{path} cannot be opened: {_reason(error)}.") from error


def _left_in_wal_mode(real: Path) -> bool:
    """Whether the header says WAL although there is no `-wal`: a crash at the very end.

    Opening it as usual would leave an empty `-wal` and `-shm` behind. A recorder at work has a
    `-wal`, so this never closes a file that it holds locks on.
    """
    with real.open("rb") as file:
        return file.read(20)[18:] == b"\x02\x02"


def identity(path: Path) -> tuple[int, int]:
    """Device and number of a file, by which a replaced one is noticed. Raises RunFileError."""
    try:
        status = path.stat()
    except OSError as error:
        raise RunFileError(f"{path} cannot be opened: {_reason(error)}.") from error
    return status.st_dev, status.st_ino
