"""The one place that says how kernels are compiled and where their machine code is kept."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from platformdirs import user_cache_path

from core import __version__

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered and contracted to fused multiply-adds; NaN and infinity keep their meaning,
# since divergence is detected by them.
FAST_MATH = {"reassoc", "contract", "arcp", "nsz"}


def cache_folder() -> Path:
    """The per-user folder of compiled kernels; NUMBA_CACHE_DIR overrides it.

    It is named by the sources of all kernels: numba looks only at a kernel's own file, and would
    go on using machine code into which an older version of another file was compiled.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    digest = hashlib.sha256(__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return user_cache_path("marginscope") / "kernels" / digest.hexdigest()[:16]


if not numba.config.CACHE_DIR:
    numba.config.CACHE_DIR = str(cache_folder())


def compiled(function: Function) -> Function:
    """Compile a kernel at its first call for the argument types; the result is cached on disk."""
    decorate = numba.njit(cache=True, nogil=True, fastmath=FAST_MATH, error_model="numpy")
    return cast(Function, decorate(function))
