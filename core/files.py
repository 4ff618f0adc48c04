"""Writing whole files: completely or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from core.errors import DiskError, InputError

DISK_ERRORS = ("No space left on device", "File too large", "Disk quota exceeded")


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
