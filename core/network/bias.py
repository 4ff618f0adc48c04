"""The network with biases: f(x) = sum_j a_j relu(<v_j, x> + b_j), all trained.

Source: wei19, section F.4; frei23, section F.2. It is the standard network on (x, 1):
2-homogeneous; a_j^2 - |v_j|^2 - b_j^2 is constant along gradient flow for every node.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.codes import WITH_BIAS
from core.network.parametrisation import (
    Array,
    Arrays,
    Block,
    Shape,
    TwoLayer,
    joined,
    squared_norms,
)
from core.network.section import FILE_MEANING, NORMAL_MEANING, NetworkSection
from core.network.standard import INIT_SCALES
from core.settings import setting


def with_biases(V: Any, b: Any) -> Any:
    """(V, b) as one array (m, d + 1), for NumPy arrays and torch tensors."""
    if isinstance(V, np.ndarray):
        return np.concatenate([V, b[:, None]], axis=1)
    import torch

    return torch.cat([V, b[:, None]], dim=1)


def with_ones(x: Array) -> Array:
    """(x, 1), shape (n, d + 1)."""
    return np.concatenate([x, np.ones((x.shape[0], 1))], axis=1)


@final
class BiasNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j relu(<v_j, x> + b_j), all trained"
    source: ClassVar[str] = "wei19, section F.4; frei23, section F.2"

    kind: Literal["bias"] = "bias"
    init: Literal["paper", "normal", "small", "file"] = setting(
        "paper",
        meaning=f"paper: a ~ N(0, 1/m), (v, b) ~ N(0, I/(d + 1)); {NORMAL_MEANING}; {FILE_MEANING}",
    )


@final
class Bias(TwoLayer):
    """alpha_j = a_j, u_j = (v_j, b_j), x~ = (x, 1)."""

    kind = "bias"
    section = BiasNetwork
    compiled = True
    row_space = True
    direct = True
    code = WITH_BIAS

    def __init__(self, section: BiasNetwork, shape: Shape, fixed: Arrays) -> None:
        m, d = self.m, self.d = shape.m, shape.d
        self.layout = (Block("a", (m,)), Block("V", (m, d)), Block("b", (m,)))
        self.scaled = self.size

    @staticmethod
    def initial(section: BiasNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """a ~ N(0, 1/m), V and b ~ N(0, 1/(d + 1)), drawn in this order (ours)."""
        a = generator.standard_normal(shape.m)
        V = generator.standard_normal((shape.m, shape.d))
        b = generator.standard_normal(shape.m)
        if section.init in INIT_SCALES:
            scale = INIT_SCALES[section.init]
            return {"a": scale * a, "V": scale * V, "b": scale * b}
        # As telgarsky22 has it for (x, 1) in R^(d + 1), since the papers leave it open.
        inner = 1.0 / np.sqrt(shape.d + 1.0)
        return {"a": a / np.sqrt(shape.m), "V": inner * V, "b": inner * b}

    def inputs(self, x: Array) -> Array:
        return with_ones(x)

    def _parts(self, flat: Any) -> tuple[Any, Any, Any]:
        end = self.m + self.m * self.d
        return flat[: self.m], flat[self.m : end].reshape(self.m, self.d), flat[end:]

    def effective(self, flat: Any) -> tuple[Any, Any]:
        a, V, b = self._parts(flat)
        return a, with_biases(V, b)

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        return self.effective(direction)

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        return joined([d_alpha, d_U[:, :-1], d_U[:, -1]])

    def imbalance(self, flat: Array) -> Array:
        a, V, b = self._parts(flat)
        return np.asarray(a**2 - squared_norms(V) - b**2)
