"""Temporary files of the tests: in memory where the system has room for them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # a file system in memory, on every Linux
ROOM = 4 * 2**30  # bytes; the 2,300 tests of runs, files and commands write .6 GB


def use_memory(memory: Path = MEMORY) -> None:
    """Create the temporary files of this process and its children in memory, if it has room.

    Tests write thousands of run files, each with a journal that waits for the disk: tests/runs took
    20 s on a disk and 9 s in memory. A folder in TMPDIR is used as it is.
    """
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK | os.X_OK):
        return
    may_run = not os.statvfs(memory).f_flag & os.ST_NOEXEC  # tests write programs and run them
    if may_run and shutil.disk_usage(memory).free > ROOM:
        os.environ["TMPDIR"] = str(memory)
        tempfile.tempdir = None  # the folder that pytest has found before
