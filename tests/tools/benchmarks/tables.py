"""Cost of a table of a recorded run, and of a recording."""

from __future__ import annotations

import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

from core.observables.registry import OBSERVABLES
from core.observables.table import write_table
from core.runs import Recorder, open_run
from core.training.trajectory import run
from tests.problems import problem
from tests.recording import recorded
from tests.tools.benchmarks.flows import Nowhere
from tests.tools.benchmarks.measure import heading, median_row, row, spread


def tables(rounds: int) -> None:
    """Measure CPU seconds of `table` for Figure 1's run with m = 256, and of its test error."""
    heading("tables, and what recording costs", "ours", "beside", "cost")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "run.msrun"
        recorded(path, "network.m=256")
        whole, testing = [], []
        for _ in range(rounds):
            with open_run(path) as opened:
                begun = time.process_time()
                write_table(opened, Path(name) / "table.npz")
                whole.append(time.process_time() - begun)
            with open_run(path) as opened:
                begun = time.process_time()
                OBSERVABLES["test_error"].trace(opened)
                testing.append(time.process_time() - begun)
    beside, words = f"{statistics.median(testing):.2f} s", "CPU; beside it the test error alone"
    median_row("table of Figure 1, m = 256", whole, beside, asked="2 s", words=words)


def recordings(rounds: int) -> None:
    """Measure CPU seconds of a short flow with and without recording, in turn."""
    at = problem("dynamics.until_log10_time=1e4", m=16)
    bare, kept = [], []
    with tempfile.TemporaryDirectory() as name:
        for turn in range(3 * rounds + 1):
            begun = time.process_time()
            run(at, Nowhere)
            between = time.process_time()
            run(at, partial(Recorder, Path(name) / "run.msrun", force=True))
            if turn:  # the first one loads kernels
                bare.append(between - begun)
                kept.append(time.process_time() - between)
    least, most = min(bare), min(kept)
    row(
        "recording 400 frames in .25 s, m = 16",
        f"{1e3 * most:.0f} ms",
        f"{1e3 * least:.0f} ms",
        f"{most / least - 1.0:+.1%}",
        asked="at most +10 %",
        spread=spread(kept, "{:.0f}", 1e3),
        words="CPU, the least of each",
    )
