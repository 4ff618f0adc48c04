"""Quadratic networks: outputs, gradients and margins by other routes, in NumPy and compiled."""

from __future__ import annotations

import numpy as np
import pytest

from core.compiled import network as compiled
from core.data.modular import ModularData
from core.dynamics.kernel_arrays import compiled_network, make_work_arrays
from core.network.parametrisation import Network, Shape, TwoLayer
from core.network.quadratic import Quadratic, QuadraticNetwork
from core.reference.modular import gamma_star
from tests.modular.closed_form import (
    best_network,
    cubed_norms,
    quadratic_margin,
    quadratic_outputs,
)

PRIMES = (3, 5, 7)


def all_pairs(p: int) -> tuple[np.ndarray, np.ndarray]:
    data = ModularData(p=p).sample(np.random.default_rng(0))
    return data.x, data.y


def network_of(p: int, m: int, seed: int = 0) -> tuple[Quadratic, np.ndarray]:
    x, _ = all_pairs(p)
    section, shape = QuadraticNetwork(m=m), Shape(m, x, p)
    net = Quadratic(section, shape, {})
    return net, net.pack(Quadratic.initial(section, shape, np.random.default_rng(seed)))


@pytest.mark.parametrize("p", PRIMES)
def test_outputs_and_margins_are_those_of_the_definition(p: int) -> None:
    x, y = all_pairs(p)
    net, flat = network_of(p, 6)
    parts = net.unpack(flat)
    U, V, W = parts["V"][:, :p], parts["V"][:, p:], parts["A"]
    wanted = quadratic_outputs(U, V, W).reshape(p * p, p)
    assert np.allclose(net.outputs(flat, x), wanted, rtol=1e-13, atol=1e-14)
    assert net.margins(flat, x, y).min() == pytest.approx(quadratic_margin(U, V, W), rel=1e-12)


def torch_gradient(net: Network, flat: np.ndarray, x: np.ndarray, g: np.ndarray) -> np.ndarray:
    import torch

    leaf = torch.tensor(flat, requires_grad=True)
    parts = {}
    begin = 0
    for block in net.layout:
        parts[block.name] = leaf[begin : begin + block.size].reshape(block.shape)
        begin += block.size
    f = (torch.tensor(x) @ parts["V"].T) ** 2 @ parts["A"]
    return (f * torch.tensor(g)).sum().backward() or leaf.grad.numpy()


@pytest.mark.parametrize("p", PRIMES)
def test_gradients_agree_with_autograd_and_differences(p: int) -> None:
    x, _ = all_pairs(p)
    net, flat = network_of(p, 7)
    generator = np.random.default_rng(1)
    g = generator.standard_normal((p * p, p))
    slope = net.gradient(flat, x, g)
    assert np.allclose(slope, torch_gradient(net, flat, x, g), rtol=1e-12, atol=1e-12)
    direction, h = generator.standard_normal(flat.size), 1e-5
    ahead, behind = (net.outputs(flat + s * h * direction, x) for s in (1, -1))
    along = (ahead - behind) / (2.0 * h)
    assert np.allclose(net.derivative(flat, x, direction), along, rtol=1e-7, atol=1e-8)
    assert float((g * along).sum()) == pytest.approx(float(slope @ direction), rel=1e-7)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 2e-5)])
@pytest.mark.parametrize(("p", "m"), [(3, 1), (5, 9), (23, 70)])
def test_the_compiled_twin_agrees(p: int, m: int, dtype: str, tolerance: float) -> None:
    x, _ = all_pairs(p)
    net, flat = network_of(p, m)
    g = np.random.default_rng(2).standard_normal((p * p, p))
    inputs, weights = x.astype(dtype), flat.astype(dtype)
    made = compiled_network(net, p * p, 2 * p, dtype)
    XT, G = np.ascontiguousarray(inputs.T), np.ascontiguousarray(g.T.astype(dtype))
    Z, C = np.zeros((m, p * p), dtype), np.zeros((m, p * p), dtype)
    F, result = np.zeros((p, p * p), dtype), np.zeros(flat.size, dtype)
    compiled.evaluate_outputs(made, weights, XT, Z, F)
    compiled.vjp(made, weights, XT, inputs, G, Z, C, result)
    f, slope = net.outputs(flat, x), net.gradient(flat, x, g)
    assert np.abs(F.T - f).max() <= tolerance * np.abs(f).max()
    assert np.abs(result - slope).max() <= tolerance * np.abs(slope).max()
    along = np.zeros_like(F)
    direction = np.random.default_rng(3).standard_normal(flat.size)
    compiled.jvp(made, weights, XT, direction.astype(dtype), Z, C, along)
    wanted = net.derivative(flat, x, direction)
    assert np.abs(along.T - wanted).max() <= tolerance * np.abs(wanted).max()


@pytest.mark.parametrize("p", [5, 7, 11, 13])
def test_the_best_network_has_the_largest_margin_here_too(p: int) -> None:
    """Return the explicit network of largest margin, as parameters of this one."""
    x, y = all_pairs(p)
    U, V, W = best_network(p)
    m = len(U)
    net = Quadratic(QuadraticNetwork(m=m), Shape(m, x, p), {})
    flat = net.pack({"A": W, "V": np.hstack([U, V])})
    margin = net.margins(flat, x, y).min()
    assert margin / cubed_norms(U, V, W) == pytest.approx(gamma_star(p), rel=1e-12)
    assert isinstance(net, TwoLayer)
    # All |theta_j| are 1 there, so that N = m and |W|^3 = m^(3/2).
    assert net.norm_power(flat) == pytest.approx(m, rel=1e-12)
    assert net.norm(flat) ** 3 == pytest.approx(m**1.5, rel=1e-12)


def test_flow_keeps_twice_the_outer_less_the_inner_squares() -> None:
    """d/dt (2 |A_j|^2 - |v_j|^2) = 0 along any gradient, by differences."""
    p = 5
    x, _ = all_pairs(p)
    net, flat = network_of(p, 4)
    g = np.random.default_rng(4).standard_normal((p * p, p))
    slope, h = net.gradient(flat, x, g), 1e-6
    change = (net.imbalance(flat + h * slope) - net.imbalance(flat - h * slope)) / (2.0 * h)
    assert np.abs(change).max() < 1e-7 * float(slope @ slope)
    assert np.abs(net.imbalance(flat)).min() > 0.0


def test_work_arrays_have_room_for_the_squares() -> None:
    from tests.networks import Case, small_problem

    at = small_problem(Case("quadratic", "cross_entropy", 3), m=40)
    work = make_work_arrays(at, at.start.parameters, 1e6, 12)
    assert work.net.rows.shape == (40, 12)
