"""The index: what was read of the run files of a user, kept so that it need not be read again.

It is a cache in SQLite, with a row a file: nothing is in it that could not be made from the files,
but for counts of verdicts, which cost minutes to make again. One that is damaged, foreign or of
another version is set aside beside itself, under the end .broken, and made anew.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, final

from core.library.entry import About, Facts
from core.library.stored import dump_about, dump_facts, load_about, load_counts, load_facts

APPLICATION_ID, VERSION = 0x4D534C42, 1  # "MSLB"
TABLE = (
    "CREATE TABLE run (path BLOB PRIMARY KEY, stamp TEXT NOT NULL, facts TEXT NOT NULL,"
    " noted TEXT NOT NULL, about TEXT NOT NULL, verdicts TEXT, picture BLOB) STRICT"
)
WAIT_S = 5.0
LONGEST = 2_000_000  # bytes of a value: a row of ours has a few thousand
ANEW = "The list of runs is made anew from the run files; nothing of them is lost"
LOCKED = (
    "{path}, the list of runs, is held by another program, so that the runs are read anew; close "
    "that program."
)
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
NO_PLACE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL)
NO_NOTES = About()
EMPTY = dump_about(NO_NOTES)  # as with most runs
T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Row:
    """What is known of a file as it was at `stamp`, and of its notes as they were at `noted`."""

    stamp: str
    facts: Facts
    noted: str = ""
    about: About = NO_NOTES
    verdicts: Mapping[str, int] | None = None


@final
class RunIndex:
    """Rows by the paths of runs; for any thread. `said` has sentences of what went wrong.

    Nothing here raises for a database that cannot be read or written: it is made anew, in memory
    where there is no other way.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.said: list[str] = []
        self._lock = threading.RLock()
        self._database: sqlite3.Connection | None = None

    # ------------------------------------------------------------------------------ what is kept

    def load(self) -> dict[str, Row]:
        """All rows that can be read; a damaged one is as if its file had never been read."""
        sql = "SELECT path, stamp, facts, noted, about, verdicts FROM run"
        rows = self._do(lambda database: database.execute(sql).fetchall()) or []
        known = {}
        for path, stamp, sealed, noted, about, verdicts in rows:
            one = load_facts(_unsealed(sealed, (stamp, noted, about)))
            other = NO_NOTES if about == EMPTY else load_about(about)
            if one is not None and other is not None and isinstance(path, bytes):
                counts = None if verdicts is None else load_counts(_unsealed(verdicts, (stamp,)))
                known[os.fsdecode(path)] = Row(stamp, one, noted, other, counts)
        return known

    def put(self, rows: Mapping[str, Row]) -> None:
        """Keep rows; the picture of a file goes where its stamp has changed."""
        sql = (
            "INSERT INTO run (path, stamp, facts, noted, about) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (path) DO UPDATE SET"
            " picture = CASE WHEN stamp = excluded.stamp THEN picture END,"
            " verdicts = CASE WHEN stamp = excluded.stamp THEN verdicts END,"
            " stamp = excluded.stamp, facts = excluded.facts,"
            " noted = excluded.noted, about = excluded.about"
        )
        values = []
        for path, row in rows.items():
            about = dump_about(row.about)
            facts = _sealed(dump_facts(row.facts), (row.stamp, row.noted, about))
            values.append((_key(path), row.stamp, facts, row.noted, about))
        self._do(lambda database: database.executemany(sql, values))

    def forget(self, paths: Iterable[str]) -> None:
        """Drop the rows of files that are gone."""
        keys = [(_key(path),) for path in paths]
        if keys:
            self._do(lambda one: one.executemany("DELETE FROM run WHERE path = ?", keys))

    def move(self, before: str, after: str) -> None:
        """A file lies elsewhere now, unchanged."""
        sql = "UPDATE OR REPLACE run SET path = ? WHERE path = ?"
        self._do(lambda database: database.execute(sql, (_key(after), _key(before))))

    def judged(self, path: str, verdicts: Mapping[str, int]) -> None:
        """Keep what statements say of a run; lost with the next change of its file."""
        import json

        def keep(database: sqlite3.Connection) -> None:
            sql = "SELECT stamp FROM run WHERE path = ?"
            for (stamp,) in database.execute(sql, (_key(path),)).fetchall():
                values = (_sealed(json.dumps(dict(verdicts)), (stamp,)), _key(path))
                database.execute("UPDATE run SET verdicts = ? WHERE path = ?", values)

        self._do(keep)

    def picture(self, path: str) -> bytes | None:
        """The picture of a run; None where there is none yet."""
        sql = "SELECT picture FROM run WHERE path = ?"
        row = self._do(lambda database: database.execute(sql, (_key(path),)).fetchone())
        return row[0] if row and isinstance(row[0], bytes) else None

    def put_picture(self, path: str, picture: bytes) -> None:
        """Keep a picture; lost with the next change of its file."""
        sql = "UPDATE run SET picture = ? WHERE path = ?"
        self._do(lambda database: database.execute(sql, (picture, _key(path))))

    def close(self) -> None:
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    # --------------------------------------------------------------------------------- the file

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """What a piece of work gives in a transaction; after damage once more in a new index."""
        with self._lock:
            for _ in range(2):
                try:
                    if self._database is None:
                        self._database = self._opened()
                    with self._database:
                        return work(self._database)
                except (sqlite3.Error, UnicodeError, OverflowError) as error:
                    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                    if code in BUSY:  # not another window, which needs it for milliseconds
                        self._say(LOCKED.format(path=self.path))
                        return None
                    self._give_up(code)
            return None

    def _opened(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                if not self.path.is_file() and self.path.exists():
                    raise sqlite3.DatabaseError("not a plain file")
        except OSError:
            return self._in_memory()
        return _connected(str(self.path))

    def _in_memory(self) -> sqlite3.Connection:
        self._say(
            f"The list of runs cannot be kept in {self.path}, so that it is made anew at each "
            "start; check that you may write there."
        )
        return _connected(":memory:")

    def _give_up(self, code: int) -> None:
        """The index cannot be used: set it aside, or go on in memory."""
        self.close()
        if code not in NO_PLACE:
            aside = self.path.with_name(f"{self.path.name}.broken")
            try:
                self.path.replace(aside)
                # A journal would be replayed into the next index of that name.
                for suffix in ("-journal", "-wal", "-shm"):
                    self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
                self._say(f"{ANEW}: the index could not be read and lies in {aside} now.")
                return
            except OSError:
                pass
        self._database = self._in_memory()

    def _say(self, sentence: str) -> None:
        if sentence not in self.said:
            self.said.append(sentence)


def _sealed(text: str, others: tuple[object, ...]) -> str:
    """A text after a checksum of it and of what stands beside it in its row."""
    return f"{zlib.crc32(repr((text, *others)).encode()):08x}{text}"


def _unsealed(text: object, others: tuple[object, ...]) -> str:
    """The text; empty, which nothing reads, where anything of it was changed on the disk."""
    inner = text[8:] if isinstance(text, str) else ""
    return inner if text == _sealed(inner, others) else ""


def _key(path: str) -> bytes:
    # Names of files are bytes: not every one is text.
    return os.fsencode(path)


def _connected(name: str) -> sqlite3.Connection:
    """A connection to an index of ours, made where there is none.

    Raises sqlite3.DatabaseError for a damaged or foreign file, and one of another version.
    """
    database = sqlite3.connect(name, timeout=WAIT_S, check_same_thread=False)
    try:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        database.execute("PRAGMA trusted_schema=OFF")
        database.execute("PRAGMA cell_size_check=ON")
        # A cache: what a power cut takes away is read again.
        database.execute("PRAGMA synchronous=OFF")
        schema = database.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
        if not schema:
            _make(database)
        elif schema != [(TABLE,)] or _numbers(database) != (APPLICATION_ID, VERSION):
            raise sqlite3.DatabaseError("another schema")
        elif database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("damaged")
    except BaseException:
        database.close()
        raise
    return database


def _make(database: sqlite3.Connection) -> None:
    if _numbers(database) not in ((0, 0), (APPLICATION_ID, VERSION)):
        raise sqlite3.DatabaseError("of another program")
    database.execute(TABLE.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
    database.execute(f"PRAGMA application_id={APPLICATION_ID}")
    database.execute(f"PRAGMA user_version={VERSION}")
    database.commit()


def _numbers(database: sqlite3.Connection) -> tuple[int, int]:
    return (
        database.execute("PRAGMA application_id").fetchone()[0],
        database.execute("PRAGMA user_version").fetchone()[0],
    )
