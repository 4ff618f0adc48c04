"""The standard network: f(x) = sum_j a_j relu(<v_j, x>), a and V trained.

Source: telgarsky22, section 1.2; wei19, section 2. 2-homogeneous; a_j^2 - |v_j|^2 is constant along
gradient flow for every node.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.network.parametrisation import Array, Block, Parametrisation


@final
class Standard(Parametrisation):
    """alpha_j = a_j, u_j = v_j.

    >>> net = Standard(m=2, d=3)
    >>> [(block.name, block.shape) for block in net.layout], net.size
    ([('a', (2,)), ('V', (2, 3))], 8)
    """

    kind = "standard"
    degree = 2

    def __init__(self, m: int, d: int) -> None:
        self.m, self.d = m, d
        self.layout = (Block("a", (m,)), Block("V", (m, d)))

    def initialise(self, generator: np.random.Generator) -> Array:
        """a ~ N(0, 1/m), V ~ N(0, I/d), drawn in this order (telgarsky22, section 1.2)."""
        a = generator.standard_normal(self.m) / np.sqrt(self.m)
        V = generator.standard_normal((self.m, self.d)) / np.sqrt(self.d)
        return self.pack({"a": a, "V": V})

    def effective(self, flat: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        return flat[: self.m], flat[self.m :].reshape(self.m, self.d)

    def pullback(self, flat: Array, d_alpha: Array, d_U: Array) -> Array:
        return np.concatenate([d_alpha, d_U.reshape(-1)])

    def imbalance(self, flat: Array) -> Array:
        a, V = self.effective(flat)
        return np.asarray(a**2 - np.einsum("jk,jk->j", V, V))

    def directions(self, flat: Array) -> Array:
        return self.effective(flat)[1]
