"""Hard margins of linear problems, each against a second solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from core.network.kernel_predictor import tangent_kernel
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.hull import gram_coordinates, separate_from_origin
from core.reference.leaky import LeakyOptimum, dual_matrix, solve_leaky_problem
from core.reference.linear import KernelMargin, LinearMargin, OuterMargin, ScaleMargin
from core.reference.margin import Bracket, Reference
from tests.problems import problem


def value(reference: Reference, of: Problem) -> Bracket:
    assert reference.applies(of)
    return reference.compute(of, CancelToken())


def separable(n: int, d: int, seed: int) -> np.ndarray:
    """Return y_i x_i of Gaussian points on one side of a hyperplane."""
    generator = np.random.default_rng(seed)
    points = generator.standard_normal((n, d))
    return points * np.sign(points @ generator.standard_normal(d))[:, None]


def by_slsqp(G: np.ndarray) -> float:
    """Return max margin from min |w|^2/2 with G w >= 1, by sequential quadratic programming.

    The constraints that it finds tight are solved to rounding, and that solution's optimality is
    checked: all constraints kept, w = G' lambda with lambda >= 0 on the tight ones.
    """
    start = np.linalg.lstsq(G, np.ones(G.shape[0]), rcond=None)[0]
    found = minimize(
        lambda w: 0.5 * w @ w,
        start,
        jac=lambda w: w,
        constraints={"type": "ineq", "fun": lambda w: G @ w - 1.0, "jac": lambda w: G},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    tight = G[G @ found.x < 1.0 + 1e-5]
    multipliers = np.linalg.lstsq(tight @ tight.T, np.ones(tight.shape[0]), rcond=None)[0]
    w = tight.T @ multipliers
    assert (G @ w).min() > 1.0 - 1e-9
    assert multipliers.min() > -1e-9
    return float(1.0 / np.linalg.norm(w))


@pytest.mark.parametrize(("n", "d", "seed"), [(20, 3, 0), (40, 5, 1), (64, 20, 2), (8, 30, 3)])
def test_hull_agrees_with_quadratic_programming(n: int, d: int, seed: int) -> None:
    G = separable(n, d, seed)
    found = separate_from_origin(G)
    assert found.upper - found.lower < 1e-10
    assert found.lower == pytest.approx((G @ found.w).min(), abs=1e-13)
    assert found.upper == pytest.approx(np.linalg.norm(G.T @ found.q), abs=1e-13)
    assert found.q.min() >= 0.0
    assert found.q.sum() == pytest.approx(1.0)
    assert found.lower == pytest.approx(by_slsqp(G), rel=1e-7)


def test_coordinates_have_the_gram_matrix() -> None:
    G = separable(6, 9, 0)
    rows = gram_coordinates(G @ G.T)
    assert np.allclose(rows @ rows.T, G @ G.T, atol=1e-12)


def test_gamma_linear_of_n_64_has_a_gap_below_1e_10() -> None:
    of = problem("data.kind=gaussian_mixture", "data.d=200", "data.n=64")
    found = value(LinearMargin(), of)
    assert found.certified
    assert 0.0 <= found.upper - found.lower < 1e-10
    signed = of.dataset.y[:, None] * of.dataset.x
    assert found.value == pytest.approx(by_slsqp(np.linalg.qr(signed.T)[1].T), rel=1e-6)


def test_gamma_linear_of_parity_is_refused_with_farkas_weights() -> None:
    found = value(LinearMargin(), problem())
    assert not found.exists
    assert "not separable" in found.method
    assert "Farkas" in found.method


def test_gamma_linear_of_the_dyadic_points() -> None:
    for d in (2, 5, 10):
        of = problem("data.kind=dyadic", f"data.d={d}")
        assert value(LinearMargin(), of).value == pytest.approx(
            np.sqrt(3.0 / (4.0 ** (d + 1) - 4.0)), rel=1e-9
        )


def test_two_cones_have_a_linear_margin_though_one_class() -> None:
    of = problem("data.kind=two_cones", "data.alpha=.3")
    found = value(LinearMargin(), of)
    assert found.value == pytest.approx(by_slsqp(of.dataset.x), rel=1e-8)


def test_rkhs_margin_is_the_facts_and_another_solvers() -> None:
    of = problem()
    found = value(KernelMargin(), of)
    assert found.value == pytest.approx(0.0812, abs=1e-4)
    K = tangent_kernel(of.dataset.x, of.dataset.x) * np.outer(of.dataset.y, of.dataset.y)
    # The dual with the multipliers free of their sum: margin^-2 = max 2 1'u - u' K u, u >= 0.
    dual = minimize(
        lambda u: u @ K @ u - 2.0 * u.sum(),
        np.ones(K.shape[0]),
        jac=lambda u: 2.0 * (K @ u - 1.0),
        bounds=[(0.0, None)] * K.shape[0],
        method="L-BFGS-B",
        options={"maxiter": 20000, "ftol": 1e-15, "gtol": 1e-10},
    )
    assert found.value == pytest.approx((-dual.fun) ** -0.5, rel=1e-6)


# ------------------------------------------------------------------------------------ frei23 (3)


def direct(x: np.ndarray, y: np.ndarray, m1: int, m2: int, slope: float) -> float:
    """Return 1/|W*| of problem (3) in its variables v and u, by sequential programming."""
    d, m = x.shape[1], m1 + m2
    own, other = np.where(y > 0, m1, m2), np.where(y > 0, m2, m1)
    first = (y > 0)[:, None]
    A = np.hstack(
        [
            np.where(first, own[:, None], -slope * other[:, None]) * x,
            np.where(first, -slope * other[:, None], own[:, None]) * x,
        ]
    ) / np.sqrt(m)  # m_1 |v|^2 + m_2 |u|^2 becomes |w|^2 in scaled variables:
    A /= np.r_[np.full(d, np.sqrt(m1)), np.full(d, np.sqrt(m2))]
    return by_slsqp(A)


@pytest.mark.parametrize(("m1", "m2", "slope"), [(4, 4, 0.1), (3, 5, 0.5), (1, 7, 0.3)])
def test_leaky_optimum_is_that_of_a_quadratic_program(m1: int, m2: int, slope: float) -> None:
    generator = np.random.default_rng(5)
    x = np.eye(8) + 0.04 * generator.standard_normal((8, 8))
    y = np.where(np.arange(8) % 2 == 0, 1.0, -1.0)
    m = m1 + m2
    found = solve_leaky_problem(x, y, m1 / m, m2 / m, slope)
    assert found.closed
    assert found.fits
    assert found.upper - found.lower < 1e-12
    assert found.lower == pytest.approx(direct(x, y, m1, m2, slope), abs=1e-8)
    assert found.lower == pytest.approx(found.multipliers.sum() ** -0.5, abs=1e-12)


def test_leaky_optimum_falls_back_where_a_multiplier_is_negative() -> None:
    x = np.array([[1.0, 0.0], [1.0, 0.2], [3.0, 0.1]])  # the last is never tight
    y = np.array([1.0, 1.0, 1.0])
    assert (np.linalg.lstsq(dual_matrix(x, y, 0.5, 0.5, 0.5), y, rcond=None)[0] < 0.0).any()
    found = solve_leaky_problem(x, y, 0.5, 0.5, 0.5)
    assert not found.closed
    assert found.lower == pytest.approx(direct(x, y, 1, 1, 0.5), abs=1e-8)


def test_three_points_of_lemma_b_8() -> None:
    of = problem(
        "data.kind=three_point",
        "data.eps=.01",
        "network.kind=fixed_outer",
        "network.slope=.5",
    )
    found = value(LeakyOptimum(), of)
    assert found.value == pytest.approx((16.0 / 5.04 + 1.6) ** -0.5, abs=1e-12)


def test_leaky_optimum_is_attained_by_its_network_or_is_no_number() -> None:
    leaky = ("network.kind=fixed_outer", "network.slope=.3")
    of = problem("data.kind=near_orthogonal", *leaky)
    found, data = value(LeakyOptimum(), of), of.dataset
    known = solve_leaky_problem(data.x, data.y, 0.5, 0.5, 0.3)
    m = of.network.m
    v = np.where(data.y > 0, known.multipliers, -0.3 * known.multipliers) @ data.x / np.sqrt(m)
    u = np.where(data.y < 0, known.multipliers, -0.3 * known.multipliers) @ data.x / np.sqrt(m)
    W = np.where(of.network.fixed["a"][:, None] > 0, v, u)
    assert of.margins(W.ravel()).min() / np.linalg.norm(W) == pytest.approx(found.value, rel=1e-9)
    assert not value(LeakyOptimum(), problem("data.kind=digits", *leaky)).exists


# ------------------------------------------------------------------------------------- batchnorm


def test_frozen_batch_norm_margins_are_those_of_the_tangent() -> None:
    of = problem("data.kind=gaussian_mixture", "data.d=6", "data.n=10", "network.kind=batch_norm")
    network, origin, m = of.network, of.start.origin, of.network.m
    rows = np.array(  # d p_i by (a, c, V), one example at a time
        [
            network.gradient(origin, of.inputs, of.dataset.y * (np.arange(10) == i))
            for i in range(10)
        ]
    )
    for reference, part in ((OuterMargin(), rows[:, :m]), (ScaleMargin(), rows[:, m : 2 * m])):
        found = value(reference, of)
        expected = by_slsqp(np.linalg.qr(part.T)[1].T) / np.sqrt(m)
        assert found.value == pytest.approx(expected, rel=1e-6)
        assert found.upper - found.lower < 1e-10


def test_frozen_margins_depend_on_the_start() -> None:
    settings = ("data.kind=gaussian_mixture", "data.d=6", "data.n=10", "data.seed=3")
    one = problem(*settings, "network.kind=batch_norm", "network.seed=1")
    two = problem(*settings, "network.kind=batch_norm", "network.seed=2")
    assert OuterMargin().key(one) != OuterMargin().key(two)
    assert LinearMargin().key(one) == LinearMargin().key(two)


def test_dyadic_outer_margin_beats_the_linear_one() -> None:
    of = problem("data.kind=dyadic", "data.d=4", "network.kind=batch_norm", m=1000)
    ratio = value(OuterMargin(), of).value / value(LinearMargin(), of).value
    assert 2.3 < ratio < 3.1  # 2.7: docs/theory.md, 7.9


def test_the_leaky_optimum_of_an_outer_layer_that_vanishes() -> None:
    """At a_j near 1e-155 the multipliers are beyond float64: none is found, without a warning."""
    x, y = np.array([[1.0], [2.0], [-0.5]]), np.array([1.0, 1.0, -1.0])
    usual = solve_leaky_problem(x, y, 0.5, 0.5, 0.8)
    tiny = solve_leaky_problem(x, y, 0.5e-200, 0.5e-200, 0.8)
    assert tiny.lower == pytest.approx(1e-100 * usual.lower, rel=1e-6)
    assert solve_leaky_problem(x, y, 0.5e-309, 0.5e-309, 0.8) is None
