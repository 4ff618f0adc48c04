"""Two-layer linear network f(x) = sum_j a_j <v_j, x>, whose training has exact solutions.

Source: Saxe, McClelland and Ganguli 2014; Fukumizu 1998. 2-homogeneous. Gradient flow conserves the
matrix a a' - V V', not only its diagonal a_j^2 - |v_j|^2 (docs/theory.md, 4.14).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.activation import LEAKY, PLAIN, Activation
from core.network.parametrisation import Array, Arrays, Block, Shape, TwoLayer, squared_norms
from core.network.section import FILE_MEANING, NetworkSection
from core.network.standard import draw_on_sphere
from core.settings import setting


@final
class LinearNetwork(NetworkSection):
    title: ClassVar[str] = "two-layer linear network f(x) = sum_j a_j <v_j, x>, both trained"
    source: ClassVar[str] = "Saxe, McClelland and Ganguli 2014; Fukumizu 1998"

    kind: Literal["linear"] = "linear"
    init: Literal["aligned", "paper", "balanced", "random", "file"] = setting(
        "aligned",
        meaning="balanced: V = a w' with |a|^2 = scale and w uniform on the sphere, so that "
        "f = scale <w, x>; aligned or paper: the same with w along sum_i y_i x_i; random: "
        f"all entries N(0, scale/m); {FILE_MEANING}",
    )
    scale: float = setting(1e-3, meaning="size of |a|^2 at the start", gt=0, le=1e6)

    @property
    def small_start(self) -> bool:
        return self.init != "file"


@final
class Linear(TwoLayer):
    """Linear network: alpha_j = a_j, u_j = v_j and phi(z) = z.

    >>> net = Linear(LinearNetwork(m=2), Shape(2, np.zeros((5, 3))), {})
    >>> flat = np.arange(8.0)
    >>> net.outputs(flat, np.eye(3)).tolist()  # a V = (0, 1) [[2, 3, 4], [5, 6, 7]]
    [5.0, 6.0, 7.0]
    """

    kind = "linear"
    section = LinearNetwork
    compiled = True
    row_space = True
    direct = True
    code = PLAIN
    activation = Activation(LEAKY, 1.0)

    def __init__(self, section: LinearNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d = shape.m, shape.d
        self.layout = (Block("a", (self.m,)), Block("V", (self.m, self.d)))
        self.scaled = self.size

    @staticmethod
    def initial(section: LinearNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw a and then w, or V; an aligned start takes w from the data where it can.

        Parameters
        ----------
        section : LinearNetwork
            Settings. `init` "random" makes all entries N(0, scale/m); else V = a w'.
        shape, generator : Shape, Generator
            Width m, inputs x (n, d) and targets y (n,); source of randomness. An aligned start
            has w along sum_i y_i x_i, if y is known and the sum is not 0.

        Returns
        -------
        dict of str to array
            "a" (m,) and "V" (m, d). Unless random, |a|^2 = scale and |w| = 1.
        """
        m, d = shape.m, shape.d
        if section.init == "random":
            entries = np.sqrt(section.scale / m) * generator.standard_normal((m, 1 + d))
            return {"a": entries[:, 0], "V": entries[:, 1:]}
        a = np.sqrt(section.scale) * draw_on_sphere(generator, 1, m)[0]
        w = draw_on_sphere(generator, 1, d)[0]
        if section.init != "balanced" and shape.y is not None:
            pull = shape.y @ shape.x
            length = float(np.linalg.norm(pull))
            w = pull / length if length > 0.0 else w
        return {"a": a, "V": np.outer(a, w)}

    def effective(self, flat: Any) -> tuple[Any, Any]:
        return flat[: self.m], flat[self.m :].reshape(self.m, self.d)

    def imbalance(self, flat: Array) -> Array:
        a, V = self.effective(flat)
        return np.asarray(a**2 - squared_norms(V))
