"""gamma_spec: closed forms, values of another solver, and networks."""

from __future__ import annotations

import numpy as np
import pytest

from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.corners import corner_constant
from core.reference.ellipsoids import find_saddle, square_roots
from core.reference.global_margin import global_margin
from core.reference.spectral import _smooth_value, refine_network, spectral_bracket, spectral_margin
from tests.reference.test_corners import corners
from tests.reference.test_global_margin import parity


def plane(seed: int, n: int = 6) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(seed).standard_normal((n, 2))
    return x, np.sign(x[:, 0] * x[:, 1])


SLOW = pytest.mark.slow


@pytest.mark.parametrize(("d", "k"), [(2, 2), pytest.param(3, 2, marks=SLOW), (4, 4)])
def test_all_corners(d: int, k: int) -> None:
    """The closed form, and the search for the same points times two."""
    x, y = corners(d, tuple(range(k)))
    exact = corner_constant(k) / np.sqrt(d)
    assert spectral_bracket(x, y, CancelToken()).value == exact
    found = spectral_bracket(2.0 * x, y, CancelToken(30.0))
    assert found.certified
    assert found.lower <= 2.0 * exact <= found.upper
    assert found.gap < 1e-2


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=SLOW) for s in (1, 2))])
def test_in_the_plane(seed: int) -> None:
    """Both ends meet, and any Lam gives an upper bound: here 400 of chance."""
    x, y = plane(seed)
    found = spectral_bracket(x, y, CancelToken(30.0))
    assert found.certified
    assert found.gap < 5e-3
    generator = np.random.default_rng(seed)
    two = global_margin(x, y, CancelToken()).bracket
    assert two.lower <= found.upper
    assert found.lower <= np.sqrt(2.0) * two.upper
    least = np.inf
    for _ in range(20):
        B = generator.standard_normal((2, 2))
        Lam = B @ B.T / np.trace(B @ B.T)
        least = min(least, global_margin(x @ square_roots(Lam)[1], y, CancelToken()).bracket.upper)
    assert found.lower <= least


def test_the_margin_of_a_network_is_that_of_its_scaled_layers() -> None:
    generator = np.random.default_rng(0)
    a, V = generator.standard_normal(5), generator.standard_normal((5, 3))
    x, y = generator.standard_normal((4, 3)), np.ones(4)
    scaled = a / np.linalg.norm(a), V / np.linalg.svd(V)[1][0]
    direct = (np.maximum(x @ scaled[1].T, 0.0) @ scaled[0]).min()
    assert spectral_margin(a, V, x, y) == pytest.approx(direct)
    assert spectral_margin(7.0 * a, 0.1 * V, x, y) == pytest.approx(direct)
    assert spectral_margin(0.0 * a, V, x, y) == 0.0


def test_the_gradient_of_the_smoothed_margin() -> None:
    generator = np.random.default_rng(1)
    x, y = parity(16, 4)
    flat = generator.standard_normal(7 * 5)
    value, gradient = _smooth_value(flat, x, y, 40.0, 0.1)
    assert np.isfinite(value)
    step = 1e-6 * generator.standard_normal(flat.size)
    ahead, behind = (_smooth_value(flat + s * step, x, y, 40.0, 0.1)[0] for s in (1.0, -1.0))
    assert (ahead - behind) / 2.0 == pytest.approx(gradient @ step, rel=1e-4)


@SLOW
def test_refined_networks_are_better() -> None:
    x, y = parity(16, 4)
    saddle = find_saddle(x, y, CancelToken(), diagonal=False)
    before = spectral_margin(saddle.a, saddle.V, x, y)
    assert (
        spectral_margin(*refine_network((saddle.a, saddle.V), x, y, 0.1, CancelToken()), x, y)
        > before
    )


def test_one_point_and_one_dimension() -> None:
    one = spectral_bracket(np.array([[3.0, 4.0]]), np.ones(1), CancelToken())
    assert one.lower <= 5.0 <= one.upper
    assert one.gap < 1e-3
    line = spectral_bracket(
        np.array([[1.0], [3.0], [-2.0]]), np.array([1.0, 1.0, -1.0]), CancelToken()
    )
    assert line.lower <= 2.0 / 3.0 <= line.upper
    assert line.gap < 1e-3


@SLOW
def test_points_twice_change_nothing() -> None:
    x, y = plane(1)
    one = spectral_bracket(x, y, CancelToken(30.0))
    two = spectral_bracket(
        np.vstack([x, x[0], 2.0 * x[1]]), np.r_[y, y[0], y[1]], CancelToken(30.0)
    )
    assert one.lower <= two.upper
    assert two.lower <= one.upper


def test_data_without_a_margin() -> None:
    assert spectral_bracket(*corners(3, (0, 1, 2)), CancelToken()).is_zero
    assert spectral_bracket(np.zeros((1, 2)), np.ones(1), CancelToken()).is_zero
    x = np.array([[1.0, 0.0], [1.0, 1e-13], [0.0, 1.0]])
    assert not spectral_bracket(x, np.array([1.0, -1.0, 1.0]), CancelToken(10.0)).exists
    many = spectral_bracket(np.eye(101), np.ones(101), CancelToken())
    assert not many.exists
    assert "101 dimensions" in many.method


def test_a_cancelled_search() -> None:
    watch = CancelToken()
    watch.cancel()
    with pytest.raises(CancelledError):
        spectral_bracket(*parity(64), watch)


@pytest.mark.slow
def test_the_bracket_of_figure_1() -> None:
    """An independent program has [.1959, .2230] with another Lam."""
    found = spectral_bracket(*parity(64), CancelToken(240.0))
    assert found.certified
    assert 0.205 <= found.lower <= 0.2230
    assert 0.1959 <= found.upper <= 0.228
