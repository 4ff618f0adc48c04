"""A network with outer weights a_j^3: f(x) = sum_j a_j^3 relu(<v_j, x>), 4-homogeneous."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np

from core.network.parametrisation import Array, Arrays, Block, Shape, TwoLayer, join_flat
from core.network.registry import NETWORKS
from core.network.section import NetworkSection
from core.settings import setting


@final
class CubedNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j^3 relu(<v_j, x>), both trained"
    source: ClassVar[str] = "docs/extend.md"
    kind: Literal["cubed"] = "cubed"
    init: Literal["paper", "file"] = setting("paper", meaning="paper: a, V ~ N(0, 1/m)")


@NETWORKS.add
@final
class Cubed(TwoLayer):
    """alpha_j = a_j^3 and u_j = v_j."""

    kind, section, degree, row_space = "cubed", CubedNetwork, 4, True

    def __init__(self, section: CubedNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d, self.fixed = shape.m, shape.d, {}
        self.layout = (Block("a", (self.m,)), Block("V", (self.m, self.d)))
        self.scaled = self.size

    @staticmethod
    def initial(section: Any, shape: Shape, generator: np.random.Generator) -> dict[str, Array]:
        normal = generator.standard_normal((shape.m, 1 + shape.d)) / np.sqrt(shape.m)
        return {"a": normal[:, 0], "V": normal[:, 1:]}

    def effective(self, flat: Any) -> tuple[Any, Any]:
        return flat[: self.m] ** 3, flat[self.m :].reshape(self.m, self.d)

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        da, dV = direction[: self.m], direction[self.m :].reshape(self.m, self.d)
        return 3.0 * flat[: self.m] ** 2 * da, dV

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        return join_flat([3.0 * flat[: self.m] ** 2 * d_alpha, d_U])
