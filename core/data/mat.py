"""MATLAB's .mat files of version 5: matrices of numbers, with sizes checked before allocation.

Only what `save` writes for numeric and logical matrices is read, compressed or not; cells, structs,
objects, text and sparse matrices are named and left out. The format is described in MathWorks'
"MAT-File Format".
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, final

import numpy as np

from core.data.dataset import Array
from core.data.numpy_files import RATIO
from core.errors import InputError
from core.settings import MAX_ELEMENTS

HEADER = 128  # bytes: a text that ends with version and byte order
MOST_ARRAYS = 64
MOST_NAME = 255
CHUNK = 1 << 20
MATRIX, COMPRESSED, INT8, INT32, UINT32 = 14, 15, 1, 5, 6
COMPLEX = 0x0800
# Storage types of values; MATLAB stores integral doubles as small integers.
STORED = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
NUMERIC = range(6, 16)  # array classes: double, single, and integers
CLASSES = {
    1: "cell",
    2: "struct",
    3: "object",
    4: "char",
    5: "sparse",
    16: "function",
    17: "object",
}


@final
@dataclass(frozen=True, slots=True)
class Matrix:
    shape: tuple[int, ...]
    place: int


@final
class MatFile(AbstractContextManager["MatFile"]):
    """Open .mat file: `shapes` are read at once, values on request.

    Raises InputError, whose sentence starts with `subject`, for a missing or damaged file.
    """

    def __init__(self, path: Path, subject: str) -> None:
        self._path, self._subject = path, subject
        self._matrices: dict[str, Matrix] = {}
        self.others: dict[str, InputError] = {}  # for variables that are not numeric matrices
        if not path.is_file():
            raise InputError(f"{subject}: {path} does not exist; check the path.")
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise self._unreadable(str(error)) from error
        try:
            self._order = self._read_start()
            self._read_directory()
        except (OSError, ValueError, zlib.error, struct.error) as error:
            self._file.close()
            raise self._unreadable(str(error)) from error
        except InputError:
            self._file.close()
            raise

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {name: matrix.shape for name, matrix in self._matrices.items()}

    def read(self, name: str) -> Array:
        """Return the values of a matrix.

        Parameters
        ----------
        name : str
            Matrix, one of `shapes`.

        Returns
        -------
        array
            float64, in the matrix's shape.

        Raises
        ------
        InputError
            The file is damaged.
        """
        matrix = self._matrices[name]
        try:
            element = self._element(matrix.place)
            element.read_header()
            values = element.read_values(math.prod(matrix.shape))
        except (OSError, ValueError, zlib.error, struct.error) as error:
            raise self._unreadable(str(error)) from error
        return np.ascontiguousarray(values.reshape(matrix.shape, order="F"))

    def _read_start(self) -> str:
        start = self._file.read(HEADER)
        if start.startswith((b"MATLAB 7.3", b"\x89HDF")):
            raise self._unreadable("it is of version 7.3", 'save it with save(..., "-v7")')
        order = {b"IM": "<", b"MI": ">"}.get(start[126:128])
        if order is None or struct.unpack(f"{order}H", start[124:126])[0] >> 8 != 1:
            raise ValueError("it is not a file of version 5")
        return order

    def _read_directory(self) -> None:
        length = self._path.stat().st_size
        place = HEADER
        while place < length:
            if len(self._matrices) + len(self.others) == MOST_ARRAYS:
                raise ValueError(f"it holds more than {MOST_ARRAYS} arrays")
            element = self._element(place)
            if element.end > length:
                raise ValueError("it is cut off")
            name, shape, kind = element.read_header()
            if kind:
                self.others[name] = InputError(
                    f"{self._subject}: the array {name[:40]} in {self._path} is of class {kind}; "
                    "save a full matrix of real numbers."
                )
            elif math.prod(shape) > MAX_ELEMENTS:
                raise InputError(
                    f"{self._subject}: the array {name[:40]} in {self._path} has "
                    f"{math.prod(shape):.3g} values; at most {MAX_ELEMENTS:.0e} are read; save "
                    "fewer."
                )
            else:
                self._matrices[name] = Matrix(shape, place)
            place = element.end

    def _element(self, place: int) -> _Element:
        return _Element(self._file, place, self._order)

    def _unreadable(
        self, reason: str, remedy: str = 'write it with save(..., "-v7")'
    ) -> InputError:
        return InputError(
            f"{self._subject}: {self._path} is not a readable .mat file ({reason}); {remedy}."
        )


@final
class _Element:
    """Top-level element, read forwards, and unpacked piece by piece if compressed."""

    def __init__(self, file: IO[bytes], place: int, order: str) -> None:
        self._file, self._order = file, order
        self._unpack: Any = None
        self._ready = b""  # bytes of a short part, or decompressed and not yet read
        self._short = False
        file.seek(place)
        kind, size = struct.unpack(f"{order}2I", self._exactly_from_file(8))
        # Compressed elements have no padding.
        self.end = place + 8 + size
        self._left = self._size = size
        if kind == COMPRESSED:
            self._unpack = zlib.decompressobj()
            kind, size = struct.unpack(f"{order}2I", self._read_bytes(8))
        if kind != MATRIX:
            raise ValueError("it holds more than arrays")

    def read_header(self) -> tuple[str, tuple[int, ...], str]:
        """Return name and shape, and the class unless it is a real numeric matrix, else ""."""
        kind, size = self._tag()
        if (kind, size) != (UINT32, 8):
            raise ValueError("an array has no flags")
        flags = struct.unpack(f"{self._order}I", self._read_bytes(8)[:4])[0]
        number = flags & 0xFF
        if number == 17:  # class 17, an object, has no dimensions
            return "an object", (), "object"
        kind, size = self._tag()
        if kind != INT32 or not 8 <= size <= 32 or size % 4:
            raise ValueError("an array has no sizes")
        shape = struct.unpack(f"{self._order}{size // 4}i", self._read_padded(size))
        if any(length < 0 for length in shape):
            raise ValueError("an array has an impossible size")
        kind, size = self._tag()
        if kind != INT8 or size > MOST_NAME:
            raise ValueError("an array has no name")
        name = self._read_padded(size).decode("ascii", "replace")
        class_name = "" if number in NUMERIC else CLASSES.get(number, "unknown")
        return name, shape, "complex" if flags & COMPLEX and not class_name else class_name

    def read_values(self, count: int) -> Array:
        """Return the real part, (count,). Raises ValueError if lengths do not agree."""
        kind, size = self._tag()
        if kind not in STORED:
            raise ValueError("an array has values of an unknown type")
        dtype = np.dtype(f"{self._order}{STORED[kind]}")
        if size != count * dtype.itemsize:
            raise ValueError("the length of an array does not match its sizes")
        # Before memory is allocated: deflate compresses at most RATIO to one.
        if size > (self._size if self._unpack is None else RATIO * self._size):
            raise ValueError("an array is longer than its element")
        values, n_read = np.empty(count), 0
        while n_read < count:
            step = min(CHUNK // dtype.itemsize, count - n_read)
            values[n_read : n_read + step] = np.frombuffer(
                self._read_bytes(step * dtype.itemsize), dtype
            )
            n_read += step
        if self._unpack is not None:
            self._finish(-size % 8)
        return values

    def _finish(self, padding: int) -> None:
        """Read to the end of packed data, so that zlib compares the checksum."""
        self._read_bytes(0 if self._short else padding)
        while not self._unpack.eof:
            packed = self._unpack.unconsumed_tail or self._file.read(min(CHUNK, self._left))
            self._left -= 0 if self._unpack.unconsumed_tail else len(packed)
            if self._unpack.decompress(packed, 1):
                raise ValueError("an array is longer than stated")
            if not packed:
                raise ValueError("it is cut off")

    def _tag(self) -> tuple[int, int]:
        """Return type and length of the next part; the tag itself holds short parts."""
        first = self._read_bytes(4)
        word = struct.unpack(f"{self._order}I", first)[0]
        self._short = bool(word >> 16)
        if word >> 16 > 4:
            raise ValueError("a short part is too long")
        if self._short:
            self._ready = self._read_bytes(4)[: word >> 16] + self._ready
            return word & 0xFFFF, word >> 16
        return word, struct.unpack(f"{self._order}I", self._read_bytes(4))[0]

    def _read_padded(self, size: int) -> bytes:
        data = self._read_bytes(size)
        if not self._short:
            self._read_bytes(-size % 8)
        return data

    def _read_bytes(self, size: int) -> bytes:
        """Return the next bytes. Raises ValueError at the end."""
        if self._unpack is None:
            head, self._ready = self._ready[:size], self._ready[size:]
            return head + self._exactly_from_file(size - len(head))
        pieces, n_bytes = [self._ready[:size]], len(self._ready[:size])
        self._ready = self._ready[size:]
        while n_bytes < size:
            packed = self._unpack.unconsumed_tail
            if not packed:
                packed = self._file.read(min(CHUNK, self._left))
                self._left -= len(packed)
            piece = self._unpack.decompress(packed, size - n_bytes)
            if not piece and not self._unpack.unconsumed_tail and not (packed and self._left):
                raise ValueError("it is cut off")
            pieces.append(piece)
            n_bytes += len(piece)
        return b"".join(pieces)

    def _exactly_from_file(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) < size:
            raise ValueError("it is cut off")
        return data
