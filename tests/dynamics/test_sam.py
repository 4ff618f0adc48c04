"""Sharpness-aware descent: a torch loop, both engines, and the edge of a quadratic."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.dynamics.batch_engine import ArrayEngine, CompiledEngine
from core.dynamics.registry import make_integrator, prepare
from core.dynamics.step_size import default_step, lambda_0, objective_gradient
from core.dynamics.update_rule import Rule
from core.errors import InputError
from core.observables.registry import OBSERVABLES
from core.problem.problem import Problem, Start, resolve_problem
from core.runs import Recorder, open_run
from core.study_file.validation import build_experiment
from core.training.trajectory import run as train
from tests.frames_in_chunks import check_small_chunks, frames_of, trajectory
from tests.networks import TWO_LAYER, Case, small_problem

Array = np.ndarray
SAM = {"kind": "sam", "step": 0.02, "rho": 0.3, "until_log10_time": 0.5}


def torch_loop(at: Problem, count: int, l2: float, l23: float) -> Array:
    """Return Foret et al., Algorithm 1, on the whole training set; both gradients by autograd."""
    import torch

    x, y = torch.tensor(at.inputs), torch.tensor(at.dataset.y)
    a, V = map(torch.tensor, at.network.unpack(at.start.parameters).values())

    def slopes(a: Any, V: Any) -> list[Any]:
        leaves = [part.detach().requires_grad_() for part in (a, V)]
        risk = torch.exp(-y * (torch.relu(x @ leaves[1].T) @ leaves[0])).mean()
        squares = leaves[0] ** 2 + (leaves[1] ** 2).sum(dim=1)
        return list(
            torch.autograd.grad(risk + l2 * squares.sum() + l23 * (squares**1.5).sum(), leaves)
        )

    for _ in range(count):
        g = slopes(a, V)
        length = torch.sqrt(sum((part**2).sum() for part in g))
        uphill = slopes(a + 0.3 * g[0] / length, V + 0.3 * g[1] / length)
        a, V = a - 0.02 * uphill[0], V - 0.02 * uphill[1]
    return np.asarray(torch.cat([a, V.reshape(-1)]).numpy())


@pytest.mark.parametrize(("l2", "l23"), [(0.0, 0.0), (0.03, 0.0), (0.0, 0.02)])
def test_steps_are_those_of_torch(l2: float, l23: float) -> None:
    at = small_problem(Case("standard", "exponential"), SAM, loss={"l2": l2, "l23": l23})
    last = list(trajectory(at))[-1]
    assert last.step == 159
    wanted = torch_loop(at, last.step, l2, l23)
    assert np.abs(last.parameters - wanted).max() < 1e-12 * np.abs(wanted).max()
    plain = list(trajectory(small_problem(Case("standard", "exponential"), {**SAM, "rho": 0.0})))
    assert np.abs(last.parameters - plain[-1].parameters).max() > 1e-3


@pytest.mark.parametrize("case", TWO_LAYER, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_engines_agree(case: Case, dtype: Any) -> None:
    loss = {"l2": 0.01}
    at = small_problem(case, {"kind": "gd", "step": 0.1}, loss=loss)
    nothing = np.zeros((0, 1), dtype), np.zeros(0, dtype)
    rule, found = Rule(0.05, rho=0.2, total=60), list[Any]()
    for make in (CompiledEngine, ArrayEngine):
        engine = make(at, rule, dtype, 1e6, at.dataset.n, full=True)
        assert engine.take_steps(*nothing, 50) == 50
        assert engine.parts() == {}
        found.append(engine.flat())
    size = np.abs(found[1]).max()
    assert np.abs(found[0] - found[1]).max() < (1e-10 if dtype is np.float64 else 2e-4) * size


def test_rho_0_is_gradient_descent() -> None:
    case = Case("standard", "logistic")
    sam = list(trajectory(small_problem(case, {**SAM, "rho": 0.0})))
    descent = list(
        trajectory(small_problem(case, {"kind": "gd", "step": 0.02, "until_log10_time": 0.5}))
    )
    assert sam[-1].step == descent[-1].step
    assert sam[-1].parameters == pytest.approx(descent[-1].parameters, rel=1e-12)


def test_frames_do_not_depend_on_chunks() -> None:
    at = prepare(small_problem(Case("bias"), SAM))
    check_small_chunks(make_integrator(at), frames_of(make_integrator(at)))


def test_a_start_without_a_gradient_stays() -> None:
    at = small_problem(Case("standard", "squared"), SAM)
    zero = np.zeros_like(at.start.parameters)
    at = replace(at, start=Start(zero, zero))
    assert not list(trajectory(at))[-1].parameters.any()


def quadratic(factor: float, g: float, rho: float) -> tuple[Problem, float]:
    """Return R = (w - 1)^2/2, a start with |grad R| = g, and a step of `factor` times the edge."""
    eta = factor * 2.0 / (1.0 + rho / g)  # eta S (1 + rho S/|g|) = 2 factor at S = 1
    tables = {
        "data": {"kind": "points", "points": [[1.0, 1], [-1.0, -1]]},
        "network": {"kind": "fixed_outer", "m": 1, "slope": 1.0},
        "loss": {"kind": "least_squares"},
        "dynamics": {
            "kind": "sam",
            "step": eta,
            "rho": rho,
            "until_log10_time": np.log10(eta * 0.999),
        },
        "recording": {"frames": 2},
    }
    at = resolve_problem(build_experiment(tables, "test"))
    (outer,) = at.network.fixed.values()
    flat = np.array([(1.0 + g) / float(outer[0])])
    return replace(at, start=Start(flat, flat)), eta


@pytest.mark.parametrize(("g", "rho"), [(0.5, 0.05), (0.01, 0.05), (2.0, 1.0)])
def test_a_step_grows_above_the_edge_alone(tmp_path: Path, g: float, rho: float) -> None:
    """One step multiplies f - 1 by 1 - eta S (1 + rho S/|g|); stability 1 is a factor of -1."""
    for factor in (0.9, 1.0, 1.1):
        at, eta = quadratic(factor, g, rho)
        path = tmp_path / f"{factor}.msrun"
        train(at, partial(Recorder, path))
        with closing(open_run(path)) as run:
            q = OBSERVABLES["stability"].value_at(run, 0)
            ends = [float(at.outputs(run.parameters(i))[0]) - 1.0 for i in (0, run.frames - 1)]
            assert run.steps[-1] == 1
        assert ends[1] / ends[0] == pytest.approx(1.0 - 2.0 * factor, rel=1e-9)
        edge = g / (2.0 * rho) * (np.sqrt(1.0 + 8.0 * rho / (eta * g)) - 1.0)
        assert q == pytest.approx(1.0 / edge, rel=1e-9)
        assert (q < 1.0 - 1e-3, q > 1.0 + 1e-3) == (factor < 1.0, factor > 1.0)


def test_the_default_step_is_half_of_the_edge() -> None:
    at = small_problem(Case("standard", "logistic"), {"kind": "sam", "rho": 0.2})
    flat = at.start.parameters
    step = prepare(at).experiment.dynamics.step
    assert step is not None and step < default_step(at)
    slope, S = float(np.linalg.norm(objective_gradient(at, flat))), lambda_0(at)
    assert step * S * (1.0 + 0.2 * S / slope) == pytest.approx(1.0, rel=1e-9)


BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({"rho": -0.1}, "dynamics.rho"),
    ({"rho": float("nan")}, "dynamics.rho"),
    ({"rho": float("inf")}, "dynamics.rho"),
    ({"step": 0.0}, "dynamics.step"),
    ({"batch": 5}, "dynamics.batch"),
)


@pytest.mark.parametrize(("settings", "key"), BAD, ids=str)
def test_bad_settings_are_one_sentence(settings: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError) as caught:
        small_problem(Case("standard"), {**SAM, **settings})
    assert key in str(caught.value)
    assert "\n" not in str(caught.value)
