"""Writing the tables of a run file during its run, so that a crash loses next to nothing."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import DiskError, InputError
from core.program import headless_program
from core.run_files.active_recorders import (
    TAKING,
    WriterLock,
    hold,
    lock_journal,
    release_path,
    sqlite_companion,
)
from core.run_files.frame import Frame
from core.run_files.held_file import (
    CUT,
    REMOVED,
    FileLostError,
    HeldFile,
    Loss,
    is_intact,
    is_whole,
)
from core.run_files.journal import OpenFile, close_as, explain_refusal
from core.run_files.meta import Description, dump_json
from core.run_files.new_file import SIDE_FILES, claim, create_run_file, remove, replace_target
from core.run_files.reopening import EarlierFile
from core.run_files.schema import (
    DTYPES,
    INSERT_EVENT,
    MAX_EVENTS,
    MAX_FRAMES,
    MAX_METRICS,
    MAX_NAME,
    MAX_RHO,
    MAX_TEXT_BYTES,
    MIN_RHO,
    REASONS,
    WHOLE,
    Statement,
    frame_crc,
    insert_rows,
    is_time,
    time_of,
)

# Whichever comes first. A crash costs 50 ms of training, and at most 16 MiB wait in memory.
FRAMES_PER_COMMIT = 64
SECONDS_PER_COMMIT = 0.05
BYTES_PER_COMMIT = 16 << 20


@final
class RunWriter:
    """File of one run that is being recorded, for one thread.

    `append` commits whenever 64 frames or 16 MiB are pending or 50 ms have passed since the last
    commit, and returns the index of the last frame that is safe. Call `flush` before a pause:
    nothing is committed between calls. Pending rows stay in memory and are written when they are
    committed: an open transaction would save none of them, and each statement releases the GIL,
    which a thread that paints beside this one is slow to give back. During the recording `-wal` and
    `-shm` exist beside the file; `finish` leaves exactly one file. Once the disk has refused a
    write (DiskError) the recording is closed with reason "disk_full" and every later write raises
    the same error.

    With `force` an old file is replaced at the end, not before. If it is a finished run and this
    one was cut off, both stay, and `path` is that of the new one beside it. An `earlier` recording
    is continued in its file. A `rescuable` one stays open if its file is lost (FileLostError), so
    that its content can still be read.

    Raises InputError if the file exists (unless `force`) or cannot be made, DiskError if the disk
    is full.
    """

    def __init__(
        self,
        path: Path | str,
        description: Description,
        arrays: Mapping[str, NDArray[np.float64]],
        *,
        force: bool,
        earlier: EarlierFile | None = None,
        rescuable: bool = False,
    ) -> None:
        self.path = Path(path).absolute()
        self._shown, self._rescuable = str(path), rescuable
        self._size, self._examples = description.size, description.sizes["n"]
        self.description = description
        self._dtype = np.dtype(DTYPES[description.dtype])
        self.next, self._sums = 0, list[int]()  # index of the next frame
        self.committed = -1  # index of the last safe frame
        self._frames: list[tuple[Any, ...]] = []
        self._metrics: list[tuple[Any, ...]] = []
        self._others: list[Statement] = []
        self._pending_bytes = 0
        self._events = 0
        self._last_log10_time = -np.inf
        self._last_commit = time.monotonic()
        self._thread = threading.get_ident()
        self._refusal: DiskError | None = None
        self.place = self.path  # the final path
        if earlier is None:
            self._hold(self._make(description.rows(), arrays, force))
        else:
            self.path, self.next = earlier.path, earlier.frames
            self.committed = earlier.frames - 1
            self._sums = [*earlier.sums]
            self._events, self._last_log10_time = earlier.events, earlier.log10_time
            self._hold(earlier.opened, earlier.lock)

    def _make(
        self, rows: Mapping[str, str], arrays: Mapping[str, NDArray[np.float64]], force: bool
    ) -> OpenFile:
        name = self._shown
        with TAKING:
            # After the steps that may fail, since claiming removes files.
            self.path = claim(self.path, force)
            hold(self.path)
        try:
            return create_run_file(self.path, rows, arrays)
        except (sqlite3.OperationalError, OSError) as error:
            remove(self.path)
            release_path(self.path)
            text, remedy = explain_refusal(f"to create the run file {name}", self.path, error)
            remedy = f"{remedy}, or choose another folder"
            raise DiskError(text, remedy=remedy, typed=f"{remedy} with --out") from error
        except BaseException:
            release_path(self.path)
            raise

    def _hold(self, opened: OpenFile, lock: WriterLock | None = None) -> None:
        """Store a connection, and identify its files."""
        suffix = opened.journal.suffix
        self.connection: sqlite3.Connection | None = opened.connection  # None once closed
        self._lock = lock or lock_journal(self.path, suffix)
        self._file, self._journal = (
            HeldFile(self.path),
            HeldFile(sqlite_companion(self.path, "-wal")),
        )

    @property
    def sums(self) -> list[int]:
        """Checksums of the frames that are safe."""
        return self._sums[: self.committed + 1]

    @property
    def is_open(self) -> bool:
        """False after `finish`, `abandon` or a refusal of the disk."""
        return self.connection is not None

    def append(self, frames: Sequence[Frame]) -> int:
        """Write frames in the order of the schedule; returns `committed`.

        Raises ValueError for a frame that is not finite, has another length or type than the run,
        or is not later than the one before it; DiskError when the disk refuses.
        """
        self._check_open()
        frame_bytes = self._size * self._dtype.itemsize
        max_frames = max(1, min(FRAMES_PER_COMMIT, BYTES_PER_COMMIT // frame_bytes))
        for start in range(0, len(frames), max_frames):
            batch = frames[start : start + max_frames]
            rows, metrics = [], []
            for index, frame in enumerate(batch, self.next):
                rows.append(self._row(index, frame))
                for name, value in frame.diagnostics.items():
                    metrics.append((index, name, float(value)))
            self._frames += rows
            self._metrics += metrics
            self.next += len(batch)
            self._pending_bytes += frame_bytes * len(batch)
            if self._due():
                self.flush()
        return self.committed

    def event(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Record an event at the latest frame; numbers that are not finite become null.

        It is committed with the frames around it. Events beyond the 100,000th are left out.
        """
        text = dump_json(payload)
        if len(text) > MAX_TEXT_BYTES // MAX_NAME or len(kind) > MAX_NAME:
            raise ValueError(f"the event {kind[:MAX_NAME]!r} is too long to be recorded")
        self._check_open()
        if self._events >= MAX_EVENTS:
            return
        self._others.append((INSERT_EVENT, [(max(self.next - 1, 0), kind, text)]))
        self._events += 1
        if self._due():
            self.flush()

    def add_statement(self, statement: Statement, size: int = 0) -> None:
        """Commit a statement, of rows of so many bytes, with the frames around it."""
        self._check_open()
        self._others.append(statement)
        self._pending_bytes += size

    def flush(self) -> int:
        """Commit pending rows; return `committed`.

        Raises DiskError when the disk refuses, FileLostError when the file was removed or cut.
        """
        if self._refusal is not None:
            raise self._refusal
        connection = self.connection
        if connection is not None and (self._frames or self._others):
            self._check_files()
            try:
                connection.execute("BEGIN IMMEDIATE")
                for sql, rows in self._pending():
                    connection.executemany(sql, rows)
                connection.execute("COMMIT")
            except sqlite3.OperationalError as error:
                raise self._close_refused(error) from error
            # After COMMIT: readers must find every committed frame in the file.
            self.committed = self.next - 1
            self._forget()
        self._last_commit = time.monotonic()
        return self.committed

    def finish(self, reason: str) -> None:
        """Commit, note why the run ended, and leave one file; harmless when repeated.

        Raises DiskError when the disk refuses; what was committed stays readable. Raises
        FileLostError when the file was removed or cut short. If it was moved, `path` is its place.
        """
        if reason not in REASONS:
            raise ValueError(f"{reason!r} is not one of {', '.join(REASONS)}")
        if self.connection is None:
            return
        self.flush()
        self._check_files()
        try:
            close_as(self.connection, reason)
        except sqlite3.OperationalError as error:
            raise self._close_refused(error) from error
        place = self._file.place()
        self.abandon()
        if place == self.path:
            self._replace_target(reason)
        else:  # closed by another program; the file is complete
            self.path = place

    def abandon(self) -> None:
        """Close the connection; committed frames stay, pending ones are lost."""
        self._forget()
        connection, self.connection = self.connection, None
        if connection is not None:
            release_path(self.path)
            with suppress(sqlite3.OperationalError):
                connection.close()
            self._lock.release()

    def _pending(self) -> Iterator[Statement]:
        """Yield the statements that write all pending rows."""
        yield from insert_rows("frame", self._frames)
        yield from insert_rows("metric", self._metrics)
        yield from self._others

    def _forget(self) -> None:
        self._frames, self._metrics, self._others = [], [], []
        self._pending_bytes = 0

    def _row(self, index: int, frame: Frame) -> tuple[Any, ...]:
        """Return the row of a frame; its blob is a copy, which waits to be written with others."""
        parameters, dual = frame.parameters, frame.dual
        if parameters.shape != (self._size,) or parameters.dtype != self._dtype:
            raise ValueError(
                f"frame {index} has parameters {parameters.dtype} {parameters.shape}, the run "
                f"{self._dtype} ({self._size},)"
            )
        time_, rho = float(frame.log10_time), float(frame.rho)
        if not (MIN_RHO <= rho <= MAX_RHO and np.isfinite(parameters).all()):
            raise ValueError(f"frame {index} is not finite")
        self._check_order(index, frame.step, time_)
        names = frame.diagnostics
        if len(names) > MAX_METRICS or (names and max(map(len, names)) > MAX_NAME):
            raise ValueError(f"frame {index} has more diagnostics than a run file holds")
        blob, weights = parameters.tobytes(), None
        if dual is not None:
            fits = self._dtype.itemsize == 4 and dual.shape == (self._examples,)
            if not fits or not np.isfinite(dual).all():
                raise ValueError(f"q of frame {index} is not finite, too long, or not needed")
            weights = dual.astype("<f8").tobytes()
        step, plain_time = int(frame.step), time_of(time_)
        crc = frame_crc(index, step, plain_time, time_, rho, blob, weights)
        self._sums.append(crc)
        return index, step, plain_time, time_, rho, crc, weights, blob

    def _check_order(self, index: int, step: int, log10_time: float) -> None:
        later = log10_time > self._last_log10_time or (index == 0 and log10_time == -np.inf)
        if index >= MAX_FRAMES or step < 0 or not (later and is_time(index, log10_time)):
            raise ValueError(f"frame {index} at log10 t = {log10_time} is not on the schedule")
        self._last_log10_time = log10_time

    def _due(self) -> bool:
        return (
            # Frame 0 is written at once: if the disk fills up, only later frames are lost.
            self.committed < 0
            or self.next - 1 - self.committed >= FRAMES_PER_COMMIT
            or self._pending_bytes >= BYTES_PER_COMMIT
            or time.monotonic() - self._last_commit >= SECONDS_PER_COMMIT
        )

    def _check_open(self) -> None:
        """Raise the error that ended the recording, if any."""
        if self._refusal is not None:
            raise self._refusal
        if self.connection is None:
            raise ValueError(f"the recording of {self._shown} is closed")
        if threading.get_ident() != self._thread:
            raise sqlite3.ProgrammingError(
                f"the recorder of {self._shown} belongs to another thread"
            )

    def _replace_target(self, reason: str) -> None:
        """Replace the old file, unless it is a finished run and this one was cut off."""
        if self.path == self.place or (reason not in WHOLE and is_whole(self.place)):
            return
        try:
            replace_target(self.path, self.place)
        except OSError as error:
            raise InputError(
                f"{self._shown} cannot be replaced ({error.strerror}); the new run is in "
                f"{self.path}."
            ) from error
        self.path = self.place

    def _check_files(self) -> None:
        """Raise FileLostError for a file or `-wal` that another program has removed or cut short.

        The recording is then closed, unless it is rescuable.
        """
        how, journal = self._file.find_loss(), self._journal.find_loss()
        # Any SQLite program may checkpoint the `-wal` into the file and empty it.
        if journal == CUT and not how and is_intact(self.path, self.sums, self.description.dtype):
            journal = ""
        if not how and not journal:
            return
        loss = Loss(how or journal, of_journal=not how)
        if not self._rescuable:
            self.discard(loss)
        name = f"{self._shown}-wal" if loss.of_journal else self._shown
        text = f"The run file {name} was {loss.how} while it was being recorded"
        raise FileLostError(f"{text}, and its frames with it", loss, remedy="record the run again")

    def seems_lost(self) -> bool:
        """Return True if the file, or its `-wal`, may be lost. Thread-safe."""
        return self._file.seems_lost() or self._journal.seems_lost()

    def discard(self, loss: Loss) -> None:
        """Close a recording whose file is lost, and leave what has its name by now untouched."""
        connection = self.connection
        if connection is not None and not (loss.of_journal and loss.how == REMOVED):
            # An interrupted SQLite neither checkpoints nor deletes the `-wal` on close.
            connection.interrupt()
        self.abandon()
        if not loss.of_journal and self._journal.is_in_place():
            for suffix in SIDE_FILES:
                with suppress(OSError):
                    sqlite_companion(self.path, suffix).unlink()

    def _close_refused(self, error: sqlite3.OperationalError) -> DiskError:
        """Close the recording after a refused write; returns the error to raise."""
        connection = self.connection
        if connection is not None:
            with suppress(sqlite3.OperationalError):
                # After some errors (a full disk) SQLite has rolled back already; another ROLLBACK
                # is an error.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                close_as(connection, "disk_full")
        self.abandon()
        self._replace_target("disk_full")
        self.next = self.committed + 1
        count = "1 frame is" if self.next == 1 else f"{self.next} frames are"
        where = "that file" if self.path == self.place else str(self.path)
        text, remedy = explain_refusal(f"to write {self._shown}", self.path, error)
        self._refusal = DiskError(
            f"{text}; its first {count} safe in {where}",
            remedy=f"{remedy}, then continue the run",
            typed=f"{remedy}, then run `{headless_program()} continue`, or record into another "
            "folder with --out",
        )
        return self._refusal
