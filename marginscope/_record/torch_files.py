"""Files of `torch.save`, whose parts are checked before PyTorch reads tensors alone from them."""

from __future__ import annotations

import io
import os
import pickletools
import zipfile
from pathlib import Path
from typing import IO, Any, BinaryIO

from core.errors import InputError
from core.numbers import whole_text
from marginscope._record import limits
from marginscope._record.limits import FEWER, LimitError
from marginscope._record.pickled_types import other_types, refusal

# torch.load calls these while unpickling, and a few bytes repeat them on a megabyte each.
COPYING = ("_codecs encode", "builtins bytearray", "__builtin__ bytearray")
LEGACY_PICKLES = 5  # of a file from before PyTorch 1.6: magic number, version, system, data, keys
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
        if types := _other_types(file, zipped):  # NumPy's numbers are raw bytes as well
            raise refusal(path, types)
        raise LimitError("it holds raw bytes beside tensors", FEWER)
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
        # A large file is mapped, so that only the pages of the named tensors are read. A small one
        # is not: a program that shortens a mapped file ends this one (SIGBUS).
        return torch.load(str(path), map_location="cpu", weights_only=True, mmap=mapped)
    except Exception as error:
        # Only now: a program can have PyTorch allow types of its own.
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
    most = whole_text(limits.MOST_PICKLE)
    return LimitError(f"what it holds beside tensors takes more than {most} bytes", FEWER)
