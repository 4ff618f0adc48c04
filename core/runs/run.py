"""Read-only run: finished, still growing, or left by a crash."""

from __future__ import annotations

import os
import threading
import time
from abc import ABC
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, final

import numpy as np

from core.data.dataset import Array
from core.dynamics.solver_state import STATE_VERSION
from core.errors import InputError, RunFileError
from core.numbers import natural_key
from core.plugins import load_trusted
from core.problem.problem import History, State
from core.run_files.active_recorders import sqlite_companion
from core.run_files.new_file import place_of
from core.runs.arrays import check_counts, read_loop_names, read_run_end
from core.runs.base import Run
from core.runs.changing_files import identity, retry_while_changing
from core.runs.connection import Connection, check_wal, connect
from core.runs.meta import Reason
from core.runs.run_file import (
    Event,
    Index,
    checked_frame,
    meta_values,
    read_events,
    read_frame,
    read_header,
    read_index,
    read_metrics,
)
from core.runs.run_history import FrameCache, WholeRun, with_history
from core.runs.states import history_bytes, read_history, read_state, read_states

# All frames of a typical run; of frames of megabytes, those that views alternate between.
CACHE_BYTES = 128 << 20

RENAME_S = 1.0  # seconds, at most, from the end of a recording to its renaming


class RunFile(Run, ABC):
    """Content of one run file. Threads may use it in turn; `refresh` reads new frames.

    A file that is still being recorded is reopened for every read, because its recorder needs the
    file for itself for a moment at the end. The constructor raises RunFileError too.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.memo: dict[Any, Any] = {}
        self._whole: WholeRun | None = None
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._closed = False
        self._depth = 0
        self._cache = FrameCache(CACHE_BYTES)
        # Names, and the number of frames that they cover.
        self._loop_names: tuple[tuple[str, ...], int] = ((), 0)
        self._identity: tuple[int, int] | None = None
        retry_while_changing(self.path, self._read_header)

    def _read_header(self) -> None:
        """Read everything but the frames themselves."""
        self._identity = None
        with self._reading() as connection:
            self._header = read_header(connection)
            self._status, self._reason = self._header.meta.status, self._header.meta.reason
            self._index = read_index(connection, self._header)
            check_counts(connection, self._header.meta.counts)

    # ------------------------------------------------------------------------------------- progress

    @property
    def is_recording(self) -> bool:
        return self._status != "finished"

    @property
    def reason(self) -> Reason | None:
        return self._reason

    @property
    def index(self) -> Index:
        return self._index

    @property
    def bytes_on_disk(self) -> int:
        total = 0
        for path in (self.path, sqlite_companion(self.path.resolve(), "-wal")):
            with suppress(FileNotFoundError):  # a recorder may delete its -wal at any moment
                total += path.stat().st_size
        return total

    @property
    def is_replaced(self) -> bool:
        try:
            return identity(self.path) != self._identity
        except RunFileError:
            return True

    def refresh(self) -> int:
        if self._status != "finished":
            retry_while_changing(self.path, self._reread_header)
            if not self.is_recording:
                self._follow_rename()
        return self.frames

    def _reread_header(self) -> None:
        # Locked per read, so that others read while one waits for a recorder.
        with self._lock, self._reading() as connection:
            # Read the ending first: all frames before "finished" are then visible.
            ending = read_run_end(connection)
            self._index = read_index(connection, self._header, self._index)
            check_counts(connection, ending.counts)
            self._status, self._reason = ending.status, ending.reason

    # ------------------------------------------------------------------------------- frames

    def parameters(self, index: int) -> Array:
        return self._frame(index)[0]

    def dual(self, index: int) -> Array | None:
        return self._frame(index)[1]

    def diagnostics(self, index: int) -> dict[str, float]:
        self._check(index)
        with self._reading() as connection:
            return read_metrics(connection, index)

    @property
    def loop_names(self) -> tuple[str, ...]:
        if not self.is_external:
            return ()
        with self._lock:
            names, read = self._loop_names
            if read < self.frames:  # each frame of a growing run is checked once
                with self._reading() as connection:
                    names = read_loop_names(connection, names, read, self.frames)
                self._loop_names = names, self.frames
            return names

    def events(self) -> tuple[Event, ...]:
        with self._reading() as connection:
            return read_events(connection)

    def _frame(self, index: int) -> tuple[Array, Array | None]:
        """Return parameters and stored q of a frame, checked by its checksum, through the cache."""
        self._check(index)
        with self._lock:
            frame = self._cache.get(index)
            if frame is not None:
                return frame
            with self._reading() as connection:
                row = read_frame(connection, self._header, index)
        # Outside the lock: other threads read while checksums of megabytes are computed.
        frame = checked_frame(connection, self._header, index, row)
        with self._lock:
            self._cache.add(index, frame)
        return frame

    def _check(self, index: int) -> None:
        """Raise IndexError unless the run has a frame of this index."""
        if not 0 <= index < self.frames:
            raise IndexError(f"frame {index} of {self.path}, which has {self.frames}")

    # ------------------------------------------------------------------- before, and going on

    def saved_states(self) -> tuple[int, ...]:
        """Return the frames with a stored state, in order."""
        with self._reading() as connection:
            return tuple(read_states(connection))

    def state(self, index: int) -> State | None:
        """Return the dynamics' state at a frame (core.dynamics.integrator); None if not stored."""
        with self._reading() as connection:
            return read_state(connection, self._header, index)

    def last_state(self, index: int) -> tuple[int, State] | None:
        frames = self.saved_states() if self.state_version == STATE_VERSION else ()
        frame = max((frame for frame in frames if frame <= index), default=None)
        state = None if frame is None else self.state(frame)
        return None if frame is None or state is None else (frame, state)

    def history(self) -> History | None:
        """Return the frames of the runs before the start; None if the file has none."""
        with self._reading() as connection:
            return read_history(connection, self._header)

    def history_bytes(self) -> int:
        """Return the size of `history` in bytes, without reading it."""
        with self._reading() as connection:
            return history_bytes(connection)

    @property
    def whole_run(self) -> Run:
        if self.continues is None or self.start.log10_time == -np.inf:
            return self
        with self._lock:
            if self._whole is None:
                self._whole = WholeRun(self, self.history())
            return self._whole

    # ---------------------------------------------------------------------------- connection

    @contextmanager
    def batch(self) -> Iterator[None]:
        with self._reading():
            yield

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """Lend the connection; close it afterwards if a recorder may be active, or on an error."""
        with self._lock:
            if self._closed:
                raise ValueError(f"the run {self.path} is closed")
            if self._depth == 0:
                self._make_way()
            if self._connection is None:
                self._connection = self._connect()
            connection = self._connection
            self._depth += 1
            try:
                yield connection
            except BaseException:
                self._drop(connection)
                raise
            finally:
                self._depth -= 1
            if self._depth == 0:
                self._make_way()

    def _make_way(self) -> None:
        """Close the connection if a recorder may need the file for itself."""
        if self._connection is not None and self._connection.to_be_reopened():
            self._drop(self._connection)

    def _drop(self, connection: Connection) -> None:
        self._connection = None
        connection.close()

    def _connect(self) -> Connection:
        """Connect to the file. Raises RunFileError if another file has taken its path."""
        # The path may name another file by now: never mix frames of two runs.
        before = self._identity
        if before is not None:
            self._adopt_new_path(before)
        connection = connect(self.path)
        try:
            current = identity(self.path)
            if before is None:
                check_wal(connection)
                before = connection.identity
            if current != before:
                raise RunFileError(
                    f"{self.path} was replaced by another file while it was open; open it again."
                )
        except BaseException:
            connection.close()
            raise
        self._identity = current
        return connection

    def _adopt_new_path(self, known_file: tuple[int, int]) -> None:
        """Set `path` to that of the replaced file, once the run's file has been renamed to it."""
        place = place_of(self.path)
        if place is None or self.path.exists():
            return
        with suppress(RunFileError):
            if identity(place) == known_file:
                self.path = place

    def _follow_rename(self) -> None:
        """Wait at most `RENAME_S` for the rename of a recording that has ended, and follow it."""
        deadline = time.monotonic() + RENAME_S
        while place_of(self.path) is not None and self.path.exists():
            if time.monotonic() > deadline:
                return
            time.sleep(0.01)
        if self._identity is not None:
            self._adopt_new_path(self._identity)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()


@final
class RecordedRun(RunFile):
    """Run file as the window and the command line read it."""

    @property
    def status(self) -> str:
        return self._status


def open_run(path: Path | str) -> RecordedRun:
    """Open a run file, which may come from a stranger.

    Raises RunFileError, a sentence that names the file, for everything that is not exactly a run.
    """
    load_trusted()
    return RecordedRun(path)


def open_with_history(path: Path | str) -> Run:
    """Open a run file; a run that continues another also has the frames before its start."""
    return with_history(open_run(path))


def code_of(path: Path) -> str | None:
    """Return the code in a run file, unchanged; None if it has none. Raises RunFileError."""
    connection = connect(path)
    try:
        check_wal(connection)
        experiment = meta_values(connection).get("experiment")
    finally:
        connection.close()
    network = experiment.get("network") if isinstance(experiment, dict) else None
    code = network.get("code") if isinstance(network, dict) else None
    return code if isinstance(code, str) else None


def runs_in(folder: Path) -> list[Path]:
    """Return the run files of a folder, m=16 before m=256.

    Raises InputError for a folder without any.
    """
    paths = sorted(folder.glob("*.msrun"), key=lambda path: natural_key(path.name))
    if not paths:
        raise InputError(f"The folder {folder} holds no run files (.msrun).")
    return paths
