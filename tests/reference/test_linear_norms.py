"""gamma_inf and gamma_1: closed forms, another program, and data without such a margin."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog

import marginscope
from core.problem.problem import Problem
from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.linear_norms import CoordinateMargin, MaximumMargin, bracket_linear_margin
from core.reference.registry import REFERENCES, references_of
from tests.problems import problem

P = pytest.mark.parametrize("p", [1.0, np.inf])


def separable(n: int, d: int, seed: int) -> np.ndarray:
    """Return y_i x_i of Gaussian points on one side of a hyperplane."""
    generator = np.random.default_rng(seed)
    points = generator.standard_normal((n, d))
    return points * np.sign(points @ generator.standard_normal(d))[:, None]


def least_norm(G: np.ndarray, p: float) -> float:
    """Return 1/min |w|_p with G w >= 1, by SciPy: the margin in other variables, w by its parts."""
    n, d = G.shape
    rows = np.c_[-G, G]
    if p == 1.0:
        return 1.0 / float(linprog(np.ones(2 * d), rows, -np.ones(n)).fun)
    rows = np.vstack([np.c_[rows, np.zeros(n)], np.c_[np.eye(d), np.eye(d), -np.ones(d)]])
    most = np.r_[-np.ones(n), np.zeros(d)]
    return 1.0 / float(linprog(np.r_[np.zeros(2 * d), 1.0], rows, most).fun)


@pytest.mark.parametrize("d", [2, 5, 10, 20])
def test_the_dyadic_points(d: int) -> None:
    of = problem("data.kind=dyadic", f"data.d={d}")
    exact = {MaximumMargin: 2.0**-d, CoordinateMargin: 1.0 / (2.0 ** (d + 1) - 2.0)}
    for kind, value in exact.items():
        found = kind().compute(of, CancelToken())
        assert found.certified
        assert found.lower <= value <= found.upper
        assert found.upper - found.lower <= 1e-9 * value


@P
@pytest.mark.parametrize(("n", "d", "seed"), [(20, 3, 0), (40, 5, 1), (64, 20, 2), (8, 30, 3)])
def test_another_program(p: float, n: int, d: int, seed: int) -> None:
    G = separable(n, d, seed)
    found = bracket_linear_margin(G, p, CancelToken())
    assert found.lower <= found.value <= found.upper
    assert found.upper - found.lower < 1e-9 * found.value
    assert found.value == pytest.approx(least_norm(G, p), rel=1e-9)


@P
def test_no_weights_and_no_predictor_are_better(p: float) -> None:
    generator, G = np.random.default_rng(5), separable(12, 3, 4)
    found = bracket_linear_margin(G, p, CancelToken())
    q = generator.dirichlet(np.full(12, 0.2), 20_000) @ G
    assert np.linalg.norm(q, 1.0 if p == np.inf else np.inf, axis=1).min() >= found.lower
    w = generator.standard_normal((20_000, 3))
    w /= np.linalg.norm(w, p, axis=1)[:, None]
    best = float((w @ G.T).min(axis=1).max())
    assert 0.95 * found.lower < best <= found.upper


def test_norms_are_in_their_order() -> None:
    """|w|_1 >= |w|_2 >= |w|_inf >= |w|_2/sqrt(d)."""
    of = problem("data.kind=gaussian_mixture", "data.d=20", "data.n=40")
    one, two, largest = (
        REFERENCES[name].compute(of, CancelToken()).value
        for name in ("gamma_1", "gamma_linear", "gamma_inf")
    )
    assert one < two < largest < np.sqrt(20.0) * two


@P
@pytest.mark.parametrize(
    ("G", "value"),
    [
        ([[2.0], [3.0], [2.0]], 2.0),  # one dimension, a point twice
        ([[1.0, 0.0], [1.0, 0.0], [0.5, 0.0]], 0.5),  # a column of zeros
        ([[1e-200], [3e-200]], 1e-200),
    ],
)
def test_special_positions(p: float, G: list[list[float]], value: float) -> None:
    assert bracket_linear_margin(np.array(G), p, CancelToken()).value == pytest.approx(
        value, rel=1e-9
    )


@P
@pytest.mark.parametrize("G", [[[1.0, 0.0], [-1.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]]])
def test_data_that_are_not_separable(p: float, G: list[list[float]]) -> None:
    found = bracket_linear_margin(np.array(G), p, CancelToken())
    assert found.is_zero
    assert "Farkas" in found.method


def test_parity_is_not_separable() -> None:
    for name in ("gamma_inf", "gamma_1"):
        assert REFERENCES[name].compute(problem(), CancelToken()).is_zero


@P
def test_a_cancelled_or_late_program(p: float) -> None:
    watch = CancelToken()
    watch.cancel()
    with pytest.raises(CancelledError):
        bracket_linear_margin(separable(20, 3, 0), p, watch)
    late = bracket_linear_margin(separable(300, 60, 0), p, CancelToken(-1.0))
    assert not late.exists
    assert "time limit" in late.method


def in_norm(of: Problem, norm: str) -> Problem:
    """Return a problem whose dynamics says that it descends in a norm."""
    return replace(of, experiment=SimpleNamespace(dynamics=SimpleNamespace(norm=norm)))


def test_margins_of_a_norm_are_listed_with_runs_that_descend_in_it() -> None:
    of = problem()
    usual = {one.name for one in references_of(of, unlisted=True)}
    assert {"gamma_inf", "gamma_1", "gamma_glinf", "gamma_spec"} <= usual
    norms = {"sign": "gamma_inf", "spectral": "gamma_spec", "coordinate": "gamma_1", "l2": ""}
    for norm, name in norms.items():
        margins = [REFERENCES[one] for one in norms.values() if one]
        found = [one.name for one in margins if one.is_listed(in_norm(of, norm))]
        assert found == ([name] if name else [])
    names = {one.name for one in references_of(of)}
    assert names.isdisjoint({"gamma_inf", "gamma_1", "gamma_glinf", "gamma_spec"})


def test_python_finds_them_by_name() -> None:
    x, y = np.array([[0.5, 0.0], [0.0, -0.25]]), np.array([1.0, -1.0])
    assert "gamma_inf" not in list(marginscope.margins(x, y))
    found = marginscope.margins(x, y, which=["gamma_inf", "gamma_1"])
    assert found["gamma_inf"].value == pytest.approx(1.0 / 4.0)
    assert found["gamma_1"].value == pytest.approx(1.0 / 6.0)
