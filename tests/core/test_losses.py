"""The losses against many-digit arithmetic and finite differences."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.losses import LOSSES, LossFunction

margins = arrays(np.float64, st.integers(1, 8), elements=st.floats(-900, 1e6))
both = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
mpmath.mp.dps = 60


def exact_smoothed(loss: LossFunction, p: np.ndarray) -> mpmath.mpf:
    """l^-1(sum l(p_i)) in 60 digits, with p so scaled that exp can hold it."""
    values = [mpmath.mpf(float(value)) for value in p]
    if loss.kind == "exponential":
        return -mpmath.log(mpmath.fsum(mpmath.exp(-value) for value in values))
    total = mpmath.fsum(mpmath.log1p(mpmath.exp(-value)) for value in values)
    return -mpmath.log(mpmath.expm1(total))


@both
@given(p=arrays(np.float64, st.integers(1, 8), elements=st.floats(-900, 2000)))
def test_smoothed_margin_in_many_digits(loss: LossFunction, p: np.ndarray) -> None:
    exact = float(exact_smoothed(loss, p))
    assert loss.smoothed(p) == pytest.approx(exact, rel=1e-9, abs=1e-9)


@both
@given(p=margins)
def test_smoothed_margin_lies_below_the_smallest_and_within_ln_n(
    loss: LossFunction, p: np.ndarray
) -> None:
    smoothed = loss.smoothed(p)
    assert smoothed <= p.min() + 1e-9 * (1 + abs(p.min()))
    if loss.kind == "exponential":
        assert smoothed >= p.min() - np.log(p.size) - 1e-9 * (1 + abs(p.min()))


@both
@given(p=margins)
def test_dual_weights_are_the_gradient_of_the_smoothed_margin(
    loss: LossFunction, p: np.ndarray
) -> None:
    q = loss.dual(p)
    assert np.isfinite(q).all()
    assert (q >= 0).all()
    if loss.kind == "exponential":
        assert q.sum() == pytest.approx(1.0, abs=1e-12)
    else:
        assert q.sum() >= 1.0 - 1e-9
    if np.abs(p).max() < 20:
        step = 1e-5
        for i in range(p.size):
            up, down = p.copy(), p.copy()
            up[i] += step
            down[i] -= step
            slope = (loss.smoothed(up) - loss.smoothed(down)) / (2 * step)
            assert q[i] == pytest.approx(slope, rel=1e-4, abs=1e-7)


@both
@given(z=st.floats(-30, 30))
def test_slope_and_curvature_are_derivatives(loss: LossFunction, z: float) -> None:
    at = np.array([z])
    step = 1e-5
    slope = (loss.value(at + step) - loss.value(at - step)) / (2 * step)
    assert loss.slope(at)[0] == pytest.approx(slope[0], rel=1e-6, abs=1e-9)
    curvature = (loss.slope(at + step) - loss.slope(at - step)) / (2 * step)
    assert loss.curvature(at)[0] == pytest.approx(curvature[0], rel=1e-5, abs=1e-9)


@both
def test_at_zero(loss: LossFunction) -> None:
    assert loss.value(np.zeros(1))[0] == pytest.approx(loss.at_zero, abs=1e-15)


@both
@given(z=st.floats(-700, 700))
def test_log_value_is_the_log_of_the_value(loss: LossFunction, z: float) -> None:
    at = np.array([z])
    exact = float(exact_log(loss, z))
    assert loss.log_value(at)[0] == pytest.approx(exact, rel=1e-10, abs=1e-12)


def exact_log(loss: LossFunction, z: float) -> mpmath.mpf:
    value = mpmath.exp(-mpmath.mpf(z))
    return mpmath.log(value if loss.kind == "exponential" else mpmath.log1p(value))
