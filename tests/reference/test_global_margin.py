"""gamma_gl against closed forms, brute force, and trained or random networks."""

from __future__ import annotations

import threading
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from core.problem.problem import resolve_problem
from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.generation import Master
from core.reference.global_margin import GlobalMargin, GlobalResult, global_margin
from core.study_file.validation import build_experiment

Array = NDArray[np.float64]


def parity(n: int, d: int = 20, seed: int = 0) -> tuple[Array, Array]:
    """Return Figure 1's points, the first draws of PCG64 (docs/theory.md, 2.3)."""
    x = np.random.default_rng(seed).choice([-1, 1], (n, d)) / np.sqrt(d)
    return x, d * x[:, 0] * x[:, 1]


def corners(d: int) -> Array:
    return np.array(list(product((-1.0, 1.0), repeat=d))) / np.sqrt(d)


def checked(x: Array, y: Array, limit: float = 60.0) -> GlobalResult:
    """Return the result, after its own witnesses were tried on the data."""
    result = global_margin(x, y, CancelToken(limit))
    bracket = result.bracket
    assert np.allclose(np.linalg.norm(result.beta, axis=1), 1.0, atol=1e-12)
    assert result.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert (result.weights >= 0.0).all()
    assert (np.abs(result.alpha) == 1.0).all()
    assert result.q.sum() == pytest.approx(1.0, abs=1e-12)
    assert (result.q >= 0.0).all()
    assert result.margins(x, y).min() == pytest.approx(bracket.lower, rel=1e-10)
    assert bracket.lower <= bracket.value <= bracket.upper
    return result


def fine_directions(d: int, count: int) -> Array:
    """Return a grid of the sphere that comes within `covering(d, count)` of every unit vector."""
    if d == 2:
        angle = 2.0 * np.pi * np.arange(count) / count
        return np.column_stack([np.cos(angle), np.sin(angle)])
    side = np.linspace(-1.0, 1.0, count)
    a, b = (z.ravel() for z in np.meshgrid(side, side))
    faces = [
        np.insert(np.column_stack([a, b]), axis, sign, axis=1)
        for axis in range(3)
        for sign in (-1.0, 1.0)
    ]
    points = np.vstack(faces)
    return np.asarray(points / np.linalg.norm(points, axis=1)[:, None])


def covering(d: int, count: int) -> float:
    """Return an upper bound on a unit vector's distance to the grid: half a cell's diagonal."""
    return np.pi / count if d == 2 else np.sqrt(2.0) / (count - 1)


def on_grid(x: Array, y: Array, directions: Array) -> float:
    """Return the margin of networks whose nodes are on the grid: one linear program, SciPy's."""
    from scipy.optimize import linprog

    half = y * np.maximum(directions @ x.T, 0.0)
    columns = np.vstack([half, -half])
    k, n = columns.shape
    answer = linprog(
        np.append(np.zeros(k), -1.0),
        A_ub=np.hstack([-columns.T, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(k), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * k + [(None, None)],
    )
    return float(-answer.fun)


@pytest.mark.parametrize(
    ("d", "count", "n"), [(2, 2000, 9), (2, 2000, 14), (3, 21, 9), (3, 21, 16)]
)
def test_brute_force_over_directions(d: int, count: int, n: int) -> None:
    """A grid gives a lower bound, and one at most its covering radius (times |x|) too low."""
    rng = np.random.default_rng([d, n])
    x = rng.standard_normal((n, d))
    y = np.sign(np.abs(x[:, 0]) - np.abs(x[:, 1]))
    result = checked(x, y)
    brute = on_grid(x, y, fine_directions(d, count))
    slack = covering(d, count) * np.linalg.norm(x, axis=1).max()
    assert result.bracket.certified
    assert result.bracket.gap < 1e-4
    assert brute <= result.bracket.upper
    assert result.bracket.lower <= brute + slack


def test_one_dimension() -> None:
    """Two nodes: sides weigh 1/|x_min| each, so that gamma = 1/(1/1 + 1/2)."""
    x, y = np.array([[1.0], [3.0], [-2.0]]), np.array([1.0, 1.0, -1.0])
    assert checked(x, y).bracket.value == pytest.approx(2.0 / 3.0, rel=1e-4)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_all_corners_searched(d: int) -> None:
    """1/sqrt(8 d); scaled by 2 so that the search, and not the closed form, answers."""
    x = corners(d)
    y = np.sign(x[:, 0] * x[:, 1])
    bracket = checked(2.0 * x, y).bracket
    assert bracket.certified
    assert bracket.gap < 1e-3
    assert bracket.lower <= 2.0 / np.sqrt(8.0 * d) * (1.0 + 1e-12)
    assert bracket.upper >= 2.0 / np.sqrt(8.0 * d) * (1.0 - 1e-12)


@pytest.mark.parametrize("d", [2, 5, 10])
def test_all_corners(d: int) -> None:
    x = corners(d)
    bracket = checked(x, -np.sign(x[:, 0] * x[:, d - 1])).bracket
    assert bracket.value == pytest.approx(1.0 / np.sqrt(8.0 * d), rel=1e-12)
    assert bracket.certified


def test_parity_is_certified() -> None:
    """docs/theory.md, 7.3: [.081273, .081275] at d = 20, n = 64, seed 0."""
    bracket = checked(*parity(64)).bracket
    assert bracket.certified
    assert bracket.gap < 5e-4
    assert 0.08127 <= bracket.lower <= 0.081275
    assert 0.081273 <= bracket.upper <= 0.08128


@pytest.mark.parametrize("seed", range(3))
def test_two_cones(seed: int) -> None:
    """Near the .495034 of docs/theory.md, 7.3 (draws differ by .0006), and a fine grid's."""
    settings = {"data": {"kind": "two_cones", "d": 2}, "network": {"m": 4}, "run": {"seed": seed}}
    problem = resolve_problem(build_experiment(settings, "test"))
    bracket = GlobalMargin().compute(problem, CancelToken())
    brute = on_grid(problem.dataset.x, problem.dataset.y, fine_directions(2, 4000))
    assert bracket.certified
    assert abs(bracket.value - 0.495034) < 1e-3
    assert bracket.lower - 1e-6 <= brute <= bracket.upper


@pytest.mark.parametrize("seed", range(4))
def test_no_network_is_above(seed: int) -> None:
    """min_i p_i / sum |a||v| <= upper for random networks of random teachers, d = 4 to 7."""
    rng = np.random.default_rng(seed)
    d, m = 4 + seed, 3
    x = rng.standard_normal((24, d))
    a, V = rng.standard_normal(m), rng.standard_normal((m, d))
    y = np.sign(np.maximum(x @ V.T, 0.0) @ a)
    keep = np.abs(np.maximum(x @ V.T, 0.0) @ a) > 0.05
    x, y = x[keep], y[keep]
    teacher = (y * (np.maximum(x @ V.T, 0.0) @ a)).min()
    teacher /= (np.abs(a) * np.linalg.norm(V, axis=1)).sum()
    result = checked(x, y)
    assert 0.0 < teacher <= result.bracket.upper
    assert result.bracket.certified
    assert result.bracket.gap < 1e-3


def test_more_columns_than_rows() -> None:
    """Row space: points embedded in 200 dimensions by a rotation have the same margin."""
    x, y = parity(16, 5)
    basis = np.linalg.qr(np.random.default_rng(1).standard_normal((200, 5)))[0]
    low, high = checked(x, y).bracket, checked(x @ basis.T, y).bracket
    assert high.lower <= low.upper * (1.0 + 1e-9)
    assert low.lower <= high.upper * (1.0 + 1e-9)
    assert max(low.gap, high.gap) < 1e-4


def test_scale_and_start() -> None:
    """gamma_gl is homogeneous; the trained network's directions only help."""
    x, y = parity(24, 5)
    one = checked(x, y)
    ten = global_margin(10.0 * x, y, CancelToken(), columns=one.beta, seed=5).bracket
    assert ten.lower <= 10.0 * one.bracket.upper
    assert 10.0 * one.bracket.lower <= ten.upper


def test_deterministic() -> None:
    x, y = parity(16, 5)
    first, second = (global_margin(x, y, CancelToken()) for _ in range(2))
    assert first.bracket == second.bracket
    assert np.array_equal(first.beta, second.beta)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([[1.0, 0.0], [0.0, 0.0]], [1.0, -1.0], "x = 0"),
        ([[1.0, 2.0], [2.0, 4.0]], [1.0, -1.0], "positive factor"),
        ([[1.0, 2.0], [1.0, 2.0]], [1.0, -1.0], "positive factor"),
    ],
)
def test_hopeless_points(x: list[list[float]], y: list[float], words: str) -> None:
    bracket = global_margin(np.array(x), np.array(y), CancelToken()).bracket
    assert not bracket.exists
    assert bracket.is_zero
    assert words in bracket.method


def test_odd_parity_has_no_margin() -> None:
    """The odd part of a two-layer ReLU network is linear; three-parity is odd and not."""
    x = corners(4)
    bracket = global_margin(x, np.sign(x[:, 0] * x[:, 1] * x[:, 2]), CancelToken()).bracket
    assert bracket.is_zero
    assert "separates" in bracket.method


def test_single_class() -> None:
    """With one label the margin is that of the points' hull: max_v min <v, x_i>, here a node."""
    x = np.array([[1.0, 0.5], [1.0, -0.5]])
    assert checked(x, np.ones(2)).bracket.value >= 1.0 - 1e-4


def test_cancel() -> None:
    watch = CancelToken()
    x, y = parity(200)
    timer = threading.Timer(0.3, watch.cancel)
    timer.start()
    with pytest.raises(CancelledError):
        global_margin(x, y, watch)  # which takes eleven seconds to its end
    timer.join()


def test_late_keeps_what_it_has() -> None:
    """When the time is over the lower bound is still a network's, and the upper one is honest."""
    x, y = parity(64)
    bracket = global_margin(x, y, CancelToken(0.25)).bracket
    assert not bracket.exists or bracket.lower <= 0.081276
    assert not bracket.exists or not bracket.certified or bracket.upper >= 0.081272


def test_master() -> None:
    """Rock, paper, scissors shifted by 2: q and weights uniform, value 2; then a row above all."""
    master = Master(3)
    game = np.array([[2.0, 1.0, 3.0], [3.0, 2.0, 1.0], [1.0, 3.0, 2.0]])
    master.add(game)
    solution = master.solve()
    assert solution.value == pytest.approx(2.0, abs=1e-9)
    assert np.allclose(solution.q, 1.0 / 3.0, atol=1e-9)
    master.add(np.full((1, 3), 2.5))
    solution = master.solve()
    assert solution.value == pytest.approx(2.5, abs=1e-9)
    assert np.allclose(solution.weights, [0.0, 0.0, 0.0, 1.0], atol=1e-9)
