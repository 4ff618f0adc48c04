"""Python's pickles read as data: a machine of its own that can build values and run nothing.

Python's unpickler calls whatever a file names. This one walks through the instructions and knows
lists, dicts, tuples, texts, bytes, numbers and NumPy arrays; every other instruction, and every
name but those that NumPy's arrays and bytes are written with, is refused.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from math import prod
from typing import Any, final

import numpy as np

MOST_VALUES = 200_000_000
ARRAY = {
    ("numpy.core.multiarray", "_reconstruct"): "reconstruct",
    ("numpy._core.multiarray", "_reconstruct"): "reconstruct",
    ("numpy.core.numeric", "_frombuffer"): "frombuffer",
    ("numpy._core.numeric", "_frombuffer"): "frombuffer",
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    ("_codecs", "encode"): "encode",
}
VALUES = {
    "INT",
    "BININT",
    "BININT1",
    "BININT2",
    "LONG",
    "LONG1",
    "LONG4",
    "BINFLOAT",
    "FLOAT",
    "UNICODE",
    "SHORT_BINUNICODE",
    "BINUNICODE",
    "BINUNICODE8",
    "SHORT_BINBYTES",
    "BINBYTES",
    "BINBYTES8",
    "BYTEARRAY8",
}
STRINGS = {"STRING", "BINSTRING", "SHORT_BINSTRING"}  # of Python 2: bytes
EMPTY: dict[str, Callable[[], Any]] = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_TUPLE": tuple}
CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
IGNORED = {"PROTO", "FRAME"}


class PickleError(Exception):
    """A pickle that is damaged, or that holds something else than data."""


@final
class _Mark:
    """Where a group of values begins on the stack."""


@final
class _Name:
    """One of the few names that are known, which is never called."""

    def __init__(self, role: str) -> None:
        self.role = role


@final
class _Dtype:
    """A plain type of numbers under construction."""

    def __init__(self, code: str) -> None:
        self.code, self.order = code, "="

    def build(self, state: Any) -> None:
        # Names and fields, which structured types have, stand at 3 and 4 of a dtype's state.
        if not (isinstance(state, tuple) and len(state) >= 2 and state[3:5] == (None, None)):
            raise PickleError("it has an array that is not one of plain numbers")
        order = _text(state[1])
        self.order = "=" if order == "|" else order

    def dtype(self) -> np.dtype[Any]:
        if self.code not in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"):
            raise PickleError(f"it has an array of type {self.code[:20]}, which is not read")
        if self.order not in ("=", "<", ">"):
            raise PickleError("it has an array of an unknown byte order")
        return np.dtype(self.order + self.code)


@final
class _Array:
    """An array under construction; `array` is set once its content is there."""

    def __init__(self) -> None:
        self.array: np.ndarray[Any, Any] | None = None

    def build(self, state: Any) -> None:
        if not (isinstance(state, tuple) and len(state) == 5):
            raise PickleError("it has a damaged array")
        _, shape, dtype, fortran, content = state
        self.array = _array(content, dtype, shape, "F" if fortran else "C")


def _array(content: Any, dtype: Any, shape: Any, order: Any) -> np.ndarray[Any, Any]:
    sizes = isinstance(shape, tuple) and all(type(size) is int and size >= 0 for size in shape)
    if not (sizes and isinstance(dtype, _Dtype) and isinstance(content, bytes | bytearray)):
        raise PickleError("it has an array that is not one of plain numbers")
    kind, count = dtype.dtype(), prod(shape)
    if count > MOST_VALUES or len(shape) > 8 or len(content) != count * kind.itemsize:
        raise PickleError("it has an array whose content does not fit its shape")
    values = np.frombuffer(content, dtype=kind)
    return values.reshape(shape, order="F" if order == "F" else "C")


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if not isinstance(value, str):
        raise PickleError("it has a damaged array")
    return value


@final
class _Machine:
    """The stack and the memo of one pickle."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        # A dictionary: a file may name place 2^31 for its only value, and a list were that long.
        self.memo: dict[int, Any] = {}
        self.made = 0  # bytes and values beyond those that stand in the file once

    def step(self, name: str, argument: Any) -> None:
        """One instruction. Raises PickleError for one that is not known."""
        if name in VALUES:
            self.stack.append(argument)
        elif name in STRINGS:
            self.stack.append(argument.encode("latin-1"))
        elif name in EMPTY:
            self.stack.append(EMPTY[name]())
        elif name in CONSTANTS:
            self.stack.append(CONSTANTS[name])
        elif name in TUPLES:
            self.stack.append(tuple(self._take(TUPLES[name])))
        elif name in IGNORED:
            return
        else:
            method = getattr(self, f"_on_{name.lower()}", None)
            if method is None:
                raise PickleError(f"it holds more than data (the instruction {name})")
            method(argument)

    def result(self) -> Any:
        """What the pickle holds."""
        if len(self.stack) != 1:
            raise PickleError("it is damaged")
        return _whole(self.stack[0])

    def _take_up(self, size: int) -> None:
        """Count what is made of a value; a small file can name a large one again and again."""
        self.made += size
        if self.made > MOST_VALUES:
            raise PickleError("it unfolds into more than any batch holds")

    def _take(self, count: int) -> list[Any]:
        if count > len(self.stack):
            raise PickleError("it is damaged")
        values = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        # Marks are taken away by `_group` alone: here one would pass for a value.
        if any(isinstance(value, _Mark) for value in values):
            raise PickleError("it is damaged")
        return values

    def _group(self) -> list[Any]:
        for place in range(len(self.stack) - 1, -1, -1):
            if isinstance(self.stack[place], _Mark):
                values = self.stack[place + 1 :]
                del self.stack[place:]
                return values
        raise PickleError("it is damaged")

    def _top(self, kind: type) -> Any:
        if not self.stack or not isinstance(self.stack[-1], kind):
            raise PickleError("it holds more than data")
        return self.stack[-1]

    # --------------------------------------------------------------------- instructions

    def _on_mark(self, _: Any) -> None:
        self.stack.append(_Mark())

    def _on_pop(self, _: Any) -> None:
        self._take(1)

    def _on_memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self._top(object)

    def _on_put(self, place: int) -> None:
        self.memo[place] = self._top(object)

    _on_binput = _on_long_binput = _on_put

    def _on_get(self, place: int) -> None:
        if place not in self.memo:
            raise PickleError("it is damaged")
        self.stack.append(self.memo[place])

    _on_binget = _on_long_binget = _on_get

    def _on_tuple(self, _: Any) -> None:
        self.stack.append(tuple(self._group()))

    def _on_list(self, _: Any) -> None:
        self.stack.append(self._group())

    def _on_dict(self, _: Any) -> None:
        values = self._group()
        self.stack.append({})
        self._set(values)

    def _on_append(self, _: Any) -> None:
        values = self._take(1)
        self._top(list).extend(values)

    def _on_appends(self, _: Any) -> None:
        values = self._group()
        self._take_up(len(values))
        self._top(list).extend(values)

    def _on_setitem(self, _: Any) -> None:
        self._set(self._take(2))

    def _on_setitems(self, _: Any) -> None:
        self._set(self._group())

    def _set(self, values: list[Any]) -> None:
        table = self._top(dict)
        for key, value in zip(values[::2], values[1::2], strict=False):
            if not isinstance(key, str | bytes | int):
                raise PickleError("it has a key that is neither text nor a number")
            table[key] = _whole(value)

    def _on_global(self, argument: str) -> None:
        self._name(*argument.split(" ", 1))

    def _on_stack_global(self, _: Any) -> None:
        module, name = self._take(2)
        self._name(_text(module), _text(name))

    def _name(self, module: str, name: str = "") -> None:
        role = ARRAY.get((module, name))
        if role is None:
            raise PickleError(f"it names {module[:40]}.{name[:40]}, which is no data")
        self.stack.append(_Name(role))

    def _on_reduce(self, _: Any) -> None:
        function, given = self._take(2)
        if not isinstance(function, _Name) or not isinstance(given, tuple):
            raise PickleError("it holds more than data")
        if function.role == "dtype" and given:
            self.stack.append(_Dtype(_text(given[0]).lstrip("|<>=")))
        elif function.role == "reconstruct":
            self.stack.append(_Array())
        elif function.role == "frombuffer" and len(given) == 4:
            self.stack.append(_array(*given))
        elif function.role == "encode" and len(given) == 2 and isinstance(given[0], str):
            self._take_up(len(given[0]))
            self.stack.append(given[0].encode("latin-1"))
        else:
            raise PickleError("it holds more than data")

    def _on_build(self, _: Any) -> None:
        (state,) = self._take(1)
        target = self._top(object)
        if not isinstance(target, _Array | _Dtype):
            raise PickleError("it holds more than data")
        target.build(state)


def _whole(value: Any) -> Any:
    if not isinstance(value, _Array):
        return value
    if value.array is None:
        raise PickleError("it has an array without content")
    return value.array


def read_pickle(content: bytes) -> Any:
    """The value of a pickle that holds lists, dicts, text, bytes, numbers and NumPy arrays only.

    Texts of Python 2 become bytes. Nothing that the pickle names is imported or called. Raises
    PickleError for damage and for everything else.

    >>> read_pickle(b"\\x80\\x02}q\\x00U\\x01aK\\x07s.")
    {b'a': 7}
    """
    machine = _Machine()
    try:
        for instruction, argument, _ in pickletools.genops(content):
            if instruction.name == "STOP":
                return machine.result()
            machine.step(instruction.name, argument)
    except (ValueError, TypeError, IndexError, OverflowError, RecursionError, MemoryError) as error:
        raise PickleError(f"it is damaged ({str(error)[:100]})") from error
    raise PickleError("it is cut off")
