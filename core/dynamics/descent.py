"""Full-batch gradient descent by the compiled kernel, for every two-layer network."""

from __future__ import annotations

from typing import final

import numpy as np

from core.compiled import descent as kernel
from core.compiled.steps import network_steps
from core.compiled.stochastic import SCHEDULED
from core.dynamics.batch_engine import Rule
from core.dynamics.full_batch import FullBatch
from core.dynamics.twin import work_for
from core.network.groups import node_blocks


@final
class Descent(FullBatch):
    """Many steps a call in float64 or float32, without the GIL."""

    def _allocate(self) -> None:
        self.engine = f"compiled {self.dtype.name}"
        problem, dtype = self.problem, self.dtype
        # A copy, since a run file's arrays are read-only: another type to numba, compiled anew.
        self._data = (np.array(problem.inputs, dtype, order="C"), problem.dataset.y.astype(dtype))
        self._work = work_for(problem, self._flat, self._limit, problem.dataset.n)
        self._work.columns[:] = problem.inputs.T
        self._run = kernel.Run(self._progress, self.schedule, self.step_size, self._shrink)
        blocks = node_blocks(problem.network)  # of the type that the kernel is compiled for
        self._rule = Rule(self.step_size).for_kernels(SCHEDULED, self._flat[:0], (0.0, 0.0), blocks)

    def _take_steps(self, budget: int) -> int:
        code: int = network_steps(
            self._work, *self._data, budget, self._rule, self._run, self._buffer
        )
        return code
