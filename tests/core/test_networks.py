"""Every two-layer network: autograd, finite differences, the compiled twins, their identities."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from core.compiled import flow
from core.compiled import network as compiled
from core.dynamics.kernel_arrays import compiled_network
from core.errors import InputError
from core.network.parametrisation import Shape, TwoLayer, margins_of
from core.network.registry import build_network
from core.problem.problem import Problem
from tests.networks import (
    HOMOGENEOUS,
    TWO_LAYER,
    UNCOMPILED,
    Case,
    at_a_random_point,
    small_problem,
)

cases = pytest.mark.parametrize("case", TWO_LAYER, ids=str)
every = pytest.mark.parametrize("case", (*TWO_LAYER, *UNCOMPILED), ids=str)


def weights_of(at: Problem, seed: int = 1) -> np.ndarray:
    shape = at.outputs(at.start.parameters).shape
    return np.random.default_rng(seed).standard_normal(shape)


@every
def test_gradient_equals_autograd(case: Case) -> None:
    at, flat = at_a_random_point(small_problem(case))
    g = weights_of(at)
    leaf = torch.tensor(flat, requires_grad=True)
    f = at.network.outputs(leaf, torch.tensor(at.inputs))
    (f * torch.tensor(g)).sum().backward()
    assert np.allclose(at.outputs(flat), f.detach().numpy(), rtol=1e-12, atol=1e-13)
    found = at.network.gradient(flat, at.inputs, g)
    scale = np.abs(found).max()
    assert np.allclose(found / scale, leaf.grad.numpy() / scale, rtol=1e-12, atol=1e-12)


@every
def test_tensors_and_arrays_give_the_same_gradient(case: Case) -> None:
    at, flat = at_a_random_point(small_problem(case))
    g = weights_of(at)
    wanted = at.network.gradient(flat, at.inputs, g)
    found = at.network.gradient(torch.tensor(flat), torch.tensor(at.inputs), torch.tensor(g))
    assert np.allclose(found.numpy(), wanted, rtol=1e-12, atol=1e-13)


@every
def test_derivative_is_the_transpose_of_the_gradient_and_a_difference_quotient(case: Case) -> None:
    at, flat = at_a_random_point(small_problem(case))
    direction = np.random.default_rng(3).standard_normal(flat.size)
    along = at.network.derivative(flat, at.inputs, direction)
    g = weights_of(at)
    other = at.network.gradient(flat, at.inputs, g) @ direction
    assert (g * along).sum() == pytest.approx(other, rel=1e-11)
    h = 1e-6
    quotient = (at.outputs(flat + h * direction) - at.outputs(flat - h * direction)) / (2 * h)
    assert np.allclose(along, quotient, rtol=1e-6, atol=1e-6)


@cases
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_passes_equal_numpy(case: Case, dtype: type) -> None:
    at, flat = at_a_random_point(small_problem(case, m=6))
    network = at.network
    assert isinstance(network, TwoLayer)
    n, D = at.inputs.shape
    net = compiled_network(network, n, D, dtype)
    g, direction = weights_of(at), np.random.default_rng(3).standard_normal(flat.size)
    low, XT = flat.astype(dtype), np.array(at.inputs.T, dtype=dtype, order="C")
    F = np.zeros((network.k, n), dtype)
    Z, C = np.zeros((network.m, n), dtype), np.zeros((network.m, n), dtype)
    near = 1e-12 if dtype == np.float64 else 3e-4
    compiled.evaluate_outputs(net, low, XT, Z, F)
    f = at.outputs(flat)
    assert np.allclose(F.T.reshape(f.shape), f, rtol=near, atol=near)
    result = np.zeros(flat.size, dtype)
    G = np.array(g.reshape(n, -1).T, dtype=dtype, order="C")
    wanted = network.gradient(flat, at.inputs, g)
    for X in (np.array(at.inputs, dtype=dtype, order="C"), np.zeros((0, D), dtype)):
        compiled.vjp(net, low, XT, X, G, Z, C, result)
        assert np.allclose(result, wanted, rtol=near, atol=near * np.abs(wanted).max())
    if dtype == np.float64:
        compiled.jvp(net, low, XT, direction, Z, C, F)
        along = network.derivative(flat, at.inputs, direction)
        assert np.allclose(F.T.reshape(f.shape), along, rtol=1e-11, atol=1e-11)


def test_compiled_scores_and_their_transpose() -> None:
    rng = np.random.default_rng(0)
    F, y = rng.standard_normal((4, 5)), rng.integers(0, 4, 5).astype(float)
    p, q, G = np.zeros(15), rng.random(15), np.zeros((4, 5))
    flow.scores(F, y, p)
    at = small_problem(next(case for case in TWO_LAYER if case.kind == "quadratic"))
    assert np.allclose(p.reshape(5, 3), at.loss.scores(F.T, y))
    assert np.allclose(p.reshape(5, 3).min(axis=1), margins_of(F.T, y))
    flow.output_weights(q, y, G)
    assert (G * F).sum() == pytest.approx(q @ p)


@pytest.mark.parametrize("case", HOMOGENEOUS, ids=str)
def test_eulers_identity_and_homogeneity(case: Case) -> None:
    """f(c W_h) = c^L f(W_h), and <grad f, W_h> = L f, in the homogeneous parameters."""
    at, flat = at_a_random_point(small_problem(case))
    network = at.network
    doubled = network.physical(flat, np.log(2.0))
    power = 2.0**network.degree
    assert np.allclose(at.outputs(doubled), power * at.outputs(flat), rtol=1e-12, atol=1e-13)
    radial = np.concatenate([flat[: network.scaled], np.zeros(network.size - network.scaled)])
    along = network.derivative(flat, at.inputs, radial)
    assert np.allclose(along, network.degree * at.outputs(flat), rtol=1e-11, atol=1e-12)
    if not network.product:
        assert network.norm_power(doubled) == pytest.approx(power * network.norm_power(flat))


def test_batch_norm_equals_torch_in_training_mode() -> None:
    for eps in (1e-12, 1e-3):  # torch refuses 0
        at, flat = at_a_random_point(small_problem(Case("batch_norm", settings={"eps": eps})))
        a, c, V = (torch.tensor(part) for part in at.network.unpack(flat).values())
        layer = torch.nn.BatchNorm1d(9, eps=eps, dtype=torch.float64)
        with torch.no_grad():
            layer.weight.copy_(c)
        layer.train()
        f = torch.relu(layer(torch.tensor(at.dataset.x) @ V.T)) @ a
        assert np.allclose(at.outputs(flat), f.detach().numpy(), rtol=1e-12, atol=1e-12)


def test_batch_norm_does_not_see_the_length_of_v() -> None:
    at, flat = at_a_random_point(small_problem(Case("batch_norm")))
    stretched = flat.copy()
    stretched[18:] *= 7.0
    assert np.allclose(at.outputs(stretched), at.outputs(flat), rtol=1e-12, atol=1e-13)
    gradient = at.network.unpack(at.network.gradient(flat, at.inputs, weights_of(at)))["V"]
    radial = np.einsum("jk,jk->j", gradient, at.network.unpack(flat)["V"])
    assert np.abs(radial).max() < 1e-12


def test_batch_norm_uses_the_same_sigma_with_many_and_few_dimensions() -> None:
    """Sigma itself for d <= 2 n, two thin products beyond."""
    for d in (7, 40):
        at, flat = at_a_random_point(small_problem(Case("batch_norm"), d=d))
        V = at.network.unpack(flat)["V"]
        centred = at.dataset.x - at.dataset.x.mean(axis=0)
        sigma = centred.T @ centred / at.dataset.n
        N, VS = at.network.statistics(V)
        assert np.allclose(VS, V @ sigma, rtol=1e-11, atol=1e-12)
        assert np.allclose(N[:, 0] ** 2, np.einsum("jk,kl,jl->j", V, sigma, V), rtol=1e-11)


def test_batch_norm_of_equal_inputs_is_refused() -> None:
    at = small_problem(Case("batch_norm"))
    equal = Shape(9, np.ones_like(at.dataset.x))
    with pytest.raises(InputError, match="inputs are equal"):
        build_network(at.experiment.network, equal, {})


@cases
def test_imbalance_is_conserved_to_first_order(case: Case) -> None:
    """Its derivative along any gradient of the outputs is zero: gradient flow conserves it."""
    at, flat = at_a_random_point(small_problem(case))
    network = at.network
    direction = network.gradient(flat, at.inputs, weights_of(at))
    h = 1e-5
    change = (network.imbalance(flat + h * direction) - network.imbalance(flat - h * direction)) / h
    assert change.size == 0 or np.abs(change).max() < 1e-7


@cases
def test_starts_are_those_of_the_papers(case: Case) -> None:
    at = small_problem(case, d=30, m=2000, n=10)
    parts = at.network.unpack(at.start.parameters) | dict(at.network.fixed)
    m, d = 2000, 30
    if case.kind == "scalar":
        assert np.allclose(np.abs(parts["a"]), m**-0.25)
        assert np.allclose(np.linalg.norm(parts["V"], axis=1), 1.0)
    elif case.kind == "normalised":
        assert np.allclose(np.abs(parts["b"]), m**-0.5)
        assert at.network.norm(at.start.parameters) == pytest.approx(np.sqrt(2.0))
    elif case.kind == "fixed_outer":
        assert parts["a"].sum() == pytest.approx(0.0, abs=1e-12)
        assert parts["V"].std() == pytest.approx(np.sqrt(2.0 / (m + d)), rel=0.02)
    elif case.kind == "multiclass":
        w = np.sqrt(2.0 / (m + d))
        assert parts["V"].std() == pytest.approx(w, rel=0.02)
        assert np.abs(parts["V"]).max() <= np.sqrt(3.0) * w
        assert np.abs(parts["V"]).max() > 0.99 * np.sqrt(3.0) * w
    elif case.kind == "quadratic":
        assert parts["V"].std() == pytest.approx(0.3, rel=0.02)
        assert parts["A"].std() == pytest.approx(0.3, rel=0.05)
    elif case.kind == "linear":
        assert parts["V"].std() == pytest.approx(m**-0.5, rel=0.02)
    elif case.kind != "bias":
        assert parts["V"].std() == pytest.approx(d**-0.5, rel=0.02)
    if case.kind == "batch_norm":
        assert np.array_equal(parts["c"], np.ones(m))
