"""Checkpoint files, read within limits: NPZ files, and those of `torch.save`.

A checkpoint may come from anywhere. Its list of contents, its headers and its pickle are checked
before memory is allocated, and arrays that no name selects are not read.
"""

from __future__ import annotations

import io
import math
import os
import pickletools
import stat
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, final

import numpy as np
from numpy.typing import NDArray

from marginscope._errors import InputError
from marginscope._numbers import whole_text

PICKLED = (".pt", ".pth", ".ckpt", ".bin")
MOST_BYTES = 512 << 20  # of the arrays that are read of one state, as float64
# Bytes of the pickle that describes the tensors, some 200 a tensor. One byte of a hostile pickle
# makes up to 100 bytes of objects.
MOST_PICKLE = 4 << 20
MOST_DIRECTORY = 4 << 20  # bytes of a zip's list of contents; zipfile takes ten times as much
MOST_HEADER = 10_000  # bytes of an array's header: NumPy's own limit
RATIO = 1032  # deflate packs at most so many bytes into one (zlib's "Maximum Compression Factor")
CHUNK = 1 << 20
# torch.load calls these while unpickling, and a few bytes repeat them on a megabyte each.
COPYING = ("_codecs encode", "builtins bytearray", "__builtin__ bytearray")
LEGACY_PICKLES = 5  # of a file from before PyTorch 1.6: magic number, version, system, data, keys
# A zip's last 22 bytes: signature, disks, counts, directory's size and offset, length of a note.
END = struct.Struct("<4s4H2LH")
# Before those in a zip64: signature, size, versions, disks, counts, directory's size and offset;
# then the locator: signature, disk, offset of this record, disks.
END64 = struct.Struct("<4sQ2H2L4Q4sLQL")
REMEDY = "read it in a loop of your own, and hand its arrays on as mappings"


@final
class LimitError(ValueError):
    """A file beyond a limit of this module; `remedy` is what its user can do."""

    def __init__(self, text: str, remedy: str = REMEDY) -> None:
        super().__init__(text)
        self.remedy = remedy


@contextmanager
def open_state(path: Path) -> Iterator[Any]:
    """Open a checkpoint file as a mapping of names to arrays, or whatever `torch.save` was given.

    The arrays of an NPZ are read when they are taken from the mapping.

    Parameters
    ----------
    path : Path
        Plain file ending in .npz or in one of `PICKLED`.

    Raises
    ------
    InputError
        The file is missing, no plain file, damaged, larger than the limits, or holds objects other
        than tensors. Also raised in the block, by arrays that are read late.
    """
    suffix = path.suffix.lower()
    if suffix != ".npz" and suffix not in PICKLED:
        raise InputError(
            f"{path} ends in {path.suffix or 'nothing'}; {', '.join(PICKLED)} and .npz are read. "
            "Read it in a loop of your own, and hand its arrays on as mappings."
        )
    with _open_plain(path) as file:
        if suffix == ".npz":
            with _translate_errors(path):
                check_directory(file)
                archive = zipfile.ZipFile(file)
            with archive:
                yield NpzArrays(path, archive)
        else:
            with _translate_errors(path):
                state = _load_tensors(path, file)
            yield state


def check_size(shape: tuple[int, ...], where: str) -> None:
    """Raise InputError for an array of more numbers than are read of one state."""
    size = math.prod(shape)
    if size > MOST_BYTES // 8:
        raise InputError(
            f"{where} has shape {shape}, {size:.3g} numbers; at most {MOST_BYTES // 8:.3g} are "
            "read. Give the weights alone."
        )


def _open_plain(path: Path) -> BinaryIO:
    """Open a plain file for reading. Raises InputError for others, without waiting for a pipe."""
    try:
        # Checked before opening, since opening a device may act on it, and after.
        plain = stat.S_ISREG(path.stat().st_mode)
        if plain:
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            file = os.fdopen(os.open(path, flags), "rb")
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return file
            file.close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"The checkpoint {path} cannot be read ({reason}); check the path."
        ) from error
    raise InputError(
        f"The checkpoint {path} is a folder, a pipe, a socket or a device; only plain files are "
        "read. Name the file itself, or save a copy of its content."
    )


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Turn every error that a damaged or hostile file leads to into InputError."""
    try:
        yield
    except InputError:
        raise
    except ImportError as error:
        raise InputError(f"{path} is PyTorch's, which is not installed here.") from error
    except LimitError as error:
        raise InputError(f"The checkpoint {path} is not read: {error}; {error.remedy}.") from error
    except Exception as error:
        first = " ".join(str(error).split())[:200].rstrip(".")
        raise InputError(
            f"The checkpoint {path} cannot be read as tensors alone "
            f"({first or type(error).__name__}); {REMEDY}."
        ) from error


def check_directory(file: BinaryIO) -> None:
    """Check the end of a zip before anything reads its list of contents.

    The list must be short, and lie directly before the end: zipfile and PyTorch search for it in
    different ways, and a file could show each of them another list.

    Raises
    ------
    ValueError
        The file does not end as a zip does, or its list of contents is too long.
    """
    length = file.seek(0, os.SEEK_END)
    file.seek(max(0, length - END.size - END64.size))
    tail = file.read()
    file.seek(0)
    end = tail[-END.size :]
    if len(end) < END.size or end[:4] != b"PK\5\6":
        raise ValueError("it does not end as a zip archive does")
    size, offset, note = END.unpack(end)[5:]
    before = length - END.size
    if tail[-END.size - 20 :][:4] == b"PK\6\7":
        if len(tail) < END.size + END64.size:
            raise ValueError("it is cut off")
        *_, size, offset, _, _, place, _ = END64.unpack(tail[: END64.size])
        before -= END64.size
        if tail[:4] != b"PK\6\6" or place != before:
            raise ValueError("its list of contents is not where its end says")
    if note or size + offset != before:
        raise ValueError("its list of contents is not where its end says")
    if size > MOST_DIRECTORY:
        raise LimitError(
            f"its list of contents has {whole_text(size)} bytes, and "
            f"{whole_text(MOST_DIRECTORY)} are allowed"
        )


@final
class NpzArrays(Mapping[str, NDArray[Any]]):
    """Lazy mapping of names to the arrays of an open NPZ, each read header first."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path, self._archive = path, archive
        self._members = {
            info.filename.removesuffix(".npy"): info
            for info in archive.infolist()
            if info.filename.endswith(".npy")
        }
        self._counted: dict[str, int] = {}  # bytes of the arrays that were asked for

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __getitem__(self, name: str) -> NDArray[Any]:
        info = self._members[name]
        with _translate_errors(self._path):
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{name} is packed in an unusual way")
            with self._archive.open(info) as file:
                shape, fortran, dtype = _read_header(file, name)
                start = file.tell()
                self._check(name, info, shape, dtype, start)
                values = np.empty(math.prod(shape), dtype)
                _fill(values, file, name)
        return values.reshape(shape, order="F" if fortran else "C")

    def _check(
        self,
        name: str,
        info: zipfile.ZipInfo,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        start: int,
    ) -> None:
        """Check an array's header against the limits and its length in the archive."""
        check_size(shape, f"The array {name} in {self._path}")
        size = math.prod(shape)
        length = start + size * dtype.itemsize
        if info.file_size != length or length > RATIO * info.compress_size + CHUNK:
            raise ValueError(f"{name} is not as long as its shape {shape} says")
        self._counted[name] = size * max(8, dtype.itemsize)
        if sum(self._counted.values()) > MOST_BYTES:
            raise LimitError(
                f"the arrays that were asked for, up to {name}, take more than "
                f"{MOST_BYTES >> 20} MB as float64, the most of one state",
                "save the weights alone",
            )


def _read_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, Fortran order and type of an array, and leave the file at its values."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        header = np.lib.format.read_array_header_1_0(file, max_header_size=MOST_HEADER)
    elif version == (2, 0):
        header = np.lib.format.read_array_header_2_0(file, max_header_size=MOST_HEADER)
    else:
        raise ValueError(f"{name} is an array of an unknown version")
    shape, fortran, dtype = header
    if any(type(length) is not int or length < 0 for length in shape):
        raise ValueError(f"{name} has an impossible shape")
    if dtype.hasobject:
        raise ValueError(f"{name} holds Python objects, which would have to be unpickled")
    return tuple(shape), fortran, dtype


def _fill(values: NDArray[Any], file: IO[bytes], name: str) -> None:
    """Read an array's values piece by piece, to the end of the member and its checksum."""
    rest = values.view(np.uint8).data if values.nbytes else memoryview(b"")
    while rest:
        piece = file.read(min(CHUNK, len(rest)))
        if not piece:
            raise ValueError(f"{name} is shorter than it says")
        rest[: len(piece)] = piece
        rest = rest[len(piece) :]
    if file.read(1):
        raise ValueError(f"{name} is longer than it says")


def _load_tensors(path: Path, file: BinaryIO) -> Any:
    """Load a file of `torch.save`, of tensors alone, once its parts were checked."""
    import torch

    length = os.fstat(file.fileno()).st_size
    mapped = length > MOST_BYTES
    if file.read(4) == b"PK\3\4":  # as PyTorch tells its two formats apart
        _check_archive(file, length)
    elif mapped:
        raise LimitError(
            f"it has {length >> 20} MB in PyTorch's format from before version 1.6, and "
            f"{MOST_BYTES >> 20} are allowed",
            "save it again with torch.save",
        )
    else:
        file.seek(0)
        _check_pickles(file, LEGACY_PICKLES)
    # A large file is mapped, so that only the pages of the named tensors are read. A small one is
    # not: a program that shortens a mapped file ends this one (SIGBUS).
    return torch.load(str(path), map_location="cpu", weights_only=True, mmap=mapped)


def _check_archive(file: BinaryIO, length: int) -> None:
    """Check the zip of `torch.save`: sizes, checksums (PyTorch reads past them) and the pickle."""
    check_directory(file)
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        for info in members:
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                raise LimitError(
                    f"{info.filename} in it is compressed, which torch.save never does",
                    "save it again with torch.save",
                )
        if sum(info.file_size for info in members) > length:
            raise ValueError("its parts are longer than the file")
        for info in members:
            if info.filename.endswith("data.pkl"):
                if info.file_size > MOST_PICKLE:
                    raise _long_pickle()
                _check_pickles(io.BytesIO(archive.read(info)), 1)
        if (damaged := archive.testzip()) is not None:
            raise ValueError(f"{damaged} in it is damaged")


def _check_pickles(file: IO[bytes], count: int) -> None:
    """Check the next pickles of a file, without unpickling: their length, and what they call."""
    start = file.tell()
    for _ in range(count):
        for code, argument, _place in pickletools.genops(file):
            if file.tell() - start > MOST_PICKLE:
                raise _long_pickle()
            if code.name == "GLOBAL" and argument in COPYING:
                raise LimitError("it holds raw bytes beside tensors", "save the weights alone")


def _long_pickle() -> LimitError:
    return LimitError(
        f"what it holds beside tensors takes more than {whole_text(MOST_PICKLE)} bytes",
        "save the weights alone",
    )
