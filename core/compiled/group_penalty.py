"""Gradient of the penalty lambda sum_j |theta_j|^3, compiled."""

from __future__ import annotations

from math import sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compile_kernel

Array = NDArray[Any]


@compile_kernel
def add_group_penalty(flat: Array, gradient: Array, rule: Any, nodes: int) -> None:
    """Add 3 lambda |theta_j| theta_j, the gradient of lambda sum_j |theta_j|^3.

    Parameters
    ----------
    flat : array (size,)
        Parameters W.
    gradient : array (size,)
        Updated in place.
    rule : Rule
        lambda and the blocks of neurons.
    nodes : int
        Number of neurons.
    """
    blocks = rule.blocks
    for j in range(nodes):
        total = flat.dtype.type(0)
        for b in range(blocks.shape[0]):
            width = blocks[b, 1]
            first = blocks[b, 0] + j * width
            for i in range(first, first + width):
                total += flat[i] * flat[i]
        factor = 3 * rule.group * sqrt(total)
        for b in range(blocks.shape[0]):
            width = blocks[b, 1]
            first = blocks[b, 0] + j * width
            for i in range(first, first + width):
                gradient[i] += factor * flat[i]
