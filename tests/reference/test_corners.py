"""Parities on all corners: closed forms in four norms, and their networks."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.integrate import quad

from core.reference.cancel_token import CancelToken
from core.reference.corners import Parity, corner_constant, find_corner_parity
from core.reference.global_margin import global_margin

EVEN = [(2, 2), (3, 2), (4, 2), (4, 4), (6, 4), (6, 6)]


def corners(d: int, bits: tuple[int, ...], sign: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return all corners, in an order of chance, with the parity of some bits."""
    x = np.array(list(product((-1.0, 1.0), repeat=d)))
    x = np.random.default_rng(d).permutation(x)
    return x / np.sqrt(d), sign * x[:, bits].prod(axis=1)


@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_the_constant_is_an_integral(k: int) -> None:
    """C_k = (1/2 pi) int sin(t)^k/t^2 dt, over one period: sum_j 1/(t + j pi)^2 = 1/sin(t)^2."""
    value = quad(lambda t: np.sin(t) ** (k - 2), 0.0, np.pi)[0] / (2.0 * np.pi)
    assert corner_constant(k) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("d", "k"), EVEN)
def test_the_network_has_the_margin_in_all_norms(d: int, k: int) -> None:
    bits = tuple(range(d - k, d))
    x, y = corners(d, bits, -1.0)
    parity = find_corner_parity(x, y)
    assert parity == Parity(bits, -1.0, d)
    alpha, beta = parity.best_neurons()
    margins = y * (np.maximum(x @ beta.T, 0.0) @ alpha) / alpha.size
    assert np.allclose(margins, corner_constant(k) / np.sqrt(d), rtol=1e-12)
    assert np.abs(beta).max() == 1.0
    assert np.linalg.norm(beta, 2) ** 2 / alpha.size == pytest.approx(1.0)  # and |a| = 1
    best = global_margin(x, y, CancelToken())
    assert best.bracket.value == pytest.approx(corner_constant(k) / np.sqrt(k * d), rel=1e-14)
    assert best.margins(x, y).min() == pytest.approx(best.bracket.value, rel=1e-12)


@pytest.mark.parametrize(("d", "k"), EVEN[:4])
def test_no_node_has_a_higher_price_at_equal_weights(d: int, k: int) -> None:
    """|h(v)| <= (C_k/sqrt d) mean of |v_j| over the bits, on nodes of chance and at the best."""
    x, y = corners(d, tuple(range(k)))
    V = np.random.default_rng(k).standard_normal((5000, d))
    V[: 2**k] = find_corner_parity(x, y).best_neurons()[1]
    h = np.abs(np.maximum(V @ x.T, 0.0) @ y) / len(x)
    bound = corner_constant(k) / np.sqrt(d) * np.abs(V[:, :k]).mean(axis=1)
    assert (h <= bound * (1.0 + 1e-12)).all()
    assert np.allclose(h[: 2**k], bound[: 2**k])


def test_only_even_parities_on_all_corners_once_each() -> None:
    x, y = corners(4, (1, 2))
    assert find_corner_parity(x, y) is not None
    assert find_corner_parity(x[:-1], y[:-1]) is None
    assert find_corner_parity(np.vstack([x[1:], x[1]]), np.r_[y[1:], y[1]]) is None
    assert find_corner_parity(2.0 * x, y) is None
    assert find_corner_parity(x, np.r_[-y[0], y[1:]]) is None
    assert find_corner_parity(x, np.ones(16)) is None
    assert find_corner_parity(*corners(4, (0, 1, 2))) is None
    assert find_corner_parity(np.array([[1.0], [-1.0]]), np.array([1.0, 1.0])) is None


def test_the_constants_of_theory_md() -> None:
    assert [corner_constant(k) for k in (2, 4, 6, 8)] == [1 / 2, 1 / 4, 3 / 16, 5 / 32]
    assert corner_constant(12) == comb(10, 5) / 2**11
