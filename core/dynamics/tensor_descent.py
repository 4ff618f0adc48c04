"""Full-batch gradient descent by torch on a CUDA device.

The schedule, the frames and the rules by which runs end are those of core.dynamics.full_batch.
"""

from __future__ import annotations

from typing import final

import numpy as np

from core.compiled import descent as kernel
from core.dynamics.full_batch import FullBatch
from core.network.activation import RELU
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem


@final
class TensorDescent(FullBatch):
    """Descent by hand-derived gradients on a device, one step at a time."""

    def __init__(self, problem: Problem, device: str) -> None:
        self._device = device
        super().__init__(problem)

    def _allocate(self) -> None:
        from core.tensors.stepper import Stepper, report_full_memory

        self.engine = f"torch {self.dtype.name} {self._device}"
        self._report_full_memory = report_full_memory
        with report_full_memory():
            self._stepper = Stepper(self.problem, self._flat, self.step_size, self._device)

    def _take_steps(self, budget: int) -> int:
        with self._report_full_memory():
            return self._step_singly(budget, self._take_step)

    def _take_step(self) -> int:
        slope, worst, moves = self._stepper.slope()
        if not worst <= self._limit:
            return kernel.DIVERGED
        self._progress.worst = max(self._progress.worst, worst)
        if not moves and self._can_die() and not self._stepper.is_active():
            self._flat = self._parameters()
            return kernel.DEAD
        self._stepper.move(slope, float(self._shrink))
        return kernel.GOING

    def _parameters(self) -> np.ndarray:
        return self._stepper.parameters()

    def _can_die(self) -> bool:
        """Return True if units that are active on no example never move again."""
        network = self.problem.network
        assert isinstance(network, TwoLayer)
        # With a penalty the weights still shrink; a leaky neuron always has a slope.
        return bool(self._shrink == 1) and network.activation.code == RELU
