"""The tangent margin, the l1 margin on the line, neural collapse, and whole distributions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from core.data.parity import all_corners
from core.reference import tangent
from core.reference.intervals import BiasMargin, breakpoints, candidates, l1_margin, lifted
from core.reference.linear import KernelMargin
from core.reference.population import (
    CollapseMargin,
    DyadicPopulation,
    ParityPopulation,
    Wei19Population,
    dyadic,
    even_parity,
    unmet,
)
from core.reference.tangent import TangentMargin, bracket, drawn, of_law, sampled
from core.reference.watch import CancelledError, Watch
from tests.problems import problem


def test_gamma_ntk_of_figure_1() -> None:
    """The .0511 of docs/theory.md, 7.3, good to 1-2 %, is in the bracket of the law."""
    found = TangentMargin().compute(problem(), Watch())
    assert found.lower <= 0.0511 <= found.upper
    assert found.value == pytest.approx(0.0511, rel=0.02)
    assert found.gap < 0.15
    assert not found.certified
    assert "holds but for a chance of 10^-6" in found.method
    assert found.value <= KernelMargin().compute(problem(), Watch()).value


def radial(count: int) -> float:
    """E |w| over |w| < 2 for w ~ N(0, I_2): int_0^2 r^2 exp(-r^2/2) dr, by Gauss and Legendre."""
    r, weights = np.polynomial.legendre.leggauss(count)
    r = 1.0 + r
    return float(weights @ (r**2 * np.exp(-0.5 * r**2)))


@pytest.mark.parametrize("signs", [(1.0,), (1.0, -1.0), (1.0, 2.0)])
def test_gamma_ntk_of_the_law_in_closed_form(signs: tuple[float, ...]) -> None:
    """d = 1: half of the nodes see a point, each with |g| = |x| |w|; both sides have their own."""
    x = np.array(signs)[:, None]
    expected = 0.5 * radial(40)
    assert radial(40) == pytest.approx(radial(60), rel=1e-12)
    q = np.zeros(len(x))
    q[: 1 if signs == (1.0, 2.0) else len(x)] = 1.0 if signs != (1.0, -1.0) else 0.5
    for seed in range(2):
        found = of_law(x, np.sign(x[:, 0]), q, Watch(), seed)
        assert found.lower <= expected <= found.upper
        assert found.gap < 0.05
        assert not found.certified


def test_gamma_ntk_of_too_small_a_margin_is_not_resolved() -> None:
    x, y = np.array([[1.0, 0.0], [1.0, 1e-6]]), np.array([1.0, -1.0])
    found = of_law(x, y, np.full(2, 0.5), Watch())
    assert found.open
    assert not found.certified
    assert 1e-7 < found.upper < 1e-2


def test_gamma_ntk_bracket_holds_for_explicit_features() -> None:
    """Both ends anew from the features g_ij themselves, and against another minimiser."""
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((5, 3)) / 2.0, np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    nodes = sampled(x, y, count=200, seed=1)
    found = bracket(nodes, Watch(), enough=1e-6)
    lower, upper = found.lower, found.upper
    again = np.random.default_rng(1)
    a, v = again.standard_normal(200), again.standard_normal((200, 3)) / np.sqrt(3)
    z = v @ x.T
    kept = (a**2 + (v**2).sum(axis=1) < 4.0)[:, None] & (z > 0)
    g = (
        np.concatenate([(z * kept)[..., None], (a[:, None] * kept)[..., None] * x[None]], axis=2)
        * y[None, :, None]
    )
    assert np.allclose(nodes.lengths(np.full(5, 0.2)), np.linalg.norm(g.mean(axis=1), axis=1))
    combined = np.einsum("i,jic->jc", found.q, g)
    lengths, aligned = nodes.along(found.q, x)
    assert np.allclose(lengths, np.linalg.norm(combined, axis=1), atol=1e-14)
    theta = combined / np.maximum(lengths, 1e-300)[:, None]
    assert np.allclose(aligned, np.einsum("jc,jic->ji", theta, g), atol=1e-12)
    best = np.inf
    for _ in range(4000):  # nothing in the simplex is below the lower end
        q = generator.dirichlet(np.full(5, 0.7))
        best = min(best, float(np.linalg.norm(np.einsum("i,jic->jc", q, g), axis=1).mean()))
    assert lower <= upper <= best
    assert best < 1.1 * upper
    assert upper - lower <= 1e-6 * upper


def test_gamma_ntk_of_many_coordinates_draws_only_what_examples_see(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """d = 40 and n = 3: the mean of |sum_i q_i g_i| is that of nodes drawn in R^40 themselves.

    Each of both means is within 5 of its standard errors. Six images of 3,072 pixels took more
    than 30 s before, of which the examples see six coordinates.
    """
    generator = np.random.default_rng(4)
    x, y, q = (
        generator.standard_normal((3, 40)) / 4.0,
        np.array([1.0, -1.0, 1.0]),
        np.full(3, 1.0 / 3.0),
    )
    seen: list[int] = []

    def noted(rows: np.ndarray, *rest: Any) -> Any:
        seen.append(rows.shape[1])
        return drawn(rows, *rest)

    monkeypatch.setattr(tangent, "drawn", noted)
    found = of_law(x, y, q, Watch())
    assert set(seen) == {3}
    count = 200_000
    a, v = generator.standard_normal(count), generator.standard_normal((count, 40)) / np.sqrt(40)
    z = v @ x.T
    kept = (a**2 + (v**2).sum(axis=1) < 4.0)[:, None] & (z > 0.0)
    outer, inner = (z * kept) @ (q * y), (a[:, None] * kept * (q * y)) @ x
    lengths = np.sqrt(outer**2 + (inner**2).sum(axis=1))
    room = 5.0 * 2.0 * lengths.std() / np.sqrt(count)  # the other mean is of more nodes
    assert found.value == pytest.approx(lengths.mean(), abs=room)
    assert room < 0.03 * lengths.mean()
    assert 0.8 < kept.any(axis=1).mean() * 8.0 / 7.0 < 0.98  # the cut-off matters


def test_gamma_ntk_that_is_late_has_fewer_nodes() -> None:
    x, y, q = np.eye(16), np.where(np.arange(16) % 2 == 0, 1.0, -1.0), np.full(16, 1.0 / 16.0)
    late, whole = of_law(x, y, q, Watch(0.0)), of_law(x, y, q, Watch())
    counts = [int(re.search(r"(\d+) nodes", one.method)[1]) for one in (late, whole)]  # type: ignore[index]
    assert tangent.FEWEST <= counts[0] < 0.3 * counts[1]
    assert late.lower <= whole.lower <= whole.upper < late.upper


def test_gamma_ntk_can_be_cancelled() -> None:
    watch = Watch()
    watch.cancel()
    with pytest.raises(CancelledError):
        TangentMargin().compute(problem(), watch)


# --------------------------------------------------------------------------------------- the line


def intervals(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 1))
    return x, np.where(np.floor((x[:, 0] + 1.0) * 1.5) % 2 == 1, 1.0, -1.0)


def on_a_grid(x: np.ndarray, y: np.ndarray, count: int) -> float:
    """The l1 margin on `count` evenly spaced (w, b), as wei19 F.4 does it."""
    angle = np.arange(count) * 2.0 * np.pi / count
    F = y[:, None] * np.maximum(lifted(x) @ np.array([np.cos(angle), np.sin(angle)]), 0.0)
    A = np.hstack([-F, F, np.ones((y.size, 1))])
    mass = np.r_[np.ones(2 * count), 0.0][None]
    bounds = [(0.0, None)] * (2 * count) + [(None, None)]
    found = linprog(-np.eye(2 * count + 1)[-1], A, np.zeros(y.size), mass, [1.0], bounds=bounds)
    assert found.status == 0
    return float(-found.fun)


@pytest.mark.parametrize(("n", "seed"), [(4, 0), (12, 1), (20, 2)])
def test_gamma_l1_is_approached_from_below_by_grids(n: int, seed: int) -> None:
    x, y = intervals(n, seed)
    lower, upper, _ = l1_margin(x, y, Watch())
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
        points = lifted(x)
        directions, h = candidates(points, c, breakpoints(points))
        assert np.allclose(np.linalg.norm(directions, axis=1), 1.0)
        angle = np.linspace(0.0, 2.0 * np.pi, 100_001)
        dense = c @ np.maximum(points @ np.array([np.cos(angle), np.sin(angle)]), 0.0)
        assert np.abs(dense).max() <= np.abs(h).max() + 1e-12
        assert np.abs(dense).max() == pytest.approx(np.abs(h).max(), rel=1e-6)


def test_gamma_l1_is_for_networks_with_biases_on_the_line() -> None:
    line = problem("data.kind=intervals", "network.kind=bias")
    assert BiasMargin().applies(line)
    assert BiasMargin().compute(line, Watch()).certified
    assert not BiasMargin().applies(problem("data.kind=intervals"))
    assert not BiasMargin().applies(problem("network.kind=bias"))


# ---------------------------------------------------------------------------------------- closed


def test_neural_collapse_is_checked_on_the_sample() -> None:
    of = problem("data.kind=cones", "data.d=10", "data.n=64", "data.r=4")
    section = of.experiment.data
    found = CollapseMargin().compute(of, Watch())
    assert found.value == section.gamma_nc / 8.0
    axes, x = of.dataset.directions["axes"], of.dataset.x
    settings = (axes, np.ones(4), section.gamma_nc, section.eps)
    y = of.dataset.y
    signs = np.where((np.arange(4) % 2 == 1) & (section.labels == "mixed"), -1.0, 1.0)
    assert unmet(x, y, axes, signs, *settings[2:]) == ""
    assert "number 5" in unmet(
        np.vstack([x[:5], -x[5:6]]), y[:6], axes, signs, section.gamma_nc, section.eps
    )


@pytest.mark.parametrize(("k", "d"), [(2, 2), (2, 3), (2, 4), (4, 4), (4, 5), (6, 6)])
def test_parity_of_all_corners(k: int, d: int) -> None:
    """A network attains it, and equal weights on the corners let no node see more."""
    corners = all_corners(d)
    x, y = corners / np.sqrt(d), np.prod(corners[:, :k], axis=1)
    value = even_parity(k, d)
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
    assert ParityPopulation().compute(problem(), Watch()).value == pytest.approx(160**-0.5)
    odd = ParityPopulation().compute(problem("data.k=3"), Watch())
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
    found = Wei19Population().compute(of, Watch())
    x, y = of.dataset.x[:, :2], of.dataset.y
    f = np.abs(x[:, 0]) - np.abs(x[:, 1])  # two nodes of weight +1, two of -1: |Theta|^2 = 8
    assert (y * f).min() / 8.0 == pytest.approx(found.value, rel=1e-12)


def test_dyadic_margin_for_any_d() -> None:
    assert dyadic(500) > 0.0
    assert DyadicPopulation().applies(problem("data.kind=dyadic"))
    for d in (1, 4, 9):
        assert dyadic(d) ** -2 == pytest.approx(sum(4.0**j for j in range(1, d + 1)))
