"""Reopening a run file to continue its recording after the latest frame.

Frames before are not touched. Nothing is changed before the caller has agreed, and each change is
one transaction: after a kill in between, the file is read, and reopened, as before.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import DiskError, InputError, MarginscopeError
from core.run_files.active_recorders import (
    TAKING,
    WriterLock,
    hold,
    is_foreign,
    is_journal_locked,
    is_ours,
    lock_journal,
    read_wal_header,
    release_path,
    sqlite_companion,
)
from core.run_files.journal import (
    Journal,
    OpenFile,
    connect_to_read,
    connect_to_write,
    explain_refusal,
    is_left,
    is_of_file_system,
    read_meta,
    start_journal,
    usable_journals,
)
from core.run_files.meta import dump_json
from core.run_files.schema import (
    APPLICATION_ID,
    DTYPES,
    FIXED,
    MAX_FRAMES,
    SCHEMA_VERSION,
    UPDATE_META,
    expected_schema,
    frame_crc,
)

BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
ARRAYS = ("x", "y", "x_test", "y_test", "origin")
LAST = "SELECT count(*), max(idx), max(log10_time) FROM frame"


@final
@dataclass(frozen=True, slots=True, eq=False)
class RunFacts:
    """Content of a run file: `meta`, its arrays but for states, number and last of its frames."""

    meta: Mapping[str, Any]
    arrays: Mapping[str, NDArray[np.float64]]
    frames: int
    step: int
    log10_time: float
    events: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class EarlierFile:
    """Recording that is continued: its file, held by this process, and its content so far."""

    path: Path
    opened: OpenFile
    lock: WriterLock
    sums: Sequence[int]
    log10_time: float
    events: int

    @property
    def frames(self) -> int:
        """Number of frames so far."""
        return len(self.sums)


def read_facts(path: Path) -> RunFacts:
    """Read a run file that another process may be recording, and change nothing.

    Raises
    ------
    InputError
        The file is no run file, damaged, being recorded, or its `-wal` is that of another run.
    DiskError
        The file cannot be read.
    """
    if is_ours(path) or is_journal_locked(path):
        raise busy_error(path)
    try:
        _check_wal(path)
        if is_left(path) and not sqlite_companion(path, "-wal").exists():
            _roll_back(path)
        connection = connect_to_read(path)
        try:
            _check_schema(path, connection)
            return _facts(connection)
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        raise _refusal(path, error) from error
    except (sqlite3.Error, ValueError, KeyError, TypeError, zlib.error) as error:
        raise _invalid(path, " ".join(str(error).split())[:200]) from error


def _invalid(path: Path, problem: str) -> InputError:
    return InputError(
        f"{path} cannot be continued as a recording ({problem}); choose another file, "
        "or replace it "
        "with overwrite=True."
    )


def _refusal(path: Path, error: sqlite3.OperationalError) -> MarginscopeError:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in BUSY:
        return busy_error(path)
    text, remedy = explain_refusal(f"to continue {path}", path, error)
    return DiskError(text, remedy=remedy)


def _roll_back(path: Path) -> None:
    """Undo the transaction in which a crash ended a recording without a `-wal`."""
    for journal in usable_journals(path.parent)[-2:]:  # the journal modes without shared memory
        connection = connect_to_write(path, journal)
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            return
        except sqlite3.OperationalError as error:
            if journal is Journal.WITHOUT_LOCKS or not is_of_file_system(error, also=False):
                raise
        finally:
            connection.close()


def _check_wal(path: Path) -> None:
    header = read_wal_header(sqlite_companion(path, "-wal"))
    if header is None:
        return
    names: list[Mapping[str, str]] = []
    for options in ("&immutable=1", ""):
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro{options}", uri=True, timeout=1.0)
        try:
            names.append(read_meta(connection, ("name", "wal")))
        except sqlite3.Error:
            return  # a crash within a checkpoint: only file and -wal together are complete
        finally:
            connection.close()
    alone, together = names
    is_same = alone.get("name") == together.get("name")
    if is_foreign(header, alone.get("wal", ""), is_same):
        raise InputError(
            f"{path} has a {path.name}-wal next to it from another run; move that file away."
        )


def _check_schema(path: Path, connection: sqlite3.Connection) -> None:
    numbers = [
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version")
    ]
    if numbers != [APPLICATION_ID, SCHEMA_VERSION]:
        raise _invalid(path, "it is a database of another program or version")
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    if set(rows) != expected_schema(SCHEMA_VERSION):
        raise _invalid(path, "its tables are not those of a run file")


def _facts(connection: sqlite3.Connection) -> RunFacts:
    meta = {key: json.loads(text) for key, text in read_meta(connection).items()}
    arrays = {}
    sql = "SELECT name, dtype, shape, crc32, data FROM array WHERE name IN "
    names = (*ARRAYS, *(f"{FIXED}{name}" for name in ("a", "A")))
    for name, dtype, shape, crc, data in connection.execute(
        f"{sql}({', '.join('?' * len(names))})", names
    ):
        if zlib.crc32(data) != crc or len(data) != prod(json.loads(shape)) * int(dtype[-2:]) // 8:
            raise ValueError(f"the checksum of its array {name} does not match")
        arrays[name] = np.frombuffer(data, DTYPES[dtype]).reshape(json.loads(shape))
    frames, last, _ = connection.execute(LAST).fetchone()
    events = connection.execute("SELECT count(*) FROM event").fetchone()[0]
    if not frames:
        return RunFacts(meta, arrays, 0, 0, -np.inf, events)
    columns = "idx, step, time, log10_time, rho, parameters, dual, crc32"
    *row, crc = connection.execute(f"SELECT {columns} FROM frame WHERE idx = ?", (last,)).fetchone()
    if last != frames - 1 or frames > MAX_FRAMES or frame_crc(*row) != crc:
        raise ValueError("its frames are incomplete")
    return RunFacts(meta, arrays, frames, int(row[1]), float(row[3]), events)


def reopen(path: Path, facts: RunFacts, changes: Mapping[str, str]) -> EarlierFile:
    """Take a run file to continue its recording, with `changes` of its meta.

    Parameters
    ----------
    path : Path
        Run file, finished or left by a crash.
    facts : RunFacts
        Content of the file when it was read.
    changes : Mapping[str, str]
        Rows of `meta` that are new: key -> JSON text.

    Returns
    -------
    EarlierFile
        The file, open and held by this process until it is released.

    Raises
    ------
    InputError
        Another process or recording is writing the file, or wrote to it since it was read.
    DiskError
        The file cannot be written.
    """
    with TAKING:
        if is_ours(path):
            raise busy_error(path)
        hold(path)
    try:
        usable = usable_journals(path.parent)
        for journal in usable:
            try:
                return _reopen(path, journal, facts, changes)
            except sqlite3.OperationalError as error:
                if not is_of_file_system(error, also=False) or journal is usable[-1]:
                    raise
            if read_wal_header(sqlite_companion(path, "-wal")) is None:
                sqlite_companion(path, "-shm").unlink(missing_ok=True)
        raise AssertionError
    except sqlite3.OperationalError as error:
        release_path(path)
        raise _refusal(path, error) from error
    except BaseException:
        release_path(path)
        raise


def busy_error(path: Path) -> InputError:
    """Return the error for a file that another recording is writing."""
    return InputError(
        f"{path} is being recorded, or is in use by another program; wait until that ends, or "
        "choose another name."
    )


def _reopen(
    path: Path, journal: Journal, facts: RunFacts, changes: Mapping[str, str]
) -> EarlierFile:
    if is_journal_locked(path):
        raise busy_error(path)
    connection = connect_to_write(path, journal)
    lock: WriterLock | None = None
    try:
        _forget_wal(path, connection)
        start_journal(connection, journal)
        if read_wal_header(sqlite_companion(path, "-wal")) is None:
            connection.execute(UPDATE_META, ("0", "wal"))  # from here on the file has a journal
        lock = lock_journal(path, journal.suffix)
        if not lock.is_held and is_journal_locked(path):
            raise busy_error(path)
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute(LAST).fetchone()[0] != facts.frames:
            raise busy_error(path)
        sums = [row[0] for row in connection.execute("SELECT crc32 FROM frame ORDER BY idx")]
        header = read_wal_header(sqlite_companion(path, "-wal"))
        wal = None if header is None else header.recording
        rows = {"status": "recording", "reason": None, "counts": None, "wal": wal}
        texts = {key: dump_json(value) for key, value in rows.items()} | dict(changes)
        connection.executemany(UPDATE_META, [(text, key) for key, text in texts.items()])
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.close()
        if lock is not None:
            lock.release()
        raise
    opened = OpenFile(connection, journal)
    return EarlierFile(path, opened, lock, sums, facts.log10_time, facts.events)


def _forget_wal(path: Path, connection: sqlite3.Connection) -> None:
    """Remove the name of the `-wal` from a file without one: the next gets a new number.

    One page is written, which a kill cannot leave half written.
    """
    connection.execute("SELECT count(*) FROM meta").fetchone()  # recovers after a crash
    if read_wal_header(sqlite_companion(path, "-wal")) is not None:
        return
    if connection.execute("PRAGMA journal_mode=MEMORY").fetchone()[0] != "memory":
        raise busy_error(path)
    connection.execute("BEGIN IMMEDIATE")
    # The -wal of another, later recording.
    if read_wal_header(sqlite_companion(path, "-wal")) is not None:
        raise busy_error(path)
    connection.execute(UPDATE_META, ("null", "wal"))
    connection.execute("COMMIT")
