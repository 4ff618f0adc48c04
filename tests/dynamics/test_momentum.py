"""Heavy ball and Nesterov: torch's optimiser, the edges of a quadratic, and the warm-up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.dynamics.batch_engine import ArrayEngine, CompiledEngine
from core.dynamics.registry import prepare
from core.dynamics.step_size import default_step
from core.dynamics.update_rule import Rule
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem, Start, resolve_problem
from core.runs import open_run
from core.study_file.validation import build_experiment
from tests.frames_in_chunks import trajectory
from tests.networks import Case, small_problem
from tests.problems import problem
from tests.recording import recorded

Array = np.ndarray
KINDS = ("heavy_ball", "nesterov")
EVERY = pytest.mark.parametrize("kind", KINDS)


@EVERY
@pytest.mark.parametrize("l2", [0.0, 0.03])
def test_steps_are_those_of_torch(kind: str, l2: float) -> None:
    import torch

    dynamics = {"kind": kind, "step": 0.02, "beta": 0.8, "until_log10_time": 0.5}
    at = small_problem(Case("standard", "exponential"), dynamics, loss={"l2": l2})
    last = list(trajectory(at))[-1]
    assert last.step == 159
    x, y = torch.tensor(at.inputs), torch.tensor(at.dataset.y)
    start = at.network.unpack(at.start.parameters).values()
    a, V = (torch.tensor(part, requires_grad=True) for part in start)
    sgd = torch.optim.SGD(
        [a, V], lr=0.02, momentum=0.8, nesterov=kind == "nesterov", weight_decay=2.0 * l2
    )
    for _ in range(last.step):
        sgd.zero_grad()
        torch.exp(-y * (torch.relu(x @ V.T) @ a)).mean().backward()
        sgd.step()
    wanted = torch.cat([a.detach(), V.detach().reshape(-1)]).numpy()
    assert np.abs(last.parameters - wanted).max() < 1e-12 * np.abs(wanted).max()


@EVERY
def test_engines_agree(kind: str) -> None:
    at = small_problem(Case("bias"), {"kind": "gd", "step": 0.1})
    nothing = np.zeros((0, 1)), np.zeros(0)
    rule, found = Rule(0.05, beta1=0.7, momentum=True, warm_up=9, total=60), list[Any]()
    rule = replace(rule, ahead=kind == "nesterov")
    for make in (CompiledEngine, ArrayEngine):
        engine = make(at, rule, np.float64, 1e6, at.dataset.n, full=True)
        assert engine.take_steps(*nothing, 50) == 50
        found.append(engine.flat())
    assert found[0] == pytest.approx(found[1], rel=1e-10)


def quadratic(kind: str, step: float, beta: float) -> Problem:
    """Return f = w x on x = 1, y = 1 by (f - y)^2/2: R = (w - 1)^2/2, of curvature 1."""
    dynamics = {"kind": kind, "step": step, "beta": beta, "until_log10_time": np.log10(400 * step)}
    tables = {
        "data": {"kind": "points", "points": [[1.0, 1], [-1.0, -1]]},
        "network": {"kind": "fixed_outer", "m": 1, "slope": 1.0},
        "loss": {"kind": "least_squares"},
        "dynamics": dynamics,
        "recording": {"frames": 40},
    }
    at = resolve_problem(build_experiment(tables, "test"))
    flat = at.start.parameters + 0.5
    return replace(at, start=Start(flat, flat))


@EVERY
@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
def test_a_quadratic_diverges_above_the_edge_alone(kind: str, beta: float) -> None:
    edge = 2.0 + 2.0 * beta if kind == "heavy_ball" else 2.0 * (1.0 + beta) / (1.0 + 2.0 * beta)
    ends = []
    for factor in (0.97, 1.03):
        at = quadratic(kind, factor * edge, beta)
        assert at.experiment.dynamics.edge == pytest.approx(edge, rel=1e-12)
        p = at.margins(list(trajectory(at))[-1].parameters)
        ends.append(float(np.abs(p - 1.0).max()))
    assert ends[0] < 1e-2
    assert ends[1] > 3.0  # of the last frame that is finite


@EVERY
def test_a_warm_up_lengthens_the_steps(kind: str) -> None:
    """Without momentum: the path of descent with steps s eta/20, then eta."""
    dynamics = {"kind": kind, "step": 0.1, "beta": 0.0, "warm_up": 20, "until_log10_time": 0.5}
    at = small_problem(Case("standard", "exponential"), dynamics)
    last = list(trajectory(at))[-1]
    flat, y = at.start.parameters.copy(), at.dataset.y
    for s in range(1, last.step + 1):
        g = at.loss.output_gradient(at.network.outputs(flat, at.inputs), y) / y.size
        flat = flat - 0.1 * min(1.0, s / 20) * at.network.gradient(flat, at.inputs, g)
    assert last.parameters == pytest.approx(flat, rel=1e-10)


@EVERY
def test_the_stability_is_over_the_edge(kind: str, tmp_path: Path) -> None:
    settings = ("dynamics.step=0.25", "dynamics.warm_up=8", "dynamics.until_log10_time=0.8")
    path = tmp_path / "a.msrun"
    recorded(path, f"dynamics.kind={kind}", *settings, "loss.kind=logistic", "recording.frames=8")
    with open_run(path) as run:
        edge = 3.8 if kind == "heavy_ball" else 3.8 / 2.8
        steps = np.minimum(1.0, run.steps / 8.0)
        for frame in (0, 3, run.frames - 1):
            S = OBSERVABLES["sharpness"].value_at(run, frame)
            wanted = steps[frame] * 0.25 * S / edge
            assert OBSERVABLES["stability"].value_at(run, frame) == pytest.approx(wanted, rel=1e-12)
        assert steps[0] == 0.0 < steps[3]
        landmark = OBSERVABLES["sharpness"].landmark
        assert landmark is not None
        line = landmark(run)
        assert line is not None and line.value == pytest.approx(edge / 0.25)


@EVERY
def test_the_default_step_is_a_tenth_of_that_of_descent(kind: str) -> None:
    at = problem(f"dynamics.kind={kind}", "loss.kind=logistic", m=8)
    step = prepare(at).experiment.dynamics.step
    assert step == pytest.approx(0.1 * default_step(at), rel=1e-12)
