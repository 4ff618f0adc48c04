"""BLAS on one core, for what is computed beside the window."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

BRING_A_BLAS = frozenset({"numpy", "scipy.linalg", "torch"})


def on_one_core() -> AbstractContextManager[object]:
    """Keep every BLAS that is loaded on one core: its idle threads spin, and slow the window."""
    libraries = _libraries(BRING_A_BLAS.intersection(sys.modules))
    context: AbstractContextManager[object] = libraries.limit(limits=1, user_api="blas")
    return context


@cache
def _libraries(_loaded: frozenset[str]) -> Any:
    """Look through all loaded libraries, which takes 20 ms, once for what is loaded."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
