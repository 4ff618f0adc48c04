"""States of the dynamics at some frames, and the frames before the start: rows of `array`.

`state_FRAME_PART` is one part of a state (core.dynamics.solver_state), and `history_NAME` one
column of core.problem.problem.History. They are read only to continue a run or to show its past;
their names are checked when a file is opened.
"""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass, field
from typing import final

import numpy as np

from core.problem.problem import History, State
from core.run_files.meta import dump_json
from core.run_files.schema import (
    COLUMNS,
    HISTORY,
    HISTORY_BYTES,
    MAX_ARRAYS,
    MAX_BLOB_BYTES,
    MAX_NAME,
    STATE,
    STATE_INTERVAL,
    STATE_NAME,
)
from core.runs.arrays import read_array
from core.runs.connection import Connection, typed_column
from core.runs.run_file import RunHeader

STATE_SECONDS = 10.0  # training seconds that a crash may cost a continued run
INSERT_ARRAY = "INSERT OR REPLACE INTO array VALUES (?, ?, ?, ?, ?)"
DELETE_ARRAYS = "DELETE FROM array WHERE name >= ? AND name < ?"
Row = tuple[str, str, str, int, memoryview]


def state_rows(frame: int, state: State) -> list[Row]:
    """Return a state as rows of the table `array`."""
    rows = []
    for part, values in state.items():
        data = np.ascontiguousarray(values, dtype="<f8").reshape(-1)
        if data.size:
            name, shape = f"{STATE}{frame}_{part}", dump_json(data.shape)
            rows.append((name, "float64", shape, zlib.crc32(data.data), data.data))
    return rows


def range_of(frame: int) -> tuple[str, str]:
    """Return bounds of the names of a frame's rows: first <= name < second."""
    # The character ` follows _ in ASCII: a range of names, found through the primary key.
    return f"{STATE}{frame}_", f"{STATE}{frame}`"


@final
@dataclass(slots=True)
class StateRetention:
    """States that a recording stores: at a continued start, at each 25th frame, and the last.

    A state that was stored after ten seconds is deleted when the next one is stored.
    """

    from_state: bool = False
    frames: list[int] = field(default_factory=list)
    stored_at: float = field(default_factory=time.monotonic)

    def is_due(self, frame: int) -> bool:
        """Return True if a state of this frame is to be stored."""
        if self.from_state and not self.frames:
            return frame >= 0
        before = self.frames[-1] if self.frames else 0
        late = time.monotonic() - self.stored_at >= STATE_SECONDS
        return frame > before and (late or frame - before >= STATE_INTERVAL)

    def add_state(self, frame: int) -> int | None:
        """Note that a state is stored; return the frame whose state is to be deleted, if any."""
        self.stored_at = time.monotonic()
        replaced = None
        if self.frames and self.frames[-1] != 0:
            before = self.frames[-2] if len(self.frames) > 1 else 0
            if self.frames[-1] - before < STATE_INTERVAL and self.frames[-1] != frame:
                replaced = self.frames.pop()
        if frame not in self.frames:
            self.frames.append(frame)
        return replaced


# ------------------------------------------------------------------------------------- reading


def read_states(connection: Connection) -> dict[int, tuple[str, ...]]:
    """Return the names of the parts of each state, by its frame, in their order."""
    sql = f"SELECT {typed_column('name', 'text')} FROM array LIMIT {MAX_ARRAYS}"
    parts: dict[int, tuple[str, ...]] = {}
    for (name,) in connection.query(sql):
        match = STATE_NAME.fullmatch(name) if name is not None and len(name) <= MAX_NAME else None
        if match is not None:
            frame = int(match[1])
            parts[frame] = (*parts.get(frame, ()), match[2])
    return dict(sorted(parts.items()))


def read_state(connection: Connection, header: RunHeader, frame: int) -> State | None:
    """Read the state at a frame.

    Parameters
    ----------
    connection : Connection
        Open file.
    header : RunHeader
        Header of the file.
    frame : int
        Index of the frame.

    Returns
    -------
    dict of str to array (N,), or None
        Parts by name; None if no state is stored.

    Raises
    ------
    RunFileError
        A part is too long, not one-dimensional, NaN or damaged.
    """
    parts = read_states(connection).get(frame)
    if parts is None:
        return None
    sizes = header.meta.sizes
    # At most Adam's two moments or the flow's two thetas, its power vector and lambda over
    # examples, and numbers.
    max_values = 2 * header.network.size + 2 * sizes.n * sizes.k + 4096
    state = {}
    for part in parts:
        name = f"{STATE}{frame}_{part}"
        state[part] = read_array(connection, name, finite=False, largest=max_values)
        if state[part].ndim != 1:
            raise connection.fault(f"its array {name} is not a list of numbers")
    return state


def most_earlier(size: int) -> int:
    """Return a bound above the number of earlier frames in a file, for `size` parameters."""
    return max(3, 1 + HISTORY_BYTES // (8 * size))


def history_bytes(connection: Connection) -> int:
    """Return the bytes of parameters that a file stores of frames before its start; 0 for none."""
    sql = "SELECT length(data) FROM array WHERE name = ? AND typeof(data) = 'blob'"
    rows = list(connection.query(sql, (f"{HISTORY}parameters",), longest=MAX_BLOB_BYTES))
    return int(rows[0][0]) if rows else 0


def read_history(connection: Connection, header: RunHeader) -> History | None:
    """Read the frames of earlier runs that a file stores; None if it has none.

    Raises RunFileError unless they are in the order of time and fit the run.
    """
    sql = f"SELECT {typed_column('name', 'text')} FROM array WHERE name >= ? AND name < ? LIMIT 7"
    names = {row[0] for row in connection.query(sql, (HISTORY, "history`"))}
    if not names:
        return None
    size = header.network.size
    errors = None
    if f"{HISTORY}errors" in names:
        names.remove(f"{HISTORY}errors")
        errors = read_array(connection, f"{HISTORY}errors", finite=False)
    if names == {f"{HISTORY}complete"}:
        none, no_rows = np.zeros(0), np.zeros((0, size))
        errors = None if errors is None else errors[-1:].reshape(-1)
        return History(np.zeros(0, np.int64), none, none, no_rows, complete=True, errors=errors)
    steps, times, rho, parameters, complete = (
        read_array(connection, f"{HISTORY}{name}") for name in COLUMNS if name != "errors"
    )
    count, end = steps.size, header.meta.start.log10_time
    has_same_count = steps.shape == times.shape == rho.shape == (count,) and complete.shape == (1,)
    has_same_count = has_same_count and (errors is None or errors.shape == (count + 1,))
    if not has_same_count or parameters.shape != (count, size) or count >= most_earlier(size):
        raise connection.fault("its earlier frames and their times differ in number")
    if end is None or (np.diff(np.append(times, end)) <= 0.0).any():
        raise connection.fault("its earlier frames are not in the order of time")
    if (np.diff(np.append(steps, header.meta.start.step)) < 0.0).any() or steps.min() < 0.0:
        raise connection.fault("its earlier frames are not in the order of steps")
    integer_steps = steps.astype(np.int64)
    return History(integer_steps, times, rho, parameters, complete=bool(complete[0]), errors=errors)
