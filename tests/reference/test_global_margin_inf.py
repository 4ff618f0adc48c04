"""gamma_glinf: closed forms, brute force, and the tree's prices against integer programs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.corners import corner_constant
from core.reference.cube_price import bound_cell, prove_cube_bound
from core.reference.global_margin import global_margin
from core.reference.global_margin_inf import bracket_by_search, bracket_by_vertices, maximum_bracket
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
def test_search_and_tree_contain_the_program_over_vertices(seed: int) -> None:
    x, y = gaussian(9, 4, seed)
    size = np.abs(x).sum(axis=1).max()
    vertices, searched = (
        method(x, y, np.inf, CancelToken(40.0))
        for method in (bracket_by_vertices, bracket_by_search)
    )
    assert searched.certified
    assert searched.lower <= vertices.upper
    assert vertices.lower <= searched.upper
    assert searched.gap < 3e-3
    assert size > vertices.upper


def price_by_integers(x: np.ndarray, c: np.ndarray) -> float:
    """Return max sum_i c_i relu(<v, x_i>) over the cube, as a mixed-integer program of SciPy.

    Variables are v, s_i for relu(<v, x_i>), and for c_i > 0 whether <v, x_i> > 0.
    """
    n, d = x.shape
    up, down = np.flatnonzero(c > 0.0), np.flatnonzero(c < 0.0)
    size, unit, k = np.abs(x).sum(axis=1), np.eye(n), int((c > 0.0).sum())
    big = np.diag(size[up])
    rows = np.vstack(
        [
            np.c_[-x[up], unit[up], big],
            np.c_[np.zeros((k, d)), unit[up], -big],
            np.c_[x[down], -unit[down], np.zeros((n - k, k))],
        ]
    )
    found = milp(
        -np.r_[np.zeros(d), c, np.zeros(k)],
        constraints=LinearConstraint(rows, ub=np.r_[size[up], np.zeros(n)]),
        bounds=Bounds(np.r_[-np.ones(d), np.zeros(n + k)], np.r_[np.ones(d), size, np.ones(k)]),
        integrality=np.r_[np.zeros(d + n), np.ones(k)],
        options={"mip_rel_gap": 1e-9},
    )
    assert found.success
    return float(-found.fun)


@pytest.mark.parametrize(("n", "d", "seed"), [(9, 3, 2), (8, 4, 0), (14, 6, 1), (18, 9, 3)])
def test_the_price_of_the_tree_is_that_of_other_programs(n: int, d: int, seed: int) -> None:
    """Any weights of the coordinates lead to the same price; an optimum of ours attains it."""
    x, y = gaussian(n, d, seed)
    generator = np.random.default_rng(seed)
    c = generator.dirichlet(np.ones(n)) * y
    exact = price_by_integers(x, c)
    if d <= 4:
        V = cube_vertices(x, CancelToken()).V
        assert compute_prices(V, x, c, CancelToken()).max() == pytest.approx(exact, rel=1e-6)
    for D in (np.full(d, 1.0 / d), generator.dirichlet(np.ones(d))):
        low = prove_cube_bound(x, c, D, 0.3 * exact, CancelToken())
        assert low.finished
        assert low.bound == pytest.approx(exact, rel=1e-6)
        values = np.maximum(low.V @ x.T, 0.0) @ c
        assert values.max() == pytest.approx(exact, rel=1e-6)
        assert np.abs(low.V).max() <= 1.0
        above = prove_cube_bound(x, c, D, 1.01 * exact, CancelToken())
        assert above.finished
        assert len(above.V) == 0
        assert above.bound == pytest.approx(1.01 * exact, rel=1e-6)
        below = prove_cube_bound(x, c, D, 0.999 * exact, CancelToken())
        assert below.bound >= exact * (1.0 - 1e-9)


def test_every_cell_is_bounded_by_its_own_program() -> None:
    """Over all signs the largest bound is the price, and none is below a point of its cell."""
    x, y = gaussian(9, 4, 6)
    order = np.argsort(-y, kind="stable")
    B = (x * y[:, None] / 9.0)[order]
    split = int((y > 0.0).sum())
    exact = price_by_integers(x, y / 9.0)
    v = np.random.default_rng(0).uniform(-1.0, 1.0, (20_000, 4))
    reached = np.maximum(v @ B[:split].T, 0.0).sum(axis=1)
    reached += np.minimum(v @ B[split:].T, 0.0).sum(axis=1)
    cells = (v @ B[:split].T > 0.0) @ (1 << np.arange(split))
    bounds = []
    for cell in range(1 << split):
        signs = (cell >> np.arange(split) & 1).astype(float)
        bound, best = bound_cell(B, signs, CancelToken())
        bounds.append(bound)
        assert bound >= reached[cells == cell].max(initial=0.0) - 1e-12
        assert np.abs(best).max() <= 1.0
    assert max(bounds) == pytest.approx(exact, rel=1e-6)


def test_a_search_that_is_cancelled() -> None:
    watch = CancelToken()
    watch.cancel()
    x, y = parity(64)
    with pytest.raises(CancelledError):
        maximum_bracket(x, y, watch)
    with pytest.raises(CancelledError):
        prove_cube_bound(x, y / 64.0, np.full(20, 0.05), 0.1, watch)
    assert not prove_cube_bound(x, y / 64.0, np.full(20, 0.05), 0.1, CancelToken(-1.0)).finished


@pytest.mark.slow
def test_the_bracket_of_figure_1() -> None:
    """The gap of .2 % is proved in 45 seconds."""
    found = maximum_bracket(*parity(64), CancelToken(120.0))
    assert found.certified
    assert found.lower >= 0.2073
    assert found.upper <= 0.21
