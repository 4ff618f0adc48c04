"""Exact risk of ReLU networks on Gaussian inputs: differences, Monte Carlo, and the ODE."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from core.network.erf_inputs import ErfTeacher
from core.network.gaussian_inputs import ReluTeacher, angles_of_rows, pair_means
from core.observables.population import solve


def drawn(
    K: int = 3, M: int = 2, d: int = 7, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, ReluTeacher]:
    """Return a student a (K,), W (K, d) and a teacher with both signs, in general position."""
    generator = np.random.default_rng(seed)
    a, W = generator.standard_normal(K), generator.standard_normal((K, d))
    c = np.where(np.arange(M) % 2 == 0, 1.0, -1.0)
    return a, W, ReluTeacher(c, generator.standard_normal((M, d)))


def assert_gradient_is_of_differences(
    a: np.ndarray, W: np.ndarray, teacher: ReluTeacher | ErfTeacher
) -> None:
    """Compare the gradient of a teacher's exact risk with central differences."""
    d_a, d_W = teacher.gradient(a, W)
    h = 1e-5
    for place in range(a.size):
        step = h * np.eye(a.size)[place]
        wanted = (teacher.risk(a + step, W) - teacher.risk(a - step, W)) / (2.0 * h)
        assert d_a[place] == pytest.approx(wanted, abs=1e-9)
    for place in range(W.size):
        step = h * np.eye(W.size)[place].reshape(W.shape)
        wanted = (teacher.risk(a, W + step) - teacher.risk(a, W - step)) / (2.0 * h)
        assert d_W.flat[place] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_gradient_is_that_of_differences(seed: int) -> None:
    assert_gradient_is_of_differences(*drawn(seed=seed))


def test_the_risk_is_a_mean_over_inputs() -> None:
    a, W, teacher = drawn()
    x = np.random.default_rng(9).standard_normal((400_000, W.shape[1]))
    f = np.maximum(x @ W.T, 0.0) @ a - np.maximum(x @ teacher.V.T, 0.0) @ teacher.c
    losses = 0.5 * f**2
    deviation = losses.std() / np.sqrt(x.shape[0])
    assert abs(teacher.risk(a, W) - losses.mean()) <= 4.0 * deviation


def test_means_of_pairs_in_the_plane_are_those_of_quadrature() -> None:
    """The mean is that over angles times int r^3 e^(-r^2/2) dr = 2."""
    for angle in (0.0, 0.3, np.pi / 2.0, 3.0, np.pi):
        U = np.array([(1.5, 0.0), (0.7 * np.cos(angle), 0.7 * np.sin(angle))])
        turns = (np.arange(400_000) + 0.5) * 2.0 * np.pi / 400_000
        rays = np.stack([np.cos(turns), np.sin(turns)], axis=1)
        heights = np.maximum(rays @ U.T, 0.0)
        wanted = 2.0 * (heights[:, 0] * heights[:, 1]).mean()
        found = pair_means(U @ U.T, angles_of_rows(U))
        assert found[0, 1] == pytest.approx(wanted, abs=1e-9)
        assert found[0, 0] == pytest.approx(1.5**2 / 2.0, rel=1e-12)


def test_nearly_equal_students_keep_their_digits() -> None:
    """The arc cosine of nearly equal rows would leave 1e-8 in the angle."""
    U = np.array([(1.0, 0.0), (1.0, 1e-9)])
    assert angles_of_rows(U)[0, 1] == pytest.approx(1e-9, rel=1e-6)
    _, _, teacher = drawn()
    assert teacher.risk(teacher.c, teacher.V) == pytest.approx(0.0, abs=1e-14)
    d_a, d_W = teacher.gradient(teacher.c, teacher.V)
    assert max(np.abs(d_a).max(), np.abs(d_W).max()) <= 1e-14


def test_a_dead_node_has_no_angle_and_does_not_move() -> None:
    a, W, teacher = drawn()
    W[1] = 0.0
    d_a, d_W = teacher.gradient(a, W)
    assert np.isfinite(d_W).all()
    assert d_a[1] == 0.0


def test_the_order_parameters_are_closed() -> None:
    """dQ and dR are functions of (a, Q, R) alone, here by the arc cosine of products."""
    a, W, teacher = drawn(d=40)
    state = teacher.order_parameters(a, W)
    assert state.pack().size == 3 + 3 * 5  # two teacher units: rows in five dimensions
    assert np.array_equal(state.unpack(state.pack()).pack(), state.pack())
    assert state.risk() == pytest.approx(teacher.risk(a, W), rel=1e-12)
    rows, b = np.concatenate([W, teacher.V]), np.concatenate([a, -teacher.c])
    lengths, C = np.linalg.norm(rows, axis=1), rows @ rows.T
    angles = np.arccos(np.clip(C / lengths[:, None] / lengths, -1.0, 1.0))
    D = np.outer(a, b) * (np.pi - angles[:3]) / (2.0 * np.pi)
    along = np.outer(a, b * lengths) * np.sin(angles[:3]) / (2.0 * np.pi * lengths[:3, None])
    D += np.pad(np.diag(along.sum(axis=1)), ((0, 0), (0, 2)))
    slope = state.unpack(state.slope())
    assert np.allclose(
        slope.W @ state.W.T + state.W @ slope.W.T, -(D @ C[:, :3]) - (D @ C[:, :3]).T
    )
    assert np.allclose(slope.W @ state.teacher.V.T, -D @ C[:, 3:], rtol=1e-9)


def test_the_ode_is_the_flow_of_any_dimension() -> None:
    """The same (a, Q, R) in d = 5 and in d = 60 have the same path."""
    a, W, teacher = drawn(K=2, M=2, d=5)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((60, 60)))[0][:5]
    wide = ReluTeacher(teacher.c, teacher.V @ turn)
    risks = []
    for start, one in ((W, teacher), (W @ turn, wide)):

        def slope(_: float, flat: np.ndarray, one: ReluTeacher = one) -> np.ndarray:
            d_a, d_W = one.gradient(flat[:2], flat[2:].reshape(2, -1))
            return -np.concatenate([d_a, d_W.ravel()])

        flat = np.concatenate([a, start.ravel()])
        end = solve_ivp(slope, (0.0, 3.0), flat, method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
        risks.append(one.risk(end[:2], end[2:].reshape(2, -1)))
    state = teacher.order_parameters(a, W)
    end = solve_ivp(
        lambda _, flat: state.unpack(flat).slope(),
        (0.0, 3.0),
        state.pack(),
        method="DOP853",
        rtol=1e-11,
        atol=1e-13,
    ).y[:, -1]
    assert np.allclose(risks, state.unpack(end).risk(), rtol=1e-8)


def reach_of_zero(a: float, r: float, angle: float) -> float:
    """Return the time at which v reaches 0 before f* = -|x_1|, by ln |v| over int dt/|v|."""

    def slope(_: float, state: np.ndarray) -> list[float]:
        a, log_r, angle, _ = state
        r = np.exp(log_r)
        pull = (2.0 * np.sin(angle) + (np.pi - 2.0 * angle) * np.cos(angle)) / (2.0 * np.pi)
        turn = a * np.sin(angle) * (np.pi - 2.0 * angle) / (2.0 * np.pi)
        return [-r * (0.5 * a * r**2 + r * pull), -a * (0.5 * a * r + pull), turn, r]

    start = [a, np.log(r), angle, 0.0]
    return float(solve_ivp(slope, (0.0, 200.0), start, rtol=1e-11, atol=1e-13).y[3, -1])


def test_the_ode_ends_where_a_neuron_reaches_zero() -> None:
    a, r, angle = 1.0, 0.5, 0.5
    teacher = ReluTeacher(-np.ones(2), np.array([(1.0, 0.0), (-1.0, 0.0)]))
    W = r * np.array([(np.cos(angle), np.sin(angle))])
    found = solve(teacher.order_parameters(np.array([a]), W), 10.0)
    end = reach_of_zero(a, r, angle)
    assert found.reach == pytest.approx(end, rel=1e-6)
    risks = found.trace(lambda state: state.risk(), np.array([0.0, 0.999 * end, 1.001 * end]))
    assert np.isfinite(risks).tolist() == [True, True, False]
    # A neuron as long as its outer weight is never at 0: a^2 - |v|^2 stays.
    balanced = solve(teacher.order_parameters(np.array([r]), W), 10.0)
    assert balanced.reach == 10.0


def test_a_saddle_is_left_at_its_rate() -> None:
    """Products of such short neurons are below the tolerance, and their rows are not."""
    teacher = ReluTeacher(np.ones(1), np.array([(1.0, 0.0)]))
    lengths = []
    for size in (1e-8, 1e-10):
        W = size * np.array([(np.cos(1.0), np.sin(1.0))])
        found = solve(teacher.order_parameters(np.array([size]), W), 12.0)
        state = found.start.unpack(found.interpolate(12.0))
        lengths.append(float(np.linalg.norm(state.W)))
    assert lengths[0] / lengths[1] == pytest.approx(100.0, rel=1e-4)
