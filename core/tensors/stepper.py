"""Full-batch descent of any two-layer network on tensors: one step, and many."""

from __future__ import annotations

from typing import final

import numpy as np
import torch
from numpy.typing import NDArray

from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem
from core.tensors.repeat import repeated
from core.tensors.row_blocks import RowBlocks
from core.tensors.slopes import SLOPES

ROWS = 4096  # examples at a time where only the sign of activations is asked for


@final
class Stepper:
    """W <- shrink W - step grad R(W) on a device, in place.

    `flat` is W, `worst` the largest loss measure since it was last set, `still` the number of steps
    since W last moved; all are tensors that stay where they are, so that a graph of many steps can
    be recorded once.
    """

    def __init__(
        self,
        problem: Problem,
        start: NDArray[np.floating],
        step_size: float,
        shrink: float,
        device: str = "cpu",
        graph: bool = False,
    ) -> None:
        network = problem.network
        assert isinstance(network, TwoLayer)
        self._network, self._shrink = network, float(shrink)
        self.flat = torch.tensor(start, device=device)
        self.worst, self.still = self.flat.new_zeros(()), self.flat.new_zeros(())
        inputs = torch.tensor(problem.inputs, dtype=self.flat.dtype, device=device)
        y = torch.tensor(problem.dataset.y, dtype=self.flat.dtype, device=device)
        loss, scale = SLOPES[problem.loss.kind], step_size / y.shape[0]
        m, k = network.m, network.k
        self._inputs = inputs
        self._passes = RowBlocks(inputs, y, loss, scale, network.activation, m, k)
        state = (self.flat, self.worst, self.still)
        self._take = repeated(self._step, state, graph)

    @torch.no_grad()
    def _step(self) -> None:
        alpha, U = self._network.effective(self.flat)
        d_alpha, d_U, measure = self._passes.gradient(alpha, U)
        slope = self._network.pull(self.flat, d_alpha, d_U)
        torch.maximum(self.worst, measure, out=self.worst)
        if self._shrink != 1.0:
            self.flat.mul_(self._shrink)
        self.flat.sub_(slope)
        # Counted on the device: to ask after every step would wait for it.
        self.still.add_(1.0).mul_(slope.abs().amax() == 0.0)

    def move_to(self, flat: NDArray[np.floating]) -> None:
        """Set W."""
        self.flat.copy_(torch.from_numpy(flat))

    def take(self, count: int) -> None:
        """So many steps."""
        self._take(count)

    @torch.no_grad()
    def is_dead(self) -> bool:
        """Whether no unit is active on any example."""
        _, U = self._network.effective(self.flat)
        parts = range(0, self._inputs.shape[0], ROWS)
        return all(bool((self._inputs[i : i + ROWS] @ U.T).amax() <= 0.0) for i in parts)

    def parameters(self) -> NDArray[np.floating]:
        """A copy of W."""
        return np.array(self.flat.cpu().numpy())
