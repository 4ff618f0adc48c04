"""Files of a folder of runs, and the index of their facts, so that they need not be read again.

The index is a cache in SQLite, with a row a file: the program makes all of it again from the files,
counts of verdicts in minutes. A damaged or foreign index, or one of another version, is renamed to
end in .broken, and the files are read again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TypeVar, final

from pydantic import TypeAdapter

from core.comparison.own_name import MOST_BYTES
from core.comparison.own_name import SUFFIX as NOTES
from core.errors import InputError
from core.files import set_aside
from core.library.entry import RunNotes, RunSummary
from core.library.run_notes import about_text, parse_about

# ----------------------------------------------------------- files of a folder, none of them opened

RUN, WAL = ".msrun", "-wal"
TRASH = ".trash"
DEEPEST, MOST_FILES = 8, 100_000


@final
@dataclass(frozen=True, slots=True)
class FoundFile:
    """Run file with its `-wal` and notes. `stamp` changes with the file, `noted` with the notes.

    The path is text, since tables of thousands are made of it. `size` is that of both in bytes,
    `modified` the time of the last write to either, in seconds.
    """

    path: str
    stamp: str
    noted: str
    size: int
    modified: float


def run_files(root: Path) -> Iterator[FoundFile]:
    """Yield the run files in a folder and those below it, at most 100,000; not those in its trash.

    Folders that cannot be read, or that disappear meanwhile, are skipped, and links to folders are
    not followed.
    """
    count = 0
    waiting = [(root, 0)]
    while waiting:
        folder, depth = waiting.pop()
        files, folders = list_folder(folder)
        for file in in_folder(folder, files):
            yield file
            count += 1
            if count == MOST_FILES:
                return
        if depth < DEEPEST:
            inner = sorted(name for name in folders if not name.startswith("."))
            waiting += [(folder / name, depth + 1) for name in inner]


def list_folder(folder: Path) -> tuple[dict[str, os.stat_result], list[str]]:
    """Return status by name of the runs, `-wal` files and notes in a folder, and its folders.

    Both are empty for a folder that cannot be read.
    """
    files, folders = {}, []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    elif entry.name.endswith((RUN, RUN + WAL, RUN + NOTES)):
                        status = entry.stat()
                        if stat.S_ISREG(status.st_mode):
                            files[entry.name] = status
                except OSError:  # deleted since the folder was read, or a dangling link
                    continue
    except OSError:
        return {}, []
    return files, folders


def in_folder(folder: Path, files: dict[str, os.stat_result]) -> Iterator[FoundFile]:
    """Yield the runs among the files of a folder."""
    prefix = f"{folder}{os.sep}"
    for name, status in files.items():
        if not name.endswith(RUN) or name.startswith("."):
            continue
        wal, notes = files.get(name + WAL), files.get(name + NOTES)
        yield FoundFile(
            f"{prefix}{name}",
            _stamp(status) + _stamp(wal),
            _stamp(notes),
            status.st_size + (wal.st_size if wal else 0),
            max(status.st_mtime, wal.st_mtime if wal else 0.0),
        )


def _stamp(status: os.stat_result | None) -> str:
    """Return a text that changes with a file; "" without one."""
    # Includes the inode: a replacement may have the same size and time.
    if status is None:
        return ""
    return f"{status.st_size}.{status.st_mtime_ns}.{status.st_ino};"


# ---------------------------------------------------------------------------------------- the index

# The table's SQL text is its version; it includes the names of the facts.
TABLE = (
    "CREATE TABLE run (path BLOB PRIMARY KEY, stamp TEXT NOT NULL, facts TEXT NOT NULL"
    f" /* {' '.join(one.name for one in fields(RunSummary))} */,"
    " noted TEXT NOT NULL, about TEXT NOT NULL, verdicts TEXT, picture BLOB) STRICT"
)
WAIT_S = 5.0
LONGEST = 3 * MOST_BYTES  # bytes of a row with escaped notes; most have a few thousand
FACTS, COUNTS = TypeAdapter(RunSummary), TypeAdapter(dict[str, int])
REBUILT = "Marginscope rebuilds the list of runs from the run files; no run is lost"
LOCKED = (
    "{path}, the list of runs, is locked by another program, so all runs are read again; close "
    "that program."
)
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
NO_PLACE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL)
NO_NOTES = RunNotes()
T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Row:
    """Facts of a file as of `stamp`, and its notes as of `noted`."""

    stamp: str
    facts: RunSummary
    noted: str = ""
    about: RunNotes = NO_NOTES
    verdicts: Mapping[str, int] | None = None


@final
class RunIndex:
    """Rows by the paths of runs. Thread-safe. `messages` has sentences about failures.

    No method raises for a database that cannot be read or written: the index is made again, in
    memory if it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.messages: list[str] = []
        self._lock = threading.RLock()
        self._database: sqlite3.Connection | None = None

    # ----------------------------------------------------------------------------------------- rows

    def load(self) -> dict[str, Row]:
        """Return all rows that can be read; the files of damaged ones are read again."""
        sql = "SELECT path, stamp, facts, noted, about, verdicts FROM run"
        rows = {}
        for path, *values in self._do(lambda database: database.execute(sql).fetchall()) or []:
            with suppress(TypeError, ValueError, InputError, RecursionError):
                rows[os.fsdecode(path)] = _row(*values)
        return rows

    def save_rows(self, rows: Mapping[str, Row]) -> None:
        """Save rows; the picture and the verdicts of a changed file are dropped."""
        sql = (
            "INSERT INTO run (path, stamp, facts, noted, about) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (path) DO UPDATE SET"
            " picture = CASE WHEN stamp = excluded.stamp THEN picture END,"
            " verdicts = CASE WHEN stamp = excluded.stamp THEN verdicts END,"
            " stamp = excluded.stamp, facts = excluded.facts,"
            " noted = excluded.noted, about = excluded.about"
        )
        values = [
            (_key(path), row.stamp, json.dumps(asdict(row.facts)), row.noted, about_text(row.about))
            for path, row in rows.items()
        ]
        self._write(sql, values)

    def forget(self, paths: Iterable[str]) -> None:
        """Drop the rows of files that are gone."""
        self._write("DELETE FROM run WHERE path = ?", [(_key(path),) for path in paths])

    def move(self, before: str, after: str) -> None:
        """Change the path of an unchanged file."""
        sql = "UPDATE OR REPLACE run SET path = ? WHERE path = ?"
        self._write(sql, [(_key(after), _key(before))])

    def set_verdicts(self, path: str, verdicts: Mapping[str, int]) -> None:
        """Save the counts of verdicts of a run; lost with the next change of its file."""
        sql = "UPDATE run SET verdicts = ? WHERE path = ?"
        self._write(sql, [(json.dumps(dict(verdicts)), _key(path))])

    def picture(self, path: str) -> bytes | None:
        """Return the picture of a run; None if it has none yet."""
        sql = "SELECT picture FROM run WHERE path = ?"
        row = self._do(lambda database: database.execute(sql, (_key(path),)).fetchone())
        return row[0] if row and isinstance(row[0], bytes) else None

    def save_picture(self, path: str, picture: bytes) -> None:
        """Save a picture; lost with the next change of its file."""
        self._write("UPDATE run SET picture = ? WHERE path = ?", [(picture, _key(path))])

    def close(self) -> None:
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    # --------------------------------------------------------------------------------- the file

    def _write(self, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Execute a statement for each of some rows."""
        if rows:
            self._do(lambda database: database.executemany(sql, rows))

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return the result of work in a transaction; after damage once more in a new index.

        None, with a message, while another program locks the index, or if the new index fails too.
        """
        with self._lock:
            for _ in range(2):
                try:
                    if self._database is None:
                        self._database = self._open()
                    with self._database:
                        return work(self._database)
                except (sqlite3.Error, UnicodeError, OverflowError) as error:
                    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                    # Unless another window uses the index, which takes milliseconds.
                    if code in BUSY:
                        self._add_message(LOCKED.format(path=self.path))
                        return None
                    self._set_aside(code)
            return None

    def _open(self) -> sqlite3.Connection:
        """Open the file, made if necessary; an index in memory if that is impossible."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and not self.path.is_file():
                raise sqlite3.DatabaseError("a folder, pipe or device, not a file")
        except OSError:
            return self._in_memory()
        return _connect(str(self.path))

    def _in_memory(self) -> sqlite3.Connection:
        self._add_message(
            f"The list of runs cannot be saved in {self.path} and is rebuilt at every start; "
            "check write access to it."
        )
        return _connect(":memory:")

    def _set_aside(self, code: int) -> None:
        """Set an unusable index aside, or continue in memory."""
        self.close()
        if code not in NO_PLACE and (backup := set_aside(self.path)) is not None:
            # A leftover journal would be replayed into the next index of that name.
            for suffix in ("-journal", "-wal", "-shm"):
                with suppress(OSError):
                    self.path.with_name(self.path.name + suffix).unlink()
            self._add_message(f"{REBUILT}: the index could not be read and was moved to {backup}.")
            return
        self._database = self._in_memory()

    def _add_message(self, sentence: str) -> None:
        if sentence not in self.messages:
            self.messages.append(sentence)


def _row(stamp: str, facts: str, noted: str, about: str, verdicts: str | None) -> Row:
    """Return the values of a row.

    Damaged ones raise TypeError, ValueError, InputError or RecursionError.
    """
    notes = parse_about(about) if about else NO_NOTES
    counts = None if verdicts is None else COUNTS.validate_json(verdicts)
    # json.loads, since `validate_json` rejects file names that are not text.
    return Row(stamp, FACTS.validate_python(json.loads(facts)), noted, notes, counts)


def _key(path: str) -> bytes:
    """Return the key of a run in the index."""
    # File names are bytes, not necessarily text.
    return os.fsencode(path)


def _connect(name: str) -> sqlite3.Connection:
    """Return a connection to an index, which is made if it does not exist.

    Raises sqlite3.DatabaseError for a damaged or foreign file, and one of another version.
    """
    database = sqlite3.connect(name, timeout=WAIT_S, check_same_thread=False)
    try:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        database.execute("PRAGMA trusted_schema=OFF")
        database.execute("PRAGMA cell_size_check=ON")
        # The index is a cache: rows lost in a power cut are read again.
        database.execute("PRAGMA synchronous=OFF")
        schema = database.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
        if schema and schema != [(TABLE,)]:
            raise sqlite3.DatabaseError("another schema")
        database.execute(TABLE.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
        database.commit()
    except BaseException:
        database.close()
        raise
    return database
