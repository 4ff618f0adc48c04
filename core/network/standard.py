"""The standard network: f(x) = sum_j a_j phi(<v_j, x>), a and V trained, phi a ReLU or a leaky one.

Source: telgarsky22, section 1.2; wei19, section 2; the leaky ReLU: Boursier and Flammarion 2025,
section 2. 2-homogeneous; a_j^2 - |v_j|^2 is constant along gradient flow for every node.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.activation import LEAKY, Activation
from core.network.codes import PLAIN
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
from core.settings import setting

# wei19 states N(0, 1) for F.1, and no start for MNIST (docs/theory.md, 2.3).
INIT_SCALES = {"normal": 1.0, "small": 0.01}  # wei19, sections F.1 and F.2


SMALL = ("balanced", "dominated")


@final
class StandardNetwork(NetworkSection):
    title: ClassVar[str] = "two-layer ReLU network f(x) = sum_j a_j relu(<v_j, x>), both trained"
    source: ClassVar[str] = "telgarsky22, section 1.2; wei19, section 2"

    kind: Literal["standard"] = "standard"
    init: Literal["paper", "normal", "small", "balanced", "dominated", "file"] = setting(
        "paper",
        meaning=f"paper: a ~ N(0, 1/m), V ~ N(0, I/d); {NORMAL_MEANING}; balanced: v_j ~ "
        "N(0, scale^2/m I), a_j = +-|v_j|; dominated: v_j uniform on [-1, 1]^d scale/sqrt(m), a_j "
        f"= +-scale sqrt(d/m) >= |v_j|, signs fair; {FILE_MEANING}",
    )
    slope: float = setting(
        0.0,
        meaning="alpha, slope of phi(z) = max(z, alpha z); 0: ReLU, which the papers' statements "
        "and margins are about",
        source="Boursier and Flammarion 2025, section 2",
        ge=0,
        lt=1,
        advanced=True,
        added=True,
    )
    scale: float = setting(
        1e-3,
        meaning="scale lambda of a balanced or dominated start",
        source="Boursier and Flammarion 2025, section 2",
        gt=0,
        le=1e6,
        added=True,
    )

    @property
    def small_start(self) -> bool:
        return self.init in SMALL


def _of_scale(section: StandardNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
    """A balanced start, or one that the outer layer dominates; exactly as its setting says."""
    m, size = shape.m, section.scale / np.sqrt(shape.m)
    if section.init == "balanced":
        V = size * generator.standard_normal((m, shape.d))
        lengths = np.linalg.norm(V, axis=1)
    else:
        V = size * generator.uniform(-1.0, 1.0, (m, shape.d))
        lengths = np.full(m, size * np.sqrt(shape.d))
    return {"a": generator.choice((-1.0, 1.0), m) * lengths, "V": V}


@final
class Standard(TwoLayer):
    """alpha_j = a_j, u_j = v_j; phi(z) = max(z, slope z).

    >>> net = Standard(StandardNetwork(m=2), Shape(2, np.zeros((5, 3))), {})
    >>> [(block.name, block.shape) for block in net.layout], net.size
    ([('a', (2,)), ('V', (2, 3))], 8)
    """

    kind = "standard"
    section = StandardNetwork
    compiled = True
    row_space = True
    direct = True
    plain_relu = True
    code = PLAIN

    def __init__(self, section: StandardNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d = shape.m, shape.d
        self.layout = (Block("a", (self.m,)), Block("V", (self.m, self.d)))
        self.scaled = self.size
        if section.slope > 0.0:
            self.activation = Activation(LEAKY, section.slope)
            self.plain_relu = False

    @staticmethod
    def initial(section: StandardNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """a ~ N(0, 1/m), V ~ N(0, I/d), drawn in this order (telgarsky22, section 1.2).

        Starts of a scale draw V first and then the signs of a.
        """
        if section.init in SMALL:
            return _of_scale(section, shape, generator)
        a = generator.standard_normal(shape.m)
        V = generator.standard_normal((shape.m, shape.d))
        if section.init in INIT_SCALES:
            scale = INIT_SCALES[section.init]
            return {"a": scale * a, "V": scale * V}
        return {"a": a / np.sqrt(shape.m), "V": V / np.sqrt(shape.d)}

    def effective(self, flat: Any) -> tuple[Any, Any]:
        return flat[: self.m], flat[self.m :].reshape(self.m, self.d)

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        return self.effective(direction)

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        return joined([d_alpha, d_U])

    def imbalance(self, flat: Array) -> Array:
        a, V = self.effective(flat)
        return np.asarray(a**2 - squared_norms(V))
