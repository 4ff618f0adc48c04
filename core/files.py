"""Reading and writing whole files: what is too large or no file is refused before reading.

A file is written completely or not at all: beside its place, under a name that identifies the
writer, and locked while it is written. The next program that writes into the same folder removes
the remains of a killed program.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from core.errors import DiskError, InputError
from core.numbers import whole_text
from core.program.stopping import removed_when_stopped
from core.run_files.active_recorders import WriterLock, is_locked, machine_name

DISK_ERRORS = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
# .NAME.MACHINE-PID-RANDOM.part, plus the suffix of NAME for writers that choose the format by it
LEFT = re.compile(r"\..+\.(?P<machine>[\w-]+)-(?P<pid>\d+)-[0-9a-f]{8}\.part(?:\.[^.]+)?")
FOLDER = re.compile(r"marginscope-[a-z]*-(?P<machine>[\w.-]+)-(?P<pid>\d+)-[^-]*")
DAY = 86_400.0  # seconds; after a day files of other machines, or on Windows, count as abandoned
LONGEST_SUFFIX = 16  # bytes of a suffix by which a writer chooses the format
# Bytes kept of a name before the writer's id is added; file systems allow 255 in all.
NAME_BYTES = 100


def has_no_writer(place: Path, machine: str, pid: int) -> bool:
    """Return True if the program that writes a file or folder has ended, as far as is known.

    Processes are sought on this machine and in this container only; see `machine_name`.

    Parameters
    ----------
    place : Path
        Temporary file or folder.
    machine : str
        Machine in its name.
    pid : int
        Process id in its name.
    """
    return _is_abandoned(place, machine, pid) and not is_locked(place)


def _is_abandoned(place: Path, machine: str, pid: int) -> bool:
    if machine == machine_name() and sys.platform != "win32":
        try:
            # On POSIX signal 0 only tests for the process; on Windows 0 is Ctrl-C and would be
            # sent.
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return True
        except OSError:
            return False
        return False
    try:
        return time.time() - place.stat().st_mtime > DAY
    except OSError:
        return False


def remove_left(folder: Path, pattern: re.Pattern[str] = LEFT) -> None:
    """Remove the remains of killed programs from a folder, if permitted."""
    with suppress(OSError):
        for place in folder.iterdir():
            match = pattern.fullmatch(place.name)
            if match and has_no_writer(place, match["machine"], int(match["pid"])):
                with suppress(OSError):
                    if place.is_dir() and not place.is_symlink():
                        shutil.rmtree(place, ignore_errors=True)
                    else:
                        place.unlink()


@contextmanager
def open_beside(path: Path, mode: int = 0o666) -> Iterator[tuple[Path, int]]:
    """Open a new file beside a path; yield its name and its descriptor, which the caller closes.

    The file is removed at the end unless it was renamed. The user's mask limits the mode, as
    always.
    """
    remove_left(path.parent)
    random = f"{machine_name()}-{os.getpid()}-{secrets.token_hex(4)}"
    # Cut long names: with the addition a file system might refuse them.
    name = os.fsdecode(os.fsencode(path.name)[:NAME_BYTES])
    suffix = path.suffix.lower() if len(os.fsencode(path.suffix)) <= LONGEST_SUFFIX else ""
    temporary = path.with_name(f".{name}.{random}.part{suffix}")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    with removed_when_stopped(temporary):
        descriptor = os.open(temporary, flags, mode)
        lock = WriterLock(temporary)
        try:
            yield temporary, descriptor
        finally:
            lock.release()
            with suppress(OSError):
                temporary.unlink()


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """Yield a new folder beside a path; it is removed at the end unless it was renamed."""
    remove_left(path.parent)
    name = os.fsdecode(os.fsencode(path.name)[:NAME_BYTES])
    random = f"{machine_name()}-{os.getpid()}-{secrets.token_hex(4)}"
    folder = path.with_name(f".{name}.{random}.part")
    with removed_when_stopped(folder):
        folder.mkdir()
        lock = WriterLock(folder)
        try:
            yield folder
        finally:
            lock.release()
            shutil.rmtree(folder, ignore_errors=True)


def scratch_prefix(purpose: str) -> str:
    """Remove the temporary folders of killed programs; return the name prefix of a new one."""
    remove_left(Path(tempfile.gettempdir()), FOLDER)
    return f"marginscope-{purpose}-{machine_name()}-{os.getpid()}-"


@contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """Yield a temporary folder, which is removed at the end."""
    prefix = scratch_prefix(purpose)
    with tempfile.TemporaryDirectory(prefix=prefix) as name, removed_when_stopped(Path(name)):
        lock = WriterLock(Path(name))
        try:
            yield Path(name)
        finally:
            lock.release()


def is_there(path: Path) -> bool:
    """Return True if a path exists; False also for an invalid path, such as too long a one."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def set_aside(path: Path) -> Path | None:
    """Rename a file that cannot be used; return its new path, or None if renaming fails."""
    backup = path.with_name(f"{path.name}.broken")
    try:
        path.replace(backup)
    except OSError:
        return None
    return backup


def is_plain(path: Path) -> bool:
    """Return True for a file that is no link, folder, pipe or device, and for nothing at all."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return not os.path.lexists(path)


def read_whole(path: Path, max_bytes: int, subject: str) -> bytes:
    """Return the content of a plain file.

    Parameters
    ----------
    path : Path
        File.
    max_bytes : int
        Largest size in bytes.
    subject : str
        Start of error messages.

    Returns
    -------
    bytes
        Content.

    Raises
    ------
    InputError
        A folder, a pipe or a device (neither waited for), a larger file, or one that cannot be
        read.
    """
    try:
        # Open first and check the open file: the path may name another file a moment later.
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError(f"{subject}: {path} is not a regular file; name a file.")
            # Read one byte more than allowed instead of asking for the size, which may change
            # meanwhile.
            content = file.read(max_bytes + 1)
    except FileNotFoundError as error:
        raise InputError(f"{subject}: {path} does not exist; check the path.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{subject}: {path} cannot be read ({reason}).") from error
    if len(content) > max_bytes:
        raise InputError(
            f"{subject}: {path} is larger than {whole_text(max_bytes)} bytes, the limit."
        )
    return content


def read_text(path: Path, max_bytes: int, subject: str) -> str:
    """Return the text (UTF-8) of a plain file.

    Parameters
    ----------
    path : Path
        File.
    max_bytes : int
        Largest size in bytes.
    subject : str
        Start of error messages.

    Returns
    -------
    str
        Text.

    Raises
    ------
    InputError
        `read_whole` fails, or the content is not UTF-8.
    """
    try:
        return read_whole(path, max_bytes, subject).decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{subject}: {path} cannot be read: it is not text in UTF-8 ({error.reason})."
        ) from error


@contextmanager
def replace_file(path: Path, final: Path | None = None) -> Iterator[tuple[Path, BinaryIO]]:
    """Yield a temporary neighbour of a file, open for writing, which replaces the file at the end.

    So no reader sees a half-written file, and the previous file stays if the block raises. The
    neighbour has the suffix of `final`, if given, instead of the file's own.
    Raises InputError for a folder that cannot be written, DiskError for a full disk.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open_beside(final or path) as (temporary, descriptor):
            with os.fdopen(descriptor, "wb") as file:
                yield temporary, file
            temporary.replace(path)
    except OSError as error:
        if error.errno in DISK_ERRORS:
            raise DiskError(
                f"The disk is full: {path} was not written; free some space and try again."
            ) from error
        raise InputError(
            f"{path} cannot be written ({error.strerror or error})",
            remedy="choose another place",
            typed="choose another place with --out",
        ) from error


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Write a file, completely or not at all. Raises as `replace_file` does."""
    with replace_file(path) as (_, file):
        file.write(content)
