"""Networks with biases, and networks with one output per class.

Source: wei19, section F.4; frei23, section F.2. The network with biases is the standard network on
(x, 1): 2-homogeneous, and gradient flow conserves a_j^2 - |v_j|^2 - b_j^2 at every neuron.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.activation import PLAIN, WITH_BIAS
from core.network.parametrisation import (
    Array,
    Arrays,
    Block,
    Shape,
    TwoLayer,
    squared_norms,
)
from core.network.section import FILE_MEANING, NORMAL_MEANING, NetworkSection
from core.network.standard import INIT_SCALES, glorot_uniform
from core.settings import setting


def with_biases(V: Any, b: Any) -> Any:
    """Return (V, b) as one (m, d + 1) array or tensor, in the type of V (m, d)."""
    if isinstance(V, np.ndarray):
        return np.concatenate([V, b[:, None]], axis=1)
    import torch

    return torch.cat([V, b[:, None]], dim=1)


def with_ones(x: Array) -> Array:
    """Return the inputs with a 1 appended.

    Parameters
    ----------
    x : array (n, d)
        Inputs.

    Returns
    -------
    array (n, d + 1)
        (x, 1).
    """
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
    """Network with biases: alpha_j = a_j, u_j = (v_j, b_j) and x~ = (x, 1)."""

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
        """Draw a ~ N(0, 1/m), V and b ~ N(0, 1/(d + 1)), in this order (our choice).

        Parameters
        ----------
        section : BiasNetwork
            Settings; an `init` in INIT_SCALES makes all entries N(0, scale^2) instead.
        shape, generator : Shape, Generator
            Width m and dimension d; source of randomness.

        Returns
        -------
        dict of str to array
            "a" (m,), "V" (m, d) and "b" (m,).
        """
        a = generator.standard_normal(shape.m)
        V = generator.standard_normal((shape.m, shape.d))
        b = generator.standard_normal(shape.m)
        if section.init in INIT_SCALES:
            scale = INIT_SCALES[section.init]
            return {"a": scale * a, "V": scale * V, "b": scale * b}
        # The scaling of telgarsky22 for (x, 1) in R^(d + 1), since the papers do not state one.
        inner = 1.0 / np.sqrt(shape.d + 1.0)
        return {"a": a / np.sqrt(shape.m), "V": inner * V, "b": inner * b}

    def inputs(self, x: Array) -> Array:
        return with_ones(x)

    def effective(self, flat: Any) -> tuple[Any, Any]:
        a, V, b = self.unpack(flat).values()
        return a, with_biases(V, b)

    def imbalance(self, flat: Array) -> Array:
        a, V, b = self.unpack(flat).values()
        return np.asarray(a**2 - squared_norms(V) - b**2)


# ------------------------------------------------------------------------------- several outputs
#
# Source: frei23, section F.2; wei19, Theorem C.1. The margin of an example is its own logit minus
# the largest other. 2-homogeneous; |A_j|^2 - |v_j|^2 - b_j^2 is constant along gradient flow.


@final
class MulticlassNetwork(NetworkSection):
    title: ClassVar[str] = "k outputs sum_j A_jc relu(<v_j, x> + b_j), one for each class"
    source: ClassVar[str] = "frei23, section F.2; wei19, Theorem C.1"
    several: ClassVar[bool] = True

    words: ClassVar[str] = "multi-class network"
    kind: Literal["multiclass"] = "multiclass"
    biases: bool = setting(False, meaning="true if the neurons have biases b, which start at 0")
    init: Literal["paper", "normal", "small", "file"] = setting(
        "paper",
        meaning="paper: Glorot uniform, of variance 2/(m + k) for A and w^2 for V; "
        f"{NORMAL_MEANING}; {FILE_MEANING}",
    )
    init_multiple: float = setting(
        1.0, meaning="w in multiples of w_TF = sqrt(2/(m + d))", gt=0, le=1e6
    )


@final
class Multiclass(TwoLayer):
    """Network with one output per class: alpha = A (m, k), u_j = v_j, or (v_j, b_j) on (x, 1)."""

    kind = "multiclass"
    section = MulticlassNetwork
    compiled = True
    classes = "several"
    row_space = True
    direct = True

    def __init__(self, section: MulticlassNetwork, shape: Shape, fixed: Arrays) -> None:
        m, d, k = self.m, self.d, self.k = shape.m, shape.d, max(shape.k, 2)
        self.biases = section.biases
        self.code = WITH_BIAS if section.biases else PLAIN
        self.layout = (Block("A", (m, k)), Block("V", (m, d)))
        if self.biases:
            self.layout = (*self.layout, Block("b", (m,)))
        self.scaled = self.size

    @staticmethod
    def initial(section: MulticlassNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw A, then V times `init_multiple`, by the Glorot uniform law; b starts at 0.

        Parameters
        ----------
        section : MulticlassNetwork
            Settings; an `init` in INIT_SCALES makes the entries of A and V N(0, scale^2) instead.
        shape, generator : Shape, Generator
            Width m, dimension d and outputs k, at least 2; source of randomness.

        Returns
        -------
        dict of str to array
            "A" (m, k), "V" (m, d) and "b" (m,), also without `biases`.
        """
        m, d, k = shape.m, shape.d, max(shape.k, 2)
        if section.init in INIT_SCALES:
            scale = INIT_SCALES[section.init]
            A, V = generator.standard_normal((m, k)), generator.standard_normal((m, d))
            return {"A": scale * A, "V": scale * V, "b": np.zeros(m)}
        # The uniform law with deviation sd extends to sqrt(3) sd: w is a deviation in both
        # networks.
        A = glorot_uniform(generator, (m, k), np.sqrt(2.0 / (m + k)))
        w = section.init_multiple * np.sqrt(2.0 / (m + d))
        return {"A": A, "V": glorot_uniform(generator, (m, d), w), "b": np.zeros(m)}

    def inputs(self, x: Array) -> Array:
        return with_ones(x) if self.biases else x

    def effective(self, flat: Any) -> tuple[Any, Any]:
        parts = self.unpack(flat)
        return parts["A"], with_biases(parts["V"], parts["b"]) if self.biases else parts["V"]

    def imbalance(self, flat: Array) -> Array:
        A, U = self.effective(flat)
        return np.asarray(squared_norms(A) - squared_norms(U))
