"""Which run files lie in a folder, by looks at the folder alone: no file is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from core.library.about import SUFFIX as NOTES

RUN, WAL = ".msrun", "-wal"
TRASH = ".trash"
DEEPEST, MOST_FILES = 8, 100_000


@final
@dataclass(frozen=True, slots=True)
class Found:
    """A run file with its `-wal` and notes. `stamp` changes with the file, `noted` with the notes.

    The path is text, since tables of thousands are made by it. `size` is that of both in bytes,
    `modified` when either was written last, in seconds.
    """

    path: str
    stamp: str
    noted: str
    size: int
    modified: float


def run_files(root: Path) -> Iterator[Found]:
    """The run files in a folder and those below it, at most 100,000; not those in its trash.

    Folders that cannot be read, or are gone in this moment, are passed over, and links to folders
    are not followed.
    """
    count = 0
    waiting = [(root, 0)]
    while waiting:
        folder, depth = waiting.pop()
        files, folders = listed(folder)
        for found in in_folder(folder, files):
            yield found
            count += 1
            if count == MOST_FILES:
                return
        if depth < DEEPEST:
            inner = sorted(name for name in folders if not name.startswith("."))
            waiting += [(folder / name, depth + 1) for name in inner]


def listed(folder: Path) -> tuple[dict[str, os.stat_result], list[str]]:
    """The plain files of a folder with what the system says of them, and its folders."""
    files, folders = {}, []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    elif entry.name.endswith((RUN, RUN + WAL, RUN + NOTES)):
                        status = entry.stat()
                        if stat.S_ISREG(status.st_mode):
                            files[entry.name] = status
                except OSError:  # gone since the folder was read, or a link to nowhere
                    continue
    except OSError:
        return {}, []
    return files, folders


def in_folder(folder: Path, files: dict[str, os.stat_result]) -> Iterator[Found]:
    """The runs among the files of a folder."""
    prefix = f"{folder}{os.sep}"
    for name, status in files.items():
        if not name.endswith(RUN) or name.startswith("."):
            continue
        wal, notes = files.get(name + WAL), files.get(name + NOTES)
        yield Found(
            f"{prefix}{name}",
            _stamp(status) + _stamp(wal),
            _stamp(notes),
            status.st_size + (wal.st_size if wal else 0),
            max(status.st_mtime, wal.st_mtime if wal else 0.0),
        )


def _stamp(status: os.stat_result | None) -> str:
    # The number of the file too: one that takes another's place may have its size and time.
    if status is None:
        return ""
    return f"{status.st_size}.{status.st_mtime_ns}.{status.st_ino};"
