"""Names, notes, tags, bookmarks and sets of neurons: a small JSON file beside a run that has any.

The file is the user's: it is stored beside the run, not in the index, and moves with the run. Parts
that only a later version knows stay in it.
"""

from __future__ import annotations

import errno
import json
import math
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, final

from pydantic import BaseModel, ConfigDict, Strict

from core.comparison.own_name import MOST_BYTES, SUFFIX
from core.errors import InputError
from core.files import is_there, read_text, set_aside, write_whole
from core.library.entry import Bookmark, MomentNote, RunNotes
from core.numbers import whole_text
from core.observables.node_sets import NodeSet, nodes_text, parse_nodes
from core.run_files.schema import is_time

# -------------------------------------------- lock between programs that change notes in one folder

WAIT_S = 3.0  # a change takes milliseconds; only a suspended program holds the lock longer
RETRY_S = 0.005
HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which the system releases if the program ends in any way.

    On a file system without locks the block runs without one.

    Raises
    ------
    InputError
        Another program held the lock for `WAIT_S` seconds.
    """
    descriptor = _open(folder)
    try:
        if descriptor is not None:
            _wait(descriptor, folder)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _open(folder: Path) -> int | None:
    """Open the object of the lock: the folder itself or, on Windows, one file of the user."""
    with suppress(OSError):
        if sys.platform == "win32":
            place = Path(tempfile.gettempdir()) / "marginscope-notes.lock"
            return os.open(place, os.O_RDWR | os.O_CREAT)
        return os.open(folder, os.O_RDONLY)
    return None


def _wait(descriptor: int, folder: Path) -> None:
    """Lock the folder, retrying for `WAIT_S`. Raises InputError if another program holds it.

    Returns unlocked where the file system has no locks.
    """
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            _lock(descriptor)
            return
        except OSError as error:
            if error.errno not in HELD:
                return
        if time.monotonic() > deadline:
            raise InputError(
                f"Another program has been changing notes in {folder} for {WAIT_S:g} seconds; "
                "close it, or try again."
            )
        time.sleep(RETRY_S)


def _lock(descriptor: int) -> None:
    """Lock for this descriptor alone; raise OSError at once if that fails."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


# -------------------------------------------------------------------------------------------- notes

LONGEST_NAME, LONGEST_NOTE, LONGEST_TAG, MOST_TAGS = 200, 20_000, 60, 50
MOST_BOOKMARKS, LONGEST_PICTURE = 100, 5_000
MOST_SETS, LONGEST_SET = 50, 20_000
MOST_MOMENTS, LONGEST_MOMENT, LONGEST_QUANTITY = 100, 500, 100
VERSION = 1
LONGEST_FILE_NAME = 255  # bytes of a file name, on all common file systems
WRITING = threading.Lock()


def notes_file(run: Path) -> Path:
    """Return the file of a run's notes.

    >>> notes_file(Path("runs/a.msrun")).name
    'a.msrun.notes'
    """
    return run.with_name(run.name + SUFFIX)


def read_about(run: Path) -> RunNotes:
    """Return the user's notes of a run; empty without a file.

    Raises InputError for a file of another program.
    """
    path = notes_file(run)
    if not is_there(path):
        return RunNotes()
    text = read_text(path, MOST_BYTES, "Notes")
    try:
        return parse_about(text)
    except (InputError, ValueError) as error:
        raise InputError(
            f"The notes in {path} cannot be read (the run itself is intact); repair or delete them."
        ) from error


@final
class _Fields(BaseModel):
    """Content of a file of notes. JSON has no infinity: the time of t = 0 is null."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, extra="allow")
    version: Any = VERSION
    name: str = ""
    note: str = ""
    tags: list[str] = []
    kept: bool = False
    bookmarks: list[Annotated[tuple[str, float | None, str], Strict(False)]] = []
    sets: list[Annotated[tuple[str, str], Strict(False)]] = []
    moments: list[Annotated[tuple[float | None, str, str, float | None], Strict(False)]] = []


def parse_about(text: str) -> RunNotes:
    """Return the notes of a text. Raises ValueError or InputError unless `about_text` made it."""
    try:
        # json.loads, since `model_validate_json` rejects text with unpaired surrogates.
        fields = _Fields.model_validate(json.loads(text))
        unknown = json.dumps(fields.model_extra, allow_nan=False) if fields.model_extra else ""
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    marks = tuple(
        Bookmark(name, -math.inf if time is None else time, picture)
        for name, time, picture in fields.bookmarks
    )
    moments = tuple(
        MomentNote(-math.inf if time is None else time, words, quantity, value)
        for time, words, quantity, value in fields.moments
    )
    times = [*(one.log10_time for one in marks), *(one.log10_time for one in moments)]
    if not all(is_time(0, time) for time in times):
        raise ValueError("a time without a frame")
    sets = tuple(NodeSet(name, parse_nodes(nodes)) for name, nodes in fields.sets)
    tags = tuple(fields.tags)
    texts = fields.name, fields.note, tags
    return check_notes(RunNotes(*texts, fields.kept, marks, sets, moments, unknown))


def about_text(about: RunNotes) -> str:
    """Return notes as JSON; an empty text for none."""
    if about.empty:
        return ""
    marks = [[mark.name, _time_in_json(mark), mark.picture] for mark in about.bookmarks]
    fields: dict[str, Any] = json.loads(about.unknown) if about.unknown else {}
    fields |= {"version": VERSION, "name": about.name, "note": about.note, "tags": about.tags}
    sets = [[one.name, nodes_text(one.nodes)] for one in about.sets]
    fields |= {"kept": about.kept, "bookmarks": marks, "sets": sets}
    if about.moments:
        fields["moments"] = [
            [_time_in_json(one), one.text, one.quantity, one.value] for one in about.moments
        ]
    return json.dumps(fields)


def _time_in_json(one: Bookmark | MomentNote) -> float | None:
    """Return log10 of the time; None for t = 0."""
    return one.log10_time if math.isfinite(one.log10_time) else None


def change_about(run: Path, change: Callable[[RunNotes], RunNotes]) -> RunNotes:
    """Change the notes of a run, read again just before: another window may have written them.

    A file that cannot be read is renamed to end in .broken.
    Raises InputError or DiskError if it cannot be written, or the run does not exist, or another
    program changes notes in the folder for long.
    """
    path = notes_file(run)
    size = len(os.fsencode(run.name))
    with WRITING, locked_folder(run.parent):
        if not is_there(run):
            raise InputError(f"The run file {run} no longer exists; refresh the library.")
        if size + len(SUFFIX) > LONGEST_FILE_NAME:
            raise InputError(
                f"The file name of {run} has {size} bytes, but a run with notes or tags has at "
                f"most {LONGEST_FILE_NAME - len(SUFFIX)}; shorten the file name first."
            )
        try:
            before = read_about(run)
        except InputError:
            before = RunNotes()
            if set_aside(path) is None:
                raise InputError(
                    f"{path} can be neither read nor renamed; check write access to its folder."
                ) from None
        after = check_notes(change(before))
        if after == before:
            return after
        try:
            if after.empty:
                path.unlink(missing_ok=True)
                return after
        except OSError as error:
            raise InputError(f"{path} cannot be removed: {error.strerror}.") from error
        write_whole(path, about_text(after).encode())
        return after


def check_notes(about: RunNotes) -> RunNotes:
    """Return notes with trimmed texts, each tag once. Raises InputError for too long texts."""
    name, note = about.name.strip(), about.note.strip()
    tags = tags_of(",".join(about.tags))
    for field, text, max_length in (("name", name, LONGEST_NAME), ("note", note, LONGEST_NOTE)):
        if len(text) > max_length:
            raise InputError(
                f"A {field} has at most {whole_text(max_length)} characters; this one has "
                f"{whole_text(len(text))}."
            )
    if len(tags) > MOST_TAGS:
        raise InputError(f"A run has at most {MOST_TAGS} tags; remove some first.")
    marks, sets = _checked_bookmarks(about.bookmarks), _checked_sets(about.sets)
    moments = _checked_moments(about.moments)
    return RunNotes(name, note, tags, about.kept, marks, sets, moments, about.unknown)


def _checked_moments(moments: Iterable[MomentNote]) -> tuple[MomentNote, ...]:
    """Return the notes at moments sorted by time, each once, with trimmed texts."""
    result: dict[MomentNote, None] = {}
    for one in moments:
        text = " ".join(one.text.split())
        if not text:
            raise InputError("A note at a moment needs text; write some, or delete the note.")
        if len(text) > LONGEST_MOMENT:
            raise InputError(
                f"A note at a moment has at most {LONGEST_MOMENT} characters; this one has "
                f"{whole_text(len(text))}. Shorten the note."
            )
        if len(one.quantity) > LONGEST_QUANTITY:
            raise InputError(
                f"A note names an observable of more than {LONGEST_QUANTITY} characters."
            )
        if one.value is not None and not math.isfinite(one.value):
            raise InputError("A note at a curve needs a finite value; choose another point.")
        result[replace(one, text=text)] = None
    if len(result) > MOST_MOMENTS:
        raise InputError(f"A run has notes at {MOST_MOMENTS} moments at most; delete some first.")
    return tuple(sorted(result, key=_place_in_run))


def _place_in_run(one: MomentNote) -> tuple[float, str, str]:
    """Return the sort key of a note: by time, then observable, then text."""
    return one.log10_time, one.quantity, one.text


def _checked_sets(sets: Iterable[NodeSet]) -> tuple[NodeSet, ...]:
    """Return the sets sorted by name; of equal names the last one counts."""
    by_name: dict[str, NodeSet] = {}
    for one in sets:
        name = " ".join(one.name.split())
        if not name or len(name) > LONGEST_NAME:
            raise InputError(f"The name of a set has at most {LONGEST_NAME} characters.")
        if not one.nodes:
            raise InputError("A set needs at least one neuron; select some first.")
        if len(nodes_text(one.nodes)) > LONGEST_SET:
            raise InputError("This set has too many single neurons; choose fewer.")
        by_name[name] = NodeSet(name, one.nodes)
    if len(by_name) > MOST_SETS:
        raise InputError(f"A run has at most {MOST_SETS} sets of neurons; remove some first.")
    return tuple(by_name[name] for name in sorted(by_name))


def _checked_bookmarks(bookmarks: Iterable[Bookmark]) -> tuple[Bookmark, ...]:
    """Return bookmarks sorted by time; of equal names the last one counts."""
    by_name: dict[str, Bookmark] = {}
    for mark in bookmarks:
        name = " ".join(mark.name.split())
        if not name or len(name) > LONGEST_NAME:
            raise InputError(f"The name of a bookmark has at most {LONGEST_NAME} characters.")
        if len(mark.picture) > LONGEST_PICTURE:
            raise InputError(
                "This picture is too large for a bookmark; unpin some neurons, or save a view."
            )
        by_name[name] = Bookmark(name, mark.log10_time, mark.picture)
    if len(by_name) > MOST_BOOKMARKS:
        raise InputError(f"A run has at most {MOST_BOOKMARKS} bookmarks; remove some first.")
    return tuple(sorted(by_name.values(), key=attrgetter("log10_time", "name")))


def tags_of(text: str) -> tuple[str, ...]:
    """Return the tags of a line, between commas, each once.

    >>> tags_of(" talk, figure 1,,talk ")
    ('talk', 'figure 1')

    Raises InputError for one that is too long.
    """
    tags = tuple(dict.fromkeys(" ".join(tag.split()) for tag in text.split(",")))
    for tag in tags:
        if len(tag) > LONGEST_TAG:
            raise InputError(
                f"A tag has at most {LONGEST_TAG} characters, but {tag[:20]} ... has {len(tag)}; "
                "write a note instead."
            )
    return tuple(tag for tag in tags if tag)


def common_tags(some: Iterable[RunNotes]) -> tuple[str, ...]:
    """Return the tags that all notes have."""
    rows = [about.tags for about in some]
    return tuple(tag for tag in (rows[0] if rows else ()) if all(tag in row for row in rows))
