"""Largest margins of diagonal and deep linear networks: fixtures, other searches, and limits."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from core.data.dataset import Dataset
from core.problem.problem import Problem, resolve_problem
from core.reference.cancel_token import CancelToken
from core.reference.linear_norms import bracket_linear_margin
from core.reference.quasi_norm import bracket_quasi_norm_margin
from core.reference.registry import REFERENCES, compute, references_of
from core.study_file.validation import build_experiment

GAMMA_2, GAMMA_1, GAMMA_2_3, GAMMA_1_2 = 0.60369, 0.33174, 0.22284, 0.15819


def mixture() -> tuple[np.ndarray, np.ndarray]:
    """Return two classes of 8 points in R^4, along (1, .5, .2, 0)."""
    generator = np.random.default_rng(0)
    y = generator.choice([-1.0, 1.0], 8)
    x = 1.5 * y[:, None] * (1.0, 0.5, 0.2, 0.0) + 0.7 * generator.normal(size=(8, 4))
    return x, y


def problem(network: dict[str, Any], x: np.ndarray, y: np.ndarray) -> Problem:
    tables = {
        "data": {"kind": "points", "points": np.c_[x, y].tolist()},
        "network": network,
        "dynamics": {"kind": "gd"},
    }
    return resolve_problem(build_experiment(tables, "test"), dataset=Dataset(x, y))


def margin_of(name: str, **network: Any) -> Any:
    at = problem(network, *mixture())
    return compute(REFERENCES[name], at, CancelToken(), cache=False).bracket


@pytest.mark.parametrize(
    ("network", "wanted"),
    [
        ({"layers": 2}, GAMMA_1 / 2.0),
        ({"layers": 3}, GAMMA_2_3 / 3.0**1.5),
        ({"layers": 4, "m": 2}, GAMMA_1_2 / 16.0),
        ({"form": "squares"}, GAMMA_1),
    ],
)
def test_ceilings_of_diagonal_networks(network: dict[str, Any], wanted: float) -> None:
    found = margin_of("gamma_diagonal", kind="diagonal_linear", **network)
    assert found.certified
    assert found.value == pytest.approx(wanted, rel=5e-5)
    assert found.lower <= found.value <= found.upper <= found.lower * (1.0 + 2e-6)


@pytest.mark.parametrize("layers", [2, 3, 5])
def test_ceilings_of_deep_networks(layers: int) -> None:
    found = margin_of("gamma_deep", kind="deep_linear", m=4, layers=layers)
    assert found.certified
    assert found.value == pytest.approx(GAMMA_2 / layers ** (layers / 2.0), rel=2e-5)
    if layers == 2:
        assert margin_of("gamma_deep", kind="linear", m=4).value == found.value


@pytest.mark.parametrize("p", [2.0 / 3.0, 0.5, 0.4])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_other_search_finds_a_larger_margin(p: float, seed: int) -> None:
    """Local searches end at or below the vertex, and a fine grid of the plane reaches it."""
    generator = np.random.default_rng(seed)
    G = generator.normal((1.2, 0.5, 0.0), 1.0, (5, 3))
    found = bracket_quasi_norm_margin(G, p, CancelToken())
    if not found.exists:
        assert not bracket_linear_margin(G, 1.0, CancelToken()).exists
        return

    def margin(b: np.ndarray) -> float:
        return float((G @ b).min() / (np.abs(b) ** p).sum() ** (1.0 / p))

    starts = generator.standard_normal((20, 3))
    best = max(-minimize(lambda b: -margin(b), one, method="Nelder-Mead").fun for one in starts)
    assert best <= found.upper * (1.0 + 1e-12)
    plane = G[:, :2]
    flat = bracket_quasi_norm_margin(plane, p, CancelToken())
    angles = np.linspace(-np.pi, np.pi, 200_001)
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    margins = (rays @ plane.T).min(axis=1) / (np.abs(rays) ** p).sum(axis=1) ** (1.0 / p)
    if flat.exists:
        assert margins.max() <= flat.upper
        assert margins.max() >= flat.lower * (1.0 - 5e-3)
    else:
        assert margins.max() <= 0.0


def test_many_starts_reach_the_vertex() -> None:
    """A tie of the bracket to the best of many concave descents, all supports and signs tried."""
    x, y = mixture()
    G, p = y[:, None] * x, 0.5
    found = bracket_quasi_norm_margin(G, p, CancelToken())
    best = 0.0
    for signs in product((-1.0, 1.0), repeat=4):
        b = np.array(signs)
        for _ in range(60):  # linearised: min sum w_j |b_j| with <G_i, b> >= 1
            weights = (np.abs(b) + 1e-9) ** (p - 1.0)
            scaled = bracket_linear_margin(G / weights, 1.0, CancelToken())
            b = _attained(G / weights) / weights
        assert scaled.exists
        margin = (G @ b).min() / (np.abs(b) ** p).sum() ** (1.0 / p)
        best = max(best, float(margin))
    assert best == pytest.approx(found.value, rel=1e-6)


def _attained(G: np.ndarray) -> np.ndarray:
    """Return the least |w|_1 with G w >= 1, by SciPy's own program."""
    from scipy.optimize import linprog

    d = G.shape[1]
    found = linprog(np.ones(2 * d), A_ub=-np.c_[G, -G], b_ub=-np.ones(G.shape[0]))
    return np.asarray(found.x[:d] - found.x[d:])


def test_data_without_such_a_margin() -> None:
    x, y = mixture()
    points, labels = np.concatenate([x, x * 2.0]), np.concatenate([y, -y])
    network = {"kind": "diagonal_linear", "layers": 3}
    at = problem(network, points, labels)
    found = compute(REFERENCES["gamma_diagonal"], at, CancelToken(), cache=False).bracket
    assert found.is_zero
    assert "Farkas" in found.method
    opposed = problem(
        {"kind": "diagonal_linear", "layers": 3}, np.ones((2, 2)), np.array([1.0, -1.0])
    )
    found = compute(REFERENCES["gamma_diagonal"], opposed, CancelToken(), cache=False).bracket
    assert not found.exists
    assert "opposite labels" in found.method


def test_many_points_get_a_sentence() -> None:
    generator = np.random.default_rng(0)
    G = np.abs(generator.standard_normal((60, 12))) + 0.1
    found = bracket_quasi_norm_margin(G, 0.5, CancelToken())
    assert not found.exists
    assert "at most 2e+06" in found.method


def test_degenerate_points_keep_the_certificate() -> None:
    """Corners of a cube: most systems are singular, and a vertex has regular ones too."""
    G = np.array([(1.0, a, b) for a in (-1.0, 1.0) for b in (-1.0, 1.0)])
    found = bracket_quasi_norm_margin(G, 0.5, CancelToken())
    assert found.certified
    assert found.value == pytest.approx(1.0, rel=1e-9)  # b = e_1


def test_only_their_networks_have_them() -> None:
    x, y = mixture()
    for network, names in (
        ({"kind": "standard", "m": 4}, set()),
        ({"kind": "linear", "m": 4}, {"gamma_deep"}),
        ({"kind": "deep_linear", "m": 4}, {"gamma_deep"}),
        ({"kind": "diagonal_linear"}, {"gamma_diagonal"}),
    ):
        listed = {one.name for one in references_of(problem(network, x, y))}
        assert listed & {"gamma_deep", "gamma_diagonal"} == names


@pytest.mark.parametrize("layers", [2, 3])
def test_keys_tell_depths_apart(layers: int) -> None:
    made = problem({"kind": "diagonal_linear", "layers": layers}, *mixture())
    other = problem({"kind": "diagonal_linear", "layers": layers + 1}, *mixture())
    squares = problem({"kind": "diagonal_linear", "form": "squares"}, *mixture())
    key = REFERENCES["gamma_diagonal"].key
    assert len({key(made), key(other), key(squares)}) == 3
