"""One core for BLAS in worker threads."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

BLAS_PACKAGES = frozenset({"numpy", "scipy.linalg", "torch"})


def limit_to_one_core() -> AbstractContextManager[object]:
    """Return a context in which BLAS uses one core: its idle threads spin and slow the window."""
    libraries = _find_libraries(BLAS_PACKAGES.intersection(sys.modules))
    context: AbstractContextManager[object] = libraries.limit(limits=1, user_api="blas")
    return context


@cache
def _find_libraries(_loaded: frozenset[str]) -> Any:
    """Find the BLAS libraries of the loaded packages, once: each search takes 20 ms."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
