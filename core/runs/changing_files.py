"""Reading of files that a recorder may be changing at the same time."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from core.errors import RunFileError
from core.run_files.active_recorders import sqlite_companion

T = TypeVar("T")
# A recorder closes its file within milliseconds, or gives up after a second (core.runs.recorder).
RETRY_S, PATIENCE_S = 0.002, 2.0
TICK_S = 0.012  # longest clock tick of Linux, at 100 Hz: writes within one have the same time
FRESH_COPY = "get a fresh copy of the file or record the run again"


def damaged_file_error(path: Path, problem: str) -> RunFileError:
    """Return the error for a file whose content is not that of a run file."""
    return RunFileError(f"{path} is damaged or not a run file: {problem}; {FRESH_COPY}.")


def regular_file(path: Path) -> Path:
    """Return the real path of an existing regular file.

    Raises RunFileError for anything else, a pipe or a device among them, before opening it.
    """
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
        for suffix in ("-wal", "-journal"):
            side_file = sqlite_companion(real, suffix)
            status = status_of(
                side_file
            )  # a single stat: a recorder may delete the file at any moment
            if status is not None and not stat.S_ISREG(status.st_mode):
                raise damaged_file_error(path, f"{side_file.name} next to it is not a regular file")
    except FileNotFoundError as error:
        raise RunFileError(f"The run file {path} does not exist; check the path.") from error
    except (OSError, ValueError, RuntimeError) as error:
        raise RunFileError(f"{path} cannot be opened: {reason_of(error)}.") from error
    if stat.S_ISDIR(mode):
        raise RunFileError(f"{path} is a folder; name a run file (.msrun) in it.")
    if not stat.S_ISREG(mode):
        raise RunFileError(f"{path} is not a regular file; name a run file (.msrun).")
    return real


def reason_of(error: Exception) -> str:
    """Return the system's words for an error, else its message."""
    return str(getattr(error, "strerror", None) or error)


def status_of(path: Path) -> os.stat_result | None:
    """Return the system's status of a file; None if it does not exist. Raises OSError."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def file_signature(path: Path) -> tuple[object, ...]:
    """Return the signature of a run file and its `-wal`, which any write to them changes."""
    signs: list[object] = []
    for suffix in ("", "-wal"):
        try:
            # Several fields: a write within a clock tick keeps the time, a checkpoint keeps the
            # size, and a replacement may have both.
            now = status_of(sqlite_companion(path, suffix))
            signs.append(now and (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns))
        except (OSError, ValueError) as error:
            signs.append(str(error))
    return tuple(signs)


def retry_while_changing(path: Path, read: Callable[[], T]) -> T:
    """Call `read`, which reads a run file, and retry while the file changes.

    A recorder that starts or closes its file changes several files, and a reader may see a mixture
    that never existed. An error is raised only if nothing changed, or after two seconds. Files
    written within the last tick may have changed all the same.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        before = file_signature(_real(path))
        try:
            return read()
        except RunFileError:
            is_same, is_fresh = (
                file_signature(_real(path)) == before,
                _was_just_written(_real(path)),
            )
            if (is_same and not is_fresh) or time.monotonic() > deadline:
                raise
        time.sleep(TICK_S if is_fresh else RETRY_S)


def _was_just_written(path: Path) -> bool:
    """Return True if a run file or its `-wal` was written to within the present clock tick."""
    try:
        files = [status_of(sqlite_companion(path, suffix)) for suffix in ("", "-wal")]
    except (OSError, ValueError):
        return False
    return any(file is not None and abs(time.time() - file.st_mtime) < TICK_S for file in files)


def _real(path: Path) -> Path:
    """Return the target of a link, as far as known; SQLite's files are beside the target."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path


def identity(path: Path) -> tuple[int, int]:
    """Return device and number of a file, which differ for a replaced one. Raises RunFileError."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise RunFileError(f"{path} cannot be opened: {reason_of(error)}.") from error
    return status.st_dev, status.st_ino
