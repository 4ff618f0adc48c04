"""The price of weights: climbing, the tree's proof and the arrangement, against every subset."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from core.reference import pricing
from core.reference.cancel_token import CancelledError, CancelToken
from core.reference.pricing import (
    climb_price,
    make_zonotopes,
    maximise_price,
    price_of,
    prove_price_bound,
)

Array = NDArray[np.float64]


def case(n: int, d: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng([n, d, seed])
    return rng.standard_normal((n, d)), rng.standard_normal(n)


def by_subsets(x: Array, c: Array) -> float:
    """Return the largest distance of a subset of c > 0 to the other zonotope, by least squares."""
    from scipy.optimize import lsq_linear

    plus, minus = x[c > 0] * c[c > 0, None], x[c < 0] * -c[c < 0, None]
    best = 0.0
    for subset in product((0.0, 1.0), repeat=len(plus)):
        target = np.array(subset) @ plus
        found = lsq_linear(minus.T, target, bounds=(0.0, 1.0), tol=1e-13)
        best = max(best, float(np.sqrt(2.0 * found.cost)))
    return best


def by_tree(x: Array, c: Array, limit: float, monkeypatch: pytest.MonkeyPatch) -> pricing.Proof:
    monkeypatch.setattr(pricing, "MOST_DIMENSIONS", 0)
    return prove_price_bound(x, c, limit, CancelToken(), np.inf)


@pytest.mark.parametrize(("d", "seed"), [(2, 0), (3, 1), (4, 2), (6, 3)])
def test_three_routes_agree(d: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, c = case(11, d, seed)
    brute = by_subsets(x, c)
    starts = np.random.default_rng(seed).standard_normal((200, d))
    V, values = climb_price(x, c, starts, CancelToken())
    assert np.allclose(values, price_of(x, c, V), atol=1e-12)
    assert np.allclose(np.linalg.norm(V, axis=1), 1.0)
    assert values.max() == pytest.approx(brute, rel=1e-7)
    proof = by_tree(x, c, 0.01 * brute, monkeypatch)
    assert proof.finished
    assert proof.bound == pytest.approx(brute, rel=1e-6)
    assert proof.direction is not None
    assert price_of(x, c, proof.direction[None])[0] == pytest.approx(brute, rel=1e-6)
    if d <= 3:
        assert maximise_price(x, c, CancelToken())[0] == pytest.approx(brute, rel=1e-7)


@pytest.mark.parametrize("d", [4, 8])
def test_a_limit_above_is_proved_and_one_below_is_not(d: int) -> None:
    x, c = case(26, d, 5)
    _, values = climb_price(x, c, np.random.default_rng(0).standard_normal((400, d)), CancelToken())
    highest = float(values.max())
    above = prove_price_bound(x, c, highest * 1.0001, CancelToken(), np.inf)
    assert above.direction is None
    assert above.bound == pytest.approx(highest * 1.0001, rel=1e-9)
    below = prove_price_bound(x, c, highest * 0.999, CancelToken(), np.inf)
    assert below.bound >= highest * (1.0 - 1e-9)
    assert below.direction is not None


@pytest.mark.parametrize("d", [2, 3])
def test_tree_against_arrangement(d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Degenerate points too: parallel, opposite and repeated ones."""
    x, c = case(12, d, 7)
    x[3], x[4], x[5] = 2.0 * x[0], -x[1], x[2]
    value = maximise_price(x, c, CancelToken())[0]
    assert by_tree(x, c, 0.01 * value, monkeypatch).bound == pytest.approx(value, rel=1e-6)


def test_nothing_positive() -> None:
    x = np.eye(4)
    assert prove_price_bound(x, -np.ones(4), 0.5, CancelToken(), np.inf).bound == 0.0
    _, values = climb_price(x, -np.ones(4), np.eye(4), CancelToken())
    assert values.max() <= 0.0


def test_orthogonal_points() -> None:
    """x = identity: the price is |c_+|, at v = c_+/|c_+|."""
    c = np.array([3.0, -1.0, 4.0, -2.0, 0.0])
    assert prove_price_bound(np.eye(5), c, 1.0, CancelToken(), np.inf).bound == pytest.approx(
        5.0, rel=1e-9
    )
    assert make_zonotopes(np.eye(5), c).split == 2


def test_unfinished_is_said() -> None:
    x, c = case(40, 6, 0)
    assert not prove_price_bound(x, c, 1e-9, CancelToken(), 0.0).finished


def test_cancelled() -> None:
    x, c = case(40, 6, 0)
    watch = CancelToken()
    watch.cancel()
    with pytest.raises(CancelledError):
        prove_price_bound(x, c, 1e-9, watch, np.inf)
    with pytest.raises(CancelledError):
        climb_price(x, c, x, watch)
