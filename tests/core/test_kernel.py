"""Outputs and gradient for effective weights, and the dual weights, against other routes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.compiled.descent import slopes
from core.compiled.dual import dual_weights, log_n_over_q, smoothed_margin
from core.losses import LOGISTIC, LOSSES
from core.network import kernel

STARTUPS = (("exponential", 0, 1), ("logistic", 1, 1), ("cross_entropy", 2, 3))
sizes = st.tuples(st.integers(1, 11), st.integers(1, 11), st.integers(1, 21))


def draw(m: int, d: int, n: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    y = rng.choice([-1.0, 1.0], n)
    return rng.standard_normal(m), rng.standard_normal((m, d)), x, y


@given(sizes)
def test_gradient_equals_autograd(size: tuple[int, int, int]) -> None:
    alpha, U, x, y = draw(*size)
    g = np.random.default_rng(1).standard_normal(y.size)
    alpha_t, U_t = (torch.tensor(value, requires_grad=True) for value in (alpha, U))
    f = alpha_t @ torch.relu(U_t @ torch.tensor(x).T)
    (f * torch.tensor(g)).sum().backward()
    d_alpha, d_U = kernel.gradient(alpha, U, x, g)
    assert np.allclose(kernel.outputs(alpha, U, x), f.detach().numpy(), rtol=1e-12, atol=1e-12)
    assert np.allclose(d_alpha, alpha_t.grad.numpy(), rtol=1e-12, atol=1e-12)
    assert np.allclose(d_U, U_t.grad.numpy(), rtol=1e-12, atol=1e-12)


def test_gradient_equals_finite_differences() -> None:
    alpha, U, x, _ = draw(5, 4, 6)
    g = np.random.default_rng(1).standard_normal(6)
    d_alpha, d_U = kernel.gradient(alpha, U, x, g)
    step = 1e-6
    for j in range(5):
        moved = alpha.copy()
        moved[j] += step
        slope = g @ (kernel.outputs(moved, U, x) - kernel.outputs(alpha, U, x)) / step
        assert d_alpha[j] == pytest.approx(slope, abs=1e-6)
        for k in range(4):
            turned = U.copy()
            turned[j, k] += step
            slope = g @ (kernel.outputs(alpha, turned, x) - kernel.outputs(alpha, U, x)) / step
            assert d_U[j, k] == pytest.approx(slope, abs=1e-4)


@pytest.mark.parametrize(("kind", "startup", "others"), STARTUPS)
@given(p=st.lists(st.floats(-400, 19), min_size=1, max_size=9), e=st.floats(0.1, 2.0))
def test_compiled_dual_weights_equal_the_losses(
    kind: str, startup: int, others: int, p: list[float], e: float
) -> None:
    loss, at = LOSSES[kind], np.repeat(p, others) + np.tile(np.arange(others), len(p))
    scores = at if others == 1 else at.reshape(-1, others)
    q = np.zeros(at.size)
    dual_weights(startup, others, at, e, q)
    assert np.allclose(q, loss.dual(e * scores).reshape(-1), rtol=1e-9, atol=1e-12)
    smoothed = loss.smoothed_margin(e * scores)
    found = smoothed_margin(startup, others, at, e)
    assert found == pytest.approx(smoothed, rel=1e-10, abs=1e-10)
    one_score = LOSSES["exponential" if startup == 0 else "logistic"]
    slope = -one_score.slope(np.array([smoothed]))[0]
    if 0 < slope < np.inf:
        wanted = np.log(len(p) / slope)
        assert log_n_over_q(startup, others, at, e) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_exponential_stands_for_logistic_once_margins_pass_20() -> None:
    p = np.array([20.5, 21.0, 25.0])
    exponential, logistic = np.zeros(3), np.zeros(3)
    dual_weights(0, 1, p, 1.0, exponential)
    dual_weights(1, 1, p, 1.0, logistic)
    assert np.allclose(exponential, logistic, rtol=1e-8)


@pytest.mark.parametrize("n", [1, 3, 16, 33])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_a_margin_that_is_not_finite_is_a_divergence(value: float, n: int) -> None:
    """The compiled measure of the logistic loss is no number then, also for the right sign."""
    for place in (0, n - 1):
        f, y = np.ones((1, n)), np.ones(n)
        f[0, place] = value
        assert not slopes(LOGISTIC, f, y, 1.0, np.zeros((1, n))) <= np.inf
