"""Quadratic network of modular addition, and the cubed norms of neurons that its margins have."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from core.network.activation import PLAIN, SQUARE, Activation
from core.network.parametrisation import (
    Array,
    Arrays,
    Block,
    Network,
    Shape,
    TwoLayer,
    squared_norms,
)
from core.network.section import FILE_MEANING, NetworkSection
from core.settings import setting

# -------------------------------------------------------------------- neurons as groups of weights
#
#     N = sum_j |theta_j|_2^3,    grad N = 3 |theta_j| theta_j at neuron j,
#     Hessian = 3 (|theta_j| + theta_j theta_j' / |theta_j|) at neuron j, 0 where theta_j = 0
#
# (the L_{2,3} norm, cubed, of morwani24, section 3).


def node_blocks(network: Network) -> NDArray[np.int64]:
    """Return the blocks of flat parameters in which each neuron owns consecutive numbers.

    Parameters
    ----------
    network : Network
        Network whose parameters all belong to single neurons.

    Returns
    -------
    array of int (b, 2)
        Offset of each block and the numbers per neuron in it.

    Raises
    ------
    ValueError
        A block does not have one row per neuron.

    Examples
    --------
    >>> from core.network.standard import Standard, StandardNetwork
    >>> from core.network.parametrisation import Shape
    >>> node_blocks(Standard(StandardNetwork(m=2), Shape(2, np.zeros((5, 3))), {})).tolist()
    [[0, 1], [2, 3]]
    """
    rows, offset = [], 0
    for block in network.layout:
        if block.shape[0] != network.m:
            raise ValueError(f"{block.name} has not one row for each neuron")
        rows.append((offset, block.size // network.m))
        offset += block.size
    return np.array(rows, dtype=np.int64)


def node_squares(network: Network, flat: Array) -> Array:
    """Return the squared norm |theta_j|^2 of each neuron's weights.

    Parameters
    ----------
    network : Network
        Network whose parameters all belong to single neurons.
    flat : array (size,)
        Trained parameters.

    Returns
    -------
    array (m,)
        Squared norms.
    """
    return _node_products(network, flat, flat)


def _node_products(network: Network, first: Array, second: Array) -> Array:
    """Return <theta_j, theta'_j> of each neuron, (m,)."""
    product = first * second
    parts = [
        product[offset : offset + network.m * width].reshape(network.m, width).sum(axis=1)
        for offset, width in node_blocks(network).tolist()
    ]
    return np.asarray(np.sum(parts, axis=0))


def cubed_norm(network: Network, flat: Array) -> float:
    """Return N = sum_j |theta_j|^3."""
    return float((node_squares(network, flat) ** 1.5).sum())


def cubed_norm_gradient(network: Network, flat: Array) -> Array:
    """Return the gradient of N = sum_j |theta_j|^3.

    Parameters
    ----------
    network : Network
        Network whose parameters all belong to single neurons.
    flat : array (size,)
        Trained parameters.

    Returns
    -------
    array (size,)
        3 |theta_j| theta_j at neuron j.
    """
    return np.asarray(3.0 * _for_each_weight(network, np.sqrt(node_squares(network, flat))) * flat)


def cubed_norm_curvature(network: Network, flat: Array, direction: Array) -> Array:
    """Return the product of the Hessian of N = sum_j |theta_j|^3 with a direction.

    Parameters
    ----------
    network : Network
        Network whose parameters all belong to single neurons.
    flat : array (size,)
        Trained parameters.
    direction : array (size,)
        Direction.

    Returns
    -------
    array (size,)
        Product; 0 at neurons with theta_j = 0.
    """
    lengths = np.sqrt(node_squares(network, flat))
    products = _node_products(network, flat, direction)
    with np.errstate(divide="ignore", invalid="ignore"):
        products = np.where(lengths > 0.0, products / lengths, 0.0)
    first = _for_each_weight(network, lengths) * direction
    return np.asarray(3.0 * (first + _for_each_weight(network, products) * flat))


def _for_each_weight(network: Network, values: Array) -> Array:
    """Repeat a number of each neuron (m,) at all of the neuron's weights, flat."""
    widths = node_blocks(network)[:, 1].tolist()
    return np.concatenate([np.repeat(values, width) for width in widths])


# ----------------------------------------------------------------------------------- the network
#
# On addition modulo p, where x = (e_a, e_b), v_j = (u_j, v'_j) and A_j = w_j make it
# f(a, b)[c] = sum_j w_j[c] (u_j[a] + v'_j[b])^2 (morwani24, section 3). 3-homogeneous;
# 2 |A_j|^2 - |v_j|^2 is constant along gradient flow. Margins are divided by
# N = sum_j |theta_j|^3, theta_j = (A_j, v_j), as the paper's are, and not by |W|^3 >= N.


@final
class QuadraticNetwork(NetworkSection):
    title: ClassVar[str] = "k outputs sum_j A_jc <v_j, x>^2, one for each class; 3-homogeneous"
    source: ClassVar[str] = "morwani24, section 3; Gromov 2023"
    several: ClassVar[bool] = True

    kind: Literal["quadratic"] = "quadratic"
    init: Literal["gaussian", "paper", "file"] = setting(
        "gaussian",
        meaning=f"gaussian or paper: all entries N(0, scale^2); {FILE_MEANING}",
    )
    scale: float = setting(0.3, meaning="standard deviation of a gaussian start", gt=0, le=1e6)


@final
class Quadratic(TwoLayer):
    """Quadratic network: alpha = A (m, k), u_j = v_j and phi(z) = z^2.

    >>> net = Quadratic(QuadraticNetwork(m=2), Shape(2, np.zeros((9, 6)), 3), {})
    >>> net.degree, [(block.name, block.shape) for block in net.layout]
    (3, [('A', (2, 3)), ('V', (2, 6))])
    """

    kind = "quadratic"
    section = QuadraticNetwork
    compiled = True
    classes = "several"
    row_space = True
    direct = True
    code = PLAIN
    activation = Activation(SQUARE)
    degree = 3
    inner_degree = 2
    margin_norm = ("sum_j |theta_j|^3", "\\sum_j|\\theta_j|^3")

    def __init__(self, section: QuadraticNetwork, shape: Shape, fixed: Arrays) -> None:
        m, d, k = self.m, self.d, self.k = shape.m, shape.d, max(shape.k, 2)
        self.layout = (Block("A", (m, k)), Block("V", (m, d)))
        self.scaled = self.size

    @staticmethod
    def initial(section: QuadraticNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw A and then V, all entries N(0, scale^2).

        Parameters
        ----------
        section : QuadraticNetwork
            Settings, with the scale.
        shape, generator : Shape, Generator
            Width m, dimension d and outputs k, at least 2; source of randomness.

        Returns
        -------
        dict of str to array
            "A" (m, k) and "V" (m, d).
        """
        m, d, k = shape.m, shape.d, max(shape.k, 2)
        A, V = generator.standard_normal((m, k)), generator.standard_normal((m, d))
        return {"A": section.scale * A, "V": section.scale * V}

    def effective(self, flat: Any) -> tuple[Any, Any]:
        outer = self.m * self.k
        return flat[:outer].reshape(self.m, self.k), flat[outer:].reshape(self.m, self.d)

    def norm_power(self, flat: Array) -> float:
        """Return N = sum_j |theta_j|^3, theta_j = (A_j, v_j)."""
        return float((self.node_squares(flat) ** 1.5).sum())

    def node_squares(self, flat: Array) -> Array:
        """Return the squared length of each neuron's parameters theta_j = (A_j, v_j).

        Parameters
        ----------
        flat : array (size,)
            Trained parameters.

        Returns
        -------
        array (m,)
            |theta_j|^2 = |A_j|^2 + |v_j|^2.
        """
        A, V = self.effective(flat)
        return np.asarray(squared_norms(A) + squared_norms(V))

    def imbalance(self, flat: Array) -> Array:
        """Return each neuron's difference of squared norms, which gradient flow conserves.

        Parameters
        ----------
        flat : array (size,)
            Trained parameters.

        Returns
        -------
        array (m,)
            2 |A_j|^2 - |v_j|^2.
        """
        # d|A_j|^2/dt is half of d|v_j|^2/dt, since phi is 2-homogeneous.
        A, V = self.effective(flat)
        return np.asarray(2.0 * squared_norms(A) - squared_norms(V))
