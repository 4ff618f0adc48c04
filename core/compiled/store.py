"""Store of the machine code of kernels between programs: by content, not by place or date.

A file holds one kernel for one list of argument types. The name of its folder depends on everything
that the code depends on: the byte code of all kernels, the versions of the compiling packages, the
processor and numba's settings. So the same code is compiled once for a user, wherever it is started
from, also from an installed wheel or a bundle without sources, and by whichever version.

Files are pickles, and loading one runs its content. So the folder is the user's own, no other user
may write to it or to its files, and anything else is neither read nor written. The folders
above it belong to the user or to root, and no other user can replace it by another folder or a
link.

numba is not imported here: listing the stored kernels must cost next to nothing.
"""

from __future__ import annotations

import hashlib
import os
import pkgutil
import stat
import sys
import time
from collections.abc import Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any

from core.files import open_beside
from core.program import package

PACKAGE = package("core.compiled")
STARTED = time.time()
# Modules outside this package whose constants are compiled into kernels.
CODES = [package(f"core.{name}") for name in ("losses", "network.activation")]
WITHOUT_CODE = {
    "headless_process",
    "store",
    "kernel_groups",
}  # modules that do not affect compiled code
# Settings of numba that affect compiled code.
SETTINGS = (
    "OPT",
    "CPU_NAME",
    "CPU_FEATURES",
    "ENABLE_AVX",
    "BOUNDSCHECK",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "DISABLE_INTEL_SVML",
    "DEBUGINFO",
)
DIGEST = hashlib.sha256().digest_size
SUFFIX = ".kernel"
PROBE_BYTES = 1 << 16  # about the size of a kernel
MOST_LINKS = 40  # symbolic links on a path, the limit of Linux


def _code_text(value: Any) -> Iterator[str]:
    """Yield a constant or a code object as text, without file names and line numbers."""
    if isinstance(value, CodeType):
        yield f"{value.co_name} {value.co_names} {value.co_varnames} {value.co_freevars}"
        yield f"{value.co_cellvars} {value.co_argcount} {value.co_kwonlyargcount} {value.co_flags}"
        yield value.co_code.hex()
        for constant in value.co_consts:
            yield from _code_text(constant)
    elif isinstance(value, frozenset):
        yield " ".join(sorted(map(repr, value)))
    else:
        yield repr(value)


def _code_of(name: str) -> CodeType | None:
    spec = find_spec(name)
    loader: Any = None if spec is None else spec.loader
    if spec is not None and spec.origin is not None and not hasattr(loader, "get_code"):
        # An unmodified loader: pytest rewrites modules, for example.
        loader = SourceFileLoader(name, spec.origin)
    code: CodeType | None = None if loader is None else loader.get_code(name)
    return code


def _modules() -> list[str]:
    """Return the names of all modules that kernels depend on."""
    spec = find_spec(PACKAGE)
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    names = {info.name for info in pkgutil.iter_modules(places)} - WITHOUT_CODE
    return [*(f"{PACKAGE}.{name}" for name in sorted(names)), *CODES]


def is_replaced() -> bool:
    """Return True if another version was installed over the program since it started.

    The code in memory, and what the names of its files are made from, may be of two versions then.
    """
    for name in _modules():
        spec = find_spec(name)
        try:
            if spec and spec.origin and Path(spec.origin).stat().st_ctime > STARTED:
                return True
        except OSError:  # modules of a bundle are not files
            continue
    return False


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # a bundle without the package's metadata
        return ""


@cache
def code_digest() -> str:
    """Return a digest of the code of all kernels: equal wherever the same version is installed."""
    digest = hashlib.sha256()
    for module in _modules():
        digest.update(module.encode())
        for part in _code_text(_code_of(module)):
            digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


@cache
def processor() -> str:
    """Return the processor for which code is compiled, with all its features."""
    from llvmlite import binding

    features = binding.get_host_cpu_features().flatten()
    return f"{binding.get_process_triple()} {binding.get_host_cpu_name()} {features}"


@cache
def _versions() -> list[str]:
    return [_version_of(name) for name in ("numba", "llvmlite", "numpy")]


def folder() -> Path:
    """Return the folder of the stored kernels; NUMBA_CACHE_DIR names another parent."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        parent = Path(chosen)
    else:
        from platformdirs import user_cache_path

        parent = user_cache_path("marginscope") / "kernels"
    settings = [os.environ.get(f"NUMBA_{name}", "") for name in SETTINGS]
    key_parts = (code_digest(), sys.implementation.cache_tag, _versions(), settings)
    digest = hashlib.sha256(f"{key_parts} {processor()}".encode())
    return parent / digest.hexdigest()[:24]


def is_private(status: os.stat_result) -> bool:
    """Return True if a file or folder is this user's, whom alone its mode lets write.

    The group's right counts, even of a group of the user alone. Always True on Windows.
    """
    if os.name != "posix":  # on Windows the access list makes the profile's folder private
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def is_usable(place: Path) -> bool:
    """Return True for an existing private folder, no link, that no other user can replace."""
    try:
        status = place.lstat()
        private = stat.S_ISDIR(status.st_mode) and is_private(status)
        return private and untrusted_parent(place.absolute()) is None
    except OSError:
        return False


def untrusted_parent(path: Path, links: int = 0) -> Path | None:
    """Return the highest folder above a path that another user can rename, replace or redirect.

    Each folder and link on the way, also through links, must belong to the user or to root. Other
    users may write to a folder only if it is sticky, as /tmp is. None if all folders are safe, and
    on Windows. Raises OSError.
    """
    if os.name != "posix":
        return None
    for parent in reversed(path.parents):
        status = parent.lstat()
        if status.st_uid not in (0, os.geteuid()):
            return parent
        if stat.S_ISLNK(status.st_mode):
            relative = path.relative_to(parent)
            target = parent.parent / parent.readlink()
            return parent if links == MOST_LINKS else untrusted_parent(target / relative, links + 1)
        if not status.st_mode & stat.S_ISVTX and _others_may_write(status):
            return parent
    return None


def problem() -> str:
    """Return a sentence about a folder in which nothing can be saved, "" about a good one.

    Makes the folder, and writes a file that is removed at once.
    """
    place = folder()
    reason, remedy = _refusal(place)
    if not reason:
        return ""
    return (
        f"Compiled kernels cannot be saved in {place} ({reason}) and are recompiled at every "
        f"start, which takes minutes; {remedy}, or set NUMBA_CACHE_DIR to another folder."
    )


def _refusal(place: Path) -> tuple[str, str]:
    """Return why nothing can be saved in a folder, and what to do; empty if something can."""
    if is_replaced():
        return "another version was installed since this program started", "start it again"
    try:
        _make(place)
        if place.is_symlink():
            return "it is a link", "remove the link"
        if not is_private(place.lstat()):
            return "other users can change it", "allow only your account to write to it"
        above = untrusted_parent(place.absolute())
        if above is not None:
            return (
                f"other users can replace {above}",
                f"allow only your account to write to {above}",
            )
        with open_beside(place / "probe") as (_, descriptor), os.fdopen(descriptor, "wb") as file:
            file.write(bytes(PROBE_BYTES))
    except OSError as error:
        return error.strerror or str(error), "make it a writable folder with free space"
    return "", ""


def _make(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.mkdir(mode=0o700, exist_ok=True)


def _others_may_write(status: os.stat_result) -> bool:
    """Return True if other users can write; a group of the user alone is not others."""
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _is_own_group(status.st_gid)


@cache
def _is_own_group(number: int) -> bool:
    """Return True for the user's private group, to which Fedora's umask of 002 lets write."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(number)
    except KeyError:
        return False
    own = user.pw_gid == number and group.gr_name == user.pw_name
    return own and set(group.gr_mem) <= {user.pw_name}


def names() -> frozenset[str]:
    """Return the names of the existing files that may be read."""
    place = folder()
    if not is_usable(place):
        return frozenset()
    try:
        return frozenset(entry.name for entry in os.scandir(place))
    except OSError:
        return frozenset()


def name_for(kernel: str, types: str) -> str:
    """Return the file name of a kernel for argument types, both as numba writes them."""
    return f"{kernel}-{hashlib.sha256(types.encode()).hexdigest()[:16]}{SUFFIX}"


def load(name: str) -> bytes | None:
    """Return the content saved under a name; None if missing, damaged, or not private."""
    place = folder()
    if not is_usable(place):
        return None
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(place / name, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not is_private(status):
                return None
            content = file.read()
    except OSError:
        return None
    body = content[DIGEST:]
    return body if hashlib.sha256(body).digest() == content[:DIGEST] else None


def save(name: str, content: bytes) -> bool:
    """Save a content under a name, whole or not at all; return False if that fails.

    Nothing is saved once another version was installed over this one: machine code of one version
    would get the name of the other, which would use it.
    """
    place = folder()
    if is_replaced():
        return False
    try:
        _make(place)
        if not is_usable(place):
            return False
        with open_beside(place / name, mode=0o600) as (temporary, descriptor):
            with os.fdopen(descriptor, "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            temporary.replace(place / name)
    except OSError:
        return False
    return True
