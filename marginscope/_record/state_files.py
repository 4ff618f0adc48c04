"""Checkpoint files, read within limits: NPZ, safetensors, and those of `torch.save`.

A checkpoint may come from anywhere. Its list of contents, its headers and its pickle are checked
before memory is allocated, and arrays that no name selects are not read.
"""

from __future__ import annotations

import math
import os
import stat
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.numbers import whole_text
from marginscope._record import limits
from marginscope._record.limits import REMEDY, FileArrays, LimitError, translate_errors
from marginscope._record.tensor_files import (
    TensorArrays,
    is_tensor_file,
    load_tensors,
    other_types,
    refusal,
)

NPZ, TORCH, LEGACY_TORCH, TENSORS = "npz", "torch", "legacy torch", "safetensors"
HEAD_BYTES = 512
# Magic number in the first pickle of torch.save before version 1.6.
LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
UNPACK = "unpack it, and name the files in it"
OTHERS = (  # first bytes, kind of the file, and remedy
    (b"ustar", "a tar archive", UNPACK),
    (b"\x1f\x8b", "compressed by gzip", UNPACK),
    (b"BZh", "compressed by bzip2", UNPACK),
    (b"\xfd7zXZ", "compressed by xz", UNPACK),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", UNPACK),
    (b"\x89HDF", "an HDF5 file", "read it with h5py, and pass its arrays on as mappings"),
    (b"\x93NUMPY", "a single array", "save all arrays of a state in one file, with numpy.savez"),
    (b"version http", "a pointer of Git LFS", "fetch the file with git lfs pull"),
)
MOST_HEADER = 10_000  # bytes of an array's header: NumPy's own limit
RATIO = 1032  # largest compression ratio of deflate (zlib's "Maximum Compression Factor")
CHUNK = 1 << 20
# Last 22 bytes of a zip: signature, disks, counts, directory's size and offset, length of a note.
END = struct.Struct("<4s4H2LH")
# In a zip64 before them: signature, size, versions, disks, counts, directory's size and offset;
# then the locator: signature, disk, offset of this record, disks.
END64 = struct.Struct("<4sQ2H2L4Q4sLQL")


@contextmanager
def open_state(path: Path) -> Iterator[Any]:
    """Open a checkpoint file as a mapping of names to arrays, or whatever `torch.save` was given.

    The arrays of NPZ and safetensors files are read when they are taken from the mapping. Files
    are known by their content, whatever their names end in.

    Parameters
    ----------
    path : Path
        Plain file of `torch.save`, of NumPy's `savez`, or of safetensors.

    Raises
    ------
    InputError
        The file is missing, no plain file, of another format, damaged, larger than the limits, or
        holds objects other than tensors. Also raised in the block, by arrays that are read late.
    """
    with open_plain(path) as file:
        with translate_errors(path):
            kind = _format_of(path, file)
            if kind == NPZ:
                content: Any = NpzArrays(path, zipfile.ZipFile(file))
            elif kind == TENSORS:
                content = TensorArrays(path, file)
            else:
                content = load_tensors(path, file, kind == TORCH)
        yield content


def _format_of(path: Path, file: BinaryIO) -> str:
    """Return the format of an open file, by its content.

    Raises
    ------
    InputError
        It is none of those that are read.
    ValueError
        It is a damaged zip archive.
    """
    file.seek(0)
    head, length = file.read(HEAD_BYTES), os.fstat(file.fileno()).st_size
    if head.startswith((b"PK\3\4", b"PK\5\6")):
        check_directory(file)
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
        return TORCH if any(name.endswith("data.pkl") for name in names) else NPZ
    if is_tensor_file(head, length):
        return TENSORS
    if head.startswith(LEGACY):
        return LEGACY_TORCH
    if head[:1] == b"\x80" and head[1:2] <= b"\5":
        file.seek(0)
        raise refusal(path, other_types(file) or ["its objects"], torch=False)
    raise unknown_format(path, head)


def unknown_format(path: Path, head: bytes) -> InputError:
    """Return the error for a file that is no checkpoint: what it is, and what to do."""
    for start, file_kind, remedy in OTHERS:
        place = 257 if start == b"ustar" else 0
        if head[place : place + len(start)] == start:
            return InputError(f"The checkpoint {path} is {file_kind}; {remedy}.")
    return InputError(
        f"The checkpoint {path} is not a file of torch.save, NumPy's savez or safetensors; "
        f"{REMEDY}."
    )


def open_plain(path: Path) -> BinaryIO:
    """Open a plain file for reading. Raises InputError for others, without waiting for a pipe."""
    try:
        # Checked before opening, since opening a device may act on it, and again after.
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


def check_directory(file: BinaryIO) -> None:
    """Check the end of a zip before anything reads its list of contents.

    The directory must be short and directly before the end: zipfile and PyTorch search for it in
    different ways, and a file could show each of them another one.

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
        raise ValueError("it has no end of a zip archive")
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
    if size > limits.MOST_DIRECTORY:
        raise LimitError(
            f"its list of contents has {whole_text(size)} bytes, and "
            f"{whole_text(limits.MOST_DIRECTORY)} are allowed"
        )


@final
class NpzArrays(FileArrays):
    """Arrays of an open NPZ, each read header first."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        names = (info for info in archive.infolist() if info.filename.endswith(".npy"))
        super().__init__(path, {info.filename.removesuffix(".npy"): info for info in names})
        self._archive = archive

    def _read(self, name: str) -> NDArray[Any]:
        info = self._entries[name]
        with self._open(name) as file:
            shape, fortran, dtype = _read_header(file, name)
            self._check(name, info, shape, dtype, file.tell())
            values = np.empty(math.prod(shape), dtype)
            _fill(values, file, name)
        return values.reshape(shape, order="F" if fortran else "C")

    def _shape(self, name: str) -> tuple[tuple[int, ...], bool]:
        """Return an array's shape, and True if its numbers are floats, from its header alone."""
        with self._open(name) as file:
            shape, _, dtype = _read_header(file, name)
            return shape, dtype.kind == "f"

    def _open(self, name: str) -> IO[bytes]:
        info = self._entries[name]
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{name} is packed in an unusual way")
        return self._archive.open(info)

    def _check(
        self,
        name: str,
        info: zipfile.ZipInfo,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        start: int,
    ) -> None:
        """Check an array's header against the limits and its length in the archive."""
        self._count(name, shape, dtype)
        length = start + math.prod(shape) * dtype.itemsize
        if info.file_size != length or length > RATIO * info.compress_size + CHUNK:
            raise ValueError(f"{name} is not as long as its shape {shape} says")


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
    buffer = values.view(np.uint8).data if values.nbytes else memoryview(b"")
    while buffer:
        piece = file.read(min(CHUNK, len(buffer)))
        if not piece:
            raise ValueError(f"{name} is shorter than it says")
        buffer[: len(piece)] = piece
        buffer = buffer[len(piece) :]
    if file.read(1):
        raise ValueError(f"{name} is longer than it says")
