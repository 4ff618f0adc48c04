"""Names of the numbers that a recorded loop passed beside its frames."""

from __future__ import annotations

from typing import final

from core.run_files.schema import MAX_METRICS, MAX_NAME, NUMBER_NAME
from core.runs.connection import Connection

MOST_READ = 16 * MAX_METRICS  # names of one query: a recorder writes at most MAX_METRICS
SQL = (
    "SELECT DISTINCT name FROM metric WHERE idx >= ? AND idx < ? AND typeof(name) = 'text' "
    f"AND length(name) <= {MAX_NAME} LIMIT {MOST_READ}"
)


@final
class LoopNames:
    """The names of all frames read so far; each frame of a growing run is looked through once."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self.frames = 0

    def read(self, connection: Connection, frames: int) -> None:
        """Add the names of the frames up to `frames` that were not read before.

        Other names than `NUMBER_NAME` allows are left to `Run.diagnostics`: a text from a file is
        no column.
        """
        found = {str(row[0]) for row in connection.query(SQL, (self.frames, frames))}
        allowed = {name for name in found if NUMBER_NAME.fullmatch(name)}
        self.names = tuple(sorted({*self.names, *allowed})[:MAX_METRICS])
        self.frames = frames
