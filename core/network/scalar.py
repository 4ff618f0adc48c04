"""The scalar network: f(x) = sum_j a_j relu(b_j <v_j, x>) with fixed unit v_j: no rotation.

Source: telgarsky22, section 3.2. 2-homogeneous in (a, b); a_j^2 - b_j^2 is constant along gradient
flow for every node.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from core.network.parametrisation import Array, Arrays, Block, Shape, TwoLayer, joined
from core.network.starts import on_sphere, signs
from core.study_file.sections.network import ScalarNetwork


@final
class Scalar(TwoLayer):
    """alpha_j = a_j, u_j = b_j v_j; V is not trained."""

    kind = "scalar"
    code = 1

    def __init__(self, section: ScalarNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d = shape.m, shape.d
        self.layout = (Block("a", (self.m,)), Block("b", (self.m,)))
        self.fixed = {"V": np.ascontiguousarray(fixed["V"], dtype=np.float64)}
        self.scaled = self.size

    @staticmethod
    def initial(
        section: ScalarNetwork, shape: Shape, generator: np.random.Generator
    ) -> dict[str, Array]:
        """a, b = +-m^(-1/4) uniformly, v uniform on the sphere, drawn in this order."""
        scale = shape.m**-0.25
        a, b = scale * signs(generator, shape.m), scale * signs(generator, shape.m)
        return {"a": a, "b": b, "V": on_sphere(generator, shape.m, shape.d)}

    def inputs(self, x: Array) -> Array:
        return x

    def _V(self, like: Any) -> Any:
        return self.constant(self.fixed["V"], like)

    def effective(self, flat: Any) -> tuple[Any, Any]:
        return flat[: self.m], flat[self.m :, None] * self._V(flat)

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        return self.effective(direction)

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        return joined([d_alpha, (d_U * self._V(flat)).sum(axis=1)])

    def imbalance(self, flat: Array) -> Array:
        return np.asarray(flat[: self.m] ** 2 - flat[self.m :] ** 2)

    def directions(self, flat: Array) -> Array:
        return self.fixed["V"]

    def compiled_constants(self) -> tuple[Array, float]:
        return self.fixed["V"], 0.0
