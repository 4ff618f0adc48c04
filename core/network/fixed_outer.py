"""The network with a fixed outer layer: f(x) = sum_j a_j phi(<v_j, x>), only V trained.

Source: frei23, sections 2 and F.1. a_j = +-1/sqrt(m), the first half positive. 1-homogeneous for
the leaky ReLU; the smoothed leaky ReLU is not homogeneous.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from core.network.activation import LEAKY, SMOOTH, Activation
from core.network.parametrisation import Array, Arrays, Block, Shape, TwoLayer
from core.study_file.sections.network import FixedOuterNetwork


@final
class FixedOuter(TwoLayer):
    """alpha_j = a_j, u_j = v_j; a is not trained."""

    kind = "fixed_outer"
    code = 3
    degree = 1

    def __init__(self, section: FixedOuterNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d = shape.m, shape.d
        self.layout = (Block("V", (self.m, self.d)),)
        self.fixed = {"a": np.ascontiguousarray(fixed["a"], dtype=np.float64)}
        self.scaled = self.size
        self.homogeneous = not section.smooth
        self.activation = Activation(SMOOTH if section.smooth else LEAKY, section.slope)

    @staticmethod
    def initial(
        section: FixedOuterNetwork, shape: Shape, generator: np.random.Generator
    ) -> dict[str, Array]:
        """V ~ N(0, w^2), w = init_multiple * sqrt(2/(m + d)); the first half of a positive."""
        m, d = shape.m, shape.d
        a = np.where(np.arange(m) < (m + 1) // 2, 1.0, -1.0) / np.sqrt(m)
        w = section.init_multiple * np.sqrt(2.0 / (m + d))
        return {"a": a, "V": w * generator.standard_normal((m, d))}

    def inputs(self, x: Array) -> Array:
        return x

    def _a(self, like: Any) -> Any:
        return self.constant(self.fixed["a"], like)

    def effective(self, flat: Any) -> tuple[Any, Any]:
        return self._a(flat), flat.reshape(self.m, self.d)

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        return 0.0 * self._a(flat), direction.reshape(self.m, self.d)

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        return d_U.reshape(-1)

    def imbalance(self, flat: Array) -> Array:
        return np.zeros(0)

    def directions(self, flat: Array) -> Array:
        return flat.reshape(self.m, self.d)

    def compiled_constants(self) -> tuple[Array, float]:
        return self.fixed["a"][None], 0.0
