"""Full-batch gradient descent by torch on a CUDA device.

The schedule, the frames and the rules by which runs end are those of core.dynamics.full_batch.
"""

from __future__ import annotations

from typing import final

from core.compiled import descent as kernel
from core.dynamics.full_batch import FullBatch
from core.network.activation import RELU
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem


@final
class TensorDescent(FullBatch):
    """Hand-derived gradients on a device, one step at a time."""

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
            return self._advance_schedule(budget)

    def _advance_schedule(self, budget: int) -> int:
        progress, stepper = self._progress, self._stepper
        can_die = self._can_die()
        for _ in range(budget):
            if progress.mark == self.schedule.size:
                return kernel.DONE
            if progress.buffered == self._buffer.shape[0]:
                return kernel.BUFFER_FULL
            slope, worst, moves = stepper.slope()
            if not worst <= self._limit:
                return kernel.DIVERGED
            progress.worst = max(progress.worst, worst)
            if can_die and not moves and not stepper.is_active():
                self._flat = stepper.parameters()
                return kernel.DEAD
            stepper.move(slope, float(self._shrink))
            progress.step += 1
            if progress.step == self.schedule[progress.mark]:
                self._buffer[progress.buffered] = stepper.parameters()
                progress.buffered += 1
                progress.mark += 1
        return kernel.DONE if progress.mark == self.schedule.size else kernel.GOING

    def _can_die(self) -> bool:
        """Return True if units that are active on no example never move again."""
        network = self.problem.network
        assert isinstance(network, TwoLayer)
        # With a penalty their weights still shrink; a leaky node is never without a slope.
        return bool(self._shrink == 1) and network.activation.code == RELU
