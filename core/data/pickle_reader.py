"""Python pickles read as data: lists, dicts, tuples, texts, bytes, numbers and NumPy arrays.

Python's unpickler calls whatever a file names. Here each name but those that NumPy's arrays and
bytes are written with is refused, and functions of this module replace these. Instructions that
make other objects are refused before the unpickler sees them.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from collections.abc import Callable
from math import prod
from typing import Any, final

import numpy as np

MOST_VALUES = 200_000_000  # bytes of decoded texts
MOST_STEPS = 2_000_000  # instructions, each of at most one object; a batch has about 60,000
# The unpickler hashes nested tuples recursively, without checking the depth of its stack.
MOST_TUPLES = 1_000
LONGEST_CODE = 20  # characters of a numeric type code
ARRAY = {
    ("numpy.core.multiarray", "_reconstruct"): "reconstruct",
    ("numpy._core.multiarray", "_reconstruct"): "reconstruct",
    ("numpy.core.numeric", "_frombuffer"): "frombuffer",
    ("numpy._core.numeric", "_frombuffer"): "frombuffer",
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    ("_codecs", "encode"): "encode",
}
REFUSED = re.compile(r".*OBJ.*|.*PERSID|INST|EXT\d|.*SET|ADDITEMS|.*BUFFER|POP.*|DUP")
# Instructions that leave the top of the stack unchanged.
UNCHANGED = re.compile("PROTO|FRAME|.*PUT|MEMOIZE")
# All exceptions of the unpickler, also for hostile arguments of this module's functions.
DAMAGED = (
    *(pickle.UnpicklingError, AttributeError, EOFError, ImportError, LookupError, MemoryError),
    *(OverflowError, RecursionError, TypeError, ValueError),
)


class PickleError(Exception):
    """Error of a damaged pickle, or of one that holds more than data."""


@final
class _Name:
    """Function of this module instead of one that a file names."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make

    def __call__(self, *values: Any) -> Any:
        return self._make(*values)

    def __setstate__(self, _: Any) -> None:
        raise PickleError("it holds more than data (it changes a function)")


@final
class _Dtype:
    """Plain type of numbers under construction."""

    def __init__(self, code: Any, *_: Any) -> None:
        self.code, self.order = _text(code).lstrip("|<>="), "="

    def __setstate__(self, state: Any) -> None:
        # Items 3 and 4 of a dtype's state are the names and fields of structured types.
        if not (isinstance(state, tuple) and len(state) >= 2 and state[3:5] == (None, None)):
            raise PickleError("it has an array that is not one of plain numbers")
        order = _text(state[1])
        self.order = "=" if order == "|" else order

    def dtype(self) -> np.dtype[Any]:
        if not re.fullmatch("[ui][1248]|f[48]", self.code):
            raise PickleError(f"it has an array of type {self.code[:20]}, which is not read")
        if self.order not in ("=", "<", ">"):
            raise PickleError("it has an array of an unknown byte order")
        return np.dtype(self.order + self.code)


@final
class _Array:
    """Array under construction; `array` is None until its content is there."""

    def __init__(self, *_: Any) -> None:
        self.array: np.ndarray[Any, Any] | None = None

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, fortran, content = state
        self.fill(content, dtype, shape, "F" if fortran else "C")

    def fill(self, content: Any, dtype: Any, shape: Any, order: Any) -> _Array:
        """Set the values to the bytes of the pickle, without a copy, and return self.

        Parameters
        ----------
        content : bytes
            Values.
        dtype : _Dtype
            Plain type of numbers.
        shape : tuple of int
            At most 8 axes.
        order : str
            "F", else "C".

        Raises
        ------
        PickleError
            An argument is of another type, or the sizes do not agree.
        """
        sizes = isinstance(shape, tuple) and all(
            type(size) is int and 0 <= size <= MOST_VALUES for size in shape
        )
        if not (sizes and isinstance(dtype, _Dtype) and isinstance(content, bytes | bytearray)):
            raise PickleError("it has an array that is not one of plain numbers")
        kind = dtype.dtype()
        if len(shape) > 8 or len(content) != prod(shape) * kind.itemsize:
            raise PickleError("it has an array whose content does not fit its shape")
        values = np.frombuffer(content, dtype=kind)
        self.array = values.reshape(shape, order="F" if order == "F" else "C")
        return self


def _text(value: Any) -> str:
    """Return the code of a type or a byte order; a file may make it long and repeat it."""
    if not isinstance(value, str | bytes) or len(value) > LONGEST_CODE:
        raise PickleError("it has a damaged array")
    return value.decode("latin-1") if isinstance(value, bytes) else value


@final
class _Reader(pickle.Unpickler):
    """Unpickler that knows the names of arrays alone."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content), encoding="bytes")
        self._left = MOST_VALUES
        self._made: dict[str, Callable[..., Any]] = {
            "reconstruct": _Array,
            "frombuffer": lambda *values: _Array().fill(*values),
            "dtype": _Dtype,
            "encode": self._encode,
        }

    def find_class(self, module: str, name: str) -> Any:
        role = ARRAY.get((module, name))
        if role is None:
            raise PickleError(f"it names {module[:40]}.{name[:40]}, which is not data")
        return None if role == "ndarray" else _Name(self._made[role])

    def _encode(self, text: str, _: Any) -> bytes:
        # A small file can refer to a large text many times.
        self._left -= len(text)
        if self._left < 0:
            raise PickleError("it expands to more than any batch contains")
        return text.encode("latin-1")


def _check(content: bytes) -> None:
    """Raise PickleError for instructions that make more than data, or too much of it."""
    n_tuples, is_tuple = 0, False  # is_tuple: a tuple is on top of the stack
    places: dict[int, bool] = {}  # of the memo: True for a tuple
    for count, (instruction, argument, _) in enumerate(pickletools.genops(content)):
        name = instruction.name
        if REFUSED.fullmatch(name):
            raise PickleError(f"it holds more than data (the instruction {name})")
        if name.startswith("TUPLE"):
            n_tuples, is_tuple = n_tuples + 1, True
        elif not UNCHANGED.fullmatch(name):
            is_tuple = False
        large = repeated = False
        if name.endswith(("PUT", "GET", "MEMOIZE")):
            place = len(places) if argument is None else int(argument)
            # The memo takes memory up to its largest index. Hashing a tuple that holds one tuple
            # twice, 40 levels deep, takes hours; NumPy and Python write each tuple once.
            large, repeated = place > MOST_STEPS, name.endswith("GET") and places.get(place, False)
            if not name.endswith("GET"):
                places[place] = is_tuple
        if count > MOST_STEPS or n_tuples > MOST_TUPLES or large or repeated:
            raise PickleError("it expands to more than any batch contains")


def read_pickle(content: bytes) -> Any:
    r"""Return the value of a pickle that holds lists, dicts, text, numbers and arrays only.

    Texts of Python 2 become bytes. Nothing that the pickle names is imported or called. Raises
    PickleError for damage and for everything else.

    >>> read_pickle(b"\x80\x02}q\x00U\x01aK\x07s.")
    {b'a': 7}
    """
    try:
        _check(content)
        value = _Reader(content).load()
        if not isinstance(value, dict):
            return value
        return {key: one.array if isinstance(one, _Array) else one for key, one in value.items()}
    except DAMAGED as error:
        raise PickleError(f"it is damaged ({str(error)[:100]})") from error
