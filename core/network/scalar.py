"""The scalar network: f(x) = sum_j a_j relu(b_j <v_j, x>) with fixed unit v_j: no rotation.

Source: telgarsky22, section 3.2. 2-homogeneous in (a, b); a_j^2 - b_j^2 is constant along gradient
flow for every node.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.codes import SCALAR
from core.network.parametrisation import Array, Arrays, Block, Shape, TwoLayer, joined
from core.network.section import FILE_MEANING, NetworkSection
from core.network.starts import on_sphere, signs
from core.settings import setting


@final
class ScalarNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j relu(b_j <v_j, x>), only a and b trained: no rotation"
    source: ClassVar[str] = "telgarsky22, section 3.2"

    kind: Literal["scalar"] = "scalar"
    init: Literal["paper", "file"] = setting(
        "paper",
        meaning=f"paper: a, b = +-m^(-1/4) uniformly, v uniform on the sphere; {FILE_MEANING}",
    )


@final
class Scalar(TwoLayer):
    """alpha_j = a_j, u_j = b_j v_j; V is not trained."""

    kind = "scalar"
    section = ScalarNetwork
    compiled = True
    row_space = True
    factored = True
    fixed_features = True
    plain_relu = True
    code = SCALAR

    def __init__(self, section: ScalarNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d = shape.m, shape.d
        self.layout = (Block("a", (self.m,)), Block("b", (self.m,)))
        self.fixed = {"V": np.ascontiguousarray(fixed["V"], dtype=np.float64)}
        self.scaled = self.size

    @staticmethod
    def initial(section: ScalarNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """a, b = +-m^(-1/4) uniformly, v uniform on the sphere, drawn in this order."""
        # Balanced, as the normalised network is, at another size: |a_j b_j| = 1/sqrt(m).
        scale = shape.m**-0.25
        a, b = scale * signs(generator, shape.m), scale * signs(generator, shape.m)
        return {"a": a, "b": b, "V": on_sphere(generator, shape.m, shape.d)}

    def _V(self, like: Any) -> Any:
        return self.constant(self.fixed["V"], like)

    def effective(self, flat: Any) -> tuple[Any, Any]:
        return flat[: self.m], flat[self.m :, None] * self._V(flat)

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        return self.effective(direction)

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        return joined([d_alpha, (d_U * self._V(flat)).sum(axis=1)])

    def gram(self, flat: Array, inputs: Array) -> Array:
        alpha, U = self.effective(flat)
        z = U @ inputs.T
        h = self.activation(z)
        w = alpha[:, None] * self.activation.slopes(z) * (self.fixed["V"] @ inputs.T)
        return np.asarray(h.T @ h + w.T @ w)

    def compiled_constants(self) -> tuple[Array, float]:
        return self.fixed["V"], 0.0
