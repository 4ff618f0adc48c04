"""The compiled kernels' own exp and ln(1 + x) against 40 digits, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from mpmath import mp, mpf

from core.compiled.exponential import exp_minus, log_one_plus, twice_atanh
from core.compiled.kernel import ROWS, activate, outputs_and_slopes, times_slopes
from core.network.activation import SMOOTH, Activation

Array = np.ndarray
TINY = 1e-307  # where numbers have fewer digits


def points(most: float, seed: int) -> Array:
    """Return small ones on a log scale, others at random, both ends, and multiples of ln(2)/2."""
    at_random = np.random.default_rng(seed).uniform(0.0, most, 500)
    edges = np.arange(0.0, most, np.log(2.0) / 2.0)
    small = np.geomspace(1e-300, most, 400)
    return np.concatenate([[0.0], at_random, small, edges, np.nextafter(edges, most)])


@pytest.mark.parametrize(
    ("function", "exact", "most", "error"),
    [
        (exp_minus, lambda x: mp.exp(-x), 700.0, 6e-16),
        (log_one_plus, mp.log1p, 1.0, 5e-16),
        (twice_atanh, lambda s: 2 * mp.atanh(s), 1.0 / 3.0, 4e-16),
    ],
)
def test_relative_error(
    function: Callable[[float], float], exact: Callable[[mpf], mpf], most: float, error: float
) -> None:
    """Below what the module states, over all of the range."""
    with mp.workdps(40):
        for x in points(most, 0):
            wanted = exact(mpf(float(x)))
            found = mpf(function(float(x)))
            assert abs(found - wanted) <= error * abs(wanted) + mpf(TINY), x


def test_what_is_far_out_is_nearly_zero_and_what_is_no_number_stays_none() -> None:
    for x in (700.0, 1e4, 1e300, np.inf):
        assert 0.0 <= exp_minus(x) <= 1e-303


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("m", "n"), [(7, 33), (37, 12), (37, 1500), (ROWS, 1)])
def test_one_pass_is_the_activation_and_its_slopes(dtype: type, m: int, n: int) -> None:
    """`outputs_and_slopes` against the plain formulas of core.network.activation.

    Nodes are taken some at a time: more of them than that, a rest, and rows longer than all.
    """
    rng = np.random.default_rng(1)
    Z = (10.0 ** rng.uniform(-8, 3, (m, n)) * rng.choice([-1, 1], (m, n))).astype(dtype)
    Z[:3, 0] = 0.0, 1e5, -1e5
    phi = Activation(SMOOTH, 0.1)
    alpha, F = rng.standard_normal((m, 2)).astype(dtype), np.zeros((2, n), dtype)
    slope, kept, H = dtype(0.1), Z.astype(np.float64), np.zeros((ROWS, n), dtype)
    outputs_and_slopes(slope, alpha, Z, F, H)
    near = 2e-15 if dtype is np.float64 else 1e-6
    assert np.allclose(Z, phi.slopes(kept), rtol=near, atol=0.0)
    size = np.abs(alpha.T.astype(np.float64)) @ np.abs(phi(kept))
    assert (np.abs(F - alpha.T @ phi(kept)) <= 4.0 * near * size).all()
    one, ones = np.zeros(n, dtype), np.ones(n, dtype)
    for row in kept.astype(dtype):
        activate(SMOOTH, slope, row, one)
        wide = row.astype(np.float64)
        # ln 2 is subtracted, which costs digits near 0.
        assert np.allclose(one, phi(wide), rtol=near, atol=near)
        ones[:] = 1.0
        times_slopes(SMOOTH, slope, row, ones)
        assert np.allclose(ones, phi.slopes(wide), rtol=near, atol=0.0)
