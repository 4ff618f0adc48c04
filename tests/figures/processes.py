"""Processes that draw: who wants them no more, and whether they still run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def never() -> bool:
    """Nobody cancels."""
    return False


def runs_still(number: int) -> bool:
    """Whether a process is at work."""
    try:
        os.kill(number, 0)
        # Nobody waits for an orphan where the first process of a container does not.
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # just gone, or a system that tells it otherwise
        return not Path("/proc/self").exists()
    return state != "Z"
