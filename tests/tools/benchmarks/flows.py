"""Speed of the log-time flow."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from core.dynamics.flow import Flow
from core.problem.problem import Problem
from core.runs import Recorder
from core.training.trajectory import chunks, run
from tests.problems import problem
from tests.tools.benchmarks.measure import heading, interleaved, row


class Nowhere:
    """Sink that stores nothing."""

    path = Path("nowhere.msrun")

    def __init__(self, at: Problem, **facts: object) -> None:
        self.count = -1

    def append(self, frames: tuple[object, ...]) -> int:
        self.count += len(frames)
        return self.count

    def event(self, kind: str, payload: object) -> None:
        pass

    def state_due(self) -> bool:
        return False

    def save_state(self, state: object) -> None:
        pass

    def flush(self) -> int:
        return self.count

    def finish(self, reason: str) -> None:
        pass


def flow_speed(rounds: int) -> None:
    """Measure the flow to log10 t = 10000, with and without recording, and further."""
    heading("gradient flow in log time", "recorded", "bare", "cost")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.msrun"
        for m, until, asked in ((16, 1e4, 2.0), (256, 1e4, 8.0), (16, 1e6, 1.0), (256, 1e6, 5.0)):
            at = problem(f"dynamics.until_log10_time={until}", m=m)
            times = interleaved(
                {
                    "recorded": lambda at=at: run(at, partial(Recorder, path, force=True)),
                    "bare": lambda at=at: run(at, Nowhere),
                },
                rounds,
            )
            recorded, bare = times["recorded"].median, times["bare"].median
            row(
                f"flow to log10 t = {until:g}, m = {m}",
                f"{recorded:.3f} s",
                f"{bare:.3f} s bare",
                f"{recorded / bare - 1.0:+.1%}",
                asked=f"{asked:g} s, recording at most +10 %",
                spread=times["recorded"].spread(),
            )


def far_flow(rounds: int) -> None:
    """Measure distant flows: m = 4096 (once) and log10 t = 10^12."""
    heading("the flow, far", "not recorded", "", "")
    for m, until, asked in ((16, 1e12, ""), (16, 1e30, ""), (256, 1e12, ""), (4096, 1e6, "40 s")):
        at = problem(f"dynamics.until_log10_time={until}", "recording.frames=20", m=m)
        times = interleaved(
            {"flow": lambda at=at: list(chunks(Flow(at)))}, 1 if m > 1000 else rounds
        )
        timing = times["flow"]
        name = f"flow to log10 t = {until:g}, m = {m}"
        row(name, f"{timing.median:.2f} s", asked=asked, spread=timing.spread())
    for m in (2, 3, 4):
        at = problem("dynamics.until_log10_time=6", "recording.frames=40", m=m)
        timing = interleaved({"flow": lambda at=at: list(chunks(Flow(at)))}, rounds)["flow"]
        name = f"flow that fits too little, to log10 t = 6, m = {m}"
        row(name, f"{timing.median:.2f} s", spread=timing.spread())
