"""Statements that change the content of a run file, with matching checksums."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np

from core.run_files.schema import frame_crc, time_of
from tests.support.run_files import frame_of, small_problem

Change = str | tuple[str, tuple[object, ...]]


def meta(key: str, value: Any) -> Change:
    """Return a statement that sets a key of meta to a value."""
    return "UPDATE meta SET value = ? WHERE key = ?", (json.dumps(value), key)


def raw_meta(key: str, text: str) -> Change:
    """Return a statement that sets a key of meta to a text, valid JSON or not."""
    return "UPDATE meta SET value = ? WHERE key = ?", (text, key)


def experiment(**changes: Any) -> Change:
    """Return a statement that changes sections of the experiment."""
    tables = small_problem().experiment.model_dump(mode="json")
    for section, values in changes.items():
        tables[section] = {**tables.get(section, {}), **values}
    return meta("experiment", tables)


def array(name: str, values: np.ndarray, dtype: str = "float64", shape: Any = None) -> Change:
    """Return a statement that sets an array, with a matching checksum."""
    data = values.tobytes()
    shape = json.dumps(list(values.shape) if shape is None else shape)
    sql = "INSERT OR REPLACE INTO array VALUES (?, ?, ?, ?, ?)"
    return sql, (name, dtype, shape, zlib.crc32(data), data)


def frame(index: int, parameters: np.ndarray, **numbers: Any) -> Change:
    """Return a statement that sets a frame, with a matching checksum."""
    old = frame_of(small_problem(), index)
    row = {"step": old.step, "log10_time": old.log10_time, "rho": old.rho} | numbers
    step, log10_time, rho = row["step"], row["log10_time"], row["rho"]
    time, data = time_of(log10_time), parameters.tobytes()
    crc = frame_crc(index, step, time, log10_time, rho, data, None)
    sql = "INSERT OR REPLACE INTO frame VALUES (?, ?, ?, ?, ?, ?, NULL, ?)"
    return sql, (index, step, time, log10_time, rho, crc, data)


SIZE = small_problem().network.size
X, Y = small_problem().dataset.x, small_problem().dataset.y
NAN = np.full(SIZE, np.nan)
