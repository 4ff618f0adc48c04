"""SQL that writes into a run file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

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
