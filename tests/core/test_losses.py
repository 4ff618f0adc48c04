"""The losses against many-digit arithmetic and finite differences."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import logsumexp

from core.losses import LOSSES, LossFunction, log_sum_exp

margins = arrays(np.float64, st.integers(1, 8), elements=st.floats(-900, 1e6))
TWO = ("exponential", "logistic")
both = pytest.mark.parametrize("loss", [LOSSES[kind] for kind in TWO], ids=TWO)
of_margins = pytest.mark.parametrize("loss", [LOSSES[kind] for kind in (*TWO, "squared")])
mpmath.mp.dps = 60


def exact_smoothed(loss: LossFunction, p: np.ndarray) -> mpmath.mpf:
    """Return l^-1(sum l(p_i)) in 60 digits, with p so scaled that exp can hold it."""
    values = [mpmath.mpf(float(value)) for value in p]
    if loss.kind == "exponential":
        return -mpmath.log(mpmath.fsum(mpmath.exp(-value) for value in values))
    total = mpmath.fsum(mpmath.log1p(mpmath.exp(-value)) for value in values)
    return -mpmath.log(mpmath.expm1(total))


@both
@given(p=arrays(np.float64, st.integers(1, 8), elements=st.floats(-900, 2000)))
def test_smoothed_margin_in_many_digits(loss: LossFunction, p: np.ndarray) -> None:
    exact = float(exact_smoothed(loss, p))
    assert loss.smoothed_margin(p) == pytest.approx(exact, rel=1e-9, abs=1e-9)


@both
@given(p=margins)
def test_smoothed_margin_lies_below_the_smallest_and_within_ln_n(
    loss: LossFunction, p: np.ndarray
) -> None:
    smoothed = loss.smoothed_margin(p)
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
            slope = (loss.smoothed_margin(up) - loss.smoothed_margin(down)) / (2 * step)
            assert q[i] == pytest.approx(slope, rel=1e-4, abs=1e-7)


@of_margins
@given(z=st.floats(-30, 30))
def test_slope_and_curvature_are_derivatives(loss: LossFunction, z: float) -> None:
    at = np.array([z])
    step = 1e-5
    slope = (loss.value(at + step) - loss.value(at - step)) / (2 * step)
    assert loss.slope(at)[0] == pytest.approx(slope[0], rel=1e-6, abs=1e-9)
    curvature = (loss.slope(at + step) - loss.slope(at - step)) / (2 * step)
    assert loss.curvature(at)[0] == pytest.approx(curvature[0], rel=1e-5, abs=1e-9)


@of_margins
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


# ------------------------------------------------------------------- cross-entropy, squared loss

MANY = LOSSES["cross_entropy"]
logits = arrays(np.float64, st.tuples(st.integers(1, 5), st.just(4)), elements=st.floats(-30, 30))


@given(f=logits, seed=st.integers(0, 99))
def test_cross_entropy_equals_torch(f: np.ndarray, seed: int) -> None:
    y = np.random.default_rng(seed).integers(0, 4, f.shape[0]).astype(np.float64)
    leaf = torch.tensor(f, requires_grad=True)
    losses = torch.nn.functional.cross_entropy(leaf, torch.tensor(y).long(), reduction="none")
    losses.sum().backward()
    scores = MANY.scores(f, y)
    assert scores.shape == (f.shape[0], 3)
    assert np.allclose(MANY.value(scores), losses.detach().numpy(), rtol=1e-9, atol=1e-12)
    assert np.allclose(MANY.output_gradient(f, y), leaf.grad.numpy(), rtol=1e-9, atol=1e-12)
    total = mpmath.fsum(mpmath.mpf(float(value)) for value in MANY.value(scores))
    if total > 1e-12:
        exact = -mpmath.log(mpmath.expm1(total))
        assert MANY.smoothed_margin(scores) == pytest.approx(float(exact), rel=1e-6, abs=1e-6)


def test_cross_entropy_curvature_and_duals_are_derivatives() -> None:
    rng = np.random.default_rng(0)
    f, df, y = rng.standard_normal((5, 4)), rng.standard_normal((5, 4)), np.arange(5.0) % 4
    h = 1e-6
    up, down = MANY.output_gradient(f + h * df, y), MANY.output_gradient(f - h * df, y)
    assert np.allclose(MANY.output_curvature(f, y, df), (up - down) / (2 * h), atol=1e-8)
    P, q = MANY.scores(f, y), MANY.dual(MANY.scores(f, y))
    for place in np.ndindex(P.shape):
        more, less = P.copy(), P.copy()
        more[place] += h
        less[place] -= h
        slope = (MANY.smoothed_margin(more) - MANY.smoothed_margin(less)) / (2 * h)
        assert q[place] == pytest.approx(slope, abs=1e-7)


def test_cross_entropy_of_two_logits_is_the_logistic_loss() -> None:
    f, y = np.array([[0.3, 2.0], [-1.0, 4.0]]), np.array([0.0, 1.0])
    p = np.array([0.3 - 2.0, 4.0 + 1.0])
    assert np.allclose(MANY.value(MANY.scores(f, y)), LOSSES["logistic"].value(p), rtol=1e-14)
    assert MANY.smoothed_margin(MANY.scores(f, y)) == pytest.approx(
        LOSSES["logistic"].smoothed_margin(p)
    )


@given(f=st.floats(-50, 50), y=st.sampled_from([-1.0, 1.0]))
def test_squared_loss_is_that_of_the_output(f: float, y: float) -> None:
    loss = LOSSES["squared"]
    p = loss.scores(np.array([f]), np.array([y]))
    assert loss.value(p)[0] == pytest.approx((y - f) ** 2)
    assert loss.output_gradient(np.array([f]), np.array([y]))[0] == pytest.approx(2 * (f - y))
    assert np.isnan(loss.smoothed_margin(p))
    assert np.isnan(loss.dual(p)).all()


@given(f=st.floats(-50, 50), y=st.floats(-50, 50))
def test_least_squares_of_any_target(f: float, y: float) -> None:
    """And half of the squared loss at labels +-1, in value, slope and curvature."""
    loss, other = LOSSES["least_squares"], LOSSES["squared"]
    at, target, one = np.array([f]), np.array([y]), np.ones(1)
    score = loss.scores(at, target)
    assert loss.value(score)[0] == pytest.approx(0.5 * (f - y) ** 2)
    assert loss.output_gradient(at, target)[0] == pytest.approx(f - y)
    assert loss.output_curvature(at, target, one).tolist() == [1.0]
    if abs(f - y) > 1e-100:
        assert np.exp(loss.log_value(score)[0]) == pytest.approx(loss.value(score)[0])
    assert np.isnan(loss.smoothed_margin(score))
    assert np.isnan(loss.dual(score)).all()
    label = np.array([1.0 if y > 0 else -1.0])
    for name in ("output_gradient", "value"):
        given_to = (at, label) if name == "output_gradient" else (loss.scores(at, label),)
        theirs = (at, label) if name == "output_gradient" else (other.scores(at, label),)
        assert 2.0 * getattr(loss, name)(*given_to) == pytest.approx(getattr(other, name)(*theirs))


def test_the_log_of_a_sum_is_scipys() -> None:
    """To the bit, for any sizes, ties and values that are not finite."""
    rng = np.random.default_rng(0)
    for turn in range(400):
        values = rng.standard_normal(int(rng.integers(1, 150))) * 10.0 ** rng.uniform(-3, 3)
        if turn % 3 == 0:
            values = np.round(values)
        if turn % 5 == 0:
            values = np.tile(values, (3, 1)).T
        if turn % 17 == 0:
            values.flat[0] = (np.inf, -np.inf, np.nan)[turn % 3]
        np.testing.assert_array_equal(log_sum_exp(values), logsumexp(values))
    assert log_sum_exp(np.full(3, -np.inf)) == -np.inf
