"""The network with a fixed outer layer: f(x) = sum_j a_j phi(<v_j, x>), only V trained.

Source: frei23, sections 2 and F.1. a_j = +-1/sqrt(m), the first half positive. 1-homogeneous for
the leaky ReLU; the smoothed leaky ReLU is not homogeneous.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.activation import LEAKY, SMOOTH, Activation
from core.network.codes import FIXED_OUTER
from core.network.parametrisation import Array, Arrays, Block, Shape, TwoLayer
from core.network.section import FILE_MEANING, NetworkSection
from core.settings import setting


@final
class FixedOuterNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j phi(<v_j, x>), a_j = +-1/sqrt(m) fixed, phi leaky"
    source: ClassVar[str] = "frei23, section 2"

    kind: Literal["fixed_outer"] = "fixed_outer"
    slope: float = setting(0.1, meaning="gamma, slope of phi on the left", gt=0, le=1)
    smooth: bool = setting(
        False,
        meaning="false: phi(z) = max(gamma z, z); true: gamma z + (1 - gamma) ln((1 + e^z)/2)",
    )
    init: Literal["paper", "file"] = setting(
        "paper", meaning=f"paper: V ~ N(0, w^2), half of a positive; {FILE_MEANING}"
    )
    init_multiple: float = setting(
        1.0, meaning="w in multiples of w_TF = sqrt(2/(m + d))", gt=0, le=1e6
    )

    def not_homogeneous(self) -> str:
        smooth = "network.smooth = true: the smoothed leaky ReLU is not homogeneous"
        return smooth if self.smooth else ""


@final
class FixedOuter(TwoLayer):
    """alpha_j = a_j, u_j = v_j; a is not trained."""

    kind = "fixed_outer"
    section = FixedOuterNetwork
    compiled = True
    row_space = True
    direct = True
    code = FIXED_OUTER
    degree = 1

    def __init__(self, section: FixedOuterNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d = shape.m, shape.d
        self.layout = (Block("V", (self.m, self.d)),)
        self.fixed = {"a": np.ascontiguousarray(fixed["a"], dtype=np.float64)}
        self.scaled = self.size
        self.homogeneous = not section.smooth
        self.activation = Activation(SMOOTH if section.smooth else LEAKY, section.slope)

    @staticmethod
    def initial(section: FixedOuterNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """V ~ N(0, w^2), w = init_multiple * sqrt(2/(m + d)); the first half of a positive."""
        m, d = shape.m, shape.d
        a = np.where(np.arange(m) < (m + 1) // 2, 1.0, -1.0) / np.sqrt(m)
        # w_TF is Glorot's deviation, and frei23's "1/50" a multiple of it (docs/theory.md, 2.3).
        w = section.init_multiple * np.sqrt(2.0 / (m + d))
        return {"a": a, "V": w * generator.standard_normal((m, d))}

    def _a(self, like: Any) -> Any:
        return self.constant(self.fixed["a"], like)

    def effective(self, flat: Any) -> tuple[Any, Any]:
        return self._a(flat), flat.reshape(self.m, self.d)

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        return 0.0 * self._a(flat), direction.reshape(self.m, self.d)

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        return d_U.reshape(-1)

    def compiled_constants(self) -> tuple[Array, float]:
        return self.fixed["a"][None], 0.0
