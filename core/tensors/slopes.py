"""The derivatives of the losses in the outputs, on tensors: the twins of core.compiled.descent."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Slopes = Callable[[Tensor, Tensor, float], tuple[Tensor, Tensor]]


def exponential(f: Tensor, y: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """(-scale y e^-p, sum e^-p)."""
    weight = torch.exp(-(y * f))
    return weight * y * -scale, weight.sum()


def logistic(f: Tensor, y: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """(-scale y/(1 + e^p), sum max(-p, 0)); the sum is not finite where a margin is not."""
    p = y * f
    # max(-p, 0) alone would be 0 at p = +infinity, and hide that the network has diverged.
    gaps = torch.where(p.isfinite(), (-p).clamp_min(0.0), p.abs())
    return torch.sigmoid(-p) * y * -scale, gaps.sum()


def squared(f: Tensor, y: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """(2 scale (f - y), sum (f - y)^2)."""
    gap = f - y
    return gap * (2.0 * scale), (gap * gap).sum()


def least_squares(f: Tensor, y: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """(scale (f - y), sum (f - y)^2/2)."""
    gap = f - y
    return gap * scale, 0.5 * (gap * gap).sum()


def cross_entropy(f: Tensor, y: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """(scale (softmax(f_i) - e_(y_i)), sum_i (max_c f_ic - f_(i y_i))) for logits (n, k)."""
    own = torch.nn.functional.one_hot(y.long(), f.shape[1]).to(f.dtype)
    gaps = f.amax(dim=1) - (f * own).sum(dim=1)
    return (torch.softmax(f, dim=1) - own) * scale, gaps.sum()


SLOPES: dict[str, Slopes] = {
    "exponential": exponential,
    "logistic": logistic,
    "squared": squared,
    "least_squares": least_squares,
    "cross_entropy": cross_entropy,
}
