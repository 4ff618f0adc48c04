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

APPLICATION_ID = 0x4D53524E  # "MSRN"; SQLite stores it at byte 68 of the file
SCHEMA_VERSION = 1
PAGE_SIZE = 8192
MAX_FRAMES = 2_000
MAX_ELEMENTS = 50_000_000  # largest n d and m d of a run file
MAX_BLOB_BYTES = 1 << 30
MAX_TEXT_BYTES = 8 << 20  # of one value of meta, or of one event's payload
MAX_META_ROWS = 100
# 2,000 frames keep about 80 states of about ten parts each; the rest is spare.
MAX_ARRAYS = 4_000
HISTORY_BYTES = 64 << 20  # of the frames before the start
STATE_INTERVAL = 25  # frames between saved states: a state is as large as two frames
MAX_METRICS = 64  # per frame
MAX_EVENTS = 100_000
# Event: a recorded state with a non-finite array was left out; payload: t and the array.
NOT_FINITE: Final = "not_finite"
MAX_NAME = 64
# Column names of numbers passed with frames: plain words, joined by single dots, slashes or hyphens
# ("val_acc", "train/loss").
NUMBER_NAME = re.compile(rf"(?=.{{1,{MAX_NAME}}}\Z)\w+(?:[./-]\w+)*")
# Names of an optimizer's settings.
OPTIMIZER_KEY = re.compile(rf"(?=.{{1,{MAX_NAME}}}\Z)[^\W\d]\w*")
# Limits of frames and starts. Flows run to log10 t <= 1e200 at most. Margins grow as ln t, and |W|
# <= ln t / margin: rho = ln |W| < 1000 unless the margin is below 10^-230. 10^-324 and e^-1000
# underflow to zero.
MAX_LOG10_TIME, MIN_LOG10_TIME = 1e200, -324.0
MAX_RHO, MIN_RHO = 1e3, -1e3

# Statements exactly as SQLite stores them; readers compare them literally.
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

# Storage types of arrays: name in the file -> NumPy's little-endian type.
DTYPES = {"float64": "<f8", "float32": "<f4"}
# `basis` and `perpendicular` are described in core.problem.reduction; untrained parameters are
# `fixed_NAME`.
ARRAYS = ("x", "y", "x_test", "y_test", "origin", "start", "basis", "perpendicular")
# Constants of `data.scale`: x = (raw - scale_shift) / scale_divisor, each (d,).
SCALING = ("scale_shift", "scale_divisor")
FIXED = "fixed_"
# Solver states, and the frames before the start: see core.runs.states.
STATE, HISTORY = "state_", "history_"
COLUMNS = ("steps", "times", "rho", "parameters", "complete", "errors")
STATE_NAME = re.compile(STATE + r"(\d{1,4})_([a-z]{1,20})")
# Arrays that are read on use, not when a file is opened.
LATER = re.compile(f"{STATE_NAME.pattern}|{HISTORY}({'|'.join(COLUMNS)})")
REASONS = ("completed", "cancelled", "diverged", "failed", "disk_full")
WHOLE = ("completed", "diverged")  # reasons of complete runs
GROWING = ("frame", "metric", "event")  # tables whose row counts a finished file stores

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

# Each statement releases the GIL, and a painting thread is slow to return it.
ROWS_PER_STATEMENT = 16
INSERT_EVENT = "INSERT INTO event (frame, kind, payload) VALUES (?, ?, ?)"
UPDATE_META = "UPDATE meta SET value = ? WHERE key = ?"
Statement = tuple[str, Sequence[tuple[Any, ...]]]  # SQL, and the rows that it is executed with


def insert_rows(table: str, rows: Sequence[tuple[Any, ...]]) -> Iterator[Statement]:
    """Yield statements that write rows into a table, many to a statement."""
    if not rows:
        return
    row = f"({', '.join('?' * len(rows[0]))})"
    n_full = len(rows) - len(rows) % ROWS_PER_STATEMENT
    argument_lists = [
        tuple(chain.from_iterable(rows[first : first + ROWS_PER_STATEMENT]))
        for first in range(0, n_full, ROWS_PER_STATEMENT)
    ]
    yield f"INSERT INTO {table} VALUES {', '.join([row] * ROWS_PER_STATEMENT)}", argument_lists
    # Single rows, so that SQLite prepares two statements in all, not one per length.
    yield f"INSERT INTO {table} VALUES {row}", rows[n_full:]
