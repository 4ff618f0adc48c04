"""Engines of full-batch gradient descent, among which core.dynamics.engines chooses.

`Descent` is the compiled kernel for every two-layer network, `GramDescent` that for coefficients on
the examples, and `GeneralDescent` takes a step at a time for networks without a compiled twin.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from core.compiled import descent as kernel
from core.compiled import gram
from core.compiled.steps import network_steps
from core.compiled.stochastic import SCHEDULED
from core.dynamics.full_batch import FullBatch
from core.dynamics.kernel_arrays import make_work_arrays
from core.dynamics.update_rule import Rule
from core.network.parametrisation import TwoLayer
from core.network.quadratic import node_blocks

LARGEST = 150.0 * np.log(10.0)  # ln |W|^L, whose square is not far from the largest float64


@final
class GramDescent(FullBatch):
    """Compiled descent in the examples' coordinates, at a cost that does not depend on d.

    Only for `direct` networks, whose weights are parameters, or not trained.
    """

    def _allocate(self) -> None:
        self.engine = f"compiled {self.dtype.name}, examples' coordinates"
        problem, network, dtype = self.problem, self.problem.network, self.dtype
        assert isinstance(network, TwoLayer)
        assert network.direct
        inputs, phi = problem.inputs, network.activation
        (n, D), m, k, rows = inputs.shape, network.m, network.k, self._buffer.shape[0]
        alpha, U = network.effective(problem.physical_start())
        # Products in float64 even if steps are in float32.
        arrays = [np.reshape(alpha, (m, k)), U, np.ones(1), U @ inputs.T, np.zeros((m, n))]
        arrays += [inputs, inputs @ inputs.T, problem.dataset.y]
        block = (gram.BLOCK, n)
        slope: Any = dtype.type(phi.slope)
        shapes = (block, block, (k, n), (k, n), (m, k), (n,), (rows, m, k), (rows, m, D))
        self._work = gram.Work(
            phi.code,
            slope,
            int("a" not in network.fixed),
            problem.loss.code,
            self._limit,
            *[np.array(one, dtype, order="C") for one in arrays],
            *[np.zeros(shape, dtype) for shape in shapes],
        )
        self._run = kernel.Run(self._progress, self.schedule, self.step_size, self._shrink)

    def _take_steps(self, budget: int) -> int:
        code: int = gram.descend(self._work, self._run, budget)
        work = self._work
        for row in range(int(self._progress.buffered)):
            self._buffer[row] = self._pack(work.outer[row], work.inner[row])
        if code == kernel.DEAD:
            self._flat = self._pack(work.alpha, work.inner[self._progress.buffered])
        return code

    def _pack(self, alpha: np.ndarray, U: np.ndarray) -> np.ndarray:
        """Return the parameters with these effective weights, by `pull` (`direct` networks)."""
        network = self.problem.network
        assert isinstance(network, TwoLayer)
        outer = alpha if network.k > 1 else alpha[:, 0]
        return np.asarray(network.pull(self._flat, outer, U))


@final
class GeneralDescent(FullBatch):
    """Descent along `network.gradient`, for any network."""

    def _allocate(self) -> None:
        self.engine = f"{self.problem.network.engine} {self.dtype.name}"
        self._inputs = self.problem.inputs.astype(self.dtype)

    def _take_steps(self, budget: int) -> int:
        return self._step_singly(budget, self._take_step)

    def _take_step(self) -> int:
        """Take one step unless it would diverge; return GOING or DIVERGED."""
        network, loss, y = self.problem.network, self.problem.loss, self.problem.dataset.y
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            f = np.asarray(network.outputs(self._flat, self._inputs))
            measure = float(loss.divergence(loss.scores(f, y)).sum())
            if not measure <= self._limit:
                return kernel.DIVERGED
            g = loss.output_gradient(f, y).astype(self.dtype) / y.size
            slope = network.gradient(self._flat, self._inputs, g)
            weights = self._shrink * self._flat - self.dtype.type(self.step_size) * slope
            # Of many layers, finite weights may have outputs beyond float64: keep the last others.
            if not network.degree * np.log(np.linalg.norm(weights.astype(np.float64))) <= LARGEST:
                return kernel.DIVERGED
            self._flat = weights
        self._progress.worst = max(self._progress.worst, measure)
        return kernel.GOING


@final
class Descent(FullBatch):
    """Compiled descent in float64 or float32, many steps a call, without the GIL."""

    def _allocate(self) -> None:
        self.engine = f"compiled {self.dtype.name}"
        problem, dtype = self.problem, self.dtype
        # A copy, since a run file's arrays are read-only: numba would compile for that separate
        # type.
        self._data = (np.array(problem.inputs, dtype, order="C"), problem.dataset.y.astype(dtype))
        self._work = make_work_arrays(problem, self._flat, self._limit, problem.dataset.n)
        self._work.columns[:] = problem.inputs.T
        self._run = kernel.Run(self._progress, self.schedule, self.step_size, self._shrink)
        blocks = node_blocks(problem.network)  # of the type that the kernel is compiled for
        self._rule = Rule(self.step_size).for_kernels(SCHEDULED, self._flat[:0], (0.0, 0.0), blocks)

    def _take_steps(self, budget: int) -> int:
        code: int = network_steps(
            self._work, *self._data, budget, self._rule, self._run, self._buffer
        )
        return code
