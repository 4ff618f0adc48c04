"""Set-up of the process of a window: its threads and its memory.

The C library's options are those of mallopt(3).
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

# Threads of Python that compute hand the interpreter over at least so often, for the window's sake.
SWITCH_S = 2e-4

# glibc's numbers of the options, and the variables by which users set them; theirs stand.
ARENA_MAX, MMAP_THRESHOLD, TRIM_THRESHOLD = -8, -3, -1
ENVIRONMENT_NAMES = {
    ARENA_MAX: "MALLOC_ARENA_MAX",
    MMAP_THRESHOLD: "MALLOC_MMAP_THRESHOLD_",
    TRIM_THRESHOLD: "MALLOC_TRIM_THRESHOLD_",
}
# Heaps that the threads share; bytes from which a block has pages of its own, which the system has
# back once it is freed; bytes that may lie free at a heap's end. The last is set with the second,
# which would leave it at 128 KiB: each redraw would give back two thousand pages and take them
# again.
WANTED = {ARENA_MAX: 2, MMAP_THRESHOLD: 4 << 20, TRIM_THRESHOLD: 64 << 20}


def prepare() -> None:
    """Set this process up for a window; to be called before threads begin."""
    sys.setswitchinterval(SWITCH_S)
    limit_heaps()


def limit_heaps() -> None:
    """Let threads share few heaps, so that a window that is used for hours does not grow.

    By itself glibc gives threads heaps of their own, up to eight for each core, and after the first
    large block that is freed takes even those of megabytes from them: what is in use stays the
    same, and ever more that is free lies between it. With other C libraries nothing is done.
    """
    if not sys.platform.startswith("linux"):
        return
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for option, value in WANTED.items():
            if ENVIRONMENT_NAMES[option] not in os.environ:
                mallopt(option, value)
