"""Network and gradient: against finite differences, autograd, and the compiled kernels."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.compiled import kernel as compiled
from core.compiled.dual import dual_weights, log_n_over_q, smoothed_margin
from core.losses import LOSSES
from core.network import kernel

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


@given(sizes)
def test_gram_equals_the_jacobian_squared(size: tuple[int, int, int]) -> None:
    alpha, U, x, y = draw(*size)
    d_alpha, d_U = kernel.jacobian(alpha, U, x, y)
    J = np.concatenate([d_alpha, d_U.reshape(y.size, -1)], axis=1)
    assert np.allclose(kernel.gram(alpha, U, x, y), J @ J.T, rtol=1e-11, atol=1e-11)


@given(sizes)
def test_euler_identity_for_degree_two(size: tuple[int, int, int]) -> None:
    alpha, U, x, y = draw(*size)
    d_alpha, d_U = kernel.jacobian(alpha, U, x, y)
    radial = d_alpha @ alpha + d_U.reshape(y.size, -1) @ U.reshape(-1)
    assert np.allclose(radial, 2 * kernel.margins(alpha, U, x, y), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@settings(max_examples=40)
@given(size=sizes)
def test_compiled_passes_equal_numpy(dtype: type, size: tuple[int, int, int]) -> None:
    alpha, U, x, y = (value.astype(dtype) for value in draw(*size))
    m, n = alpha.size, y.size
    XT = np.ascontiguousarray(x.T)
    Z, C = np.zeros((m, n), dtype), np.zeros((m, n), dtype)
    f, d_alpha, d_U = np.zeros(n, dtype), np.zeros(m, dtype), np.zeros_like(U)
    compiled.preactivations(U, XT, Z)
    compiled.outputs(alpha, Z, f)
    compiled.backward(alpha, Z, y, C, d_alpha)
    compiled.inner_gradient(C, XT, d_U)
    near = 1e-12 if dtype == np.float64 else 2e-4
    wanted = kernel.gradient(alpha, U, x, y)
    assert np.allclose(f, kernel.outputs(alpha, U, x), rtol=near, atol=near)
    assert np.allclose(d_alpha, wanted[0], rtol=near, atol=near)
    assert np.allclose(d_U, wanted[1], rtol=near, atol=near)


@pytest.mark.parametrize("kind", LOSSES)
@given(p=st.lists(st.floats(-400, 19), min_size=1, max_size=9), e=st.floats(0.1, 2.0))
def test_compiled_dual_weights_equal_the_losses(kind: str, p: list[float], e: float) -> None:
    loss, at = LOSSES[kind], np.array(p)
    q = np.zeros(at.size)
    dual_weights(loss.code, at, e, q)
    assert np.allclose(q, loss.dual(e * at), rtol=1e-9, atol=1e-12)
    smoothed = loss.smoothed(e * at)
    assert smoothed_margin(loss.code, at, e) == pytest.approx(smoothed, rel=1e-10, abs=1e-10)
    slope = -loss.slope(np.array([smoothed]))[0]
    if 0 < slope < np.inf:
        wanted = np.log(at.size / slope)
        assert log_n_over_q(loss.code, at, e) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_exponential_stands_for_logistic_once_margins_pass_20() -> None:
    p = np.array([20.5, 21.0, 25.0])
    exponential, logistic = np.zeros(3), np.zeros(3)
    dual_weights(0, p, 1.0, exponential)
    dual_weights(1, p, 1.0, logistic)
    assert np.allclose(exponential, logistic, rtol=1e-8)
