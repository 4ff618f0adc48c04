"""Compilation of kernels, at their first call.

A kernel is compiled for Python when Python first calls it with some types of arguments, together
with all that it calls, and the result is saved on disk (core.compiled.store). For other kernels it
is only a part (core.compiled.numba_compat).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast, final

import numba

from core.compiled.numba_compat import PartCompiler, StoredCode, with_stored_code

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered and contracted to fused multiply-adds; NaN and infinity keep their meaning,
# since divergence is detected by them.
FAST_MATH = {"reassoc", "contract", "arcp", "nsz"}
# Kernels make no arrays: without counts of references there is less to compile, and to run.
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "fastmath": FAST_MATH,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}

_traced: set[str] | None = None
_lock = threading.Lock()


@contextmanager
def trace_kernels() -> Iterator[set[str]]:
    """Collect the files (core.compiled.store) of kernels that Python calls in the block."""
    global _traced
    before, _traced = _traced, set()
    try:
        yield _traced
    finally:
        _traced = before


def _part(function: Callable[..., Any]) -> Any:
    return numba.njit(pipeline_class=PartCompiler, no_cpython_wrapper=True, **OPTIONS)(function)


@final
class Kernel:
    """Function that is compiled when it is called; numba treats it as one of its own."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        self._part = _part(function)
        self._entry: Any = None
        self._code = StoredCode(function)

    @property
    def _numba_type_(self) -> Any:
        return self._part._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        if self._entry is None:
            with _lock:
                if self._entry is None:
                    self._entry = with_stored_code(numba.njit(**OPTIONS)(self.py_func), self._code)
        if _traced is not None:
            types = tuple(self._entry.typeof_pyval(one) for one in arguments)
            _traced.add(self._code.name_for(types))
        return self._entry(*arguments)


def compile_kernel(function: Function) -> Function:
    """Compile a kernel at its first call for the argument types; the result is saved on disk."""
    return cast(Function, function if numba.config.DISABLE_JIT else Kernel(function))


def generic(function: Function) -> Function:
    """Compile a function within kernels only, for the functions passed to it; Python runs it."""
    if not numba.config.DISABLE_JIT:
        part = _part(function)
        vars(function).update(part=part, _numba_type_=part._numba_type_)
    return function
