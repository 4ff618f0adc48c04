"""Full-batch gradient descent for networks without a compiled twin, one step at a time."""

from __future__ import annotations

from typing import final

import numpy as np

from core.compiled import descent as kernel
from core.dynamics.full_batch import FullBatch


@final
class GeneralDescent(FullBatch):
    """Steps along `network.gradient`, whatever the network."""

    def _allocate(self) -> None:
        self.engine = f"{self.problem.network.engine} {self.dtype.name}"
        self._inputs = self.problem.inputs.astype(self.dtype)

    def _take_steps(self, budget: int) -> int:
        network, loss, progress = self.problem.network, self.problem.loss, self._progress
        y = self.problem.dataset.y
        for _ in range(budget):
            if progress.mark == self.schedule.size:
                return kernel.DONE
            if progress.buffered == self._buffer.shape[0]:
                return kernel.BUFFER_FULL
            with np.errstate(over="ignore", invalid="ignore"):
                f = np.asarray(network.outputs(self._flat, self._inputs))
                measure = float(loss.divergence(loss.scores(f, y)).sum())
                if not measure <= self._limit:
                    return kernel.DIVERGED
                g = loss.output_gradient(f, y).astype(self.dtype) / y.size
                slope = network.gradient(self._flat, self._inputs, g)
                self._flat = self._shrink * self._flat - self.dtype.type(self.step_size) * slope
            self._progress.worst = max(self._progress.worst, measure)
            progress.step += 1
            if progress.step == self.schedule[progress.mark]:
                self._buffer[progress.buffered] = self._flat
                progress.buffered += 1
                progress.mark += 1
        return kernel.DONE if progress.mark == self.schedule.size else kernel.GOING
