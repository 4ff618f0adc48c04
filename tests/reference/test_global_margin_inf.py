"""gamma_glinf: closed forms, brute force, and bounds of prices by branch and bound."""

from __future__ import annotations

import numpy as np
import pytest

from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.corners import corner_constant
from core.reference.cube_search import make_price_program
from core.reference.global_margin import global_margin
from core.reference.global_margin_inf import bracket_by_search, bracket_by_vertices, maximum_bracket
from core.reference.programs import solve_program
from core.reference.vertices import compute_prices, count_systems, cube_vertices, find_best_network
from tests.reference.test_corners import corners
from tests.reference.test_global_margin import on_grid, parity


def gaussian(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng([seed, n, d]).standard_normal((n, d))
    return x, np.sign(np.abs(x[:, 0]) - np.abs(x[:, -1] if d > 1 else 0.0))


def cube_grid(d: int, count: int) -> np.ndarray:
    """Return points of the cube's faces, at most 2/(count - 1) apart in each coordinate."""
    side = np.linspace(-1.0, 1.0, count)
    inner = np.array(np.meshgrid(*[side] * (d - 1))).reshape(d - 1, -1).T
    faces = [np.insert(inner, j, sign, axis=1) for j in range(d) for sign in (1.0, -1.0)]
    return np.vstack(faces)


@pytest.mark.parametrize(("d", "k"), [(2, 2), (3, 2), (4, 2), (4, 4)])
def test_all_corners(d: int, k: int) -> None:
    """The closed form, and the program over vertices for the same points times two."""
    x, y = corners(d, tuple(range(k)))
    exact = corner_constant(k) / np.sqrt(d)
    found = maximum_bracket(x, y, CancelToken())
    assert found.lower == found.upper == exact
    doubled = maximum_bracket(2.0 * x, y, CancelToken())
    assert doubled.certified
    assert "vertices" in doubled.method
    assert doubled.lower <= 2.0 * exact <= doubled.upper
    assert doubled.upper - doubled.lower < 1e-8


def test_the_vertices_of_the_corners() -> None:
    """In four dimensions 40: the corners, and the 24 of two coordinates +-1 and two zeros."""
    x, _ = corners(4, (0, 1))
    V = cube_vertices(x, CancelToken()).V
    rounded = np.unique(np.round(V, 9) + 0.0, axis=0)
    largest = np.abs(rounded).sum(axis=1)
    assert len(rounded) == 40
    assert set(largest) == {2.0, 4.0}


@pytest.mark.parametrize(("n", "d", "seed"), [(8, 3, 0), (8, 3, 1), (12, 2, 0), (7, 4, 0)])
def test_no_node_of_chance_has_a_higher_price(n: int, d: int, seed: int) -> None:
    x, y = gaussian(n, d, seed)
    vertices = cube_vertices(x, CancelToken())
    best = find_best_network(vertices.V, x, y, CancelToken())
    assert best.upper - best.lower < 1e-8 * best.upper
    margins = y * (np.maximum(x @ best.V.T, 0.0) @ (best.weights * best.alpha))
    assert margins.min() == pytest.approx(best.lower, rel=1e-12)
    assert best.weights.sum() == pytest.approx(1.0)
    assert np.abs(best.V).max() <= 1.0
    V = np.random.default_rng(seed).uniform(-1.0, 1.0, (100_000, d))
    V /= np.abs(V).max(axis=1)[:, None]
    assert np.abs(compute_prices(V, x, best.q * y, CancelToken())).max() <= best.upper * (
        1.0 + 1e-12
    )


@pytest.mark.parametrize(("n", "d", "count"), [(9, 2, 1001), (14, 2, 1001), (9, 3, 25)])
def test_brute_force_over_the_cube(n: int, d: int, count: int) -> None:
    """A grid gives a lower bound, and one at most its distance (times |x|_1) too low."""
    x, y = gaussian(n, d, 3)
    found = maximum_bracket(x, y, CancelToken())
    brute = on_grid(x, y, cube_grid(d, count))
    assert brute <= found.upper
    assert found.lower <= brute + np.abs(x).sum(axis=1).max() / (count - 1)


def test_within_the_bounds_by_gamma_gl() -> None:
    x, y = gaussian(10, 3, 5)
    two, cube = global_margin(x, y, CancelToken()).bracket, maximum_bracket(x, y, CancelToken())
    assert two.lower <= cube.upper
    assert cube.lower <= np.sqrt(3.0) * two.upper


def test_one_dimension() -> None:
    x, y = np.array([[1.0], [3.0], [-2.0]]), np.array([1.0, 1.0, -1.0])
    found = maximum_bracket(x, y, CancelToken())
    assert found.value == pytest.approx(2.0 / 3.0, rel=1e-9)


def test_special_positions() -> None:
    """Points twice, on one ray, with their antipodes, a column of zeros, and 1e-9 apart."""
    x, y = gaussian(7, 2, 1)
    plain = maximum_bracket(x, y, CancelToken())
    others = np.vstack([x, x[0], 2.0 * x[1]]), np.r_[y, y[0], y[1]]
    found = maximum_bracket(np.c_[others[0], np.zeros(9)], others[1], CancelToken())
    assert found.value == pytest.approx(plain.value, rel=1e-9)
    near = maximum_bracket(np.vstack([x, x[0] + 1e-9]), np.r_[y, y[0]], CancelToken())
    assert near.lower <= plain.upper + 1e-8
    assert near.upper >= plain.lower - 1e-8
    both = maximum_bracket(np.vstack([x, -x]), np.r_[y, y], CancelToken())
    assert both.lower <= plain.upper


def test_data_without_a_margin() -> None:
    odd = maximum_bracket(*corners(3, (0, 1, 2)), CancelToken())
    assert odd.is_zero
    zero = maximum_bracket(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([1.0, -1.0]), CancelToken())
    assert zero.is_zero
    x = np.array([[1.0, 0.0], [1.0, 1e-13], [0.0, 1.0]])
    assert not maximum_bracket(x, np.array([1.0, -1.0, 1.0]), CancelToken()).exists


def test_few_systems() -> None:
    assert count_systems(64, 4) == 383_760
    assert count_systems(1, 1) == 2


# ---------------------------------------------------------------------------- more dimensions


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_search_and_branch_and_bound_contain_the_program_over_vertices(seed: int) -> None:
    x, y = gaussian(9, 4, seed)
    size = np.abs(x).sum(axis=1).max()
    vertices, searched = (
        method(x, y, np.inf, CancelToken(40.0))
        for method in (bracket_by_vertices, bracket_by_search)
    )
    assert searched.certified
    assert searched.lower <= vertices.upper
    assert vertices.lower <= searched.upper
    assert searched.gap < 3e-2
    assert size > vertices.upper


def test_the_mixed_integer_price_is_the_largest_over_the_vertices() -> None:
    x, y = gaussian(9, 3, 2)
    c = np.random.default_rng(0).dirichlet(np.ones(9)) * y
    exact = compute_prices(cube_vertices(x, CancelToken()).V, x, c, CancelToken()).max()
    found = solve_program(make_price_program(x, c), CancelToken())
    assert found.finished
    assert found.bound == pytest.approx(exact, rel=1e-6)
    stopped = solve_program(make_price_program(x, c), CancelToken(-1.0))
    assert stopped.bound >= exact * (1.0 - 1e-9)


def test_a_search_that_is_cancelled() -> None:
    watch = CancelToken()
    watch.cancel()
    x, y = parity(64)
    with pytest.raises(CancelledError):
        maximum_bracket(x, y, watch)
    with pytest.raises(CancelledError):
        solve_program(make_price_program(x, y / 64.0), watch)


@pytest.mark.slow
def test_the_bracket_of_figure_1() -> None:
    found = maximum_bracket(*parity(64), CancelToken(120.0))
    assert found.certified
    assert found.lower >= 0.203
    assert found.upper <= 0.27
