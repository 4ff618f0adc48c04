"""The gradient of the two-layer network by blocks of examples, whose activations stay in the cache.

With one output and phi(z) = g z + (1 - g) max(z, 0) (ReLU, leaky ReLU) a block costs two matrix
products and three passes over its activations: phi is 1-homogeneous, so that with

    T_j = sum_i g_i phi'(z_ij) x_i:    d u_j = alpha_j T_j,   d alpha_j = <u_j, T_j>,

and no array but the signs of the activations is needed once f is known.
"""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor

from core.network.activation import SMOOTH, Activation
from core.tensors.slopes import Slopes

BLOCK_BYTES = 2 << 20  # measured: larger blocks leave the cache, smaller ones slow the products
FEWEST_ROWS = 64
BLOCK_BYTES_CUDA = 1 << 30


def rows_of_block(n: int, m: int, itemsize: int, device: torch.device) -> int:
    """Examples in a block, nearly equal in all blocks."""
    most = BLOCK_BYTES if device.type == "cpu" else BLOCK_BYTES_CUDA
    rows = max(FEWEST_ROWS, most // (m * itemsize))
    blocks = -(-n // rows)
    return -(-n // blocks)


@final
class RowBlocks:
    """sum_i l(f(x_i)) times `scale` on inputs (n, D) with labels y: its gradient in (alpha, U)."""

    def __init__(
        self, inputs: Tensor, y: Tensor, loss: Slopes, scale: float, phi: Activation, m: int, k: int
    ) -> None:
        self._loss, self._scale, self._phi = loss, scale, phi
        rows = rows_of_block(inputs.shape[0], m, inputs.element_size(), inputs.device)
        begins = range(0, inputs.shape[0], rows)
        self._blocks = [(inputs[i : i + rows], y[i : i + rows]) for i in begins]
        self._H = inputs.new_empty(rows, m)
        self._T = inputs.new_empty(inputs.shape[1], m)
        self._by_signs = k == 1 and phi.code != SMOOTH

    def gradient(self, alpha: Tensor, U: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(d alpha, d U, the loss's measure of divergence, a scalar tensor)."""
        if self._by_signs:
            return self._gradient_by_signs(alpha, U)
        d_alpha, d_U = torch.zeros_like(alpha), torch.zeros_like(U)
        measure = U.new_zeros(())
        for x, y in self._blocks:
            z = x @ U.T
            h = self._phi(z)
            g, part = self._loss(h @ alpha, y, self._scale)
            measure += part
            d_alpha += h.T @ g
            weighted = g @ alpha.T if alpha.ndim == 2 else g[:, None] * alpha
            d_U += (self._phi.slopes(z) * weighted).T @ x
        return d_alpha, d_U, measure

    def _gradient_by_signs(self, alpha: Tensor, U: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        slope, T = self._phi.slope, self._T
        measure = U.new_zeros(())
        linear = slope * (alpha @ U)  # f has this part for the leaky ReLU
        drift = torch.zeros_like(linear)
        for index, (x, y) in enumerate(self._blocks):
            H = self._H[: x.shape[0]]
            torch.mm(x, U.T, out=H)
            H.clamp_min_(0.0)
            f = torch.mv(H, alpha)
            if slope != 0.0:
                f = (1.0 - slope) * f + x @ linear
            g, part = self._loss(f, y, self._scale)
            measure += part
            if slope != 0.0:
                drift += slope * (g @ x)
            weighted = (x * ((1.0 - slope) * g)[:, None]).T
            H.sign_()
            T.addmm_(weighted, H, beta=0.0 if index == 0 else 1.0)
        if slope != 0.0:
            T += drift[:, None]
        return (U * T.T).sum(dim=1), alpha[:, None] * T.T, measure
