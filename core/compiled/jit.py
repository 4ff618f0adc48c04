"""The one place that says how kernels are compiled.

A kernel is compiled for Python when Python first calls it with some types of arguments, together
with all that it calls, and that is kept on disk (core.compiled.store). For other kernels it is only
a part (core.compiled.parts).
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast, final

import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from core.compiled import store, warming
from core.compiled.parts import KernelCompiler, Part, PartCompiler, connect

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
_python = threading.local()  # .only: whether kernels are run by Python in this thread


@contextmanager
def interpreted() -> Iterator[None]:
    """Run kernels meanwhile as what they are written in, in this thread: nothing is compiled.

    A hundred times slower, and Python raises where a compiled kernel goes on with an infinity.
    """
    before, _python.only = getattr(_python, "only", False), True
    try:
        yield
    finally:
        _python.only = before


@contextmanager
def traced() -> Iterator[set[str]]:
    """The files (core.compiled.store) of the kernels that Python calls meanwhile, in any thread."""
    global _traced
    before, _traced = _traced, set()
    try:
        yield _traced
    finally:
        _traced = before


@final
class StoredCode(_Cache):  # type: ignore[misc]
    """The machine code of one kernel on disk, as numba's dispatchers ask for it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        module = function.__module__.rpartition(".")[2]
        self._kernel = f"{module}.{function.__qualname__}"

    def name_for(self, sig: Any) -> str:
        """The file of the code for arguments of some types."""
        return store.name_for(self._kernel, str(sig))

    @property
    def cache_path(self) -> str:
        """The folder that it is in."""
        return str(store.folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What numba calls a compile result, or None, and then it is compiled."""
        target_context.refresh()
        content = store.load(self.name_for(sig))
        if content is None:
            warming.tell(self._kernel)
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(content))

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep what has just been compiled."""
        connect(cres)
        store.save(self.name_for(sig), dumps(cres._reduce()))

    def _nothing(self) -> None:
        """It is always enabled, and keeps nothing in memory."""

    enable = disable = flush = _nothing  # numba's caches have all three


@final
class Kernel:
    """A function that is compiled when it is called; numba takes it for one of its own."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        options = {"nopython": True, "no_cpython_wrapper": True, **OPTIONS}
        self._part = Part(function, targetoptions=options, pipeline_class=PartCompiler)
        KernelCompiler.parts[function] = self._part
        self._entry: Any = None

    @property
    def _numba_type_(self) -> Any:
        return self._part._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        if getattr(_python, "only", False):
            return self.py_func(*arguments)
        if self._entry is None:
            with _lock:
                if self._entry is None:
                    entry = numba.njit(pipeline_class=KernelCompiler, **OPTIONS)(self.py_func)
                    entry._cache = StoredCode(self.py_func)
                    self._entry = entry
        if _traced is not None:
            types = tuple(self._entry.typeof_pyval(one) for one in arguments)
            _traced.add(self._entry._cache.name_for(types))
        return self._entry(*arguments)


def compiled(function: Function) -> Function:
    """Compile a kernel at its first call for the argument types; the result is kept on disk."""
    return cast(Function, function if numba.config.DISABLE_JIT else Kernel(function))
