"""The trained weights of each node as one group, theta_j, and the penalty of their lengths.

    N = sum_j |theta_j|_2^3,    grad N = 3 |theta_j| theta_j at node j,
    Hessian = 3 (|theta_j| + theta_j theta_j' / |theta_j|) at node j, 0 where theta_j = 0

(the L_{2,3} norm, cubed, of morwani24, section 3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.network.parametrisation import Array, Network


def node_blocks(network: Network) -> NDArray[np.int64]:
    """(offset, width) of each block of flat, in which a node has `width` numbers in a row, (b, 2).

    Raises ValueError for a network with parameters that belong to no single node.

    >>> from core.network.standard import Standard, StandardNetwork
    >>> from core.network.parametrisation import Shape
    >>> node_blocks(Standard(StandardNetwork(m=2), Shape(2, np.zeros((5, 3))), {})).tolist()
    [[0, 1], [2, 3]]
    """
    rows, offset = [], 0
    for block in network.layout:
        if block.shape[0] != network.m:
            raise ValueError(f"{block.name} is not a row for each node")
        rows.append((offset, block.size // network.m))
        offset += block.size
    return np.array(rows, dtype=np.int64)


def node_squares(network: Network, flat: Array) -> Array:
    """|theta_j|^2 of each node, (m,)."""
    return _node_products(network, flat, flat)


def _node_products(network: Network, one: Array, other: Array) -> Array:
    """<theta_j, theta'_j> of each node, (m,)."""
    product = one * other
    parts = [
        product[offset : offset + network.m * width].reshape(network.m, width).sum(axis=1)
        for offset, width in node_blocks(network).tolist()
    ]
    return np.asarray(np.sum(parts, axis=0))


def cubed_norm(network: Network, flat: Array) -> float:
    """N = sum_j |theta_j|^3."""
    return float((node_squares(network, flat) ** 1.5).sum())


def cubed_norm_gradient(network: Network, flat: Array) -> Array:
    """grad N, flat."""
    return np.asarray(3.0 * _for_each_weight(network, np.sqrt(node_squares(network, flat))) * flat)


def cubed_norm_curvature(network: Network, flat: Array, direction: Array) -> Array:
    """(Hessian of N) direction, flat."""
    lengths = np.sqrt(node_squares(network, flat))
    along = _node_products(network, flat, direction)
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.where(lengths > 0.0, along / lengths, 0.0)
    first = _for_each_weight(network, lengths) * direction
    return np.asarray(3.0 * (first + _for_each_weight(network, along) * flat))


def _for_each_weight(network: Network, values: Array) -> Array:
    """A number of each node (m,) at all of its weights, flat."""
    widths = node_blocks(network)[:, 1].tolist()
    return np.concatenate([np.repeat(values, width) for width in widths])
