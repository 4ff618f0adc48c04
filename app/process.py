"""Set-up of the process of a window: its threads and its memory.

The C library's options are those of mallopt(3).
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

# Interval in seconds at which Python threads release the interpreter to the window's thread.
SWITCH_S = 2e-4

# Option numbers of glibc, and the environment variables by which users set them; theirs win.
ARENA_MAX, MMAP_THRESHOLD, TRIM_THRESHOLD = -8, -3, -1
ENVIRONMENT_NAMES = {
    ARENA_MAX: "MALLOC_ARENA_MAX",
    MMAP_THRESHOLD: "MALLOC_MMAP_THRESHOLD_",
    TRIM_THRESHOLD: "MALLOC_TRIM_THRESHOLD_",
}
# Number of shared heaps; block size in bytes from which glibc maps a block separately and returns
# it when freed; free bytes that may remain at the end of a heap. Setting the second fixes the
# third at its default of 128 KiB, with which each redraw would return and request two thousand
# pages. So the third is set too.
WANTED = {ARENA_MAX: 2, MMAP_THRESHOLD: 4 << 20, TRIM_THRESHOLD: 64 << 20}


def prepare() -> None:
    """Set this process up for a window; call this before threads start."""
    sys.setswitchinterval(SWITCH_S)
    limit_heaps()


def limit_heaps() -> None:
    """Let threads share few heaps, so that a window that is used for hours does not grow.

    glibc gives threads separate heaps, up to eight per core, and after the first large block is
    freed allocates even megabytes there: the memory in use stays constant, and ever more free
    memory lies between. Nothing is done with other C libraries.
    """
    if not sys.platform.startswith("linux"):
        return
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for option, value in WANTED.items():
            if ENVIRONMENT_NAMES[option] not in os.environ:
                mallopt(option, value)
