"""Active recorders of run files: the process that writes a file, and the owner of its `-wal`.

Process numbers mean something only within one boot of one machine, and within one container. Two
containers with one host name and a shared folder have the same numbers for different processes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import socket
import struct
import sys
import threading
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

# ------------------------------------------------------------------------------- machines and locks

HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)
TRIES, LOCK_PAUSE_S = 50, 0.001  # another process holds the lock for microseconds in `is_locked`
BOOT, NAMESPACE = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
_UNKNOWN = secrets.token_hex(4)  # different in each process


def machine_name() -> str:
    """Return the host name and a mark of boot and container, as file names contain them.

    If Linux does not name the container, the mark belongs to this process alone, so that no process
    is taken for one of another container. Other systems have no mark.

    >>> machine_name() == machine_name(), "." in machine_name()
    (True, False)
    """
    host = re.sub(r"[^\w-]", "_", socket.gethostname(), flags=re.ASCII) or "here"
    return f"{host}-{_mark()}" if sys.platform.startswith("linux") else host


def _mark() -> str:
    try:
        host = f"{BOOT.read_text().strip()} {NAMESPACE.readlink()}"
    except OSError:
        return _UNKNOWN
    return hashlib.sha256(host.encode()).hexdigest()[:8]


@final
class WriterLock:
    """Lock of a file or folder, held until `release` or the end of the process.

    Without effect where the system has no such locks, and on Windows, where an open file could not
    be renamed.
    """

    def __init__(self, path: Path) -> None:
        descriptor = None if sys.platform == "win32" else _lock_file(path)
        self.is_held = descriptor is not None
        self._end = weakref.finalize(self, _unlock, descriptor, os.getpid())

    def release(self) -> None:
        """Release the lock; harmless when repeated."""
        self._end()


def _lock_file(path: Path) -> int | None:
    """Return a descriptor with an exclusive lock; None where there can be none."""
    try:
        # Opened for writing: NFS requires that for the lock.
        descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    except OSError:
        return None
    for _ in range(TRIES):
        try:
            _flock(descriptor, "LOCK_EX")
            return descriptor
        except OSError as error:
            if error.errno not in HELD:
                break
        time.sleep(LOCK_PAUSE_S)
    os.close(descriptor)
    return None


def _unlock(descriptor: int | None, owner: int) -> None:
    if descriptor is None:
        return
    if os.getpid() == owner:  # a forked copy must not release the lock of the original
        with suppress(OSError):
            _flock(descriptor, "LOCK_UN")
    os.close(descriptor)


def _flock(descriptor: int, operation: str) -> None:
    """Lock or unlock at once. Raises OSError."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(descriptor, getattr(fcntl, operation) | fcntl.LOCK_NB)


def is_locked(path: Path) -> bool:
    """Return True if a process holds a `WriterLock` of a path, in whichever container."""
    if sys.platform == "win32":
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        _flock(descriptor, "LOCK_SH")
    except OSError as error:
        return error.errno in HELD
    finally:
        os.close(descriptor)
    return False


# --------------------------------------------------------------------------- the -wal of a run file
# SQLite replays every `-wal` with valid checksums, even one that another run left under this file's
# name, and would mix the pages of both. The header contains the number of checkpoints and a salt
# that grows by one with each (SQLite's "Database File Format", section 4.1): their difference is
# constant during a recording. The recorder's first transaction stores it in `meta`; the name of the
# run is stored before.

HEADER = struct.Struct(">8I")  # magic, version, page size, checkpoints, two salts, two checksums
MAGIC = {0x377F0682: "<", 0x377F0683: ">"}  # byte order of the summed words
WORDS = 1 << 32


def sqlite_companion(path: Path, suffix: str) -> Path:
    """Return SQLite's own file next to a database: `-wal`, `-shm` or `-journal`."""
    return path.with_name(path.name + suffix)


@final
@dataclass(frozen=True, slots=True)
class WalHeader:
    """Salt minus checkpoints of a `-wal`, modulo 2^32, and its checkpoints."""

    recording: int
    checkpoints: int


def header_of(head: bytes) -> WalHeader | None:
    """Read the first 32 bytes of a `-wal`; None where SQLite passes over it.

    >>> header_of(b"") is None
    True
    """
    if len(head) < HEADER.size:
        return None
    magic, _, _, checkpoints, salt, _, *sums = HEADER.unpack(head[: HEADER.size])
    order = MAGIC.get(magic)
    if order is None or checksum(struct.unpack(f"{order}6I", head[:24])) != tuple(sums):
        return None
    return WalHeader((salt - checkpoints) % WORDS, checkpoints)


def checksum(words: tuple[int, ...]) -> tuple[int, int]:
    """Return SQLite's sums of 32-bit words, two at a time: a += x + b, b += y + a, modulo 2^32."""
    a = b = 0
    for x, y in zip(words[::2], words[1::2], strict=True):
        a = (a + x + b) % WORDS
        b = (b + y + a) % WORDS
    return a, b


def read_wal_header(wal: Path) -> WalHeader | None:
    """Read the header of a `-wal` file; None if SQLite would not replay the file."""
    try:
        with wal.open("rb") as file:
            return header_of(file.read(HEADER.size))
    except OSError:
        return None


def is_foreign(header: WalHeader, noted: str, same_name: bool) -> bool:
    """Return True if a `-wal` is that of another run than the file beside it.

    Parameters
    ----------
    header : WalHeader
        Header of the `-wal`.
    noted : str
        Row `wal` of the file alone, as JSON; empty in files of earlier versions, which know none.
    same_name : bool
        True if the file has the same `name` alone and together with the `-wal`.

    Returns
    -------
    bool
        False for files of earlier versions. For "null" the checkpoints and the name decide.
    """
    if noted != "null":
        return noted not in ("", str(header.recording))
    return header.checkpoints > 0 or not same_name


# -------------------------------------------------------------------------------- recorders at work

# List of locks on Linux, and the bytes of a database that every program in WAL mode keeps locked
# while it is open (SQLite's "File Locking And Concurrency").
LOCKS, IN_USE = Path("/proc/locks"), ["1073741826", "1073742335"]
# Readers open a file for milliseconds; a recorder has it open at every check.
POLLS, POLL_PAUSE_S = 4, 0.05
# Held from finding a free name to claiming it: threads start at once.
TAKING = threading.Lock()
_OURS: set[Path] = set()  # paths of recorders in this process, which the system does not report


def hold(path: Path) -> None:
    """Note that this process records a file, until `release_path`."""
    _OURS.add(path.resolve())


def release_path(path: Path) -> None:
    """Note that this process has finished a file; harmless when repeated."""
    _OURS.discard(path.resolve())


def is_ours(path: Path) -> bool:
    """Return True if this process records a file."""
    return path.resolve() in _OURS


def _read_locks(path: Path) -> list[list[str]] | None:
    """Return process, first and last byte of each lock of a file; None if that is not known."""
    try:
        number, lines = path.stat().st_ino, LOCKS.read_text().splitlines()
    except (OSError, ValueError):
        return None
    # Format of a line: 2: POSIX  ADVISORY  READ 26883 fe:00:2344305 1073741826 1073742335
    locks = (line.split()[-4:] for line in lines)
    return [
        [pid, *bounds] for pid, place, *bounds in locks if place.rpartition(":")[2] == str(number)
    ]


def is_listed(path: Path) -> bool:
    """Return True if a process of this computer holds a lock of a file, or that is not known."""
    return _read_locks(path) != []


def lock_journal(path: Path, suffix: str = "-wal") -> WriterLock:
    """Lock the journal of a file that this process records.

    SQLite has no locks on the journal itself: another descriptor of it takes none away.
    """
    return WriterLock(sqlite_companion(path, suffix))


def is_journal_locked(path: Path) -> bool:
    """Return True if a recorder, in whichever container, holds the lock of a file's journal."""
    return any(is_locked(sqlite_companion(path, suffix)) for suffix in ("-wal", "-journal"))


def is_recorded(path: Path) -> bool:
    """Return True if a recorder of a file is active, in this process or another one.

    Recorders lock their journal, also for other containers. Those of older versions are seen on
    Linux alone. Raises OSError.
    """
    if is_ours(path):
        return True
    if is_journal_locked(path):
        return True
    if not sqlite_companion(path, "-wal").exists():  # recorders that lock these bytes have a -wal
        return False
    for attempt in range(POLLS):
        if attempt:
            time.sleep(POLL_PAUSE_S)
        if not held_elsewhere(path):
            return False
    return True


def has_recorder(path: Path) -> bool | None:
    """Return whether a recorder of an unfinished file is active; None if unknown."""
    try:
        return is_recorded(path) or (None if sys.platform == "win32" else False)
    except OSError:
        return None


def held_elsewhere(path: Path) -> bool | None:
    """Return True if another process has a run file open as a recorder does; None if unknown.

    A recorder is known by the lock of its journal. Only Linux lists the locks of others, and not
    those of other computers and containers.
    """
    if not is_ours(path) and is_journal_locked(path):
        return True
    locks, own = _read_locks(path), str(os.getpid())
    return None if locks is None else any(p != own and b == IN_USE for p, *b in locks)
