"""Full-batch gradient descent by the compiled kernel, for every two-layer network."""

from __future__ import annotations

from typing import final

import numpy as np

from core.compiled import steps as kernel
from core.compiled.stochastic import NUMBERS
from core.dynamics.full_batch import FullBatch
from core.dynamics.twin import twin
from core.network.parametrisation import TwoLayer


@final
class Descent(FullBatch):
    """Many steps a call in float64 or float32, without the GIL."""

    def engine_name(self) -> str:
        return f"compiled {self.dtype.name}"

    def _allocate(self) -> None:
        problem, network, dtype = self.problem, self.problem.network, self.dtype
        assert isinstance(network, TwoLayer)
        n, D = problem.inputs.shape
        self._net = twin(network, n, D, dtype)
        # Copies, since a run file's arrays are read-only: another type to numba, compiled anew.
        inputs = problem.inputs
        columns, rows = np.array(inputs.T, dtype, order="C"), np.array(inputs, dtype, order="C")
        self._rows = (rows, problem.dataset.y.astype(dtype))
        self._unused = (np.zeros(NUMBERS, dtype), np.zeros(0, dtype), np.zeros(0, dtype))
        matrices = (np.zeros((network.m, n), dtype), np.zeros((network.m, n), dtype))
        points = (np.zeros((network.k, n), dtype), np.zeros((network.k, n), dtype))
        self._work = (columns, *matrices, *points, np.zeros_like(self._flat))

    def _take_steps(self, budget: int) -> int:
        code: int = kernel.network_steps(
            kernel.SCHEDULED,
            self._net,
            self._flat,
            *self._rows,
            budget,
            self.problem.loss.code,
            self._limit,
            self.step_size,
            self._shrink,
            *self._unused,
            *self._work,
            self._floats,
            self._counts,
            self._schedule,
            self._buffer,
        )
        return code
