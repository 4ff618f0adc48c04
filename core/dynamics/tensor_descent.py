"""Full-batch gradient descent by torch: for problems whose activations outgrow the cache, and CUDA.

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
    """Hand-derived gradients by blocks of examples on device "cpu" or "cuda"."""

    def __init__(self, problem: Problem, device: str = "cpu") -> None:
        self._device = device
        super().__init__(problem)

    def _allocate(self) -> None:
        from core.tensors.device import report_full_memory
        from core.tensors.stepper import Stepper

        self.engine = f"torch {self.dtype.name} {self._device}"
        self._report_full_memory = report_full_memory
        with report_full_memory():
            self._stepper = Stepper(
                self.problem,
                self._flat,
                self.step_size,
                float(self._shrink),
                self._device,
                graph=self._device == "cuda",
            )

    def _take_steps(self, budget: int) -> int:
        with self._report_full_memory():
            return self._advance_schedule(budget)

    def _advance_schedule(self, budget: int) -> int:
        progress, schedule = self._progress, self.schedule
        while budget > 0 and progress.mark < schedule.size:
            if progress.buffered == self._buffer.shape[0]:
                return kernel.BUFFER_FULL
            count = min(budget, int(schedule[progress.mark] - progress.step))
            budget -= count
            code = self._stretch(count)
            if code != kernel.GOING:
                return code
            if progress.step == schedule[progress.mark]:
                self._buffer[progress.buffered] = self._stepper.parameters()
                progress.buffered += 1
                progress.mark += 1
        return kernel.DONE if progress.mark == schedule.size else kernel.GOING

    def _stretch(self, count: int) -> int:
        """`count` steps without a look in between; what went wrong is then found step by step."""
        stepper = self._stepper
        before = stepper.flat.clone()
        stepper.take(count)
        worst = float(stepper.worst)
        if not worst <= self._limit:
            stepper.flat.copy_(before)
            return self._until_diverged(count)
        self._progress.worst = max(self._progress.worst, worst)
        self._progress.step += count
        still = int(stepper.still)
        if still and self._can_die() and stepper.is_dead():
            self._progress.step -= min(still, count)
            self._flat = stepper.parameters()
            return kernel.DEAD
        return kernel.GOING

    def _can_die(self) -> bool:
        """Whether units that are active on no example stay as they are."""
        network = self.problem.network
        assert isinstance(network, TwoLayer)
        # With a penalty their weights still shrink; a leaky node is never without a slope.
        return bool(self._shrink == 1) and network.activation.code == RELU

    def _until_diverged(self, count: int) -> int:
        """The steps up to the one before which the loss is above the limit."""
        stepper = self._stepper
        for _ in range(count):
            before = stepper.flat.clone()
            stepper.worst.zero_()
            stepper.take(1)
            worst = float(stepper.worst)
            if not worst <= self._limit:
                stepper.flat.copy_(before)
                return kernel.DIVERGED
            self._progress.worst = max(self._progress.worst, worst)
            self._progress.step += 1
        return kernel.GOING
