"""Files of the library safetensors: a header in JSON, and the arrays' bytes after it.

Layout: 8 bytes with the header's length (little-endian), the header, the values. The header has
for each array its type, shape, and first and last byte among the values. Nothing in it can run.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard, final

import numpy as np
from numpy.typing import NDArray

from core.numbers import whole_text
from marginscope._record import limits
from marginscope._record.limits import LimitError, ReadArrays

LENGTH = 8  # bytes of the header's length
BFLOAT = "BF16"  # the upper half of a float32
DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    BFLOAT: "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
NOTES = "__metadata__"  # texts, which are not arrays


def is_tensor_file(head: bytes, length: int) -> bool:
    """Return True if the first bytes of a file of some length are those of this format."""
    size = int.from_bytes(head[:LENGTH], "little")
    return 2 <= size <= length - LENGTH and head[LENGTH : LENGTH + 1] == b"{"


@final
class TensorArrays(Mapping[str, NDArray[Any]]):
    """Lazy mapping of names to the arrays of an open safetensors file.

    Parameters
    ----------
    path : Path
        What messages call the file.
    file : BinaryIO
        The open file.

    Raises
    ------
    ValueError
        The header is damaged, or longer than the limit (`LimitError`).
    """

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._file, self._read = file, ReadArrays(path)
        length = os.fstat(file.fileno()).st_size
        file.seek(0)
        size = int.from_bytes(file.read(LENGTH), "little")
        if size > min(limits.MOST_DIRECTORY, length - LENGTH):
            if size <= length - LENGTH:
                raise LimitError(
                    f"its header has {whole_text(size)} bytes, and "
                    f"{whole_text(limits.MOST_DIRECTORY)} are allowed",
                    limits.FEWER,
                )
            raise ValueError("its header is longer than the file")
        self._start, self._size = LENGTH + size, length - LENGTH - size
        header = json.loads(file.read(size).decode(), object_pairs_hook=_without_repeats)
        if not isinstance(header, dict):
            raise ValueError("its header is no object")
        self._entries = {name: entry for name, entry in header.items() if name != NOTES}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def float_shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of an array, None if it is not of real numbers. Raises ValueError."""
        shape, kind, _ = self._place(name)
        return shape if "F" in kind else None

    def __getitem__(self, name: str) -> NDArray[Any]:
        shape, kind, first = self._place(name)
        dtype = np.dtype(DTYPES[kind])
        self._read.add(name, shape, dtype)
        values = np.empty(math.prod(shape), dtype)
        self._file.seek(self._start + first)
        if values.nbytes and self._file.readinto(values.view(np.uint8).data) != values.nbytes:  # type: ignore[attr-defined]
            raise ValueError(f"{name} is shorter than it says")
        if kind == BFLOAT:
            values = (values.astype(np.uint32) << 16).view(np.float32)
        return values.reshape(shape)

    def _place(self, name: str) -> tuple[tuple[int, ...], str, int]:
        """Return shape, type and first byte of an array, checked against the file."""
        entry = self._entries[name]
        if not isinstance(entry, dict):
            raise ValueError(f"the entry of {name} is no object")
        kind, shape, place = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
        if not isinstance(kind, str) or kind not in DTYPES:
            raise LimitError(
                f"{name} is of the type {str(kind)[:20]}, and {', '.join(DTYPES)} are read",
                "save it as float32",
            )
        if not _are_counts(shape, limits.MOST_DIMENSIONS):
            raise ValueError(f"{name} has an impossible shape")
        if not _are_counts(place, 2) or len(place) != 2:
            raise ValueError(f"{name} has no place among the values")
        first, last = place
        size = math.prod(shape) * np.dtype(DTYPES[kind]).itemsize
        if not first <= last <= self._size or last - first != size:
            raise ValueError(f"{name} is not as long as its shape {tuple(shape)} says")
        return tuple(shape), kind, first


def _are_counts(values: Any, most: int) -> TypeGuard[list[int]]:
    """Return True for a list of at most so many whole numbers that a file's length can have."""
    return (
        isinstance(values, list)
        and len(values) <= most
        and all(type(value) is int and 0 <= value < 2**62 for value in values)
    )


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of the header. Raises ValueError where a name is there twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name is in its header twice")
    return made
