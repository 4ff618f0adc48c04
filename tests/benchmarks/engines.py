"""The engines against the clock, against plain PyTorch, and against the machine's own limit."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import torch

from core.dynamics.descent import Descent
from core.dynamics.flow import Flow
from core.problem import Problem
from core.runs import Recorder
from core.trajectory import chunks, run
from tests.benchmarks.measure import interleaved, matrix_rate, row
from tests.problems import problem

GD = ("dynamics.kind=gd", "dynamics.step=0.01", "recording.frames=2", "recording.log10_times=[]")


class TwoLayer(torch.nn.Module):
    """f(x) = sum_j a_j relu(<v_j, x>), as one writes it in PyTorch."""

    def __init__(self, at: Problem, dtype: torch.dtype) -> None:
        super().__init__()
        a, V = at.network.effective(at.start.parameters)
        self.inner = torch.nn.Linear(V.shape[1], V.shape[0], bias=False, dtype=dtype)
        self.outer = torch.nn.Linear(V.shape[0], 1, bias=False, dtype=dtype)
        with torch.no_grad():
            self.inner.weight.copy_(torch.tensor(V))
            self.outer.weight.copy_(torch.tensor(a)[None])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.outer(torch.relu(self.inner(x)))[:, 0]


def torch_loop(at: Problem, dtype: torch.dtype, steps: int) -> None:
    """The plain torch.nn + autograd + optim.SGD loop."""
    network = TwoLayer(at, dtype)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    x = torch.tensor(at.dataset.x, dtype=dtype)
    y = torch.tensor(at.dataset.y, dtype=dtype)
    for _ in range(steps):
        optimizer.zero_grad()
        torch.exp(-y * network(x)).mean().backward()
        optimizer.step()


def our_loop(at: Problem) -> None:
    """The compiled engine over the same steps."""
    for _ in chunks(Descent(at)):
        pass


def descent_speed(rounds: int) -> None:
    """GD at Figure 1's sizes against PyTorch, and the share of the matrix-product rate."""
    for precision in ("float64", "float32"):
        dtype = getattr(torch, precision)
        rate = matrix_rate(getattr(__import__("numpy"), precision))
        print(f"\nmatrix product, {precision}, one core: {rate / 1e9:.1f} GFLOP/s")
        for m, ours, theirs in ((16, 20_000, 500), (256, 2_000, 300), (4096, 100, 50)):
            until = f"dynamics.until_log10_time={float(torch.log10(torch.tensor(0.01 * ours))):.6f}"
            at = problem(*GD, until, f"run.precision={precision}", m=m)
            steps = Descent(at)._schedule[-1]
            times = interleaved(
                {"ours": partial(our_loop, at), "torch": partial(torch_loop, at, dtype, theirs)},
                rounds,
            )
            mine, plain = times["ours"].median / steps, times["torch"].median / theirs
            share = 4.0 * m * 64 * 20 / mine / rate
            row(
                f"GD step, m = {m}, {precision}", f"{mine * 1e6:.2f} us", f"{plain * 1e6:.1f} us",
                f"{plain / mine:.1f} x",
                f"{share:.0%} of the matrix rate" + (", asked: 30 x" if m == 16 else ""),
            )  # fmt: skip


class Nowhere:
    """A sink that keeps nothing."""

    def __init__(self, at: Problem, **facts: object) -> None:
        self.count = -1

    def append(self, frames: tuple[object, ...]) -> int:
        self.count += len(frames)
        return self.count

    def event(self, kind: str, payload: object) -> None:
        pass

    def flush(self) -> int:
        return self.count

    def finish(self, reason: str) -> None:
        pass


def flow_speed(rounds: int) -> None:
    """The flow to log10 t = 10000, with and without recording, and further."""
    print()
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
                f"flow to log10 t = {until:g}, m = {m}", f"{recorded:.3f} s", f"{bare:.3f} s bare",
                f"{recorded / bare - 1.0:+.1%}", f"asked: {asked:g} s, recording at most +10 %",
            )  # fmt: skip


def far_flow() -> None:
    """How far and how fast, once: m = 4096 and log10 t = 10^12."""
    print()
    for m, until in ((16, 1e12), (16, 1e30), (256, 1e12), (4096, 1e6)):
        at = problem(f"dynamics.until_log10_time={until}", "recording.frames=20", m=m)
        times = interleaved({"flow": lambda at=at: list(chunks(Flow(at)))}, 1 if m > 1000 else 3)
        row(f"flow to log10 t = {until:g}, m = {m}", f"{times['flow'].median:.2f} s")
