"""Gradient of the risk of any two-layer network on tensors, and the CUDA device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.errors import InputError
from core.network.parametrisation import TwoLayer
from core.problem.problem import Problem


def cuda_is_present() -> bool:
    """Return True if PyTorch has a CUDA device."""
    return bool(torch.cuda.is_available())


@contextmanager
def report_full_memory() -> Iterator[None]:
    """Raise InputError if the CUDA device runs out of memory."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise InputError(
            'The memory of the CUDA device is full; set run.device = "cpu", make network.m or '
            "data.n smaller, or close other programs that use the device."
        ) from error


# Derivatives of the losses in the outputs, on tensors; core.compiled.descent has the same ones.

Slopes = Callable[[Tensor, Tensor, float], tuple[Tensor, Tensor]]


def exponential(f: Tensor, y: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Return (-scale y e^-p, sum e^-p), the scaled slopes and the measure of divergence.

    Parameters
    ----------
    f : tensor (n,)
        Outputs; p = y f.
    y : tensor (n,)
        Labels +-1.
    scale : float
        Factor of the slopes.

    Returns
    -------
    tensor (n,), tensor ()
        Slopes in the outputs, and the sum.
    """
    weight = torch.exp(-(y * f))
    return weight * y * -scale, weight.sum()


def logistic(f: Tensor, y: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Return (-scale y/(1 + e^p), sum max(-p, 0)); the sum is not finite where a margin is not.

    Parameters
    ----------
    f : tensor (n,)
        Outputs; p = y f.
    y : tensor (n,)
        Labels +-1.
    scale : float
        Factor of the slopes.

    Returns
    -------
    tensor (n,), tensor ()
        Slopes in the outputs, and the sum.
    """
    p = y * f
    # max(-p, 0) alone is 0 at p = +infinity, which would hide a divergence of the network.
    gaps = torch.where(p.isfinite(), (-p).clamp_min(0.0), p.abs())
    return torch.sigmoid(-p) * y * -scale, gaps.sum()


def squared_loss(f: Tensor, y: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Return (2 scale (f - y), sum (f - y)^2).

    Parameters
    ----------
    f : tensor (n,)
        Outputs.
    y : tensor (n,)
        Labels +-1.
    scale : float
        Factor of the slopes.

    Returns
    -------
    tensor (n,), tensor ()
        Slopes in the outputs, and the sum.
    """
    gap = f - y
    return gap * (2.0 * scale), (gap * gap).sum()


def least_squares(f: Tensor, y: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Return (scale (f - y), sum (f - y)^2/2).

    Parameters
    ----------
    f : tensor (n,)
        Outputs.
    y : tensor (n,)
        Real targets.
    scale : float
        Factor of the slopes.

    Returns
    -------
    tensor (n,), tensor ()
        Slopes in the outputs, and the sum.
    """
    gap = f - y
    return gap * scale, 0.5 * (gap * gap).sum()


def cross_entropy(f: Tensor, y: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Return (scale (softmax(f_i) - e_(y_i)), sum_i (max_c f_ic - f_(i y_i))).

    Parameters
    ----------
    f : tensor (n, k)
        Logits.
    y : tensor (n,)
        Class numbers.
    scale : float
        Factor of the slopes.

    Returns
    -------
    tensor (n, k), tensor ()
        Slopes in the logits, and the sum.
    """
    own = torch.nn.functional.one_hot(y.long(), f.shape[1]).to(f.dtype)
    gaps = f.amax(dim=1) - (f * own).sum(dim=1)
    return (torch.softmax(f, dim=1) - own) * scale, gaps.sum()


SLOPES: dict[str, Slopes] = {
    "exponential": exponential,
    "logistic": logistic,
    "squared": squared_loss,
    "least_squares": least_squares,
    "cross_entropy": cross_entropy,
}


# Bytes of activations at a time: memory does not grow with the number of examples.
BLOCK_BYTES = 1 << 30


@final
class Stepper:
    """Steps W <- shrink W - step grad R(W) on a device; `flat` is W, updated in place.

    `step_size` is in `slope` already. R has no penalty; `shrink` is its effect.
    """

    def __init__(
        self, problem: Problem, start: NDArray[np.floating], step_size: float, device: str
    ) -> None:
        assert isinstance(problem.network, TwoLayer)
        self._network = problem.network
        self.flat = torch.tensor(start, device=device)
        inputs = torch.tensor(problem.inputs, dtype=self.flat.dtype, device=device)
        y = torch.tensor(problem.dataset.y, dtype=self.flat.dtype, device=device)
        rows = max(1, BLOCK_BYTES // (self._network.m * inputs.element_size()))
        self._blocks = [*zip(torch.split(inputs, rows), torch.split(y, rows), strict=True)]
        self._loss, self._scale = SLOPES[problem.loss.kind], step_size / y.shape[0]

    @torch.no_grad()
    def slope(self) -> tuple[Tensor, float, bool]:
        """Return the slope of the risk at W on all training data.

        Returns
        -------
        slope : tensor (size,)
            step grad R(W), on the device.
        measure : float
            The loss's measure of divergence, summed over the examples.
        moves : bool
            True if a component of the slope is not 0, so that W would move.
        """
        phi = self._network.activation
        alpha, U = self._network.effective(self.flat)
        d_alpha, d_U, measure = torch.zeros_like(alpha), torch.zeros_like(U), U.new_zeros(())
        for x, y in self._blocks:
            z = x @ U.T
            h = phi(z)
            g, part = self._loss(h @ alpha, y, self._scale)
            measure += part
            d_alpha += h.T @ g
            weighted = g @ alpha.T if alpha.ndim == 2 else g[:, None] * alpha
            d_U += (phi.slopes(z) * weighted).T @ x
        slope = self._network.pull(self.flat, d_alpha, d_U)
        # One transfer for both numbers: each transfer waits for the device.
        worst, largest = torch.stack((measure, slope.abs().amax())).tolist()
        return slope, worst, largest != 0.0

    def move(self, slope: Tensor, shrink: float) -> None:
        """Update W in place: W <- shrink W - slope, as `slope` returns it."""
        self.flat.mul_(shrink).sub_(slope)

    @torch.no_grad()
    def is_active(self) -> bool:
        """Return True if a neuron has a positive pre-activation on an example."""
        _, U = self._network.effective(self.flat)
        return any(bool((x @ U.T).amax() > 0.0) for x, _ in self._blocks)

    def parameters(self) -> NDArray[np.floating]:
        """Return a copy of W in the memory of the host.

        Returns
        -------
        array (size,)
            Parameters in the precision of the run.
        """
        return np.array(self.flat.cpu().numpy())
