"""Full-batch gradient descent of the coefficients on the examples, see core.compiled.gram."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from core.compiled import descent, gram
from core.dynamics.full_batch import FullBatch
from core.network.parametrisation import TwoLayer


@final
class GramDescent(FullBatch):
    """Many steps a call in float64 or float32, at a cost that does not depend on d.

    Only for `direct` networks, whose weights are parameters as they are, or not trained.
    """

    def engine_name(self) -> str:
        return f"compiled {self.dtype.name}, examples' coordinates"

    def _allocate(self) -> None:
        problem, network, dtype = self.problem, self.problem.network, self.dtype
        assert isinstance(network, TwoLayer)
        assert network.direct
        inputs = problem.inputs
        (n, D), m, k = inputs.shape, network.m, network.k
        alpha, U = network.effective(problem.physical_start())
        self._alpha = np.array(alpha, dtype=dtype).reshape(m, k)
        self._U0, self._scale = np.array(U, dtype=dtype), np.ones(1, dtype)
        # Products in float64 even where steps are taken in float32.
        self._Z = np.array(U @ inputs.T, dtype=dtype, order="C")
        self._gram = np.array(inputs @ inputs.T, dtype=dtype, order="C")
        self._D, self._X = np.zeros((m, n), dtype), np.array(inputs, dtype=dtype, order="C")
        self._y = problem.dataset.y.astype(dtype)
        self._blocks = (np.zeros((gram.BLOCK, n), dtype), np.zeros((gram.BLOCK, n), dtype))
        self._points = (np.zeros((k, n), dtype), np.zeros((k, n), dtype))
        self._nodes, self._row = np.zeros((m, k), dtype), np.zeros(n, dtype)
        rows = self._buffer.shape[0]
        self._outer, self._inner = np.zeros((rows, m, k), dtype), np.zeros((rows, m, D), dtype)

    def _take_steps(self, budget: int) -> int:
        network = self.problem.network
        assert isinstance(network, TwoLayer)
        phi = network.activation
        slope: Any = self.dtype.type(phi.slope)
        code: int = gram.descend(
            phi.code,
            slope,
            int("a" not in network.fixed),
            self._alpha,
            self._U0,
            self._scale,
            self._Z,
            self._D,
            self._X,
            self._gram,
            self._y,
            self.problem.loss.code,
            self.step_size,
            self._shrink,
            self._limit,
            *self._blocks,
            *self._points,
            self._nodes,
            self._row,
            self._floats,
            self._counts,
            self._schedule,
            self._outer,
            self._inner,
            budget,
        )
        for row in range(int(self._counts[descent.BUFFERED])):
            self._buffer[row] = self._packed(self._outer[row], self._inner[row])
        if code == descent.DEAD:
            self._flat = self._packed(self._alpha, self._inner[self._counts[descent.BUFFERED]])
        return code

    def _packed(self, alpha: np.ndarray, U: np.ndarray) -> np.ndarray:
        """The trained parameters of effective weights: here their transpose gives them back."""
        network = self.problem.network
        assert isinstance(network, TwoLayer)
        outer = alpha if network.k > 1 else alpha[:, 0]
        return np.asarray(network.pull(self._flat, outer, U))
