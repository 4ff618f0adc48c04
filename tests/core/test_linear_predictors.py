"""Diagonal and deep linear networks: gradients, what flow conserves, and starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.dynamics.registry import prepare
from core.errors import InputError
from core.network.linear_predictor import LinearPredictor
from core.problem.problem import resolve_problem
from core.runs import Recorder, open_run
from core.study_file.validation import build_experiment
from core.training.control import FinishReason
from core.training.trajectory import run as train
from tests.networks import LINEAR_PREDICTORS, Case, at_a_random_point, small_problem

cases = pytest.mark.parametrize("case", LINEAR_PREDICTORS, ids=str)


def network_at(case: Case) -> tuple[LinearPredictor, np.ndarray, np.ndarray]:
    at, flat = at_a_random_point(small_problem(case))
    assert isinstance(at.network, LinearPredictor)
    return at.network, flat, at.inputs


def dense_coefficients(network: LinearPredictor, flat: np.ndarray) -> np.ndarray:
    """Return beta by the definition, from the named blocks."""
    blocks = list(network.unpack(flat).values())
    if network.kind == "deep_linear":
        product = blocks[0]
        for block in blocks[1:]:
            product = block @ product
        return np.asarray(product).reshape(-1)
    if "w" in network.unpack(flat):
        return np.asarray((blocks[0] ** 2 - blocks[1] ** 2).sum(axis=0))
    return np.asarray(np.prod(blocks, axis=0).sum(axis=0))


@cases
def test_outputs_are_those_of_the_definition(case: Case) -> None:
    network, flat, x = network_at(case)
    beta = dense_coefficients(network, flat)
    assert np.allclose(network.outputs(flat, x), x @ beta, rtol=1e-12)
    alpha, U = network.nodes(flat)
    assert np.allclose(alpha @ U, beta, rtol=1e-12)


@cases
def test_gradients_are_those_of_differences(case: Case) -> None:
    network, flat, x = network_at(case)
    generator = np.random.default_rng(1)
    g, direction = generator.standard_normal(x.shape[0]), generator.standard_normal(flat.size)
    h = 1e-5
    wanted = (
        network.outputs(flat + h * direction, x) - network.outputs(flat - h * direction, x)
    ) / (2 * h)
    assert np.allclose(network.derivative(flat, x, direction), wanted, rtol=1e-7, atol=1e-8)
    assert network.gradient(flat, x, g) @ direction == pytest.approx(g @ wanted, rel=1e-7)


def test_a_gradient_does_not_divide_by_an_entry() -> None:
    """Products of the other layers, where an entry is 0."""
    network, flat, x = network_at(LINEAR_PREDICTORS[0])
    flat[0] = 0.0
    slope = network.gradient(flat, x, np.ones(x.shape[0]))
    own = network.unpack(flat)
    assert slope[0] == pytest.approx(x[:, 0].sum() * own["u2"][0, 0] * own["u3"][0, 0], rel=1e-12)


@cases
def test_flow_conserves_to_first_order(case: Case) -> None:
    network, flat, x = network_at(case)
    direction = network.gradient(flat, x, np.random.default_rng(2).standard_normal(x.shape[0]))
    other = np.random.default_rng(3).standard_normal(flat.size)
    h = 1e-5
    for invariant in (network.invariants, network.imbalance):
        change = (invariant(flat + h * direction) - invariant(flat - h * direction)) / (2 * h)
        assert np.abs(change).max() <= 1e-9
        free = (invariant(flat + h * other) - invariant(flat - h * other)) / (2 * h)
        assert np.abs(free).max() >= 1e-3


def resolved(**network: Any) -> tuple[LinearPredictor, np.ndarray, np.ndarray, np.ndarray]:
    tables = {"data": {"d": 4, "n": 12, "k": 1}, "network": network, "dynamics": {"kind": "gd"}}
    at = resolve_problem(build_experiment(tables, "test"))
    assert isinstance(at.network, LinearPredictor)
    return at.network, at.start.parameters, at.dataset.x, at.dataset.y


@pytest.mark.parametrize("layers", [2, 3, 5])
@pytest.mark.parametrize("init", ["aligned", "balanced", "random"])
def test_starts_of_deep_networks(layers: int, init: str) -> None:
    made = {"kind": "deep_linear", "m": 6, "layers": layers, "init": init, "scale": 0.01}
    network, flat, x, y = resolved(**made)
    beta = network.coefficients(flat)
    still = float(np.abs(network.invariants(flat)).max())
    if init == "random":
        assert still > 1e-4
        assert flat.std() == pytest.approx(0.01 ** (1 / layers) / np.sqrt(6), rel=0.3)
        return
    assert still <= 1e-16
    assert np.linalg.norm(beta) == pytest.approx(0.01, rel=1e-12)
    pull = y @ x
    assert (abs(beta @ pull / np.linalg.norm(pull) - 0.01) < 1e-14) == (init == "aligned")


def test_starts_of_diagonal_networks() -> None:
    for made, beta in (
        ({"layers": 3, "scale": 0.5}, 0.125),
        ({"layers": 2, "scale": 0.5, "m": 3}, 0.75),
        ({"form": "squares", "layers": 2, "scale": 0.5}, 0.0),
    ):
        network, flat, _, _ = resolved(kind="diagonal_linear", **made)
        assert np.allclose(network.coefficients(flat), beta)


@pytest.mark.parametrize(
    ("network", "dynamics", "sentence"),
    [
        ({"kind": "diagonal_linear", "layers": 1}, {}, "greater than or equal to 2"),
        ({"kind": "diagonal_linear", "form": "cubes"}, {}, "'product' or 'squares'"),
        ({"kind": "diagonal_linear", "form": "squares", "layers": 3}, {}, "has two layers"),
        ({"kind": "deep_linear"}, {}, "m, the width, is missing"),
        ({"kind": "deep_linear", "m": 1_000_000}, {}, "smaller m or layers"),
        ({"kind": "deep_linear", "m": 3}, {"kind": "mirror"}, "outer weights a_j b_j"),
        ({"kind": "scalar", "m": 3}, {"kind": "plain_flow"}, "without activation"),
    ],
)
def test_wrong_settings_get_one_sentence(
    network: dict[str, Any], dynamics: dict[str, Any], sentence: str
) -> None:
    tables = {"network": network, "dynamics": dynamics or {"kind": "gd"}}
    with pytest.raises(InputError, match=sentence):
        build_experiment(tables, "test")


def test_descent_stops_before_products_of_layers_leave_float64(tmp_path: Path) -> None:
    """Finite weights of 13 layers have infinite outputs: such a frame would have no numbers."""
    made = {
        "data": {"kind": "orthonormal"},
        "network": {
            "kind": "diagonal_linear",
            "m": 4,
            "layers": 13,
            "init": "random",
            "scale": 48.5,
        },
        "loss": {"kind": "least_squares"},
        "dynamics": {"kind": "gd", "step": 0.5, "until_log10_time": 2.0},
        "recording": {"frames": 5},
    }
    path = tmp_path / "run.msrun"
    problem = prepare(resolve_problem(build_experiment(made, "test")))
    status = train(problem, lambda made, **facts: Recorder(path, made, **facts))
    assert status.reason is FinishReason.DIVERGED
    with open_run(path) as run:
        last = run.parameters(run.frames - 1)
        assert np.isfinite(run.network.outputs(last, run.inputs)).all()
        assert np.isfinite(run.network.norm_power(last))
