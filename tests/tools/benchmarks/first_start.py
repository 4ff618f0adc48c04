"""First start without compiled kernels: the time until Figure 1 moves, and the compilation."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.tools.benchmarks.measure import heading, median_row, row
from tests.window_observer import STARTED

ROOT = Path(__file__).resolve().parents[3]
# Prints the time of the first paint, of the first frame that moves (a recording's), and of the
# moment when all shown is trained here, and ends.
WATCH = """
import json, time

def tell(what):
    print(json.dumps({what: time.time()}), flush=True)

def painted(window):
    tell("painted")

def look(self):
    runs = list(self.session)
    if not runs or any(run.data is None for run in runs):
        return
    recorded = any(run.stands_in for run in runs)
    if not hasattr(self, "began"):
        self.began, self.moved = self.display.view.cursor, False
    if not self.moved and self.display.view.cursor != self.began:
        self.moved = True
        tell("moved")
    if self.moved and not recorded and not any(run.live for run in runs):
        tell("trained")
        self.watch.stop()
        self.window.close()
"""


def main(rounds: int) -> None:
    """Measure windows with an empty cache of kernels, and the compilation of all kernels."""
    moved, trained = [], []
    for _ in range(min(rounds, 3)):
        with tempfile.TemporaryDirectory() as name:
            seen = watched(Path(name))
            moved.append(seen["moved"] - seen["painted"])
            trained.append(seen["trained"] - seen["painted"])
    heading("the first start, without kernels")
    median_row("window to a moving Figure 1", moved, digits=1, asked="5 s")
    median_row("until Figure 1 was trained here", trained, digits=1)
    row("all kernels, CPU", f"{compiling():.1f} s", asked="60 s")


def watched(folder: Path) -> dict[str, float]:
    """Return the times of events in the window of a user without kernels."""
    places = {f"XDG_{name}_HOME": str(folder / name) for name in ("DATA", "CONFIG", "STATE")}
    environment = {**os.environ, **places, "NUMBA_CACHE_DIR": str(folder / "kernels")}
    done = subprocess.run(
        [sys.executable, "-c", WATCH + STARTED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        env={**environment, "QT_QPA_PLATFORM": "offscreen"},
        check=True,
    )
    seen: dict[str, float] = {}
    for line in done.stdout.splitlines():
        seen |= json.loads(line)
    return seen


def compiling() -> float:
    """Return the CPU seconds for all kernels, the start of the program included."""
    with tempfile.TemporaryDirectory() as name:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "core", "warm"],
            cwd=ROOT,
            capture_output=True,
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": name},
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        row("all kernels, by the clock", f"{time.perf_counter() - begun:.1f} s")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
