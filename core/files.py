"""Reading and writing whole files: what is too large or no file is refused before it is read."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from core.errors import DiskError, InputError

DISK_ERRORS = ("No space left on device", "File too large", "Disk quota exceeded")


def is_there(path: Path) -> bool:
    """Whether something lies at a path; not where the path is none, as one that is too long."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def read_whole(path: Path, most: int, what: str) -> bytes:
    """The content of a plain file of at most `most` bytes.

    Raises InputError, its sentence beginning with `what`, for a folder, a pipe or a device (which
    are not waited for), for a larger file, and for one that cannot be read.
    """
    try:
        # One look at what was opened: a name may stand for something else a moment later.
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError(f"{what}: {path} is not a plain file; name one.")
            content = file.read(most + 1)
    except FileNotFoundError as error:
        raise InputError(
            f"{what}: {path} cannot be read (there is no such file); check the path."
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{what}: {path} cannot be read ({reason}).") from error
    if len(content) > most:
        raise InputError(f"{what}: {path} is larger than {most:,} bytes, the most that is read.")
    return content


def read_text(path: Path, most: int, what: str) -> str:
    """The text (UTF-8) of a plain file of at most `most` bytes. Raises InputError."""
    try:
        return read_whole(path, most, what).decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{what}: {path} cannot be read: it is not text in UTF-8 ({error.reason})."
        ) from error


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Write a file through a temporary neighbour, so that it is never seen half written.

    Raises InputError for a folder that cannot be written, DiskError for a full disk.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if error.strerror in DISK_ERRORS:
            raise DiskError(
                f"The disk is full: {path} was not written; free some space and try again."
            ) from error
        raise InputError(
            f"{path} cannot be written ({error.strerror}); choose another place with --out."
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
