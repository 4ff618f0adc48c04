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

NO_KERNELS = {"__init__", "jit"}
WARM_OPTION = "--warm-kernels"


def are_cached() -> bool:
    """Whether each source of kernels has machine code younger than itself for this Python.

    Imports numba, which takes half a second: for the training thread only.
    """
    from core.compiled import jit

    sources = list(Path(jit.__file__).parent.glob("*.py"))
    sources = [path for path in sources if path.stem not in NO_KERNELS]
    tag = f"py{sys.version_info.major}{sys.version_info.minor}"
    found = list(jit.cache_folder().glob(f"*/*.{tag}.nbi"))
    for source in sources:
        born = source.stat().st_mtime
        if not any(
            path.name.startswith(f"{source.stem}.") and path.stat().st_mtime >= born
            for path in found
        ):
            return False
    return True


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
