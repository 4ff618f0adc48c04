"""Network f(x) = sum_j a_j tanh(<v_j, x>), whose Hessian has a second derivative everywhere.

The networks of edges of stability have it (Cohen et al., ICLR 2021, sections 3 and 4). |f| is at
most sum_j |a_j|, so f is homogeneous in a alone, and margins have no limit that the program knows.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.parametrisation import Array, Arrays, Block, Shape, TwoLayer
from core.network.recorded_network import OTHER, Phi
from core.network.section import FILE_MEANING, NORMAL_MEANING, NetworkSection
from core.network.standard import draw_normal
from core.settings import setting


@final
class TanhNetwork(NetworkSection):
    title: ClassVar[str] = "two-layer network f(x) = sum_j a_j tanh(<v_j, x>), both trained"
    source: ClassVar[str] = "Cohen et al., ICLR 2021, section 3"

    words: ClassVar[str] = "tanh network"
    kind: Literal["tanh"] = "tanh"
    init: Literal["paper", "normal", "small", "file"] = setting(
        "paper", meaning=f"paper: a ~ N(0, 1/m), V ~ N(0, I/d); {NORMAL_MEANING}; {FILE_MEANING}"
    )

    def not_homogeneous(self) -> str:
        return 'network.kind = "tanh": tanh is not homogeneous'


def hyperbolic_tangent(z: Any) -> Any:
    """Return tanh(z), elementwise, of an array or a tensor."""
    return z.tanh() if hasattr(z, "tanh") else np.tanh(z)


def tanh_slope(z: Any) -> Any:
    """Return 1 - tanh(z)^2, elementwise, of an array or a tensor."""
    t = hyperbolic_tangent(z)
    return 1.0 - t * t


def tanh_curvature(z: Any) -> Any:
    """Return -2 tanh(z) (1 - tanh(z)^2), elementwise, of an array or a tensor."""
    t = hyperbolic_tangent(z)
    return -2.0 * t * (1.0 - t * t)


TANH = Phi("tanh", hyperbolic_tangent, tanh_slope, 0, OTHER, 0.0, tanh_curvature)


@final
class Tanh(TwoLayer):
    """Network with tanh neurons: alpha_j = a_j, u_j = v_j.

    >>> net = Tanh(TanhNetwork(m=1), Shape(1, np.zeros((5, 1))), {})
    >>> net.outputs(np.array([2.0, 1.0]), np.array([[0.5], [-0.5]])).round(6).tolist()
    [0.924234, -0.924234]
    """

    kind = "tanh"
    section = TanhNetwork
    row_space = True
    direct = True
    homogeneous = False
    activation = TANH  # type: ignore[assignment]  # of no compiled kernel

    def __init__(self, section: TanhNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d = shape.m, shape.d
        self.layout = (Block("a", (self.m,)), Block("V", (self.m, self.d)))
        self.scaled = self.size

    @staticmethod
    def initial(section: TanhNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw a and then V, as the standard network does from the same seed.

        Parameters
        ----------
        section : TanhNetwork
            Settings; `init` is that of `draw_normal`.
        shape, generator : Shape, Generator
            Width m and dimension d; source of randomness.

        Returns
        -------
        dict of str to array
            "a" (m,) and "V" (m, d).
        """
        return draw_normal(section.init, shape, generator)

    def effective(self, flat: Any) -> tuple[Any, Any]:
        return flat[: self.m], flat[self.m :].reshape(self.m, self.d)
