"""Cost of the sharpness beside its run: a value every 50 steps."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem, resolve_problem
from core.runs import Recorder, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run
from tests.tools.benchmarks.measure import heading, interleaved, row

STEPS, EACH, STEP = 3000, 50, 2.0
ASKED = 0.20


def edge_problem(m: int, steps: int = STEPS) -> Problem:
    """Return descent that reaches its edge of stability: digits 3 and 8, squared loss."""
    until = math.log10(STEP * steps)
    tables = {
        "data": {"kind": "digits", "scale": "centred"},
        "network": {"kind": "standard", "m": m},
        "loss": {"kind": "squared"},
        "dynamics": {"kind": "gd", "step": STEP, "until_log10_time": until},
        "recording": {"frames": 1 + steps // EACH, "spacing": "even"},
    }
    return resolve_problem(build_experiment(tables, "edge"), None)


def recorded(problem: Problem, path: Path, observable: str = "") -> None:
    """Train, and compute an observable at every frame."""
    run(problem, partial(Recorder, path, force=True))
    if observable:
        with closing(open_run(path)) as opened:
            OBSERVABLES[observable].trace(opened)


def main(rounds: int) -> None:
    """Measure the run with the sharpness of its frames against the run alone, in turn."""
    heading(f"descent on 256 digits, {STEPS} steps, S each {EACH}", "with S", "alone", "cost")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.msrun"
        for m in (64, 256):
            at = edge_problem(m)
            rivals: dict[str, Callable[[], Any]] = {
                "with": partial(recorded, at, path, "sharpness"),
                "alone": partial(recorded, at, path),
            }
            times = interleaved(rivals, rounds)
            both, alone = times["with"].median, times["alone"].median
            row(
                f"m = {m}",
                f"{both:.2f} s",
                f"{alone:.2f} s",
                f"{both / alone - 1.0:+.1%}",
                asked=f"at most {ASKED:+.0%}" if m == 256 else "",
                spread=times["with"].spread("{:.2f}"),
                words=f"{1e3 * (both - alone) * EACH / STEPS:.1f} ms a frame",
            )
