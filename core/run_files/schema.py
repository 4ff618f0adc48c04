"""Tables of a run file, exactly as written, the SQL that fills them, and the limits of readers.

The program uses them, and so does the recorder of other people's loops, which needs nothing but
NumPy.

A run file (`.msrun`) is one SQLite database. While it is being recorded it is in WAL mode, with
`-wal` and `-shm` beside it; a finished one is a single file. Blobs are little-endian and the last
in their rows, so that the numbers before them are read without walking through the blob's pages.
"""

from __future__ import annotations

import math
import re
import sqlite3
import struct
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any, Final

APPLICATION_ID = 0x4D53524E  # "MSRN"; SQLite keeps it at byte 68 of the file
SCHEMA_VERSION = 1
PAGE_SIZE = 8192
MAX_FRAMES = 2_000
MAX_ELEMENTS = 50_000_000  # of n d and of m d: the most a run file holds
MAX_BLOB_BYTES = 1 << 30
MAX_TEXT_BYTES = 8 << 20  # one value of meta, or the payload of one event
MAX_META_ROWS = 100
# 2,000 frames keep some 80 states, of ten parts or so each; the rest is room.
MAX_ARRAYS = 4_000
HISTORY_BYTES = 64 << 20  # of the frames before the start
STATE_INTERVAL = 25  # frames from one state that is kept to the next: it is as long as two of them
MAX_METRICS = 64  # per frame
MAX_EVENTS = 100_000
NOT_FINITE: Final = "not_finite"  # event: a recorded state was left out; t, and the array
MAX_NAME = 64
# Names under which numbers that a loop passed beside its frames are columns: plain words, joined by
# single dots, slashes or hyphens ("val_acc", "train/loss").
NUMBER_NAME = re.compile(rf"(?=.{{1,{MAX_NAME}}}\Z)\w+(?:[./-]\w+)*")
# Names of what an optimizer says of itself.
OPTIMIZER_KEY = re.compile(rf"(?=.{{1,{MAX_NAME}}}\Z)[^\W\d]\w*")
# Of frames and of starts. A flow is asked for log10 t <= 1e200 at most. Its margins grow as ln t,
# so that |W| <= ln t / margin: rho = ln |W| < 1000 unless the margin is below 10^-230. 10^-324 is
# no time, and e^-1000 no norm, but zero.
MAX_LOG10_TIME, MIN_LOG10_TIME = 1e200, -324.0
MAX_RHO, MIN_RHO = 1e3, -1e3

# Statements as SQLite keeps them; a reader compares them letter by letter.
TABLES = (
    "CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT",
    "CREATE TABLE array (name TEXT NOT NULL PRIMARY KEY, dtype TEXT NOT NULL, "
    "shape TEXT NOT NULL, crc32 INTEGER NOT NULL, data BLOB NOT NULL) STRICT",
    "CREATE TABLE frame (idx INTEGER PRIMARY KEY, step INTEGER NOT NULL, time REAL, "
    "log10_time REAL NOT NULL, rho REAL NOT NULL, crc32 INTEGER NOT NULL, dual BLOB, "
    "parameters BLOB NOT NULL) STRICT",
    "CREATE TABLE metric (idx INTEGER NOT NULL, name TEXT NOT NULL, value REAL, "
    "PRIMARY KEY (idx, name)) STRICT, WITHOUT ROWID",
    "CREATE TABLE event (idx INTEGER PRIMARY KEY, frame INTEGER NOT NULL, kind TEXT NOT NULL, "
    "payload TEXT NOT NULL) STRICT",
)

# What the arrays of a run may be stored as: name in the file -> NumPy's little-endian type.
DTYPES = {"float64": "<f8", "float32": "<f4"}
# `basis` and `perpendicular` are those of core.problem.reduction; untrained parameters are
# `fixed_NAME`.
ARRAYS = ("x", "y", "x_test", "y_test", "origin", "start", "basis", "perpendicular")
# What `data.scale` did: x = (raw - scale_shift) / scale_divisor, each (d,).
SCALING = ("scale_shift", "scale_divisor")
FIXED = "fixed_"
# What a dynamics carried at a frame, and the frames before the start: see core.runs.states.
STATE, HISTORY = "state_", "history_"
COLUMNS = ("steps", "times", "rho", "parameters", "complete", "errors")
STATE_NAME = re.compile(STATE + r"(\d{1,4})_([a-z]{1,20})")
# Arrays that are read when they are used, and not when a file is opened.
LATER = re.compile(f"{STATE_NAME.pattern}|{HISTORY}({'|'.join(COLUMNS)})")
REASONS = ("completed", "cancelled", "diverged", "failed", "disk_full")
WHOLE = ("completed", "diverged")  # reasons of runs that were not cut off
GROWING = ("frame", "metric", "event")  # the tables whose rows a finished file counts

SchemaRow = tuple[str, str, str, str | None]
_NUMBERS = struct.Struct("<qqddd")
_NO_TIME = -1.0  # NULL in the checksum


@cache
def expected_schema(version: int) -> frozenset[SchemaRow]:
    """Return the rows (type, name, tbl_name, sql) of sqlite_schema in a file of this version.

    Raises KeyError for a version that this program does not know.
    """
    tables = {1: TABLES}[version]
    connection = sqlite3.connect(":memory:")
    try:
        for statement in tables:
            connection.execute(statement)
        rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
        return frozenset((row[0], row[1], row[2], row[3]) for row in rows)
    finally:
        connection.close()


def time_of(log10_time: float) -> float | None:
    """Return 10^log10_time, the `time` column of a frame; None if it overflows.

    >>> time_of(2.0), time_of(float("-inf")), time_of(400.0)
    (100.0, 0.0, None)
    """
    try:
        return float(10.0**log10_time)
    except OverflowError:
        return None


def is_time(index: int, log10_time: float) -> bool:
    """Return True if frame `index` may have this log10 t: -inf, t = 0, is for frame 0 only.

    >>> is_time(0, float("-inf")), is_time(1, float("-inf")), is_time(1, 2.5)
    (True, False, True)
    """
    if index == 0 and log10_time == -math.inf:
        return True
    return MIN_LOG10_TIME <= log10_time <= MAX_LOG10_TIME


def frame_crc(
    index: int,
    step: int,
    time: float | None,
    log10_time: float,
    rho: float,
    parameters: bytes | memoryview,
    dual: bytes | memoryview | None,
) -> int:
    """Return the CRC-32 of a frame.

    The checksum is over (idx, step, time, log10_time, rho) as <qqddd, then parameters, dual.

    Parameters
    ----------
    index, step : int
        Index of the frame, and its steps.
    time : float or None
        t; None, if it overflows, enters as -1.0.
    log10_time, rho : float
        log10 t, and ln of the physical factor.
    parameters : bytes-like
        Blob of the parameters.
    dual : bytes-like or None
        Blob of q.

    Returns
    -------
    int
    """
    numbers = _NUMBERS.pack(index, step, _NO_TIME if time is None else time, log10_time, rho)
    crc = zlib.crc32(parameters, zlib.crc32(numbers))
    return crc if dual is None else zlib.crc32(dual, crc)


# ------------------------------------------------------------------------------------- writing rows

# Each statement lets go of the GIL, and a thread that paints is slow to give it back.
ROWS_PER_STATEMENT = 16
INSERT_EVENT = "INSERT INTO event (frame, kind, payload) VALUES (?, ?, ?)"
UPDATE_META = "UPDATE meta SET value = ? WHERE key = ?"
Statement = tuple[str, Sequence[tuple[Any, ...]]]  # SQL, and the rows it is executed with


def insert_rows(table: str, rows: Sequence[tuple[Any, ...]]) -> Iterator[Statement]:
    """Yield statements that write rows into a table, many to a statement."""
    if not rows:
        return
    row = f"({', '.join('?' * len(rows[0]))})"
    whole = len(rows) - len(rows) % ROWS_PER_STATEMENT
    many = [
        tuple(chain.from_iterable(rows[first : first + ROWS_PER_STATEMENT]))
        for first in range(0, whole, ROWS_PER_STATEMENT)
    ]
    yield f"INSERT INTO {table} VALUES {', '.join([row] * ROWS_PER_STATEMENT)}", many
    # One by one, so that SQLite prepares two statements in all and not one for each length.
    yield f"INSERT INTO {table} VALUES {row}", rows[whole:]
