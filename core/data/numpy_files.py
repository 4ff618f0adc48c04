"""NPZ and .npy files, header first: sizes are checked before memory is allocated."""

from __future__ import annotations

import math
import re
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, final

import numpy as np

from core.data.dataset import Array
from core.errors import InputError
from core.settings import MAX_ELEMENTS

MOST_ARRAYS = 64
MOST_DIRECTORY = 64_000  # bytes of a zip file's directory
# NumPy's own limit for literal_eval: bytes of an array's header, which has shape and type.
# NumPy's own limit for literal_eval: bytes of an array's header, which has shape and type.
MOST_HEADER = 10_000
RATIO = 1032  # largest compression ratio of deflate (zlib's "Maximum Compression Factor")
SLACK = 1 << 20  # bytes
END = struct.Struct("<4s4H2LH")  # last 22 bytes of a zip: signature, disks, counts, directory, note
# All exceptions that zipfile, zlib and NumPy raise for foreign bytes; they document no smaller set.
DAMAGED = (
    OSError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    struct.error,
    SyntaxError,
    tokenize.TokenError,
    MemoryError,
    OverflowError,
)


@final
@dataclass(frozen=True, slots=True)
class Header:
    """Shape and type that an array states, and the offset of its values in the file."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    start: int

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@final
class NpzFile(AbstractContextManager["NpzFile"]):
    """Open NPZ file: `shapes` are read at once, values on request.

    Raises InputError, whose sentence starts with `subject`, for a missing or foreign file and for
    arrays that are not plain numbers. Nothing is ever unpickled.
    """

    def __init__(self, path: Path, subject: str, lenient: bool = False) -> None:
        """Open a file. `lenient` leaves arrays out that are not of numbers; see `others`."""
        self._path, self._subject, self._lenient = path, subject, lenient
        self.others: dict[str, InputError] = {}
        if not path.is_file():
            raise InputError(f"{subject}: {path} does not exist; check the path.")
        try:
            _check_zip_trailer(path)
            self._zip = zipfile.ZipFile(path)
        except DAMAGED as error:
            raise self._unreadable(error) from error
        try:
            self._headers = self._all_headers()
        except BaseException:
            self._zip.close()
            raise

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {name: header.shape for name, header in self._headers.items()}

    def read(self, name: str) -> Array:
        """Return the values of an array.

        Parameters
        ----------
        name : str
            Array, one of `shapes`.

        Returns
        -------
        array
            float64, in the array's shape.

        Raises
        ------
        InputError
            The file is damaged.
        """
        try:
            with self._zip.open(f"{name}.npy") as file:
                return read_values(file)
        except DAMAGED as error:
            raise self._unreadable(error) from error

    def _all_headers(self) -> dict[str, Header]:
        headers: dict[str, Header] = {}
        for info in self._zip.infolist():
            name = info.filename.removesuffix(".npy")
            if name == info.filename or name in headers or len(headers) == MOST_ARRAYS:
                raise self._unreadable(ValueError("it holds more than arrays"))
            if info.flag_bits & 1 or info.compress_type not in (
                zipfile.ZIP_STORED,
                zipfile.ZIP_DEFLATED,
            ):
                raise self._unreadable(ValueError("it is encrypted, or packed in an unusual way"))
            header = self._header(info, name)
            if header is not None:
                headers[name] = header
        return headers

    def _header(self, info: zipfile.ZipInfo, name: str) -> Header | None:
        try:
            with self._zip.open(info) as file:
                header = read_header(file)
        except DAMAGED as error:
            raise self._unreadable(error) from error
        where = f"{self._subject}: the array {name} in {self._path}"
        try:
            check_header(header, where)
        except InputError as error:
            if not self._lenient or header.dtype.kind in "fiub":
                raise
            self.others[name] = error
            return None
        # Deflate compresses at most RATIO to one; SLACK covers the headers of small files.
        length = header.start + header.size * header.dtype.itemsize
        if info.file_size != length or length > RATIO * info.compress_size + SLACK:
            raise InputError(f"{where} does not match its shape {header.shape}: save it again.")
        return header

    def _unreadable(self, error: Exception) -> InputError:
        # Messages of this module begin with "it"; those of zipfile and NumPy are for programmers.
        reason = str(error) if type(error) is ValueError and str(error)[:2] == "it" else ""
        return InputError(
            f"{self._subject}: {self._path} is not a readable NPZ file "
            f"({reason or type(error).__name__}); write it with numpy.savez."
        )


def _check_zip_trailer(path: Path) -> None:
    """Raise ValueError unless a file ends as a zip with a short list of contents does.

    Opening the file reads the whole list, and a large one takes gigabytes.
    """
    with path.open("rb") as file:
        file.seek(0, 2)
        length = file.tell()
        file.seek(max(0, length - END.size - 20))
        tail = file.read(END.size + 20)
    end = tail[-END.size :]
    if len(end) < END.size or end[:4] != b"PK\5\6":
        raise ValueError("it is not a zip archive (a single .npy array is not one)")
    # PK 6 7 points to the directory of a zip64, whose length is stored elsewhere. numpy.savez
    # writes no note after the directory: the end record is always the last 22 bytes.
    size = END.unpack(end)[5]
    if size > MOST_DIRECTORY or tail[: -END.size].startswith(b"PK\6\7"):
        raise ValueError(f"its list of contents has {size} bytes, too many for a few arrays")


def check_header(header: Header, where: str) -> None:
    """Raise InputError for an array that is not of numbers, or larger than a run may be."""
    if header.dtype.hasobject:
        raise InputError(
            f"{where} is not a plain array of numbers (an object array would have to be "
            "unpickled, which is never done); save it as float64."
        )
    if header.dtype.kind not in "fiub":
        raise InputError(f"{where} has type {header.dtype}; save it as numbers.")
    if header.size > MAX_ELEMENTS:
        raise InputError(
            f"{where} has {header.size:.3g} values; at most {MAX_ELEMENTS:.0e} are read; save "
            "fewer."
        )


def read_header(file: IO[bytes]) -> Header:
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    version = np.lib.format.read_magic(file)
    if version not in read:
        raise ValueError("it has an array of an unknown version")
    shape, _, dtype = read[version](file, max_header_size=MOST_HEADER)
    if any(type(length) is not int or length < 0 for length in shape) or len(shape) > 8:
        raise ValueError("it has an array of an impossible shape")
    return Header(tuple(shape), dtype, file.tell())


def read_values(file: IO[bytes]) -> Array:
    """Return an array whose header was checked, in float64.

    At the end of a file zipfile compares its checksum.

    Parameters
    ----------
    file : file object
        At the start of the array.

    Returns
    -------
    array
        Values, in the shape of the header.

    Raises
    ------
    DAMAGED
        One of these, for a file that is shorter or longer than it says.
    """
    values = np.lib.format.read_array(file, allow_pickle=False, max_header_size=MOST_HEADER)
    if file.read(1):
        raise ValueError("it is longer than stated")
    return np.ascontiguousarray(values, dtype=np.float64)


# ----------------------------------------------------------------------- .npy files side by side

PARTNERS = {
    "x": ("y",),
    "data": ("labels", "label", "targets", "target"),
    "features": ("labels", "label", "targets", "target"),
    "inputs": ("labels", "label", "targets", "target"),
}
LABELS = frozenset(("y", "labels", "label", "targets", "target"))
WORD = re.compile(r"[^_\-. ]+")
TRAIN = re.compile(r"train(?:ing)?", re.IGNORECASE)


@final
class NpyFiles(AbstractContextManager["NpyFiles"]):
    """Arrays x and y, perhaps x_test and y_test, of a .npy file and those beside it.

    `shapes` are read at once, values on request. A table without a file of labels beside it has the
    name `table`. Raises InputError for missing and damaged files.
    """

    def __init__(self, path: Path, subject: str, alone: bool) -> None:
        self._subject = subject
        self._paths = _arrays_beside(path, subject, alone)
        self._headers = {name: self._header(one) for name, one in self._paths.items()}
        self.note = ", ".join(
            f"{name} is {one.name}" for name, one in self._paths.items() if one != path
        )

    def __exit__(self, *_: object) -> None:
        return None  # files are open only while they are read

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {name: header.shape for name, header in self._headers.items()}

    def read(self, name: str) -> Array:
        path = self._paths[name]
        try:
            with path.open("rb") as file:
                return read_values(file)
        except DAMAGED as error:
            raise self._unreadable(path, error) from error

    def _header(self, path: Path) -> Header:
        try:
            with path.open("rb") as file:
                header = read_header(file)
        except DAMAGED as error:
            raise self._unreadable(path, error) from error
        check_header(header, f"{self._subject}: the array in {path}")
        if path.stat().st_size != header.start + header.size * header.dtype.itemsize:
            raise InputError(
                f"{self._subject}: {path} does not match its shape {header.shape}: save it again."
            )
        return header

    def _unreadable(self, path: Path, error: Exception) -> InputError:
        return InputError(
            f"{self._subject}: {path} is not a readable .npy file ({type(error).__name__}); write "
            "it with numpy.save."
        )


def _arrays_beside(path: Path, subject: str, alone: bool) -> dict[str, Path]:
    """Return the files of x, y and perhaps x_test, y_test by these names."""
    if not path.is_file():
        raise InputError(f"{subject}: {path} does not exist; check the path.")
    if alone:  # data.label names the column of labels
        return {"table": path}
    words = WORD.findall(path.stem)
    if not any(word.lower() in PARTNERS for word in words):
        if any(word.lower() in LABELS for word in words):
            raise InputError(
                f"{subject}: {path} holds labels, by its name; give the file of the inputs, "
                "such as "
                "X.npy next to y.npy."
            )
        raise _single_array(path, subject, "its name has no X to replace by y")
    names_of_partner = _partner_names(path.stem)
    paths = [
        one for one in (path.with_name(f"{name}.npy") for name in names_of_partner) if one.is_file()
    ]
    # On a case-insensitive file system two names may be the same file.
    paths = [one for k, one in enumerate(paths) if not any(map(one.samefile, paths[:k]))]
    if len(paths) != 1:
        reason = f"{names_of_partner[0]}.npy is missing"
        if paths:
            reason = f"{' and '.join(one.name for one in paths)} are next to it"
        raise _single_array(path, subject, reason)
    pair = {"x": path, "y": paths[0]}
    tests = {"x_test": _test_of(path), "y_test": _test_of(paths[0])}
    present = {name: one for name, one in tests.items() if one.is_file()}
    if len(present) == 1:
        lonely, lacking = next(iter(present.values())), "y" if "x_test" in present else "x"
        raise InputError(
            f"{subject}: {lonely}, next to {path.name}, lacks its {lacking}; add it, "
            "or move the file."
        )
    return pair | present


def _single_array(path: Path, subject: str, reason: str) -> InputError:
    return InputError(
        f"{subject}: {path} needs a file of labels next to it, such as y.npy for X.npy or "
        f"y_train.npy for X_train.npy; {reason}. If one of its columns has the labels, set "
        'data.label = "last", "first" or its number from 1.'
    )


def _partner_names(stem: str) -> list[str]:
    """Return the names of label files that may belong to a file of inputs.

    >>> _partner_names("X_train"), _partner_names("iris-x")
    (['y_train', 'Y_train'], ['iris-y', 'iris-Y'])
    """
    matches = [match for match in WORD.finditer(stem) if match[0].lower() in PARTNERS]
    if not matches:
        return []
    match = matches[-1]
    labels = PARTNERS[match[0].lower()]
    words = (*labels, *(label.upper() for label in labels if label == "y"))
    return [stem[: match.start()] + word + stem[match.end() :] for word in words]


def _test_of(path: Path) -> Path:
    """Return the file of test points beside a file of training points."""
    stem, count = TRAIN.subn("test", path.stem)
    return path.with_name(f"{stem if count else path.stem + '_test'}.npy")
