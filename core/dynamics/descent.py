"""Full-batch gradient descent by the compiled kernel, for every two-layer network."""

from __future__ import annotations

from typing import final

import numpy as np

from core.compiled import descent as kernel
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
        self._XT = np.array(problem.inputs.T, dtype=dtype, order="C")  # never read-only
        self._X = np.array(problem.inputs, dtype=dtype, order="C")
        self._y = problem.dataset.y.astype(dtype)
        self._matrices = (np.zeros((network.m, n), dtype), np.zeros((network.m, n), dtype))
        self._points = (np.zeros((network.k, n), dtype), np.zeros((network.k, n), dtype))
        self._gradient = np.zeros_like(self._flat)

    def _take_steps(self, budget: int) -> int:
        code: int = kernel.descend(
            self._net, self._flat, self._XT, self._X, self._y, self.problem.loss.code,
            self.step_size, self._shrink, self._limit, *self._matrices, *self._points,
            self._gradient, self._floats, self._counts, self._schedule, self._buffer, budget,
        )  # fmt: skip
        return code
