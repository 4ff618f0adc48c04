"""The l1 margin on the line, neural collapse, and whole distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from core.data.parity import all_corners
from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.intervals import (
    BiasMargin,
    append_ones,
    bracket_l1_margin,
    breakpoints,
    candidate_directions,
)
from core.reference.population import (
    CollapseMargin,
    DyadicPopulation,
    ParityPopulation,
    Wei19Population,
    dyadic_margin,
    even_parity_margin,
    find_violation,
)
from core.reference.tangent import TangentMargin
from tests.problems import problem


def test_gamma_ntk_can_be_cancelled() -> None:
    watch = CancelToken()
    watch.cancel()
    with pytest.raises(CancelledError):
        TangentMargin().compute(problem(), watch)


# --------------------------------------------------------------------------------------- the line


def intervals(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 1))
    return x, np.where(np.floor((x[:, 0] + 1.0) * 1.5) % 2 == 1, 1.0, -1.0)


def on_a_grid(x: np.ndarray, y: np.ndarray, count: int) -> float:
    """Return the l1 margin on `count` evenly spaced (w, b), as wei19 F.4 does it."""
    angle = np.arange(count) * 2.0 * np.pi / count
    F = y[:, None] * np.maximum(append_ones(x) @ np.array([np.cos(angle), np.sin(angle)]), 0.0)
    A = np.hstack([-F, F, np.ones((y.size, 1))])
    mass = np.r_[np.ones(2 * count), 0.0][None]
    bounds = [(0.0, None)] * (2 * count) + [(None, None)]
    found = linprog(-np.eye(2 * count + 1)[-1], A, np.zeros(y.size), mass, [1.0], bounds=bounds)
    assert found.status == 0
    return float(-found.fun)


@pytest.mark.parametrize(("n", "seed"), [(4, 0), (12, 1), (20, 2)])
def test_gamma_l1_is_approached_from_below_by_grids(n: int, seed: int) -> None:
    x, y = intervals(n, seed)
    lower, upper, _ = bracket_l1_margin(x, y, CancelToken())
    assert 0.0 < lower <= upper
    assert (upper - lower) / upper <= 1e-7
    coarse, fine = on_a_grid(x, y, 200), on_a_grid(x, y, 1000)
    assert coarse <= upper * (1.0 + 1e-6)
    assert fine <= upper * (1.0 + 1e-6)
    assert fine > 0.99 * lower


def test_pricing_on_the_line_misses_no_direction() -> None:
    generator = np.random.default_rng(3)
    for n in (1, 2, 9):
        x, c = generator.standard_normal((n, 1)), generator.standard_normal(n)
        points = append_ones(x)
        directions, h = candidate_directions(points, c, breakpoints(points))
        assert np.allclose(np.linalg.norm(directions, axis=1), 1.0)
        angle = np.linspace(0.0, 2.0 * np.pi, 100_001)
        dense = c @ np.maximum(points @ np.array([np.cos(angle), np.sin(angle)]), 0.0)
        assert np.abs(dense).max() <= np.abs(h).max() + 1e-12
        assert np.abs(dense).max() == pytest.approx(np.abs(h).max(), rel=1e-6)


def test_gamma_l1_is_for_networks_with_biases_on_the_line() -> None:
    line = problem("data.kind=intervals", "network.kind=bias")
    assert BiasMargin().applies(line)
    assert BiasMargin().compute(line, CancelToken()).certified
    assert not BiasMargin().applies(problem("data.kind=intervals"))
    assert not BiasMargin().applies(problem("network.kind=bias"))


# ---------------------------------------------------------------------------------------- closed


def test_neural_collapse_is_checked_on_the_sample() -> None:
    of = problem("data.kind=cones", "data.d=10", "data.n=64", "data.r=4")
    section = of.experiment.data
    found = CollapseMargin().compute(of, CancelToken())
    assert found.value == section.gamma_nc / 8.0
    axes, x = of.dataset.directions["axes"], of.dataset.x
    settings = (axes, np.ones(4), section.gamma_nc, section.eps)
    y = of.dataset.y
    signs = np.where((np.arange(4) % 2 == 1) & (section.labels == "mixed"), -1.0, 1.0)
    assert find_violation(x, y, axes, signs, *settings[2:]) == ""
    assert "number 5" in find_violation(
        np.vstack([x[:5], -x[5:6]]), y[:6], axes, signs, section.gamma_nc, section.eps
    )


@pytest.mark.parametrize(("k", "d"), [(2, 2), (2, 3), (2, 4), (4, 4), (4, 5), (6, 6)])
def test_parity_of_all_corners(k: int, d: int) -> None:
    """A network attains it, and equal weights on the corners let no node see more."""
    corners = all_corners(d)
    x, y = corners / np.sqrt(d), np.prod(corners[:, :k], axis=1)
    value = even_parity_margin(k, d)
    signs = all_corners(k)
    nodes = np.hstack([signs, np.zeros((2**k, d - k))]) / np.sqrt(k)
    f = np.maximum(x @ nodes.T, 0.0) @ np.prod(signs, axis=1) / 2**k  # sum of |alpha| is 1
    assert np.allclose(np.sign(y[0] * f[0]) * y * f, value)
    generator = np.random.default_rng(0)
    others = generator.standard_normal((d, 20_000))
    others /= np.linalg.norm(others, axis=0)
    for v in (others, nodes.T):
        seen = np.abs(y @ np.maximum(x @ v, 0.0)) / y.size
        assert seen.max() <= value + 1e-12
    assert seen.max() == pytest.approx(value)


def test_population_margins_of_problems() -> None:
    assert ParityPopulation().compute(problem(), CancelToken()).value == pytest.approx(160**-0.5)
    odd = ParityPopulation().compute(problem("data.k=3"), CancelToken())
    assert not odd.exists
    assert "exactly 0" in odd.method
    assert not ParityPopulation().applies(problem("data.k=3", "data.freeze=true"))
    assert not ParityPopulation().applies(problem("data.law=biased"))


def test_odd_parity_of_three_bits_has_no_margin_on_all_corners() -> None:
    """Weights q on the corners under which no node sees anything: the margin is 0."""
    corners = all_corners(5)
    c = np.prod(corners[:, :3], axis=1)
    v = np.random.default_rng(0).standard_normal((5, 200))
    assert np.abs(c @ np.maximum(corners @ v, 0.0)).max() < 1e-10


@pytest.mark.parametrize("scaled", ["true", "false"])
def test_four_neurons_have_margin_one_eighth(scaled: str) -> None:
    of = problem("data.kind=wei19", f"data.scaled={scaled}", "data.d=20")
    found = Wei19Population().compute(of, CancelToken())
    x, y = of.dataset.x[:, :2], of.dataset.y
    f = np.abs(x[:, 0]) - np.abs(x[:, 1])  # two nodes of weight +1, two of -1: |Theta|^2 = 8
    assert (y * f).min() / 8.0 == pytest.approx(found.value, rel=1e-12)


def test_dyadic_margin_for_any_d() -> None:
    assert dyadic_margin(500) > 0.0
    assert DyadicPopulation().applies(problem("data.kind=dyadic"))
    for d in (1, 4, 9):
        assert dyadic_margin(d) ** -2 == pytest.approx(sum(4.0**j for j in range(1, d + 1)))
