"""Test programs that need a separate process, such as Dask clusters, which leave threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATIENCE_S = 120.0


def ran(module: str, *arguments: str) -> str:
    """Return the output of `python -m MODULE ARGUMENTS`; fail with its error output."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", module, *arguments],
        cwd=ROOT,
        env=dict(os.environ, PYTHONPATH=str(ROOT)),
        check=False,
        timeout=PATIENCE_S,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
