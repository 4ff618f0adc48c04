"""Files of tensors: those of `torch.save`, and of the library safetensors."""

from __future__ import annotations

import io
import json
import math
import os
import pickletools
import re
import shlex
import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeGuard, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.numbers import whole_text
from core.run_files.meta import printable
from marginscope._record import limits
from marginscope._record.limits import FEWER, MOST_PICKLE, FileArrays, LimitError

# ----------------------------------------------------------------------------------- safetensors
#
# Layout: 8 bytes with the header's length (little-endian), the header, the values. The header has
# for each array its type, shape, and first and last byte among the values. Nothing in it can run.

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
NOTES = "__metadata__"  # key of texts, which are not arrays


def is_tensor_file(head: bytes, length: int) -> bool:
    """Return True if the first bytes of a file of some length are those of this format."""
    size = int.from_bytes(head[:LENGTH], "little")
    return 2 <= size <= length - LENGTH and head[LENGTH : LENGTH + 1] == b"{"


@final
class TensorArrays(FileArrays):
    """Arrays of an open safetensors file.

    Raises ValueError for a header that is damaged, or longer than the limit (`LimitError`).
    """

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._file = file
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
            raise ValueError("its header is not an object")
        super().__init__(path, {name: one for name, one in header.items() if name != NOTES})

    def _shape(self, name: str) -> tuple[tuple[int, ...], bool]:
        """Return the shape of an array, and True if it has floating-point numbers."""
        shape, kind, _ = self._place(name)
        return shape, "F" in kind

    def _read(self, name: str) -> NDArray[Any]:
        """Return an array in its own type; bfloat16 as float32. Raises ValueError or LimitError."""
        shape, kind, first = self._place(name)
        dtype = np.dtype(DTYPES[kind])
        self._count(name, shape, dtype)
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
            raise ValueError(f"the entry of {name} is not an object")
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


def _are_counts(values: Any, limit: int) -> TypeGuard[list[int]]:
    """Return True for a list of at most `limit` integers from 0 to 2^62 - 1, no booleans."""
    return (
        isinstance(values, list)
        and len(values) <= limit
        and all(type(value) is int and 0 <= value < 2**62 for value in values)
    )


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of the header. Raises ValueError where a name is there twice."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name is in its header twice")
    return result


# ------------------------------------------------------------------------------------ torch.save
#
# With weights_only, torch.load rejects other types by a page of text; users get one sentence.

# ------------------------------------------------------------------------------ types in pickles

# Types that torch.load creates with weights_only, from its _weights_only_unpickler.
PLAIN = re.compile(
    r"torch\.(\w+|_utils\.\w+|storage\.\w+|_tensor\.\w+|nn\.parameter\.Parameter"
    r"|serialization\._get_layout)|collections\.(OrderedDict|Counter)"
    r"|(builtins|__builtin__)\.(set|complex|bytearray)|_codecs\.encode"
)
MODULE = re.compile(r"torch\.nn\.modules\.")
PUTS = ("PUT", "BINPUT", "LONG_BINPUT")
GETS = ("GET", "BINGET", "LONG_BINGET")
MOST_TYPES = 1000
LONGEST = 100  # characters of a type's name in a message


def other_types(file: IO[bytes], count: int = 1) -> list[str]:
    """Return the types other than tensors that the next pickles of a file need.

    Parameters
    ----------
    file : IO[bytes]
        Open at the first pickle; read until the last, or until what is no pickle.
    count : int
        Number of pickles.

    Returns
    -------
    list of str
        Full names, each once, in the order of the file.
    """
    types: dict[str, None] = {}
    try:
        for _ in range(count):
            for name in islice(_globals(file), MOST_TYPES):
                if not PLAIN.fullmatch(name):
                    types[name] = None
    except Exception:  # damaged: torch.load reports it
        pass
    return list(types)


def _globals(file: IO[bytes]) -> Iterator[str]:
    """Yield what a pickle imports: "module.name"."""
    texts: list[Any] = ["", ""]  # last two values of the stack, if they are texts
    memo: dict[int, Any] = {}
    start = file.tell()
    for code, argument, _ in pickletools.genops(file):
        if file.tell() - start > MOST_PICKLE:
            return
        if code.name in ("GLOBAL", "INST"):
            yield str(argument).replace(" ", ".")
        elif code.name == "STACK_GLOBAL":
            yield ".".join(str(text) for text in texts)
        elif code.name == "MEMOIZE":
            memo[len(memo)] = texts[-1]
        elif code.name in PUTS:
            memo[int(argument or 0)] = texts[-1]
        elif code.name in GETS:
            texts = [texts[-1], memo.get(int(argument or 0), "")]
        elif isinstance(argument, str):
            texts = [texts[-1], argument]


def refusal(path: Path, types: list[str], torch: bool = True) -> InputError:
    """Return the error for a pickle that holds more than arrays.

    Parameters
    ----------
    path : Path
        The file.
    types : list of str
        Full names of the types in the way, at least one.
    torch : bool
        True if `torch.save` wrote the file, False for NumPy.

    Returns
    -------
    InputError
        Its sentence says what to do.
    """
    first = printable(types[0])[:LONGEST].replace("\n", " ")
    remainder = f" and {len(types) - 1} more" if len(types) > 1 else ""
    if torch:
        has_module = any(MODULE.match(name) for name in types)
        part = ".state_dict()" if has_module else "[KEY]"
        fresh = path.with_name(f"{path.stem}-weights.pt")
        source, target = (json.dumps(str(one), ensure_ascii=False) for one in (path, fresh))
        code = f"import torch; torch.save(torch.load({source}, weights_only=False){part}, {target})"
        key = "" if has_module else ", with the KEY of the weights in it"
        how = f"with python -c {shlex.quote(code)}{key}"
    else:
        how = "with numpy.savez(NAME, **arrays)"
    return InputError(
        f"The checkpoint {path} holds more than arrays: reading {first}{remainder} can run any "
        f"code, so nothing was read; if you trust its author, save the weights alone, {how}."
    )


# ----------------------------------------------------------------------------------------- files

# Called by torch.load during unpickling: a few bytes repeat each on a megabyte.
COPYING = ("_codecs encode", "builtins bytearray", "__builtin__ bytearray")
# Pickles in a file of PyTorch before 1.6: magic number, version, system, data, keys.
LEGACY_PICKLES = 5
AGAIN = "save it again with torch.save"


def load_tensors(path: Path, file: BinaryIO, zipped: bool) -> Any:
    """Load what `torch.save` was given, of tensors alone, once its parts were checked.

    Parameters
    ----------
    path : Path
        The file, for PyTorch and for messages.
    file : BinaryIO
        The same, open.
    zipped : bool
        Whether it is a zip archive, whose list of contents was checked, as since PyTorch 1.6.

    Returns
    -------
    object
        Tensors, and lists, tuples and mappings of them, as they were saved.

    Raises
    ------
    InputError
        It holds other types than tensors, or PyTorch is not installed.
    ValueError
        It is damaged, or beyond the limits (`LimitError`).
    """
    length = os.fstat(file.fileno()).st_size
    mapped = length > limits.MOST_BYTES
    file.seek(0)
    if zipped:
        copies = _check_archive(file, length)
    elif mapped:
        raise LimitError(
            f"it has {length >> 20} MB in PyTorch's format from before version 1.6, and "
            f"{limits.MOST_BYTES >> 20} are allowed",
            AGAIN,
        )
    else:
        copies = _check_pickles(file, LEGACY_PICKLES)
    if copies:
        if types := _other_types(file, zipped):  # NumPy scalars are stored as raw bytes too
            raise refusal(path, types)
        raise LimitError("it holds raw bytes besides tensors", FEWER)
    try:
        import torch
    except ImportError as error:
        if types := _other_types(file, zipped):
            raise refusal(path, types) from error
        raise InputError(
            f"The checkpoint {path} is PyTorch's, which is not installed here; install "
            "marginscope[torch], or save the arrays with numpy.savez where PyTorch is."
        ) from error
    try:
        # Memory-map large files, so that only the pages of the named tensors are read. Small files
        # are read: truncation of a mapped file kills the process (SIGBUS).
        return torch.load(str(path), map_location="cpu", weights_only=True, mmap=mapped)
    except Exception as error:
        # Only after the failure: a program can register more types with PyTorch.
        if types := _other_types(file, zipped):
            raise refusal(path, types) from error
        raise


def _other_types(file: BinaryIO, zipped: bool) -> list[str]:
    file.seek(0)
    if not zipped:
        return other_types(file, LEGACY_PICKLES)
    with zipfile.ZipFile(file) as archive:
        parts = [info for info in archive.infolist() if info.filename.endswith("data.pkl")]
        return [name for part in parts for name in other_types(io.BytesIO(archive.read(part)))]


def _check_archive(file: BinaryIO, length: int) -> bool:
    """Check the zip of `torch.save`: sizes, checksums (PyTorch reads past them) and the pickle.

    Return True if the pickle copies raw bytes.
    """
    copies = False
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        for info in members:
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                name = info.filename
                raise LimitError(f"{name} in it is compressed, which torch.save never does", AGAIN)
        if sum(info.file_size for info in members) > length:
            raise ValueError("its parts are longer than the file")
        for info in members:
            if info.filename.endswith("data.pkl"):
                if info.file_size > limits.MOST_PICKLE:
                    raise _long_pickle()
                copies |= _check_pickles(io.BytesIO(archive.read(info)), 1)
        if (damaged := archive.testzip()) is not None:
            raise ValueError(f"{damaged} in it is damaged")
    return copies


def _check_pickles(file: IO[bytes], count: int) -> bool:
    """Check the length of the next pickles of a file; return True if they copy raw bytes.

    Nothing is unpickled.
    """
    start = file.tell()
    for _ in range(count):
        for code, argument, _place in pickletools.genops(file):
            if file.tell() - start > limits.MOST_PICKLE:
                raise _long_pickle()
            if code.name == "GLOBAL" and argument in COPYING:
                return True
    return False


def _long_pickle() -> LimitError:
    limit = whole_text(limits.MOST_PICKLE)
    return LimitError(f"its content besides tensors takes more than {limit} bytes", FEWER)
