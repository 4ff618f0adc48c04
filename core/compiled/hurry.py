"""What makes numba's own work in Python shorter, while a kernel is compiled and not longer.

numba looks through its registries of extensions for every function, and again for every operation
that it knows under a second name; it works out the type of each a * b anew among all that `*` may
mean; and the garbage collector goes through a million objects again and again, all of which are
needed to the end. Nothing of that changes what is compiled.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import types


def known_only(context: Any) -> Callable[[], None]:
    """`load_additional_registries` of a context of numba that imports nothing any more."""

    def load() -> None:
        for registry in list(context._registries):
            context.install_registry(registry)

    return load


def remembering(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """`resolve_function_type` of numba that works each built-in operation out once."""
    known: dict[tuple[Any, ...], Any] = {}

    def resolved(func: Any, args: tuple[Any, ...], kws: Any) -> Any:
        if kws or not isinstance(func, types.Function):
            return resolve(func, args, kws)
        found = known.get((func, args))
        if found is None:
            found = resolve(func, args, kws)
            if found is not None:
                known[func, args] = found
        return found

    return resolved


@contextmanager
def hurried(typing_context: Any, target_context: Any) -> Iterator[None]:
    """Compile meanwhile with these contexts of numba, whose registries have been read.

    Held by one thread at a time: the compiler's lock is to be held around it.
    """
    collected = gc.isenabled()
    gc.disable()
    contexts = typing_context, target_context
    typing_context.resolve_function_type = remembering(typing_context.resolve_function_type)
    for context in contexts:
        context.load_additional_registries = known_only(context)
    try:
        yield
    finally:
        del typing_context.resolve_function_type
        for context in contexts:
            del context.load_additional_registries
        if collected:
            gc.enable()
