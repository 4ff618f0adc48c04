"""Many seeds or settings of one experiment at once, as one batch of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem
from core.tensors.repeat import repeated
from core.tensors.slopes import SLOPES


@final
class BatchedStepper:
    """Full-batch descent of S problems of one shape, network and loss; the steps may differ.

    `flat` (S, size), in place; `worst` (S,) is the largest loss measure of each.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        starts: NDArray[np.floating],
        steps: Sequence[float],
        device: str = "cpu",
        graph: bool = False,
    ) -> None:
        first = problems[0]
        network = first.network
        assert isinstance(network, TwoLayer)
        assert network.alone
        self._phi, self._k = network.activation, network.k
        self.flat = torch.tensor(starts, device=device)
        new = self.flat.new_tensor
        self._x = new(np.stack([problem.inputs for problem in problems]))
        self._y = new(np.stack([problem.dataset.y for problem in problems]))
        self._scale = new(np.array(steps) / first.dataset.n)
        penalties = np.array([problem.experiment.loss.l2 for problem in problems])
        self._shrink = new(1.0 - 2.0 * np.array(steps) * penalties)[:, None]
        self.worst = self.flat.new_zeros(len(problems))
        loss = SLOPES[first.loss.kind]
        # One function for all networks and losses, the batch in front.
        self._effective = torch.vmap(network.effective)
        self._pull = torch.vmap(network.pull)
        self._slopes = torch.vmap(lambda f, y: loss(f, y, 1.0))
        self._take = repeated(self._step, (self.flat, self.worst), graph)

    def _outputs(self, alpha: Tensor, h: Tensor) -> Tensor:
        if self._k > 1:
            return torch.bmm(h, alpha)
        return torch.bmm(h, alpha[:, :, None])[:, :, 0]

    @torch.no_grad()
    def _step(self) -> None:
        alpha, U = self._effective(self.flat)
        z = torch.bmm(self._x, U.mT)
        h = self._phi(z)
        g, measure = self._slopes(self._outputs(alpha, h), self._y)
        # In place, as all that a step changes: a recorded graph goes on writing where it began.
        torch.maximum(self.worst, measure, out=self.worst)
        if self._k > 1:
            g = g * self._scale[:, None, None]
            d_alpha, weighted = torch.bmm(h.mT, g), torch.bmm(g, alpha.mT)
        else:
            g = g * self._scale[:, None]
            d_alpha = torch.bmm(h.mT, g[:, :, None])[:, :, 0]
            weighted = g[:, :, None] * alpha[:, None, :]
        d_U = torch.bmm((self._phi.slopes(z) * weighted).mT, self._x)
        slope = self._pull(self.flat, d_alpha, d_U)  # before anything moves
        self.flat.mul_(self._shrink).sub_(slope)

    def take(self, count: int) -> None:
        """So many steps of each."""
        self._take(count)

    def parameters(self) -> NDArray[np.floating]:
        """A copy of all parameters, (S, size)."""
        return np.array(self.flat.cpu().numpy())
