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

    def _allocate(self) -> None:
        self.engine = f"compiled {self.dtype.name}, examples' coordinates"
        problem, network, dtype = self.problem, self.problem.network, self.dtype
        assert isinstance(network, TwoLayer)
        assert network.direct
        inputs, phi = problem.inputs, network.activation
        (n, D), m, k, rows = inputs.shape, network.m, network.k, self._buffer.shape[0]
        alpha, U = network.effective(problem.physical_start())
        # Products in float64 even where steps are taken in float32.
        given = [np.reshape(alpha, (m, k)), U, np.ones(1), U @ inputs.T, np.zeros((m, n))]
        given += [inputs, inputs @ inputs.T, problem.dataset.y]
        block = (gram.BLOCK, n)
        slope: Any = dtype.type(phi.slope)
        shapes = (block, block, (k, n), (k, n), (m, k), (n,), (rows, m, k), (rows, m, D))
        self._work = gram.Work(
            phi.code,
            slope,
            int("a" not in network.fixed),
            problem.loss.code,
            self._limit,
            *[np.array(one, dtype, order="C") for one in given],
            *[np.zeros(shape, dtype) for shape in shapes],
        )
        self._run = descent.Run(self._progress, self.schedule, self.step_size, self._shrink)

    def _take_steps(self, budget: int) -> int:
        code: int = gram.descend(self._work, self._run, budget)
        work = self._work
        for row in range(int(self._progress.buffered)):
            self._buffer[row] = self._packed(work.outer[row], work.inner[row])
        if code == descent.DEAD:
            self._flat = self._packed(work.alpha, work.inner[self._progress.buffered])
        return code

    def _packed(self, alpha: np.ndarray, U: np.ndarray) -> np.ndarray:
        """The trained parameters of effective weights: here their transpose gives them back."""
        network = self.problem.network
        assert isinstance(network, TwoLayer)
        outer = alpha if network.k > 1 else alpha[:, 0]
        return np.asarray(network.pull(self._flat, outer, U))
