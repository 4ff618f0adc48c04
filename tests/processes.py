"""Processes beside the tests' own: those that were started, and whether they still run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.compiled import beside

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


def starts(monkeypatch: pytest.MonkeyPatch, command: str = "") -> list[subprocess.Popen[str]]:
    """Every process that is started from here on, for a command or for any."""
    found: list[subprocess.Popen[str]] = []
    begin = beside.start

    def start(words: list[str], *given: Any) -> subprocess.Popen[str]:
        process = begin(words, *given)
        if not command or command in words:
            found.append(process)
        return process

    monkeypatch.setattr(beside, "start", start)
    return found
