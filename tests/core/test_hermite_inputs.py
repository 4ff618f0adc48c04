"""One Hermite neuron on Gaussian inputs: polynomials, differences, quadrature, times."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermeval
from scipy.integrate import solve_ivp
from scipy.special import factorial

from core.network.hermite_inputs import HermiteTeacher, overlap_time, squared_step
from core.network.single_index import hermite, hermite_slope

DEGREES = pytest.mark.parametrize("k", [1, 2, 3, 5, 8])


def normal_quadrature() -> tuple[np.ndarray, np.ndarray]:
    points, weights = np.polynomial.hermite_e.hermegauss(64)
    return points, weights / weights.sum()


@DEGREES
def test_polynomials_are_orthonormal(k: int) -> None:
    z, mass = normal_quadrature()
    wanted = hermeval(z, np.eye(k + 1)[k]) / np.sqrt(factorial(k))
    assert np.allclose(hermite(k, z), wanted, rtol=1e-12, atol=1e-12)
    products = [float(mass @ (hermite(k, z) * hermite(j, z))) for j in range(k + 1)]
    assert np.allclose(products, np.eye(k + 1)[k], rtol=0.0, atol=1e-10)
    h = 1e-6
    slope = (hermite(k, z[20:44] + h) - hermite(k, z[20:44] - h)) / (2.0 * h)
    assert np.allclose(hermite_slope(k, z[20:44]), slope, rtol=1e-6, atol=1e-6)


@DEGREES
def test_risk_gradient_and_squares(k: int) -> None:
    """Means over the plane of v and v*; a Gaussian has no other direction in them."""
    s = 0.4
    z, mass = normal_quadrature()
    both, other = np.meshgrid(z, z, indexing="ij")
    weights = np.outer(mass, mass)
    f, wanted = hermite(k, both), hermite(k, s * both + np.sqrt(1.0 - s**2) * other)
    error = f - wanted
    teacher = HermiteTeacher(np.ones(1), np.eye(1, 3), k)
    W = 1.7 * np.array([(s, np.sqrt(1.0 - s**2), 0.0)])
    assert 0.5 * (weights * error**2).sum() == pytest.approx(teacher.risk(np.ones(1), W), rel=1e-9)
    squares = (weights * (error**2 + 0.25) * hermite_slope(k, both) ** 2).sum()
    assert squared_step(k, s, noise=0.5) == pytest.approx(squares, rel=1e-9)
    h, (_, slope) = 1e-6, teacher.gradient(np.ones(1), W)
    for place in range(3):
        step = h * np.eye(1, 3, place)
        risks = [teacher.risk(np.ones(1), W + sign * step) for sign in (1.0, -1.0)]
        assert slope[0, place] == pytest.approx((risks[0] - risks[1]) / (2.0 * h), abs=1e-8)
    assert (slope @ W.T)[0, 0] == pytest.approx(0.0, abs=1e-13)  # |v| stays
    flow = teacher.order_parameters(np.ones(1), W)
    assert flow.unpack(flow.slope()).R[0, 0] == pytest.approx(-slope[0, 0], rel=1e-12)
    assert flow.unpack(flow.slope()).Q[0, 0] == 0.0
    steps = teacher.order_parameters(np.ones(1), W, rate=0.3, noise=0.5)
    assert steps.unpack(steps.slope()).Q[0, 0] == pytest.approx(0.3 * squares / 1.7**2, rel=1e-9)


def test_times_are_those_in_closed_form() -> None:
    for s in (0.3, 1e-2, 1e-4):
        assert overlap_time(1, s, 0.5) == pytest.approx(np.arctanh(0.5) - np.arctanh(s), rel=1e-10)
        two = 0.25 * np.log((1.0 / 3.0) * (1.0 - s**2) / s**2)
        assert overlap_time(2, s, 0.5) == pytest.approx(two, rel=1e-10)
        three = ((1.0 / s - 2.0) - (np.arctanh(s) - np.arctanh(0.5))) / 3.0
        assert overlap_time(3, s, 0.5) == pytest.approx(three, rel=1e-10)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_ode_takes_these_times(k: int) -> None:
    W = np.array([(0.1, np.sqrt(0.99))])
    state = HermiteTeacher(np.ones(1), np.eye(1, 2), k).order_parameters(np.ones(1), W)
    time = overlap_time(k, 0.1, 0.5)
    solution = solve_ivp(
        lambda _, flat: state.unpack(flat).slope(),
        (0.0, time),
        state.pack(),
        rtol=1e-10,
        atol=1e-12,
    )
    assert state.unpack(solution.y[:, -1]).cosine() == pytest.approx(0.5, abs=1e-7)
    assert state.unpack(solution.y[:, -1]).risk() == pytest.approx(1.0 - 0.5**k, abs=1e-7)
