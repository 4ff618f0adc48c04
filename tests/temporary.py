"""Temporary files of the tests: in memory where the system has room for them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")  # a file system in memory, on every Linux
ROOM = 4 * 2**30  # bytes; the 2,300 tests of runs, files and commands write .6 GB


def use_memory(memory: Path = MEMORY) -> None:
    """Create the temporary files of this process and its children in memory, if it has room.

    Tests write thousands of run files, each with a journal that waits for the disk: tests/runs took
    20 s on a disk and 9 s in memory. A folder in TMPDIR is used as it is.

    `are_removed` frees the memory.
    """
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK | os.X_OK):
        return
    may_run = not os.statvfs(memory).f_flag & os.ST_NOEXEC  # tests write programs and run them
    if may_run and shutil.disk_usage(memory).free > ROOM:
        os.environ["TMPDIR"] = str(memory)
        tempfile.tempdir = None  # the folder that pytest has found before


@pytest.fixture(scope="session", autouse=True)
def are_removed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Remove the files of a session in memory at its end, unless a test failed."""
    yield
    folder = tmp_path_factory.getbasetemp()
    if folder.is_relative_to(MEMORY) and not request.session.testsfailed:
        shutil.rmtree(folder, ignore_errors=True)
