"""Cost of the public module for its users: import, recording a loop, checkpoints."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

import marginscope as ms
from tests.tools.benchmarks.measure import heading, row, spread

N, D, M, STEPS, FRAMES = 64, 20, 256, 20_000, 400
IMPORT = "import time; t = time.perf_counter(); import marginscope; print(time.perf_counter() - t)"


def main(rounds: int) -> None:
    torch.set_num_threads(1)
    heading("the public module", "ours", "bare", "cost")
    importing(rounds)
    recording(rounds)
    checkpoints()


def importing(rounds: int) -> None:
    """Measure `import marginscope` in a fresh interpreter."""
    times = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True)
        times.append(float(done.stdout))
    spreads = spread(times, "{:.1f}", 1e3)
    row("import marginscope", f"{1e3 * min(times):.1f} ms", asked="100 ms", spread=spreads)


def _trained(path: Path | None) -> int:
    """Train a plain PyTorch loop, recorded if a path is given; return the number of frames."""
    generator = torch.Generator().manual_seed(0)
    x = 2.0 * torch.randint(0, 2, (N, D), generator=generator) - 1.0
    y = x[:, 0] * x[:, 1]
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(D, M, bias=False), torch.nn.ReLU(), torch.nn.Linear(M, 1, bias=False)
    )
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)

    def step() -> torch.Tensor:
        optimiser.zero_grad()
        risk = torch.nn.functional.softplus(-y * net(x)[:, 0]).mean()
        risk.backward()
        optimiser.step()
        return risk

    if path is None:
        for _ in range(STEPS):
            step()
        return 0
    with ms.record(path, x, y, loss="logistic", model=net, until=STEPS, frames=FRAMES) as r:
        for t in range(1, STEPS + 1):
            risk = step()
            if r.due(t):
                r.frame(t, risk=risk, eta=0.1)
    return r.frames


def recording(rounds: int) -> None:
    """Measure a PyTorch loop with and without a recording, in turn."""
    bare, kept, frames = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds + 1):
            begun = _clocks()
            _trained(None)
            between = _clocks()
            frames = _trained(Path(folder) / f"{turn}.msrun")
            if turn:
                bare.append(_since(begun, between))
                kept.append(_since(between, _clocks()))
    for clock, words in enumerate(("as it is waited for", "CPU, the recorder's thread included")):
        ours, theirs = min(one[clock] for one in kept), min(one[clock] for one in bare)
        ratio = statistics.median(
            one[clock] / other[clock] for one, other in zip(kept, bare, strict=True)
        )
        row(
            f"PyTorch, {STEPS} steps, {frames} frames",
            f"{ours:.2f} s",
            f"{theirs:.2f} s",
            f"{ratio - 1.0:+.1%}",
            asked="+2 %",
            spread=spread([one[clock] for one in kept]),
            words=f"{words}; least, and median of pairs",
        )


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(begun: tuple[float, float], now: tuple[float, float]) -> tuple[float, float]:
    return now[0] - begun[0], now[1] - begun[1]


def checkpoints() -> None:
    """Measure the import of 400 state_dicts of torch.save."""
    with tempfile.TemporaryDirectory() as name:
        folder, paths = Path(name), []
        for index in range(FRAMES):
            torch.manual_seed(index)
            state = {"fc1.weight": torch.randn(M, D), "fc2.weight": torch.randn(1, M)}
            paths.append(folder / f"{index}.pt")
            torch.save(state, paths[-1])
        x = torch.randn(N, D)
        begun = time.perf_counter()
        names = {"V": "fc1.weight", "a": "fc2.weight"}
        path = folder / "run.msrun"
        run = ms.load(paths, range(FRAMES), x, x[:, 0] > 0, loss="logistic", path=path, **names)
        seconds = time.perf_counter() - begun
        run.close()
    row(f"{FRAMES} checkpoints", f"{seconds:.2f} s", asked="5 s")
