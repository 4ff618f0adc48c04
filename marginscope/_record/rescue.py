"""A recording goes on in a new file beside one that was removed or cut short."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, MarginscopeError
from core.run_files.frame import Frame
from core.run_files.held_file import FileLostError, read_saved
from core.run_files.in_use import beside
from core.run_files.meta import Description
from core.run_files.new_file import SIDE_FILES
from core.run_files.writer import RunWriter

Arrays = Mapping[str, NDArray[np.float64]]
Describe = Callable[[Frame], tuple[Description, Arrays]]  # of a file that begins with this frame
MOST_NAMES = 1000


def make_writer(path: Path, description: Description, arrays: Arrays, force: bool) -> RunWriter:
    """Make the file of a recording, and its writer, in the thread that will write."""
    return RunWriter(path, description, arrays, force=force, rescuable=True)


def rescue(
    old: RunWriter,
    place: Path,
    error: FileLostError,
    waiting: Sequence[Frame],
    describe: Describe,
) -> tuple[RunWriter, str]:
    """Make a new file of all frames that can still be read, and close the old one.

    Parameters
    ----------
    old : RunWriter
        Rescuable writer whose file is lost. SQLite has a removed file open, and can read it.
    place : Path
        Name that the user gave, beside which the new file lies.
    error : FileLostError
        What `old` raised; raised again where no frame is left.
    waiting : Sequence[Frame]
        Frames that will be appended next.
    describe : Describe
        Content of a file that begins with a given frame.

    Returns
    -------
    tuple[RunWriter, str]
        Writer of the new file, and a sentence for the user.
    """
    sums, lost, bare = old.sums, list[int](), list[int]()
    try:
        saved = _saved(old, sums, lost, bare)
        first, events = next(saved, None), _read_events(old)
        start = first[1] if first is not None else next(iter(waiting), None)
        if start is None:
            raise error
        new = _make_beside(place, *describe(start))
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
        text = f"{error.text}, and none can be made beside it ({reason})"
        raise FileLostError(text, error.loss, remedy=error.remedy) from cause
    finally:
        old.discard(error.loss)
    return new, _describe_loss(old, error, new.path, len(sums), lost, bare)


def _saved(
    old: RunWriter, sums: Sequence[int], lost: list[int], bare: list[int]
) -> Iterator[tuple[int, Frame]]:
    assert old.connection is not None
    # A file that is shorter than its header says is read all the same, as SQLite's recovery does.
    old.connection.execute("PRAGMA writable_schema=ON")
    frames = read_saved(old.connection, sums, old.description.dtype, bare)
    for index, frame in enumerate(frames):
        if frame is None:
            lost.append(index)
        else:
            yield index, frame


def _read_events(old: RunWriter) -> dict[int, list[tuple[str, dict[str, Any]]]]:
    """Return the events of each frame, as far as they can be read."""
    assert old.connection is not None
    events: dict[int, list[tuple[str, dict[str, Any]]]] = {}
    with suppress(sqlite3.Error, ValueError):
        sql = "SELECT frame, kind, payload FROM event ORDER BY idx"
        for frame, kind, payload in old.connection.execute(sql):
            events.setdefault(frame, []).append((kind, json.loads(payload)))
    return events


def _make_beside(place: Path, description: Description, arrays: Arrays) -> RunWriter:
    """Make NAME-2.msrun, or the next name that is free."""
    for number in range(2, MOST_NAMES):
        path = place.with_name(f"{place.stem}-{number}{place.suffix}")
        try:
            return make_writer(path, description, arrays, False)
        except InputError:
            if not any(one.exists() for one in (path, *(beside(path, s) for s in SIDE_FILES))):
                raise
    raise InputError(f"{place.parent} has {MOST_NAMES} files {place.stem}-2, ...; move some.")


def _describe_loss(
    old: RunWriter,
    error: FileLostError,
    new: Path,
    count: int,
    lost: Sequence[int],
    bare: Sequence[int],
) -> str:
    what = f"{old.path.name}-wal" if error.loss.of_journal else old.path.name
    began = f"{old.path}: {what} was {error.loss.how} while it was being recorded; "
    kept = count - len(lost)
    if not count:
        rest = f"no frame is lost, and those to come are in {new}"
    elif not lost:
        rest = f"no frame is lost: all {count} and those to come are in {new}"
    elif not kept:
        rest = f"its {count} frames are lost, and the recording goes on in {new}"
    else:
        rest = (
            f"{_as_ranges(lost)} of its {count} frames are lost; the other {kept} and those to "
            f"come are in {new}"
        )
    if bare:
        rest += f"; numbers beside {_as_ranges(bare)}, if there were any, are lost"
    return f"{began}{rest}."


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
    more = f" and {len(ranges) - 4} more stretches" if len(ranges) > 4 else ""
    joined = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    return f"frames {joined}{more}"
