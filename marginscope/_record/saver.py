"""Thread that writes one run file, and continues in a new one if the file is lost."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, MarginscopeError
from core.run_files.active_recorders import sqlite_companion
from core.run_files.frame import Frame
from core.run_files.held_file import FileLostError, read_saved
from core.run_files.meta import Description
from core.run_files.new_file import SIDE_FILES
from core.run_files.schema import UPDATE_META
from core.run_files.writer import RunWriter

# ------------------------------------------------------------------------------------ a new file

Arrays = Mapping[str, NDArray[np.float64]]
# Describes a file that starts with this frame.
Describe = Callable[[Frame], tuple[Description, Arrays]]
MOST_NAMES = 1000


def make_writer(path: Path, description: Description, arrays: Arrays, force: bool) -> RunWriter:
    """Make the file of a recording, and its writer, in the thread that will write.

    Parameters
    ----------
    path : Path
        Run file to make.
    description : Description
        Rows of `meta`.
    arrays : mapping of str to array
        Data and fixed arrays by their names in the file.
    force : bool
        True to replace an old file.

    Returns
    -------
    RunWriter
        Keeps what `rescue` needs.

    Raises
    ------
    InputError
        The file exists, or cannot be made.
    DiskError
        The disk is full.
    """
    return RunWriter(path, description, arrays, force=force, rescuable=True)


def rescue(
    writer: RunWriter,
    place: Path,
    error: FileLostError,
    waiting: Sequence[Frame],
    describe: Describe,
) -> tuple[RunWriter, str]:
    """Make a new file of all frames that can still be read, and close the old one.

    Parameters
    ----------
    writer : RunWriter
        Rescuable writer whose file is lost. SQLite has a removed file open, and can read it.
    place : Path
        Name that the user gave, beside which the new file lies.
    error : FileLostError
        What `writer` raised; raised again where no frame is left.
    waiting : Sequence[Frame]
        Frames that will be appended next.
    describe : Describe
        Content of a file that begins with a given frame.

    Returns
    -------
    tuple[RunWriter, str]
        Writer of the new file, and a sentence for the user.
    """
    sums, lost_frames, bare = writer.sums, list[int](), list[int]()
    try:
        saved = _read_saved(writer, sums, lost_frames, bare)
        first, events = next(saved, None), _read_events(writer)
        start = first[1] if first is not None else next(iter(waiting), None)
        if start is None:
            raise error
        new = _make_numbered_file(place, *describe(start))
        try:
            for index, frame in chain([] if first is None else [first], saved):
                new.append([frame])
                for kind, payload in events.get(index, ()):
                    new.event(kind, payload)
            new.flush()
        except BaseException:
            new.abandon()
            raise
    except FileLostError:
        raise
    except MarginscopeError as cause:
        reason = cause.sentence.rstrip(".")
        text = f"{error.text}, and none can be created next to it ({reason})"
        raise FileLostError(text, error.loss, remedy=error.remedy) from cause
    finally:
        writer.discard(error.loss)
    return new, _describe_loss(writer, error, new.path, len(sums), lost_frames, bare)


def _read_saved(
    writer: RunWriter, sums: Sequence[int], lost_frames: list[int], bare: list[int]
) -> Iterator[tuple[int, Frame]]:
    """Yield the number and content of each saved frame that can be read.

    Append the numbers of others to `lost_frames`, and to `bare` those of frames without dual
    weights.
    """
    assert writer.connection is not None
    # Like SQLite's recovery, read a file that is shorter than its header states.
    writer.connection.execute("PRAGMA writable_schema=ON")
    frames = read_saved(writer.connection, sums, writer.description.dtype, bare)
    for index, frame in enumerate(frames):
        if frame is None:
            lost_frames.append(index)
        else:
            yield index, frame


def _read_events(writer: RunWriter) -> dict[int, list[tuple[str, dict[str, Any]]]]:
    """Return the events of each frame, as far as they can be read."""
    assert writer.connection is not None
    events: dict[int, list[tuple[str, dict[str, Any]]]] = {}
    with suppress(sqlite3.Error, ValueError):
        sql = "SELECT frame, kind, payload FROM event ORDER BY idx"
        for frame, kind, payload in writer.connection.execute(sql):
            events.setdefault(frame, []).append((kind, json.loads(payload)))
    return events


def _make_numbered_file(place: Path, description: Description, arrays: Arrays) -> RunWriter:
    """Make NAME-2.msrun, or the next name that is free."""
    for number in range(2, MOST_NAMES):
        path = place.with_name(f"{place.stem}-{number}{place.suffix}")
        try:
            return make_writer(path, description, arrays, False)
        except InputError:
            if not any(
                one.exists() for one in (path, *(sqlite_companion(path, s) for s in SIDE_FILES))
            ):
                raise
    raise InputError(f"{place.parent} has {MOST_NAMES} files {place.stem}-2, ...; move some.")


def _describe_loss(
    writer: RunWriter,
    error: FileLostError,
    new: Path,
    count: int,
    lost_frames: Sequence[int],
    bare: Sequence[int],
) -> str:
    file_name = f"{writer.path.name}-wal" if error.loss.of_journal else writer.path.name
    began = f"{writer.path}: {file_name} was {error.loss.how} while it was being recorded; "
    n_intact = count - len(lost_frames)
    if not count:
        outcome = f"no frame is lost, and new ones are in {new}"
    elif not lost_frames:
        outcome = f"no frame is lost: all {count} and the new ones are in {new}"
    elif not n_intact:
        outcome = f"its {count} frames are lost, and the recording continues in {new}"
    else:
        outcome = (
            f"{_as_ranges(lost_frames)} of its {count} frames are lost; the other {n_intact} and "
            f"the new ones are in {new}"
        )
    if bare:
        outcome += f"; numbers recorded with {_as_ranges(bare)}, if any, are lost"
    return f"{began}{outcome}."


def _as_ranges(numbers: Sequence[int]) -> str:
    """Return numbers with runs of neighbours joined.

    >>> _as_ranges([0, 1, 2, 5])
    'frames 0 to 2 and 5'
    """
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    words = [f"{low} to {high}" if low < high else f"{low}" for low, high in ranges[:4]]
    remainder = f" and {len(ranges) - 4} more stretches" if len(ranges) > 4 else ""
    joined = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    return f"frames {joined}{remainder}"


# ------------------------------------------------------------------------------------ the thread

PATIENCE_S = 0.03  # wait for more frames: with its commit a frame is safe after 50 ms
SOON = 8 << 20  # bytes that are written at once
MOST_PENDING = 128 << 20  # bytes; beyond, a loop that is faster than its disk is blocked
Ending = tuple[str, dict[str, str]]
Note = tuple[str, dict[str, Any]]  # kind and payload of an event


@final
class Saver:
    """Thread that writes frames with a `RunWriter`, and commits each within 50 ms.

    `make` makes the writer in that thread. `describe` returns the content of a file that begins
    with a frame, for the file that continues a lost one. Raises what `make` raises.
    """

    def __init__(self, path: Path, make: Callable[[], RunWriter], describe: Describe) -> None:
        self.path = self._place = path
        self.failed: BaseException | None = None
        self.committed = -1
        self._make, self._describe = make, describe
        self._writer: RunWriter | None = None
        self._notices: deque[str] = deque()
        self._urgent = False
        self._waiting: deque[Frame | Note] = deque()
        self._bytes = 0
        self._ending: Ending | None = None
        self._change = threading.Condition()
        self._ready = threading.Event()
        # A daemon, which the interpreter does not wait for: the recording finishes it (atexit).
        self._thread = threading.Thread(target=self._run, name=f"record {path.name}", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self.failed is not None:
            raise self.failed

    def add(self, frame: Frame) -> None:
        """Take a frame, whose array is this thread's from now on.

        If the file seems lost, wait until the remaining frames are safe.
        """
        urgent = self._writer is not None and self._writer.seems_lost()
        with self._change:
            while self._bytes > MOST_PENDING and self.failed is None:
                self._change.wait(1.0)
            if self.failed is not None:
                raise self.failed
            # Wake the thread for the first of several frames, not for each.
            first, before = not self._waiting, self._bytes
            self._waiting.append(frame)
            self._bytes += frame.parameters.nbytes
            if first or before <= SOON < self._bytes:
                self._change.notify_all()
            if urgent:
                self._urgent = True
                self._change.notify_all()
                self._change.wait_for(lambda: not self._urgent or self.failed is not None)

    def note(self, kind: str, payload: dict[str, Any]) -> None:
        """Record an event after the frames that were handed over."""
        with self._change:
            self._waiting.append((kind, payload))
            self._change.notify_all()

    @property
    def experiment(self) -> Mapping[str, Any]:
        """Sections of the study file that the run file holds."""
        assert self._writer is not None
        return self._writer.description.experiment

    def take_notices(self) -> list[str]:
        """Return the notices for the user since the last call."""
        return [self._notices.popleft() for _ in range(len(self._notices))]

    def finish(self, reason: str, meta: dict[str, str]) -> None:
        """Write the remaining frames and final rows of meta; return when done.

        Raises what the writer raised.
        """
        with self._change:
            self._ending = (reason, meta)
            self._change.notify_all()
        self._thread.join()
        if self.failed is not None:
            raise self.failed

    def _run(self) -> None:
        """Make the file and write to it until the end; in the thread."""
        try:
            writer = self._make()
        except BaseException as error:
            self.failed = error
            self._ready.set()
            return
        self._writer, self.path, self.committed = writer, writer.path, writer.committed
        self._ready.set()
        try:
            while self._step():
                pass
        except MarginscopeError as error:  # an error of the disk, which has closed the file
            self._fail(error)
        except BaseException as error:
            self._fail(error)
            self._writer.abandon()
        finally:
            self.path = self._writer.path

    def _fail(self, error: BaseException) -> None:
        """Keep the error for the loop's thread, and drop all waiting frames."""
        with self._change:
            self.failed = error
            self._waiting.clear()
            self._change.notify_all()

    def _step(self) -> bool:
        """Wait for frames and write them, into another file if this one is lost.

        Return False after the last.
        """
        with self._change:
            self._change.wait_for(self._has_work)
            self._change.wait_for(self._is_urgent, PATIENCE_S)
            waiting, ending = list(self._waiting), self._ending
            self._waiting.clear()
            self._bytes = 0
            self._change.notify_all()
        while True:
            writer = self._writer
            assert writer is not None
            before = writer.committed
            try:
                self._write(writer, waiting, ending)
                break
            except FileLostError as error:
                waiting = _select_uncommitted(waiting, writer.committed - before)
                frames = [item for item in waiting if isinstance(item, Frame)]
                self._writer, notice = rescue(writer, self._place, error, frames, self._describe)
                self.path = self._writer.path
                self._notices.append(notice)
        with self._change:
            if self._urgent and not self._waiting:
                self._urgent = False
                self._change.notify_all()
        return ending is None

    def _write(self, writer: RunWriter, waiting: list[Frame | Note], ending: Ending | None) -> None:
        """Write waiting frames and notes in their order, and a due end of the recording."""
        frames: list[Frame] = []
        for item in waiting:
            if isinstance(item, Frame):
                frames.append(item)
                continue
            writer.append(frames)
            frames = []
            writer.event(*item)
        writer.append(frames)
        self.committed = writer.flush()
        if ending is None:
            return
        reason, meta = ending
        if meta:
            writer.add_statement((UPDATE_META, [(text, key) for key, text in meta.items()]))
        writer.finish(reason)
        self.committed = writer.committed

    def _has_work(self) -> bool:
        return bool(self._waiting) or self._ending is not None

    def _is_urgent(self) -> bool:
        return self._ending is not None or self._urgent or self._bytes > SOON


def _select_uncommitted(waiting: list[Frame | Note], committed: int) -> list[Frame | Note]:
    """Return what comes after the frames that were committed."""
    places = [place for place, item in enumerate(waiting, 1) if isinstance(item, Frame)]
    return waiting[places[committed - 1] :] if committed > 0 else waiting
