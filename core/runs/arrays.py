"""Arrays and counts of a run file, read piece by piece and checked before memory is taken.

Any fault raises RunFileError.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from core.data.dataset import Array
from core.run_files.schema import (
    ARRAYS,
    DTYPES,
    FIXED,
    LATER,
    MAX_ARRAYS,
    MAX_BLOB_BYTES,
    MAX_METRICS,
    MAX_NAME,
    NUMBER_NAME,
    SCALING,
)
from core.runs.connection import Connection, typed_column
from core.runs.meta import Counts, RunEnd, parse_json
from core.settings import MAX_ELEMENTS

# ------------------------------------------------------------------------------------------- arrays

Arrays = Mapping[str, Array]


def read_arrays(connection: Connection) -> Arrays:
    """Read the arrays that opening a file needs; refuse unknown ones.

    Returns
    -------
    dict of str to array
        Read-only float64, by name; states and frames before the start are not read.

    Raises
    ------
    RunFileError
        An array is unknown or damaged.
    """
    sql = f"SELECT {typed_column('name', 'text')} FROM array LIMIT {MAX_ARRAYS}"
    stored = [row[0] for row in connection.query(sql)]
    if len(set(stored)) != len(stored) or None in stored or len(stored) == MAX_ARRAYS:
        raise connection.fault("it holds an array of an unknown name")
    names = [name for name in stored if LATER.fullmatch(name) is None]
    own_names = (*ARRAYS, *SCALING)
    if len(names) > 16 or any(
        name not in own_names and not name.startswith(FIXED) for name in names
    ):
        raise connection.fault("it holds an array of an unknown name")
    return {name: read_array(connection, name) for name in names}


def read_shaped(connection: Connection, arrays: Arrays, name: str, shape: tuple[int, ...]) -> Array:
    """Return one of the arrays, which must have exactly a given shape.

    Parameters
    ----------
    connection : Connection
        Open file, for the error.
    arrays : dict of str to array
        Result of `read_arrays`.
    name : str
        Name of the array.
    shape : tuple of int
        Required shape.

    Returns
    -------
    array (*shape)

    Raises
    ------
    RunFileError
        The array is missing or has another shape.
    """
    if name not in arrays or arrays[name].shape != shape:
        raise connection.fault(f"its array {name} is missing or does not have shape {shape}")
    return arrays[name]


def read_array(
    connection: Connection, name: str, finite: bool = True, largest: int = 2 * MAX_ELEMENTS
) -> Array:
    """Read an array.

    Parameters
    ----------
    connection : Connection
        Open file.
    name : str
        Name of the array.
    finite : bool
        Require finite values; otherwise infinite ones are allowed, but no NaN.
    largest : int
        Largest number of values.

    Returns
    -------
    array of the stored shape
        Read-only float64.

    Raises
    ------
    RunFileError
        The array is missing, damaged, too long, or has a value that is not allowed.
    """
    columns = ", ".join(
        [
            typed_column("dtype", "text"),
            typed_column("shape", "text"),
            typed_column("crc32", "integer"),
        ]
    )
    sql = f"SELECT {columns} FROM array WHERE name = ?"
    rows = list(connection.query(sql, (name,), longest=MAX_BLOB_BYTES))
    if len(rows) != 1 or None in rows[0]:
        raise connection.fault(f"the description of its array {name} cannot be read")
    dtype, text, crc = rows[0]
    shape = _shape(connection, name, text)
    if prod(shape) > largest:
        raise connection.fault(f"its array {name} is longer than allowed")
    if dtype not in DTYPES:
        raise connection.fault(f"its array {name} is not of type float64 or float32")
    size = prod(shape) * np.dtype(DTYPES[dtype]).itemsize
    sql = "SELECT CASE WHEN typeof(data) = 'blob' AND length(data) = ? THEN data END FROM array"
    blob = _single_value(connection, f"{sql} WHERE name = ?", (size, name))
    if blob is None:
        raise connection.fault(f"its array {name} is not as long as its shape {shape} says")
    if zlib.crc32(blob) != crc:
        raise connection.fault(f"the checksum of its array {name} does not match")
    return read_values(connection, blob, dtype, f"its array {name}", finite).reshape(shape)


def _shape(connection: Connection, name: str, text: str) -> tuple[int, ...]:
    """Parse the shape of an array. Raises RunFileError for an impossible one."""
    try:
        shape = parse_json(text) if len(text) <= 100 else None
    except ValueError:
        shape = None
    if (
        not isinstance(shape, list)
        or not 1 <= len(shape) <= 4
        or not all(type(part) is int and 1 <= part <= 2 * MAX_ELEMENTS for part in shape)
        or prod(shape) > 2 * MAX_ELEMENTS
    ):
        raise connection.fault(f"its array {name} has a shape that is not allowed")
    return tuple(shape)


def _single_value(connection: Connection, sql: str, parameters: tuple[object, ...]) -> Any:
    rows = list(connection.query(sql, parameters, longest=MAX_BLOB_BYTES))
    return rows[0][0] if len(rows) == 1 else None


def read_values(
    connection: Connection, blob: bytes, dtype: str, subject: str, finite: bool = True
) -> Array:
    """Decode a blob.

    Parameters
    ----------
    connection : Connection
        Open file, for the error.
    blob : bytes
        Little-endian values.
    dtype : str
        "float64" or "float32".
    subject : str
        Name of the values in the error.
    finite : bool
        Require finite values; otherwise infinite ones are allowed, but no NaN.

    Returns
    -------
    array (N,)
        Read-only float64.

    Raises
    ------
    RunFileError
        A value is not allowed.
    """
    values = np.frombuffer(blob, dtype=DTYPES[dtype]).astype(np.float64, copy=False)
    if not np.isfinite(values).all() and (finite or np.isnan(values).any()):
        raise connection.fault(f"{subject} holds a value that is not finite")
    values.setflags(write=False)
    return values


# --------------------------------------------------------------------------------- the end of a run

WORDS = {"frame": "frames", "metric": "diagnostics", "event": "events"}


def read_run_end(connection: Connection) -> RunEnd:
    """Read the values of meta that change when a run ends."""
    keys = ", ".join(f"'{name}'" for name in RunEnd.model_fields)
    columns = f"{typed_column('key', 'text')}, {typed_column('value', 'text')}"
    sql = f"SELECT {columns} FROM meta WHERE key IN ({keys})"
    rows: dict[str, Any] = dict(connection.query(f"{sql} LIMIT {len(RunEnd.model_fields)}"))
    try:
        texts = {key: parse_json(text) for key, text in rows.items()}
        return RunEnd.model_validate({"reason": texts["reason"], **texts})
    except (KeyError, TypeError, ValueError) as error:
        raise connection.fault("meta: status or reason cannot be read") from error


def check_counts(connection: Connection, counts: Counts | None) -> None:
    """Raise RunFileError if a finished file lacks rows that it counted.

    A page of the file that was lost or exchanged for another takes its rows with it, and all
    others stay in order. Files of earlier versions have no counts (`counts` is None).
    """
    if counts is None:
        return
    for table, words in WORDS.items():
        rows = list(connection.query(f"SELECT count(*) FROM {table}"))
        present, stated = rows[0][0], getattr(counts, table)
        if present < stated:
            raise connection.fault(f"it holds {present} of its {stated} {words}")


# ----------------------------------------------------- names of numbers that a recorded loop passed

MOST_READ = 16 * MAX_METRICS  # names per query: a recorder writes at most MAX_METRICS
SQL = (
    "SELECT DISTINCT name FROM metric WHERE idx >= ? AND idx < ? AND typeof(name) = 'text' "
    f"AND length(name) <= {MAX_NAME} LIMIT {MOST_READ}"
)


def read_loop_names(
    connection: Connection, own_names: tuple[str, ...], first: int, frames: int
) -> tuple[str, ...]:
    """Return the names of the numbers that a recorded loop passed.

    Parameters
    ----------
    connection : Connection
        Open file.
    own_names : tuple of str
        Names in the frames before `first`.
    first, frames : int
        Range of frames to read, `frames` not included.

    Returns
    -------
    tuple of str
        Sorted, at most `MAX_METRICS`. Names that `NUMBER_NAME` does not allow are left to
        `Run.diagnostics`: a text from a file is no column.
    """
    loop_names = {str(row[0]) for row in connection.query(SQL, (first, frames))}
    allowed = {name for name in loop_names if NUMBER_NAME.fullmatch(name)}
    return tuple(sorted({*own_names, *allowed})[:MAX_METRICS])
