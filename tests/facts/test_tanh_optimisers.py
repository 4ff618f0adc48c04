"""Edges of every optimiser with tanh neurons, on digits 3 and 8 (docs/theory.md, 4.15 and 7.11).

Ranges are twice those of another program on its own 256 digits and starts, three seeds each. Small
networks are compared with loops of PyTorch, whose Hessians are autograd's.
"""

from __future__ import annotations

import math
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.errors import InputError
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem, resolve_problem
from core.runs import Recorder, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train
from tests.frames_in_chunks import trajectory
from tests.networks import Case, small_problem

EACH = 25
LONG = pytest.mark.slow
ROWS: dict[str, tuple[dict[str, Any], int]] = {
    "gd": ({"kind": "gd", "step": 1.0}, 4000),
    "long gd": ({"kind": "gd", "step": 1.5}, 4000),
    "sam": ({"kind": "sam", "rho": 0.05, "step": 0.5}, 3000),
    "heavy ball": ({"kind": "heavy_ball", "step": 1.0}, 3000),
    "nesterov": ({"kind": "nesterov", "step": 0.6, "warm_up": 500}, 3000),
    "adam": ({"kind": "adam", "step": 0.005}, 4000),
}


def on_digits(dynamics: dict[str, Any], steps: int, seed: int, **network: Any) -> Problem:
    tables = {
        "data": {"kind": "digits", "classes": [3, 8], "n": 256, "scale": "centred"},
        "network": {"kind": "tanh", "m": 64, **network},
        "loss": {"kind": "squared"},
        "dynamics": {**dynamics, "until_log10_time": math.log10(dynamics["step"] * steps)},
        "recording": {"frames": 1 + steps // EACH, "spacing": "even"},
        "run": {"seed": seed},
    }
    return resolve_problem(build_experiment(tables, "tanh"))


def stabilities(problem: Problem, path: Path) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the steps of all frames, their stability, and the final risk."""
    train(problem, partial(Recorder, path))
    with closing(open_run(path)) as run:
        q = [OBSERVABLES["stability"].value_at(run, i) for i in range(run.frames)]
        risk = 10.0 ** OBSERVABLES["log10_risk"].value_at(run, run.frames - 1)
        return np.array(run.steps), np.array(q), float(risk)


def seeds(row: str, *fast: int) -> list[Any]:
    """Return the three seeds of a row; those not named take a slow test each."""
    return [
        pytest.param(row, seed, marks=() if seed in fast else LONG, id=f"{row}-{seed}")
        for seed in range(3)
    ]


def first_at_the_edge(steps: np.ndarray, q: np.ndarray) -> int:
    return int(steps[np.argmax(q >= 1.0)])


@pytest.mark.parametrize(
    ("row", "seed"), [*seeds("gd"), *seeds("long gd"), *seeds("sam", 0), *seeds("adam")]
)
def test_it_trains_at_its_edge(row: str, seed: int, tmp_path: Path) -> None:
    """Reached in time; about 1 after that, and on average over the last quarter; the risk falls."""
    reach, after, mean, most = {
        "gd": ((200, 450), (0.5, 1.5), (0.98, 1.02), 0.044),
        "long gd": ((25, 75), (0.7, 1.4), (0.98, 1.03), 0.18),
        "sam": ((25, 75), (0.88, 1.76), (0.98, 1.02), 0.016),
        "adam": ((1000, 3000), (0.74, 1.18), (0.92, 1.01), 1e-5),
    }[row]
    steps, q, risk = stabilities(on_digits(*ROWS[row], seed), tmp_path / "a.msrun")
    first = first_at_the_edge(steps, q)
    assert reach[0] <= first <= reach[1]
    assert after[0] <= q[steps >= first].min() <= q[steps >= first].max() <= after[1]
    assert mean[0] <= q[steps > 0.75 * steps[-1]].mean() <= mean[1]
    assert risk <= most
    if row != "adam":  # v of one gradient says nothing at the start
        assert q[0] < 0.8


@pytest.mark.parametrize(("row", "seed"), seeds("heavy ball", 0))
def test_the_heavy_ball_ends_below_its_edge(row: str, seed: int, tmp_path: Path) -> None:
    steps, q, risk = stabilities(on_digits(*ROWS[row], seed), tmp_path / "a.msrun")
    late = q[steps > 0.75 * steps[-1]]
    assert q[0] == pytest.approx(0.25, abs=0.05)
    assert q.max() <= 1.1
    assert 0.73 <= late.min() <= late.max() <= 1.05
    assert risk <= 3e-4


@pytest.mark.slow
def test_nesterov_diverges_beyond_its_edge_or_stays_about_it(tmp_path: Path) -> None:
    """Of three seeds two diverge, here and in the other program."""
    ends = []
    for seed in range(3):
        dynamics, planned = ROWS["nesterov"]
        steps, q, _ = stabilities(on_digits(dynamics, planned, seed), tmp_path / f"{seed}.msrun")
        assert q[0] == 0.0  # the warm-up's first step has no length
        assert 260 <= first_at_the_edge(steps, q) <= 515
        ends.append(int(steps[-1]))
        if steps[-1] == planned:
            assert 0.85 <= q[steps > 0.75 * planned].mean() <= 1.02
        else:
            assert 1.1 <= q.max() <= 1.7
    assert sorted(end == planned for end in ends) == [False, False, True]


# --------------------------------------------------------------------------------- against PyTorch


def risk_of(problem: Problem) -> Any:
    """Return R as a function of a flat tensor, written out."""
    x, y = torch.tensor(problem.inputs), torch.tensor(problem.dataset.y)
    m, d = problem.network.m, problem.network.d

    def risk(flat: torch.Tensor) -> torch.Tensor:
        f = torch.tanh(x @ flat[m:].reshape(m, d).T) @ flat[:m]
        return ((f - y) ** 2).mean()

    return risk


def top(H: torch.Tensor, P: torch.Tensor | None = None) -> float:
    """Return the largest eigenvalue of P^-1/2 H P^-1/2."""
    root = torch.ones(len(H), dtype=H.dtype) if P is None else P**-0.5
    return float(torch.linalg.eigvalsh(root[:, None] * H * root)[-1])


def torch_loop(row: str, problem: Problem, steps: int) -> dict[int, tuple[np.ndarray, float]]:
    """Return parameters and stability every 25 steps, by the published rules and edges."""
    risk, beta = risk_of(problem), 0.9
    W = torch.tensor(problem.start.parameters)
    eta = problem.experiment.dynamics.step
    u, second, found = torch.zeros_like(W), torch.zeros_like(W), {}

    def slope(W: torch.Tensor) -> torch.Tensor:
        leaf = W.detach().requires_grad_()
        return torch.autograd.grad(risk(leaf), leaf)[0]

    for t in range(steps + 1):
        g = slope(W)
        length = float(g.norm())
        if t % EACH == 0:
            H = torch.autograd.functional.hessian(risk, W)
            edge, P = 2.0 / eta, None
            if row == "sam":
                edge = length / 0.1 * (math.sqrt(1.0 + 0.4 / (eta * length)) - 1.0)
            elif row == "heavy ball":
                edge = 2.0 * (1.0 + beta) / eta
            elif row == "nesterov":
                edge = 2.0 * (1.0 + beta) / (eta * (1.0 + 2.0 * beta)) * 500.0 / max(t, 1e-300)
            elif row == "adam" and t:
                edge = 38.0 / eta
                P = (1.0 - 0.9**t) * (torch.sqrt(second / (1.0 - 0.999**t)) + 1e-8)
            found[t] = (W.numpy().copy(), top(H, P) / edge)
        if row == "sam":
            W = W - eta * slope(W + 0.05 * g / length)
        elif row == "adam":
            u, second = 0.9 * u + 0.1 * g, 0.999 * second + 0.001 * g * g
            hat = torch.sqrt(second / (1.0 - 0.999 ** (t + 1))) + 1e-8
            W = W - eta * u / (1.0 - 0.9 ** (t + 1)) / hat
        elif row in ("heavy ball", "nesterov"):
            rate = eta * min(1.0, (t + 1) / 500.0) if row == "nesterov" else eta
            u = beta * u - rate * g
            W = W + (u if row == "heavy ball" else beta * u - rate * g)
        else:
            W = W - eta * g
    return found


@pytest.mark.parametrize("row", ROWS)
def test_steps_and_edges_are_those_of_torch(row: str, tmp_path: Path) -> None:
    """Four neurons, 260 weights, on all 256 digits."""
    steps = 100
    problem = on_digits(ROWS[row][0], steps, 1, m=4)
    wanted = torch_loop(row, problem, steps)
    train(problem, partial(Recorder, tmp_path / "a.msrun"))
    with closing(open_run(tmp_path / "a.msrun")) as run:
        assert run.steps.tolist() == list(wanted)
        for index, (W, q) in enumerate(wanted.values()):
            assert run.parameters(index) == pytest.approx(W, rel=1e-9, abs=1e-11)
            if row == "adam" and index == 0:
                continue
            assert OBSERVABLES["stability"].value_at(run, index) == pytest.approx(q, rel=2e-4)


@pytest.mark.parametrize(
    ("network", "sentence"),
    [
        ({"kind": "tanh"}, r'use dynamics\.kind = "gd"\.$'),
        (
            {"kind": "fixed_outer", "smooth": True},
            r'use dynamics\.kind = "gd", or smooth = false\.$',
        ),
    ],
)
def test_the_flow_in_log_time_is_refused(network: dict[str, Any], sentence: str) -> None:
    tables = {"network": {"m": 4, **network}, "dynamics": {"kind": "flow"}}
    with pytest.raises(InputError, match=sentence):
        build_experiment(tables, "a study")


@pytest.mark.parametrize("d", [5, 40])
def test_descent_with_few_and_many_coordinates_is_that_of_torch(d: int) -> None:
    """n = 12 below and above d, where networks with kernels train coefficients on the examples."""
    dynamics = {"kind": "gd", "step": 0.1, "until_log10_time": 1.0}
    problem = small_problem(Case("tanh", "squared"), dynamics, d=d, n=12)
    last = list(trajectory(problem))[-1]
    risk, W = risk_of(problem), torch.tensor(problem.start.parameters)
    for _ in range(last.step):
        leaf = W.detach().requires_grad_()
        W = W - 0.1 * torch.autograd.grad(risk(leaf), leaf)[0]
    assert last.parameters == pytest.approx(W.numpy(), rel=1e-10, abs=1e-12)
