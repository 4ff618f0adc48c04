"""Worker processes of the tests' process, and functions for them with a certain end."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import psutil
import pytest

from core.files import open_beside

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def never() -> bool:
    return False


def workers(process: psutil.Process | None = None) -> list[psutil.Process]:
    """Return the workers of a process, of this one by default."""
    found = (process or psutil.Process()).children(recursive=True)
    return [one for one in found if is_worker(one)]


def is_worker(process: psutil.Process) -> bool:
    """Return True for a living loky process that runs functions."""
    try:
        words = process.cmdline()
        return process.status() != psutil.STATUS_ZOMBIE and any("popen_loky" in w for w in words)
    except psutil.NoSuchProcess:
        return False


def sleep_long(*_: object) -> None:
    time.sleep(1000)


def fail(*_: object) -> NoReturn:
    raise ZeroDivisionError("ZeroDivisionError there")


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)


def draw_for_long(runs: Any, path: Path, options: Any, counter: Path, film: Any) -> None:
    """Start a film of 6000 frames, which takes far longer than a test."""
    with open_beside(path):
        counter.write_text("1 6000")
        sleep_long()
