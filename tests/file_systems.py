"""A folder whose file system lacks locks or shared memory, like network file systems."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

# Members of SQLite's `sqlite3_vfs` ("OS Interface Object"), of which the last but two lets tests
# replace what the system gives.
NUMBERS = ("iVersion", "szOsFile", "mxPathname")
POINTERS = (
    *("pNext", "zName", "pAppData", "xOpen", "xDelete", "xAccess", "xFullPathname", "xDlOpen"),
    *("xDlError", "xDlSym", "xDlClose", "xRandomness", "xSleep", "xCurrentTime", "xGetLastError"),
    *("xCurrentTimeInt64", "xSetSystemCall", "xGetSystemCall", "xNextSystemCall"),
)
LOCKING = (fcntl.F_SETLK, fcntl.F_SETLKW, fcntl.F_GETLK)
FAILED = 2**64 - 1  # MAP_FAILED


class _Vfs(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in NUMBERS] + [
        (name, ctypes.c_void_p) for name in POINTERS
    ]


def _system() -> _Vfs:
    import _sqlite3

    library = ctypes.CDLL(_sqlite3.__file__)
    try:
        find = library.sqlite3_vfs_find
    except AttributeError:
        pytest.skip("Python's SQLite cannot be reached from here")
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    return _Vfs.from_address(find(None))


@contextmanager
def _replaced(name: bytes, made: Any) -> Iterator[None]:
    system = _system()
    signature = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    replace = signature(system.xSetSystemCall)
    assert replace(ctypes.addressof(system), name, ctypes.cast(made, ctypes.c_void_p)) == 0
    try:
        yield
    finally:
        replace(ctypes.addressof(system), name, None)


def _is_in(folder: Path, descriptor: int) -> bool:
    try:
        return str(Path(f"/proc/self/fd/{descriptor}").readlink()).startswith(str(folder))
    except OSError:
        return False


@contextmanager
def without_locks(folder: Path) -> Iterator[None]:
    """Make all file locks in a folder fail with ENOLCK, for SQLite and for Python."""
    own = ctypes.CDLL(None, use_errno=True)

    def call(descriptor: int, command: int, argument: int | None) -> int:
        if command in LOCKING and _is_in(folder, descriptor):
            ctypes.set_errno(errno.ENOLCK)
            return -1
        return int(own.fcntl(descriptor, command, ctypes.c_void_p(argument)))

    def refused(real: Callable[..., Any]) -> Callable[..., Any]:
        def lock(file: Any, *arguments: Any) -> Any:
            if _is_in(folder, file if isinstance(file, int) else file.fileno()):
                raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
            return real(file, *arguments)

        return lock

    kind = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, use_errno=True
    )
    with pytest.MonkeyPatch.context() as patch, _replaced(b"fcntl", kind(call)):
        patch.setattr(fcntl, "flock", refused(fcntl.flock))
        patch.setattr(fcntl, "lockf", refused(fcntl.lockf))
        yield


@contextmanager
def without_shared_memory(folder: Path) -> Iterator[None]:
    """Make memory mapping of files in a folder fail, which SQLite needs for its `-shm`."""
    own = ctypes.CDLL(None, use_errno=True).mmap
    own.restype = ctypes.c_void_p
    parts = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int)
    own.argtypes = [*parts, ctypes.c_long]

    def call(*arguments: Any) -> int:
        if _is_in(folder, arguments[4]):
            ctypes.set_errno(errno.ENODEV)
            return FAILED
        return int(own(*arguments) or 0)

    made = ctypes.CFUNCTYPE(ctypes.c_void_p, *parts, ctypes.c_long, use_errno=True)(call)
    with _replaced(b"mmap", made):
        yield


@contextmanager
def file_system(folder: Path, *, locks: bool, shared_memory: bool) -> Iterator[None]:
    """Return a folder without locks, without shared memory, or without both."""
    with ExitStack() as stack:
        if not locks:
            stack.enter_context(without_locks(folder))
        if not shared_memory:
            stack.enter_context(without_shared_memory(folder))
        yield
