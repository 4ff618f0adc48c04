"""Lemmas of batchnorm and wei19 that proofs stand on: bounds and measured by a second route.

Derivatives are taken by central differences, expectations over signs by going through all of them,
over the sphere by sampling, and over particles one by one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from core.runs import Run
from core.theorems.batchnorm_alignment import rademacher_complexity, sign_vectors
from core.theorems.statement import Verdict
from core.theorems.wei19_flow import objective_derivative_terms, smallest_fitting_norm
from tests.support.judged_runs import condition, exactly, of_paper, problem_of, recorded_run
from tests.theorems.differences import physical, slopes

DELTA = 0.1
Array = np.ndarray

# ----------------------------------------------------------------- batchnorm, Lemmas D.3 and F.1

GAMMA_A, GAMMA_C = 0.05, 0.03


@pytest.fixture(scope="module")
def normalising(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    at = problem_of(
        {"kind": "batch_norm", "m": 40, "eps": 0.04},
        {"kind": "gd", "step": 1e-4, "until_log10_time": -3.0},
        data={"d": 6, "n": 6},
        frames=4,
    )
    with recorded_run(tmp_path_factory.mktemp("runs") / "bn", at) as run:
        yield run


def separator(rows: Array) -> Array:
    """Return the hard-margin direction of some rows, by the dual with SLSQP."""
    n = len(rows)
    found = minimize(
        lambda q: float(np.square(rows.T @ q).sum()),
        np.full(n, 1.0 / n),
        jac=lambda q: 2.0 * rows @ (rows.T @ q),
        method="SLSQP",
        bounds=[(0.0, 1.0)] * n,
        options={"ftol": 1e-16, "maxiter": 1000},
        constraints=[{"type": "eq", "fun": lambda q: q.sum() - 1.0}],
    )
    w = rows.T @ found.x
    return np.asarray(w / np.linalg.norm(w))


def test_lemma_d_3(normalising: Run) -> None:
    run, m, gamma = normalising, 40, GAMMA_A + GAMMA_C
    found = of_paper(run, exactly(gamma_a=GAMMA_A, gamma_c=GAMMA_C), "batchnorm", DELTA)
    one, two = found["Lemma D.3 (1)"].comparison, found["Lemma D.3 (2)"].comparison
    eps_n = 1.0 / math.sqrt(0.04)
    radius = gamma ** (1 / 3) * m ** (1 / 6) / (27 * eps_n)
    rows = np.array([slopes(run, run.origin, step) for step in np.eye(2 * m, run.network.size)]).T
    reference = np.concatenate([separator(rows[:, :m]), separator(rows[:, m:])])
    assert one.bound == pytest.approx(gamma * math.sqrt(m) / 2)
    assert two.bound == pytest.approx(radius / 8 * gamma * math.sqrt(m) / 4)
    assert one.measured_trace is not None
    assert two.measured_trace is not None
    near = 0
    for k in range(run.frames):
        now = physical(run, k)
        moved = now - run.origin
        if np.linalg.norm(moved[: 2 * m]) >= radius:
            assert math.isnan(two.measured_trace[k])
            continue
        near += 1
        along = slopes(run, now, np.concatenate([reference, np.zeros(now.size - 2 * m)])).min()
        assert one.measured_trace[k] == pytest.approx(along, rel=2e-3)
        al = (radius * 2 * eps_n) ** 2
        direction = np.concatenate(
            [run.origin[: 2 * m] + radius / 8 * reference, -al * moved[2 * m :]]
        )
        value = (slopes(run, now, direction) - run.problem.margins(now)).min()
        assert two.measured_trace[k] == pytest.approx(value, abs=1e-5)
    assert near >= 1


def test_lemma_f_1(normalising: Run) -> None:
    """Over all 2^6 vectors of signs; and as printed, with rho alone, it fails at the start."""
    run, n = normalising, 6
    one = of_paper(run, {}, "batchnorm", DELTA)["Lemma F.1"]
    parts = run.network.unpack(physical(run, run.frames - 1))
    x = run.dataset.x - run.dataset.x.mean(axis=0)
    N = np.sqrt(np.square(x @ parts["V"].T).mean(axis=0) + 0.04)
    size = (np.abs(parts["a"] * parts["c"]) / N).sum()
    both = np.concatenate([parts["V"], -parts["V"]])
    total = 0.0
    for signs in itertools.product((-1.0, 1.0), repeat=n):
        total += max(abs(float(np.array(signs) @ np.maximum(x @ v, 0.0))) for v in both)
    assert one.comparison.measured == pytest.approx(size * total / 2**n / n)
    V_0 = run.network.unpack(run.origin)["V"]
    longest, rho = np.linalg.norm(V_0, axis=1).max(), np.linalg.norm(parts["V"] - V_0)
    assert one.comparison.bound == pytest.approx(4 * size * (longest + rho) / math.sqrt(n))
    assert one.comparison.holds is True
    assert rademacher_complexity(x, V_0) > 0.01  # of B, where 4 B rho/sqrt(n) with rho = 0 is 0


def test_signs_are_all_there_or_drawn() -> None:
    few = sign_vectors(3)
    assert {tuple(row) for row in np.concatenate([few, -few])} == set(
        itertools.product((-1.0, 1.0), repeat=3)
    )
    many = sign_vectors(40)
    assert many.shape == (256, 40)
    assert abs(many.mean()) < 0.05


# --------------------------------------------------------------------- wei19, B.9 and Lemma E.7


def test_lemma_e_7_particle_by_particle(tmp_path: Path) -> None:
    """L' and v of each theta_j = sqrt(m) w_j by differences, and the sphere by sampling."""
    sigma, l2, m = 0.3, 0.01, 5
    dynamics = {"kind": "perturbed", "sigma": sigma, "until_log10_time": 0.5}
    data = {"kind": "wei19", "d": 3, "n": 6}
    at = problem_of({"m": m}, dynamics, {"kind": "logistic", "l2": l2}, data, frames=3)
    with recorded_run(tmp_path / "run", at) as run:
        one = of_paper(run, {}, "wei19", DELTA)["Lemma E.7"]
        found = [objective_derivative_terms(run, k) for k in range(run.frames)]
        last = run.network.unpack(run.parameters(run.frames - 1))
        x, y = run.dataset.x, run.dataset.y
    theta = math.sqrt(m) * np.concatenate([last["a"][:, None], last["V"]], axis=1)
    f = np.maximum(x @ theta[:, 1:].T, 0.0) @ theta[:, 0] / m
    g = -y / (1.0 + np.exp(y * f)) / len(y)

    def value(points: Array) -> Array:
        activations = np.maximum(points[:, 1:] @ x.T, 0.0) * points[:, :1]
        return np.asarray(activations @ g + l2 * np.square(points).sum(axis=1))

    h = 1e-6
    squares = sum(
        ((value(theta + h * e) - value(theta - h * e)) / (2 * h)) ** 2
        for e in np.eye(x.shape[1] + 1)
    )
    sphere = np.random.default_rng(0).standard_normal((200_000, x.shape[1] + 1))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    uniform = value(sphere)
    first, second, third = found[-1]
    assert first == pytest.approx(-sigma * value(theta).mean())
    assert second == pytest.approx(sigma * uniform.mean(), abs=5 * sigma * uniform.std() / 440.0)
    assert third == pytest.approx(-float(np.mean(squares)), rel=1e-5)
    assert one.comparison.holds is True
    assert one.comparison.measured < 1e-4
    assert one.verdict is Verdict.HOLDS_ANYWAY  # ReLU is not differentiable


def test_theorem_b_9(tmp_path: Path) -> None:
    """Two opposite examples, which no node sees both of: one node each, and 2/z_1 + 2/z_2."""
    x, y = np.array([[0.6, 0.8], [-0.6, -0.8]]), np.array([1.0, -1.0])
    np.savez(tmp_path / "two.npz", x=x, y=y)
    data = {"kind": "file", "path": str(tmp_path / "two.npz")}
    l2 = 1e-3
    at = problem_of(
        {"m": 6},
        {"kind": "gd", "step": 0.1, "until_log10_time": 3.0},
        {"kind": "squared", "l2": l2},
        data,
    )
    with recorded_run(tmp_path / "run", at) as run:
        one = of_paper(run, {}, "wei19", DELTA)["Theorem B.9"]
        last = run.frames - 1
        parts = run.network.unpack(run.parameters(last))
        z = (parts["V"] / np.linalg.norm(parts["V"], axis=1, keepdims=True)) @ x.T
        smallest = 2.0 / z[:, 0].max() + 2.0 / z[:, 1].max()
        assert smallest_fitting_norm(run, last) == pytest.approx(smallest)
        f = np.maximum(parts["V"] @ x.T, 0.0).T @ parts["a"]
        squared = float(np.square(run.parameters(last)).sum())
    assert one.comparison.bound == pytest.approx(l2 * smallest)
    assert one.comparison.measured == pytest.approx(np.square(f - y).mean() + l2 * squared)
    assert condition(one, "fits the data").met is True
    assert condition(one, "global minimiser").met is None
    reached = one.comparison.measured <= one.comparison.bound
    assert one.verdict is (Verdict.HOLDS_ANYWAY if reached else Verdict.VIOLATED_NOT_MET)
