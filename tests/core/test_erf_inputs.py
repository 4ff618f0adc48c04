"""Erf neurons on Gaussian inputs: quadrature, differences, Saad and Solla's numbers, steps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import erf

from core.network.erf_inputs import ErfOrderParameters, ErfTeacher, erf_means, erf_squares
from tests.core.test_gaussian_inputs import assert_gradient_is_of_differences


def drawn(
    K: int = 3, M: int = 2, d: int = 6, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, ErfTeacher]:
    """Return a student a (K,), W (K, d) and a teacher with both signs, in general position."""
    generator = np.random.default_rng(seed)
    a, W = generator.standard_normal(K), 0.6 * generator.standard_normal((K, d))
    c = np.where(np.arange(M) % 2 == 0, 1.0, -1.0)
    return a, W, ErfTeacher(c, 0.5 * generator.standard_normal((M, d)))


def expectation_nodes(C: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points z (P, N) and weights of N(0, C) by Gauss-Hermite quadrature."""
    points, weights = np.polynomial.hermite_e.hermegauss(count)
    N = C.shape[0]
    grid = np.stack(np.meshgrid(*[points] * N, indexing="ij"), axis=-1).reshape(-1, N)
    mass = np.stack(np.meshgrid(*[weights] * N, indexing="ij"), axis=-1).reshape(-1, N)
    return grid @ np.linalg.cholesky(C).T, mass.prod(axis=1) / (2.0 * np.pi) ** (N / 2.0)


def test_means_and_squares_are_those_of_quadrature() -> None:
    """Two neurons and one unit of a teacher, in three dimensions: 48^3 points."""
    a, W, teacher = drawn(K=2, M=1)
    rows, b = np.concatenate([W, teacher.V]), np.concatenate([a, -teacher.c])
    C = rows @ rows.T
    z, mass = expectation_nodes(C, 48)
    g = erf(z / np.sqrt(2.0))
    assert np.allclose(erf_means(C), g.T @ (mass[:, None] * g), rtol=0.0, atol=1e-12)
    error, noise = g @ b, 0.3
    slopes = a * np.sqrt(2.0 / np.pi) * np.exp(-0.5 * z[:, :2] ** 2)
    wanted = slopes.T @ ((mass * (error**2 + noise**2))[:, None] * slopes)
    solution = erf_squares(b, C, 2, noise)
    assert np.allclose(solution, wanted, rtol=0.0, atol=1e-8)
    assert np.abs(solution - erf_squares(b, C, 2)).max() > 1e-4
    assert np.array_equal(solution, solution.T)


def test_squares_are_means_over_inputs() -> None:
    a, W, teacher = drawn(K=4, M=3, d=8)
    rows, b = np.concatenate([W, teacher.V]), np.concatenate([a, -teacher.c])
    z = np.random.default_rng(4).standard_normal((200_000, 8)) @ rows.T
    error = erf(z / np.sqrt(2.0)) @ b
    delta = a * np.sqrt(2.0 / np.pi) * np.exp(-0.5 * z[:, :4] ** 2) * error[:, None]
    solution = erf_squares(b, rows @ rows.T, 4)
    for i in range(4):
        for k in range(4):
            product = delta[:, i] * delta[:, k]
            deviation = product.std() / np.sqrt(product.size)
            assert abs(product.mean() - solution[i, k]) <= 5.0 * deviation
    risk = 0.5 * error**2
    assert abs(risk.mean() - teacher.risk(a, W)) <= 5.0 * risk.std() / np.sqrt(risk.size)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_gradient_is_that_of_differences(seed: int) -> None:
    assert_gradient_is_of_differences(*drawn(seed=seed))


def test_the_order_parameters_are_closed() -> None:
    """dQ and dR by the chain rule; with a rate, the mean of many steps of one example each."""
    _, W, teacher = drawn(d=400)
    W, a, eta = W / 8.0, np.ones(3), 0.9
    state = teacher.order_parameters(a, W, eta)
    _, d_W = teacher.gradient(a, W)
    flow, (Q, R) = teacher.order_parameters(a, W), teacher.overlaps(W)
    slope = flow.unpack(flow.slope())
    assert np.allclose(slope.R, -d_W @ teacher.V.T, rtol=0.0, atol=1e-12)
    assert np.allclose(slope.Q, -d_W @ W.T - W @ d_W.T, rtol=0.0, atol=1e-12)
    assert flow.risk() == pytest.approx(teacher.risk(a, W), abs=1e-14)
    # One step of eta/d from the same weights: the mean change of Q is slope times eta/d.
    x = np.random.default_rng(2).standard_normal((40_000, 400))
    z, f = x @ W.T, erf(x @ teacher.V.T / np.sqrt(2.0)) @ teacher.c
    delta = np.sqrt(2.0 / np.pi) * np.exp(-0.5 * z**2)
    delta *= (f - erf(z / np.sqrt(2.0)).sum(axis=1))[:, None]
    products = (eta / 400.0 * delta[:, :, None] * z[:, None, :]).mean(axis=0)
    squares = (eta / 400.0) ** 2 * (delta.T @ ((x**2).sum(axis=1)[:, None] * delta)) / 40_000
    change = (products + products.T + squares) * 400.0 / eta
    solution = state.unpack(state.slope()).Q
    assert np.abs(change - solution).max() <= 0.02
    assert np.abs(slope.Q - solution).max() >= 0.2  # the flow lacks the squares
    assert np.array_equal(state.Q, Q)
    assert np.array_equal(state.R, R)


def overlap_start(s0: float, eta: float) -> ErfOrderParameters:
    """Two neurons of squared length 1/4, and two orthonormal units with R = s0 I."""
    V, W = np.eye(2, 4), np.zeros((2, 4))
    W[:, :2], W[:, 2:] = s0 * np.eye(2), np.sqrt(0.25 - s0**2) * np.eye(2)
    return ErfTeacher(np.ones(2), V).order_parameters(np.ones(2), W, eta)


def exit_time(s0: float, eta: float) -> tuple[float, float]:
    """Steps over d until the risk is .01, and the risk at 20."""
    start = overlap_start(s0, eta)

    def excess(_: float, flat: np.ndarray) -> float:
        return start.unpack(flat).risk() - 0.01

    excess.terminal = True
    solution = solve_ivp(
        lambda _, flat: start.unpack(flat).slope(),
        (0.0, 400.0 * eta),
        start.pack(),
        method="DOP853",
        rtol=1e-9,
        atol=1e-12,
        events=excess,
        dense_output=True,
    )
    return float(solution.t[-1] / eta), start.unpack(solution.sol(20.0 * eta)).risk()


@pytest.mark.parametrize(
    ("eta", "times"),
    [(1.5, (33.75, 65.10, 95.41, 125.59)), (0.5, (65.1, 146.0, 223.1, 298.7))],
)
def test_exit_times_grow_like_the_logarithm_of_the_start(
    eta: float, times: tuple[float, ...]
) -> None:
    """An independent program has these times; the last decades take 30.2 and 76."""
    solution = [exit_time(s0, eta)[0] for s0 in (1e-1, 1e-2, 1e-3, 1e-4)]
    assert np.allclose(solution, times, rtol=0.0, atol=0.06)
    assert solution[3] - solution[2] == pytest.approx(30.2 if eta == 1.5 else 75.6, abs=0.1)


def test_risks_of_saad_and_solla() -> None:
    for M in (1, 2, 3, 5):  # the risk of nothing, and the plateau of small steps
        teacher = ErfTeacher(np.ones(M), np.eye(M))
        assert teacher.risk(np.ones(M), np.zeros((M, M))) == pytest.approx(M / 6.0, abs=1e-14)
        W = np.full((M, M), 1.0 / np.sqrt(M * (2.0 * M - 1.0)))
        plateau = M / np.pi * (np.pi / 6.0 - M * np.arcsin(1.0 / (2.0 * M)))
        assert teacher.risk(np.ones(M), W) == pytest.approx(plateau, abs=1e-14)
        assert np.allclose((W @ W.T), 1.0 / (2.0 * M - 1.0))
        _, slope = teacher.gradient(np.ones(M), W)
        assert np.abs(slope).max() <= 1e-14  # a stationary point of the exact risk
        assert teacher.risk(np.ones(M), np.eye(M)) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("eta", "time", "height"), [(0.05, 800.0, 0.01208), (0.5, 80.0, 0.01483), (1.5, 40.0, 0.03464)]
)
def test_the_plateau_is_higher_for_longer_steps(eta: float, time: float, height: float) -> None:
    """Of an independent program. Symmetric starts stay so; short steps leave a slow descent."""
    start = overlap_start(0.0, eta)
    solution = solve_ivp(
        lambda _, flat: start.unpack(flat).slope(),
        (0.0, time * eta),
        start.pack() + np.r_[np.zeros(6), 0.01 * np.ones(4)],
        method="DOP853",
        rtol=1e-9,
        atol=1e-12,
    )
    end = start.unpack(solution.y[:, -1])
    assert np.ptp(end.R) <= 1e-9
    assert end.risk() == pytest.approx(height, rel=0.015)
    assert np.abs(end.slope()).max() <= 2e-3
