"""Reading what a run file holds before another one may replace it: its status and its frames."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np

from core.run_files.frame import Frame
from core.run_files.journal import connect_to_read, read_meta
from core.run_files.meta import dump_json
from core.run_files.schema import DTYPES, WHOLE, frame_crc

COLUMNS = "idx, step, time, log10_time, rho, parameters, dual"


def read_saved(
    connection: sqlite3.Connection, sums: Sequence[int], dtype: str, bare: list[int]
) -> Iterator[Frame | None]:
    """Yield the frames whose checksums are `sums`; None for one that is not there as it was.

    Frames whose numbers beside them cannot be read come without, and are added to `bare`. The
    checksums are those that were written: pages of another run may have taken the place of these.
    """
    for index, crc in enumerate(sums):
        row = _rows(connection, f"SELECT {COLUMNS} FROM frame WHERE idx = ?", index)
        if not row or frame_crc(*row[0]) != crc:
            yield None
            continue
        _, step, _, log10_time, rho, parameters, dual = row[0]
        q = None if dual is None else np.frombuffer(dual, "<f8")
        metrics = _rows(connection, "SELECT name, value FROM metric WHERE idx = ?", index)
        if metrics is None:
            bare.append(index)
        numbers = {name: np.nan if value is None else value for name, value in metrics or ()}
        yield Frame(step, log10_time, rho, np.frombuffer(parameters, DTYPES[dtype]), q, numbers)


def _rows(connection: sqlite3.Connection, sql: str, index: int) -> list[tuple[Any, ...]] | None:
    """Return the rows of a frame; None where they cannot be read."""
    try:
        return connection.execute(sql, (index,)).fetchall()
    except (sqlite3.Error, UnicodeError):
        return None


def is_intact(path: Path, sums: Sequence[int], dtype: str) -> bool:
    """Return True if a file, read by its name, has the frames of these checksums."""
    try:
        with closing(connect_to_read(path)) as connection:
            bare: list[int] = []
            frames = read_saved(connection, sums, dtype, bare)
            return all(frame is not None for frame in frames) and not bare
    except (sqlite3.Error, OSError):
        return False


def is_whole(path: Path) -> bool:
    """Return True for a run that came to its end, which no shorter one may replace."""
    with suppress(sqlite3.Error, OSError), closing(connect_to_read(path)) as connection:
        said = read_meta(connection, ("status", "reason"))
        whole = {dump_json(reason) for reason in WHOLE}
        return said.get("status") == '"finished"' and said.get("reason") in whole
    return False
