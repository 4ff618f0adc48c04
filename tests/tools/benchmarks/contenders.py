"""Programs that the engines are compared with: plain PyTorch loops, and JAX if installed."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable

import numpy as np
import torch

from core.problem.problem import Problem

STEP = 1e-3


class TwoLayer(torch.nn.Module):
    """f(x) = sum_j a_j relu(<v_j, x>), as commonly written in PyTorch."""

    def __init__(self, at: Problem, dtype: torch.dtype) -> None:
        super().__init__()
        parts = at.network.unpack(at.start.parameters)
        a, V = parts["a"], parts["V"]
        self.inner = torch.nn.Linear(V.shape[1], V.shape[0], bias=False, dtype=dtype)
        self.outer = torch.nn.Linear(V.shape[0], 1, bias=False, dtype=dtype)
        with torch.no_grad():
            self.inner.weight.copy_(torch.tensor(V))
            self.outer.weight.copy_(torch.tensor(a)[None])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.outer(torch.relu(self.inner(x)))[:, 0]


def torch_loop(at: Problem) -> Callable[[int], None]:
    """Return (A): torch.nn, autograd and optim.SGD on all examples."""
    dtype = getattr(torch, at.experiment.run.precision)
    network = TwoLayer(at, dtype)
    optimizer = torch.optim.SGD(network.parameters(), lr=STEP)
    x, y = torch.tensor(at.dataset.x, dtype=dtype), torch.tensor(at.dataset.y, dtype=dtype)

    def steps(count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            torch.exp(-y * network(x)).mean().backward()
            optimizer.step()

    return steps


def torch_stochastic(at: Problem) -> Callable[[int], None]:
    """Return (A) for one fresh example a step, drawn before the clock starts."""
    dtype = getattr(torch, at.experiment.run.precision)
    network = TwoLayer(at, dtype)
    optimizer = torch.optim.SGD(network.parameters(), lr=STEP)
    rng, d = np.random.default_rng(0), at.dataset.d
    x = torch.tensor(rng.choice([-1.0, 1.0], (4096, d)) / np.sqrt(d), dtype=dtype)
    y = (x[:, 0] * x[:, 1]).sign()

    def steps(count: int) -> None:
        for turn in range(count):
            row = turn % 4096
            optimizer.zero_grad()
            torch.log1p(torch.exp(-y[row] * network(x[row : row + 1])[0])).backward()
            optimizer.step()

    return steps


def jax_is_present() -> bool:
    """Return True if the second contender can be measured."""
    return importlib.util.find_spec("jax") is not None


def jax_loop(at: Problem) -> Callable[[int], None]:
    """Return (F): jax.grad in a fori_loop, compiled as one program for many steps."""
    os.environ.setdefault(
        "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    )
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    dtype = at.experiment.run.precision
    x, y = (jax.numpy.asarray(part, dtype=dtype) for part in (at.dataset.x, at.dataset.y))
    parts = at.network.unpack(at.start.parameters)
    weights = tuple(jax.numpy.asarray(parts[name], dtype=dtype) for name in ("a", "V"))
    number = np.dtype(dtype).type(STEP)

    def risk(weights, x, y):
        a, V = weights
        return jax.numpy.exp(-y * (jax.nn.relu(x @ V.T) @ a)).mean()

    slope = jax.grad(risk)

    @jax.jit
    def program(count, weights, x, y):
        def step(_, weights):
            return tuple(w - number * g for w, g in zip(weights, slope(weights, x, y), strict=True))

        return jax.lax.fori_loop(0, count, step, weights)

    def steps(count: int) -> None:
        jax.block_until_ready(program(count, weights, x, y))

    return steps
