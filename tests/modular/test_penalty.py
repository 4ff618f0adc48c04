"""The penalty lambda sum_j |theta_j|^3, AdamW's decay and schedules, against torch and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from core.dynamics.batch_engine import ArrayEngine, CompiledEngine
from core.dynamics.descent import Descent
from core.dynamics.engines import make_descent
from core.dynamics.registry import make_integrator, prepare
from core.dynamics.stochastic import Stochastic
from core.dynamics.update_rule import Rule
from core.errors import InputError
from core.network.quadratic import cubed_norm, cubed_norm_gradient, node_squares
from core.problem.problem import Problem
from tests.frames_in_chunks import check_small_chunks, frames_of
from tests.networks import HEADS, TWO_LAYER, Case, at_a_random_point, small_problem

QUADRATIC = Case("quadratic", "cross_entropy", 3)
ADAM: dict[str, Any] = {"kind": "adam", "step": 0.02, "until_log10_time": -0.1}
GD: dict[str, Any] = {"kind": "gd", "step": 0.05, "until_log10_time": 0.5}


@pytest.mark.parametrize("case", TWO_LAYER, ids=str)
def test_the_norm_of_nodes_and_its_gradient(case: Case) -> None:
    at, flat = at_a_random_point(small_problem(case))
    network, parts = at.network, at.network.unpack(flat)
    squares = [
        sum(float((part[j] ** 2).sum()) for part in parts.values()) for j in range(network.m)
    ]
    assert np.allclose(node_squares(network, flat), squares, rtol=1e-13)
    assert cubed_norm(network, flat) == pytest.approx(sum(s**1.5 for s in squares), rel=1e-13)
    direction, h = np.random.default_rng(0).standard_normal(flat.size), 1e-5
    ahead, behind = (cubed_norm(network, flat + s * h * direction) for s in (1, -1))
    slope = float(cubed_norm_gradient(network, flat) @ direction)
    assert slope == pytest.approx((ahead - behind) / (2 * h), rel=1e-7)


def by_torch(at: Problem, steps: int, make: Any, factor: Any) -> np.ndarray:
    """Take full-batch steps of a torch optimiser on R + l2 |W|^2 + l23 N."""
    A, V = (
        torch.tensor(part, requires_grad=True)
        for part in at.network.unpack(at.start.parameters).values()
    )
    x, y = torch.tensor(at.inputs), torch.tensor(at.dataset.y).long()
    optimiser = make([A, V])
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, factor)
    loss = at.experiment.loss
    for _ in range(steps):
        optimiser.zero_grad()
        risk = torch.nn.functional.cross_entropy((x @ V.T) ** 2 @ A, y)
        squares = (A**2).sum(1) + (V**2).sum(1)
        (risk + loss.l2 * squares.sum() + loss.l23 * (squares**1.5).sum()).backward()
        optimiser.step()
        schedule.step()
    return torch.cat([A.detach().reshape(-1), V.detach().reshape(-1)]).numpy()


def linear(total: int) -> Any:
    """Return 1 up to half of the steps, then straight down to 0."""
    return lambda step: 1.0 if step < total / 2 else 2.0 * (total - step) / total


@pytest.mark.parametrize("schedule", ["constant", "linear"])
@pytest.mark.parametrize(
    ("loss", "keys"),
    [
        ({"l23": 0.01}, {}),
        ({"l2": 0.003, "l23": 0.02}, {}),
        ({}, {"weight_decay": 0.8}),
        ({"l23": 0.01}, {"weight_decay": 0.3, "beta2": 0.98}),
    ],
    ids=["l23", "l2-l23", "decay", "both"],
)
def test_adam_and_adamw_equal_torch(
    loss: dict[str, Any], keys: dict[str, Any], schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In compiled steps and in steps of arrays."""
    at = small_problem(QUADRATIC, {**ADAM, **keys, "schedule": schedule}, loss=loss)
    compiled = frames_of(Stochastic(at))[-1]
    monkeypatch.setattr("core.dynamics.stochastic.make_batch_engine", ArrayEngine)
    last = frames_of(Stochastic(at))[-1]
    decay, betas = keys.get("weight_decay", 0.0), (0.9, keys.get("beta2", 0.999))
    factor = linear(last.step) if schedule == "linear" else (lambda step: 1.0)

    def make(parts: Any) -> Any:
        return torch.optim.AdamW(parts, lr=0.02, betas=betas, eps=1e-8, weight_decay=decay)

    wanted = by_torch(at, last.step, make, factor)
    for found in (compiled, last):
        assert found.step == 40
        assert np.abs(found.parameters - wanted).max() < 1e-11
    assert np.abs(wanted - at.start.parameters).max() > 0.1


@pytest.mark.parametrize("schedule", ["constant", "linear"])
@pytest.mark.parametrize("loss", [{"l23": 0.02}, {"l2": 0.01, "l23": 0.02}, {"l2": 0.01}])
def test_descent_equals_torch(loss: dict[str, Any], schedule: str) -> None:
    at = small_problem(QUADRATIC, {**GD, "schedule": schedule}, loss=loss)
    last = frames_of(make_integrator(prepare(at)))[-1]
    factor = linear(last.step) if schedule == "linear" else (lambda step: 1.0)
    wanted = by_torch(at, last.step, lambda parts: torch.optim.SGD(parts, lr=0.05), factor)
    assert last.step == 64
    assert np.abs(last.parameters - wanted).max() < 1e-12
    assert np.abs(wanted - at.start.parameters).max() > 0.05


@pytest.mark.parametrize(
    "case", [Case("standard"), Case("bias"), Case("scalar"), Case("batch_norm"), QUADRATIC], ids=str
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_engines_agree_on_every_layout(case: Case, dtype: Any) -> None:
    """The compiled penalty by the one of core.network.quadratic, in steps of each rule."""
    at = small_problem(case, loss={"l23": 0.05})
    nothing = np.zeros((0, 1), dtype), np.zeros(0, dtype)
    for rule in (Rule(0.05, total=30), Rule(0.01, adam=True, decay=0.5, total=30)):
        engines = [
            kind(at, rule, dtype, 1e6, at.dataset.n, True) for kind in (CompiledEngine, ArrayEngine)
        ]
        for engine in engines:
            assert engine.take_steps(*nothing, 12, 0) == 12
            assert engine.take_steps(*nothing, 18, 12) == 18
        one, other = (engine.flat() for engine in engines)
        bound = 1e-11 if dtype == np.float64 else 2e-4
        assert np.allclose(one, other, rtol=bound, atol=bound)
        assert np.abs(one - at.start.parameters).max() > 0.01


@pytest.mark.parametrize(
    "keys",
    [
        {**GD, "schedule": "linear"},
        {**ADAM, "schedule": "linear", "weight_decay": 0.1},
        {"kind": "sgd", "step": 0.05, "batch": 5, "schedule": "linear", "until_log10_time": 0.5},
    ],
    ids=lambda keys: keys["kind"],
)
def test_results_do_not_depend_on_the_chunks(keys: dict[str, Any]) -> None:
    at = prepare(small_problem(QUADRATIC, keys, loss={"l23": 0.01}))
    check_small_chunks(Stochastic(at), frames_of(Stochastic(at)))


def test_plain_descent_keeps_its_engines() -> None:
    plain = make_descent(prepare(small_problem(Case("bias"), GD, d=5)))
    assert isinstance(plain, Descent)
    shaped = small_problem(Case("bias"), {**GD, "schedule": "linear"}, d=5)
    assert isinstance(make_descent(prepare(shaped)), Stochastic)


def test_a_schedule_of_constant_steps_is_plain_descent() -> None:
    at = prepare(small_problem(QUADRATIC, GD, loss={"l2": 0.01}))
    plain, stepped = frames_of(make_descent(at)), frames_of(Stochastic(at))
    assert [frame.step for frame in plain] == [frame.step for frame in stepped]
    assert np.allclose(plain[-1].parameters, stepped[-1].parameters, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("case", [*HEADS[:1]], ids=str)
def test_networks_without_nodes_refuse_the_penalty(case: Case) -> None:
    with pytest.raises(InputError, match="penalty of neurons"):
        small_problem(case, GD, loss={"l23": 0.1})


@pytest.mark.parametrize("kind", ["flow", "mirror", "perturbed", "two_phase", "kernel"])
def test_dynamics_that_know_no_penalty_of_nodes_refuse_it(kind: str) -> None:
    case = Case("scalar" if kind == "mirror" else "standard")
    with pytest.raises(InputError, match="use one of gd, sgd, label_noise, adam"):
        small_problem(case, {"kind": kind}, loss={"l23": 0.1})


def test_a_gpu_is_refused_with_the_reason() -> None:
    from core.dynamics.engines import check_device

    at = small_problem(QUADRATIC, GD, loss={"l23": 0.1}, run={"device": "cuda"})
    with pytest.raises(InputError, match=r"loss\.l23"):
        check_device(at)
