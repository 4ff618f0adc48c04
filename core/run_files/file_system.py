"""Names of file systems, for sentences about what one of them cannot do."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from core.run_files.journal import is_of_file_system

MOUNTS = Path("/proc/mounts")  # where Linux lists them; a space in a path is octal there


def name_file_system(path: Path) -> str:
    """Return kind and place of the file system of a path, such as "nfs4 file system at /scratch".

    "file system" alone where the system does not list its mounts.

    >>> "file system" in name_file_system(Path("/"))
    True
    """
    found: tuple[int, str] = (-1, "file system")
    try:
        folder, lines = path.resolve(), MOUNTS.read_text(errors="replace").splitlines()
    except (OSError, RuntimeError):
        return found[1]
    for line in lines:
        words = line.split(" ")
        if len(words) < 3:
            continue
        place = Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), words[1]))
        # The longest, and of several at one place the last, which hides the others.
        if folder.is_relative_to(place) and len(place.parts) >= found[0]:
            found = len(place.parts), f"{words[2]} file system at {place}"
    return found[1]


def explain_refusal(doing: str, path: Path, error: Exception) -> tuple[str, str]:
    """Return what was refused, and what to do: of the disk's room, or of its file system."""
    if is_of_file_system(error, also=False):
        return (
            f"The {name_file_system(path)} refused {doing}: SQLite's locks or shared memory fail "
            f"there ({error})",
            "record on a local disk of this computer, and copy the file once it is finished",
        )
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY:
        return (
            f"The {name_file_system(path)} refused {doing} ({error})",
            "check that you may write to the file and its folder",
        )
    return f"The disk refused {doing} ({error})", "make room on the disk"
