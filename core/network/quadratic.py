"""k outputs f_c(x) = sum_j A_jc <v_j, x>^2, one for each class.

On addition modulo p, where x = (e_a, e_b), v_j = (u_j, v'_j) and A_j = w_j make it
f(a, b)[c] = sum_j w_j[c] (u_j[a] + v'_j[b])^2 (morwani24, section 3). 3-homogeneous;
2 |A_j|^2 - |v_j|^2 is constant along gradient flow. Margins are divided by
N = sum_j |theta_j|^3, theta_j = (A_j, v_j), as the paper's are, and not by |W|^3 >= N.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.activation import PLAIN, SQUARE, Activation
from core.network.parametrisation import (
    Array,
    Arrays,
    Block,
    Shape,
    TwoLayer,
    joined,
    squared_norms,
)
from core.network.section import FILE_MEANING, NetworkSection
from core.settings import setting


@final
class QuadraticNetwork(NetworkSection):
    title: ClassVar[str] = "k outputs sum_j A_jc <v_j, x>^2, one for each class; 3-homogeneous"
    source: ClassVar[str] = "morwani24, section 3; Gromov 2023"
    several: ClassVar[bool] = True

    kind: Literal["quadratic"] = "quadratic"
    init: Literal["gaussian", "paper", "file"] = setting(
        "gaussian",
        meaning=f"gaussian, and paper alike: all entries N(0, scale^2); {FILE_MEANING}",
    )
    scale: float = setting(0.3, meaning="standard deviation of a gaussian start", gt=0, le=1e6)


@final
class Quadratic(TwoLayer):
    """alpha = A (m, k), u_j = v_j and phi(z) = z^2.

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
        """A and then V, all entries N(0, scale^2)."""
        m, d, k = shape.m, shape.d, max(shape.k, 2)
        A, V = generator.standard_normal((m, k)), generator.standard_normal((m, d))
        return {"A": section.scale * A, "V": section.scale * V}

    def effective(self, flat: Any) -> tuple[Any, Any]:
        outer = self.m * self.k
        return flat[:outer].reshape(self.m, self.k), flat[outer:].reshape(self.m, self.d)

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        return self.effective(direction)

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        return joined([d_alpha, d_U])

    def norm_power(self, flat: Array) -> float:
        """N = sum_j |theta_j|^3."""
        return float((self.node_squares(flat) ** 1.5).sum())

    def node_squares(self, flat: Array) -> Array:
        """|theta_j|^2 = |A_j|^2 + |v_j|^2 of each node, (m,)."""
        A, V = self.effective(flat)
        return np.asarray(squared_norms(A) + squared_norms(V))

    def imbalance(self, flat: Array) -> Array:
        # d|A_j|^2/dt is half of d|v_j|^2/dt, since phi is 2-homogeneous.
        A, V = self.effective(flat)
        return np.asarray(2.0 * squared_norms(A) - squared_norms(V))
