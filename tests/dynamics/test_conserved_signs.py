"""Gradient flow never changes a sign that it conserves, and ends where the exact flow does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from core.dynamics.registry import make_integrator, prepare
from core.problem.problem import Problem, resolve_problem
from core.run_files.frame import Frame
from core.study_file.validation import build_experiment
from tests.frames_in_chunks import frames_of

Array = NDArray[np.float64]
SCALAR = {"kind": "scalar", "m": 4}


def flow_of(
    data: dict[str, Any], network: dict[str, Any], frames: int = 8, seed: int = 0
) -> Problem:
    """Return a flow of the exponential loss to t = 10^3."""
    tables = {
        "data": data,
        "network": network,
        "loss": {"kind": "exponential"},
        "dynamics": {"kind": "flow", "until_log10_time": 3.0},
        "recording": {"frames": frames},
        "run": {"seed": seed},
    }
    return resolve_problem(build_experiment(tables, "a test"))


def random_points(seed: int, most: int = 7) -> dict[str, Any]:
    """Return two to six points of both labels: on the sphere, repeated on the axes, or corners."""
    generator = np.random.default_rng(seed)
    n, d = int(generator.integers(2, most)), int(generator.integers(2, 4))
    X = generator.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    if seed % 3 == 1:
        X = np.eye(d)[generator.integers(0, d, n)] * generator.choice([1.0, 0.5], (n, 1))
    if seed % 3 == 2:
        X = generator.choice([-1.0, 1.0], (n, d)) / np.sqrt(d)
    y = generator.choice([-1.0, 1.0], n)
    y[:2] = 1.0, -1.0
    return {"kind": "points", "points": np.column_stack([X, y]).tolist()}


def frames(problem: Problem) -> list[Frame]:
    return frames_of(make_integrator(prepare(problem)))


def log_risk(problem: Problem, frame: Frame) -> float:
    flat = problem.network.physical(frame.parameters, frame.rho)
    return float(problem.loss.log_risk(problem.scores(flat)))


def assert_signs_stay(problem: Problem, run: list[Frame], names: tuple[str, ...]) -> None:
    first = problem.network.unpack(run[0].parameters)
    for frame in run:
        now = problem.network.unpack(frame.parameters)
        for name in names:
            assert (first[name] * now[name] >= 0.0).all(), (name, frame.log10_time)


def exact_log_risk(problem: Problem, t: float) -> float:
    """Return ln R of the exact flow from a balanced start of a scalar network.

    u_j = |a_j b_j| = u_j(0) exp(2 (Z' lambda)_j), d lambda/dt = q, R = mean exp(-Z u)
    (telgarsky22, 3.2).
    """
    arrays = problem.network.unpack(problem.start.parameters)
    a, b, V = arrays["a"], arrays["b"], problem.network.fixed["V"]
    seen = np.maximum(np.sign(b) * (problem.inputs @ V.T), 0.0)
    Z = np.asarray(problem.dataset.y)[:, None] * np.sign(a) * seen

    def margins(dual: Array) -> Array:
        return np.asarray(Z @ (np.abs(a * b) * np.exp(2.0 * Z.T @ dual)))

    def rate(_: float, dual: Array) -> Array:
        return np.asarray(np.exp(-margins(dual)) / problem.dataset.n)

    end = solve_ivp(rate, (0.0, t), np.zeros(problem.dataset.n), "LSODA", rtol=1e-10, atol=1e-12)
    return float(np.log(np.mean(np.exp(-margins(end.y[:, -1])))))


def test_scalar_networks_end_where_the_exact_flow_does(subtests: pytest.Subtests) -> None:
    """Explicit steps alone end elsewhere in ten of these twelve, at up to a sixth of the risk."""
    for seed in range(12):
        with subtests.test(seed=seed):
            problem = flow_of(random_points(seed), SCALAR, seed=seed)
            run = frames(problem)
            assert_signs_stay(problem, run, ("a", "b"))
            assert log_risk(problem, run[-1]) == pytest.approx(
                exact_log_risk(problem, 1e3), abs=2e-3
            )


def test_two_orthogonal_points_cannot_be_fitted_by_these_two_nodes() -> None:
    """The smallest case: the second point has no node of its sign."""
    points = [[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]]
    problem = flow_of({"kind": "points", "points": points}, {"kind": "scalar", "m": 2}, frames=20)
    run = frames(problem)
    assert_signs_stay(problem, run, ("a", "b"))
    assert np.exp(log_risk(problem, run[-1])) == pytest.approx(0.5001, abs=1e-4)


def test_the_end_does_not_depend_on_the_number_of_frames() -> None:
    parity = {"kind": "parity", "d": 2, "k": 2, "n": 4}
    ends = []
    for count in (2, 20, 50):
        problem = flow_of(parity, {"kind": "scalar", "m": 8}, frames=count)
        ends.append(np.exp(log_risk(problem, frames(problem)[-1])))
    assert ends == pytest.approx([0.250143153] * 3, abs=1e-8)


@pytest.mark.parametrize("factor", [1.0, 30.0, 300.0])
def test_steps_are_short_enough_for_nodes_that_decay_fast(factor: float) -> None:
    """Long inputs make nodes decay within a step: such a step is refused, and taken by halves."""
    data = random_points(4)
    points = np.array(data["points"])
    points[:, :-1] *= factor
    problem = flow_of({**data, "points": points.tolist()}, SCALAR, seed=4)
    assert_signs_stay(problem, frames(problem), ("a", "b"))


# Ten of the 17 in 300 random cases in which explicit steps alone changed a sign.
STANDARD = (18, 45, 71, 83, 93, 130, 139, 150, 156, 165)


@pytest.mark.parametrize("init", ["balanced", "dominated"])
def test_outer_signs_of_small_starts_stay(subtests: pytest.Subtests, init: str) -> None:
    for seed in STANDARD:
        with subtests.test(seed=seed):
            network = {"kind": "standard", "m": 4, "init": init}
            problem = flow_of(random_points(seed), network, seed=seed)
            run = frames(problem)
            assert_signs_stay(problem, run, ("a",))
            start, end = (
                problem.network.imbalance(problem.network.physical(one.parameters, one.rho))
                for one in (run[0], run[-1])
            )
            size = problem.network.norm(run[-1].parameters) ** 2 * np.exp(2.0 * run[-1].rho)
            np.testing.assert_allclose(end, start, rtol=0.0, atol=1e-11 * size)
