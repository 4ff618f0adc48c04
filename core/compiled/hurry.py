"""What makes numba's own work in Python shorter, while a kernel is compiled and not longer.

numba looks through its registries of extensions for every function, and again for every operation
that it knows under a second name; it works out the type of each a * b anew among all that `*` may
mean; it tells listeners of every call of LLVM; and the garbage collector goes through a million
objects again and again, all of which are needed to the end. Nothing of that changes what is
compiled.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from numba.core import event, types
from numba.core.types.misc import unliteral
from numba.core.typing import signature

# What a context of numba has found for operations and types of arguments.
_resolutions: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


def remembering(context: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`resolve_function_type` and `resolve_setitem` of a context of numba that work each built-in
    operation out once.
    """
    known = _resolutions.setdefault(context, {})
    resolve, resolve_setitem = context.resolve_function_type, context.resolve_setitem

    def resolved(func: Any, args: tuple[Any, ...], kws: Any) -> Any:
        built_in = isinstance(func, types.Function) or not isinstance(func, types.Type | str)
        if kws or not built_in:
            return resolve(func, args, kws)
        resolution = known.get((func, args))
        if resolution is None:
            resolution = _extreme(context, func, args) or resolve(func, args, kws)
            if resolution is not None:
                known[func, args] = resolution
        return resolution

    def resolved_setitem(*args: Any) -> Any:
        if args not in known:
            known[args] = resolve_setitem(*args)
        return known[args]

    return resolved, resolved_setitem


def _extreme(context: Any, func: Any, args: tuple[Any, ...]) -> Any:
    """The types of max and min of numbers, for which numba would compile functions."""
    numbers = len(args) > 1 and all(isinstance(one, types.Number) for one in args)
    if getattr(func, "typing_key", None) not in (max, min) or not numbers:
        return None
    plain = [unliteral(one) for one in args]
    return signature(context.unify_types(*plain), *plain)


def _install_again(context: Any) -> None:
    """`load_additional_registries` of a context of numba, without importing anything."""
    for registry in list(context._registries):
        context.install_registry(registry)


def _nothing(*_: Any, **__: Any) -> None:
    """Instead of what need not be done."""


@contextmanager
def hurried(typing_context: Any, target_context: Any) -> Iterator[None]:
    """Compile meanwhile with these contexts of numba, whose registries have been read.

    Held by one thread at a time: the compiler's lock is to be held around it.
    """
    collected = gc.isenabled()
    gc.disable()
    contexts = typing_context, target_context
    listeners = event.start_event, event.end_event
    event.start_event = event.end_event = _nothing
    resolved = remembering(typing_context)
    typing_context.resolve_function_type, typing_context.resolve_setitem = resolved
    for context in contexts:
        context.load_additional_registries = partial(_install_again, context)
    try:
        yield
    finally:
        event.start_event, event.end_event = listeners
        del typing_context.resolve_function_type, typing_context.resolve_setitem
        for context in contexts:
            del context.load_additional_registries
        if collected:
            gc.enable()
