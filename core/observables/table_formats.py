"""Files of tables: CSV, NPZ, Parquet, and the tensors of the library safetensors."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError

# Names of NumPy's types in a safetensors file.
TENSOR_TYPES = {"float64": "F64", "float32": "F32", "int64": "I64", "int32": "I32", "bool": "BOOL"}
HEADER_MULTIPLE = 8  # bytes; libraries map the values and expect them aligned


def csv_bytes(names: Iterable[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a table as CSV. Floats have the shortest digits that parse to the same float64."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")  # csv's default line end is that of Windows
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue().encode()


def npz_bytes(columns: Mapping[str, NDArray[Any]]) -> memoryview:
    """Return arrays by name as NPZ."""
    buffer = io.BytesIO()
    np.savez(buffer, **columns)  # type: ignore[arg-type]  # no column is named allow_pickle
    return buffer.getbuffer()


def parquet_bytes(columns: Mapping[str, Any], notes: Mapping[str, str] | None = None) -> memoryview:
    """Return columns by name as Parquet.

    Parameters
    ----------
    columns : mapping of str to list or array (T,)
        Columns of equal length.
    notes : mapping of str to str, optional
        Metadata of the table.

    Returns
    -------
    memoryview

    Raises
    ------
    InputError
        pyarrow is not installed.
    """
    arrow, parquet = require_pyarrow()
    table = arrow.table(dict(columns))
    buffer = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata(dict(notes)) if notes else table, buffer)
    return buffer.getbuffer()


def require_pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its module of Parquet. Raises InputError where it is not installed."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise InputError(
            "Parquet needs pyarrow (pip install pyarrow); or write the table as .csv or .npz."
        ) from error


def tensor_bytes(arrays: Mapping[str, NDArray[Any]], notes: Mapping[str, str]) -> bytes:
    """Return arrays by name in the format of safetensors.

    Parameters
    ----------
    arrays : mapping of str to array
        Arrays of any shape; types other than those of the format become float64.
    notes : mapping of str to str
        Metadata of the file.

    Returns
    -------
    bytes
        Length of the header (8 bytes, little-endian), the header as JSON, and the values.
    """
    header: dict[str, Any] = {"__metadata__": dict(notes)}
    parts, place = [], 0
    for name, array in arrays.items():
        values = np.asarray(array)
        if values.dtype.name not in TENSOR_TYPES:
            values = values.astype(np.float64)
        little = values.astype(values.dtype.newbyteorder("<"), copy=False)
        content = np.ascontiguousarray(little).tobytes()
        header[name] = {
            "dtype": TENSOR_TYPES[values.dtype.name],
            "shape": list(values.shape),
            "data_offsets": [place, place + len(content)],
        }
        parts.append(content)
        place += len(content)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % HEADER_MULTIPLE)
    return b"".join((len(text).to_bytes(8, "little"), text, *parts))
