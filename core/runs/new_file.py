"""Making a new run file: its name is claimed, and everything but the frames is written."""

from __future__ import annotations

import errno
import os
import sqlite3
import zlib
from collections.abc import Mapping
from contextlib import suppress
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.dynamics.rows import will_be_reduced
from core.errors import DiskError, InputError
from core.problem.problem import Problem
from core.problem.start import History
from core.runs.looking import beside
from core.runs.meta import dump_json
from core.runs.schema import (
    APPLICATION_ID,
    COLUMNS,
    FIXED,
    HISTORY,
    KEEP_EVERY,
    PAGE_SIZE,
    SCHEMA_VERSION,
    TABLES,
)
from core.runs.wal import read_wal_header
from core.settings import MAX_ELEMENTS

SIDE_FILES = ("-wal", "-shm", "-journal")
# No room, a quota, a limit of the size of files, a failing disk: no other name would help.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def arrays_of(problem: Problem) -> dict[str, NDArray[np.float64]]:
    """The arrays that a run file of this problem holds, by name, as they are stored.

    Raises InputError for an array that a reader would refuse.
    """
    data, start = problem.dataset, problem.start
    arrays = {"x": data.x, "y": data.y, "origin": start.origin}
    if data.x_test is not None and data.y_test is not None:
        arrays |= {"x_test": data.x_test, "y_test": data.y_test}
    if start.parameters is not start.origin:
        arrays["start"] = start.parameters
    if problem.reduction is not None:
        arrays["basis"] = problem.reduction.basis
        arrays["perpendicular"] = problem.reduction.perpendicular
    arrays |= {f"{FIXED}{name}": array for name, array in problem.network.fixed.items()}
    if start.history is not None:
        arrays |= columns_of(start.history)
    for name, array in arrays.items():
        if array.size > 2 * MAX_ELEMENTS:
            raise InputError(
                f"The array {name} has {array.size:.3g} values; a run file holds at most "
                f"{2 * MAX_ELEMENTS:.0e}; use fewer examples or a smaller network."
            )
    return {name: np.ascontiguousarray(array, dtype="<f8") for name, array in arrays.items()}


def columns_of(history: History) -> dict[str, NDArray[np.float64]]:
    """The arrays of the frames before the start; where there are none, that nothing is missing."""
    steps, complete = history.steps.astype(np.float64), np.array([float(history.complete)])
    errors = np.zeros(0) if history.errors is None else history.errors
    columns = (steps, history.log10_time, history.rho, history.parameters, complete, errors)
    named = zip(COLUMNS, columns, strict=True)
    return {f"{HISTORY}{name}": column for name, column in named if column.size}


def claim(path: Path, force: bool) -> Path:
    """Make an empty file that nobody else has, and return its path.

    With `force` an old file stays where it is, and the new one is made beside it, to take its place
    in the end (`take_place`); what an earlier attempt left there goes first.
    """
    old = [beside(path, suffix) for suffix in SIDE_FILES]
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name the run file to write in it.")
        path.parent.mkdir(parents=True, exist_ok=True)
        made = path
        if force:
            made = new_beside(path) if path.exists() else path
            for leftover in (made, *(beside(made, suffix) for suffix in SIDE_FILES)):
                leftover.unlink(missing_ok=True)
        elif path.exists():
            raise InputError(
                f"The run file {path} exists", remedy="move it", typed="--force records over it"
            )
        # SQLite would take a `-wal` that lies there for that of the new file, and replay it.
        elif any(leftover.exists() for leftover in old):
            raise InputError(
                f"Beside {path} lies {path.name}-wal or {path.name}-shm of a run whose file is "
                "gone",
                remedy="move it back to its file",
                typed="move it back to its file, or --force removes it",
            )
        # Exclusively: of two recorders that begin at once one gets the name.
        os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) in FULL:
            raise DiskError(
                f"The disk refused to make {path} ({error}); make room on it."
            ) from error
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"The run file {path} cannot be written ({reason})",
            remedy="choose a folder that you may write to",
            typed="choose a folder that you may write to, with --out",
        ) from error
    return made


def new_beside(path: Path) -> Path:
    """Where a run is recorded that will take the place of one that is there already.

    >>> new_beside(Path("runs/a.msrun")).name
    'a.new.msrun'
    """
    return path.with_name(f"{path.stem}.new{path.suffix}")


def take_place(made: Path, path: Path) -> None:
    """Put a closed file in the place of an old one, whose side files go first. Raises OSError."""
    for suffix in SIDE_FILES:
        beside(path, suffix).unlink(missing_ok=True)
    made.replace(path)
    for suffix in SIDE_FILES:  # there are none unless another program held on to the file
        with suppress(FileNotFoundError):
            beside(made, suffix).replace(beside(path, suffix))


def created(
    path: Path, rows: Mapping[str, str], arrays: Mapping[str, NDArray[np.float64]]
) -> sqlite3.Connection:
    """A connection to a new run file with everything but frames, in WAL mode.

    What cannot be lost yet is written without WAL and synced once; no journal is ever left behind.
    """
    connection = sqlite3.connect(path, timeout=5.0, isolation_level=None)
    try:
        # The page size first: it cannot be changed once a page is written.
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
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA journal_mode=WAL")
        # A checkpoint waits for the disk; this many pages (32 MiB) between two of them.
        connection.execute("PRAGMA wal_autocheckpoint=4096")
        # A new `-wal` has no older content that its header must not be taken for: it waits for the
        # disk, and so does its name in the folder, with the first checkpoint.
        connection.execute("PRAGMA synchronous=OFF")
        _note_wal(connection, path)
        connection.execute("PRAGMA synchronous=NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _note_wal(connection: sqlite3.Connection, path: Path) -> None:
    """Write which `-wal` is the file's own, as its first transaction.

    From that first write on a `-wal` lies beside the file, by which readers know a recorder.
    """
    sql = "UPDATE meta SET value = ? WHERE key = 'wal'"
    connection.execute(sql, ("0",))  # SQLite writes nothing for a value that stays the same
    header = read_wal_header(beside(path, "-wal"))
    connection.execute(sql, (dump_json(None if header is None else header.recording),))


def remove(path: Path) -> None:
    """Remove a run file and what lies beside it, as far as that is possible."""
    for leftover in (path, *(beside(path, suffix) for suffix in SIDE_FILES)):
        with suppress(OSError):
            leftover.unlink()


def estimated_bytes(problem: Problem, planned: int) -> int:
    """About the size of the finished file for `planned` frames: at most half too much.

    Frames of a few kilobytes share pages of 8 KiB, of which a part then stays empty. A problem that
    will be run in row-space form has n + 1 coordinates at most for each v_j, and the form's arrays.
    """
    data, m = problem.dataset, problem.network.m
    examples, width = data.n, 4 if problem.experiment.run.precision == "float32" else 8
    size, arrays = problem.network.size, sum(a.nbytes for a in arrays_of(problem).values())
    if will_be_reduced(problem):
        spared = m * (data.d - examples - 1)
        size -= 0 if "V" in problem.network.fixed else spared
        arrays += 8 * ((examples + m) * data.d - spared)
    row = size * width + (8 * examples if width == 4 else 0) + 40
    states = 1 + planned // KEEP_EVERY if problem.experiment.dynamics.long_state else 0
    pages = _pages(row, planned) + _pages(2 * size * 8 + 8 * examples, states)
    return arrays + 12 * PAGE_SIZE + pages * PAGE_SIZE


def _pages(row: int, count: int) -> int:
    """Pages of a table of equal rows: several to a leaf, or one leaf part and overflow pages."""
    # SQLite's "Database File Format", section 1.6: which part of a row stays in the leaf of a
    # table.
    usable, longest = PAGE_SIZE, PAGE_SIZE - 35
    if row <= longest:
        return ceil(count / max((usable - 8) // (row + 6), 1))
    shortest = (usable - 12) * 32 // 255 - 23
    local = shortest + (row - shortest) % (usable - 4)
    local = local if local <= longest else shortest
    overflow = ceil((row - local) / (usable - 4))
    return count * overflow + ceil(count / max((usable - 8) // (local + 10), 1))
