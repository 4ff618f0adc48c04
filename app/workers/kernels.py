"""Compiled kernels: seen to be cached, or compiled in a process of their own.

Compiling takes ten seconds during which the interpreter's lock is held, so the window's process
never does it.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from app.errors import LOG
from core.compiled import warming

WARM_OPTION = "--warm-kernels"


def are_cached() -> bool:
    """Whether the machine code of all kernels is in the cache."""
    return not warming.missing()


def warm_command() -> list[str]:
    """The command that compiles all kernels; a bundled program starts itself."""
    if getattr(sys, "frozen", False):
        return [sys.executable, WARM_OPTION]
    return [sys.executable, "-m", "core", "warm"]


def compile_in_subprocess(given_up: threading.Event) -> bool:
    """Compile the kernels beside the window; False when that failed or was given up."""
    root = Path(__file__).resolve().parents[2]
    try:
        process = subprocess.Popen(
            warm_command(), cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
    except OSError:
        LOG.exception("The kernels could not be compiled in a process of their own.")
        return False
    try:
        while not given_up.is_set():
            try:
                _, words = process.communicate(timeout=0.1)
            except subprocess.TimeoutExpired:
                continue
            if process.returncode:
                LOG.error("Compiling the kernels failed: %s", words.decode(errors="replace"))
            return process.returncode == 0
        return False
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
