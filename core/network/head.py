"""Abstract head f(x) = <a*b, F(x; V)>, with F an MLP that ends in a normalisation layer.

Source: homogeneity, equation 2 and Assumption 2.1. h_0 = x, h_l = relu(V_l h_(l-1)) for l < depth,
z = V_depth h_(depth-1), and F = z/sqrt(mean z^2 + eps) (RMSNorm), or the same of z - mean z
(LayerNorm). f is 2-homogeneous in (a, b) and not in V. Gradient flow conserves a_j^2 - b_j^2.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.parametrisation import Array, Arrays, Block, Network, Shape, join_flat
from core.network.section import FILE_MEANING, NetworkSection
from core.network.standard import signs
from core.settings import setting

EPS = 1e-5  # of the normalisation layers, the default of PyTorch


@final
class HeadNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = <a*b, F(x; V)>, F an MLP that ends in a normalisation layer"
    source: ClassVar[str] = "homogeneity, equation 2 and section 2"

    words: ClassVar[str] = "network with normalised head"
    kind: Literal["head"] = "head"
    depth: int = setting(2, meaning="number of weight matrices of F", ge=1, le=16)
    hidden: int = setting(32, meaning="width of F's hidden layers", ge=1, le=10_000)
    normaliser: Literal["rms", "layer"] = setting(
        "rms", meaning="rms: RMSNorm; layer: LayerNorm (without trained gain and shift)"
    )
    init: Literal["paper", "file"] = setting(
        "paper",
        meaning="paper: a, b = +-1/sqrt(m) uniformly, V ~ N(0, 2/fan-in), the last N(0, 1/fan-in); "
        f"{FILE_MEANING}",
    )
    shrinks: ClassVar[str] = "hidden, depth or m"

    def weights(self, d: int, k: int) -> int:
        widths = [d, *[self.hidden] * (self.depth - 1), self.m or 1]
        return sum(a * b for a, b in pairwise(widths)) + 2 * (self.m or 1)


@final
class Head(Network):
    """Abstract head with parameters a, b (m,), V1 (hidden, d), ..., V_depth (m, hidden).

    `outputs` ignores an offset: the head has no row-space form.
    """

    kind = "head"
    section = HeadNetwork
    inner_weights = False
    factored = True
    starts_small = True

    def __init__(self, section: HeadNetwork, shape: Shape, fixed: Arrays) -> None:
        m, self.m, self.d = shape.m, shape.m, shape.d
        widths = [shape.d, *[section.hidden] * (section.depth - 1), m]
        self.matrices = tuple(
            Block(f"V{level}", (widths[level], widths[level - 1]))
            for level in range(1, len(widths))
        )
        self.layout = (Block("a", (m,)), Block("b", (m,)), *self.matrices)
        self.scaled = 2 * m
        self.centres = section.normaliser == "layer"

    @staticmethod
    def initial(section: HeadNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw a, b = +-1/sqrt(m) uniformly, then V_l ~ N(0, 2/fan-in), the last N(0, 1/fan-in).

        Parameters
        ----------
        section : HeadNetwork
            Settings, with the depth and the width of the hidden layers.
        shape, generator : Shape, Generator
            Width m and dimension d; source of randomness.

        Returns
        -------
        dict of str to array
            "a" and "b" (m,), "V1" (hidden, d), ..., "V<depth>" (m, hidden); "V1" (m, d) at depth 1.
        """
        scale = shape.m**-0.5
        arrays = {"a": scale * signs(generator, shape.m), "b": scale * signs(generator, shape.m)}
        for block in Head(section, shape, {}).matrices:
            last = block.name == f"V{section.depth}"
            sd = np.sqrt((1.0 if last else 2.0) / block.shape[1])
            arrays[block.name] = sd * generator.standard_normal(block.shape)
        return arrays

    def _parts(self, flat: Any) -> tuple[Any, Any, list[Any]]:
        """Return a, b and the list of the matrices of F."""
        parts = self.unpack(flat)
        return parts["a"], parts["b"], [parts[block.name] for block in self.matrices]

    def _features(self, V: list[Any], x: Any) -> tuple[list[Any], Any, Any]:
        """Return (h_0, ..., h_(depth-1)), F (n, m) and the divisor r (n, 1)."""
        hidden = [x]
        for matrix in V[:-1]:
            hidden.append((hidden[-1] @ matrix.T).clip(0.0))
        z = hidden[-1] @ V[-1].T
        if self.centres:
            z = z - z.mean(axis=1)[:, None]
        r = ((z * z).mean(axis=1) + EPS)[:, None] ** 0.5
        return hidden, z / r, r

    def _normalise_derivative(self, dz: Any, F: Any, r: Any) -> Any:
        """Return the derivative of z -> F along dz (n, m), row by row; it is its own transpose.

        F (n, m) = z/r with r (n, 1) the root mean square, of z - mean z for LayerNorm.
        """
        if self.centres:
            dz = dz - dz.mean(axis=1)[:, None]
        return (dz - F * (dz * F).mean(axis=1)[:, None]) / r

    def features(self, flat: Any, inputs: Any) -> Any:
        """Return F(x_i; V), (n, m)."""
        return self._features(self._parts(flat)[2], inputs)[1]

    def outputs(self, flat: Any, inputs: Any, offset: Any = None) -> Any:
        a, b, V = self._parts(flat)
        return self._features(V, inputs)[1] @ (a * b)

    def gradient(self, flat: Any, inputs: Any, g: Any) -> Any:
        a, b, V = self._parts(flat)
        hidden, F, r = self._features(V, inputs)
        du = F.T @ g
        pulled_back = self._normalise_derivative(g[:, None] * (a * b), F, r)
        slopes = []
        for level in range(len(V) - 1, -1, -1):
            slopes.append(pulled_back.T @ hidden[level])
            if level:
                pulled_back = (pulled_back @ V[level]) * (hidden[level] > 0)
        return join_flat([b * du, a * du, *reversed(slopes)])

    def derivative(self, flat: Array, inputs: Array, direction: Array) -> Array:
        (a, b, V), (da, db, dV) = self._parts(flat), self._parts(direction)
        hidden, F, r = self._features(V, inputs)
        dh = np.zeros_like(inputs)
        for level, (matrix, change) in enumerate(zip(V, dV, strict=True)):
            dh = dh @ matrix.T + hidden[level] @ change.T
            if level < len(V) - 1:
                dh = dh * (hidden[level + 1] > 0)
        dF = self._normalise_derivative(dh, F, r)
        return np.asarray(dF @ (a * b) + F @ (a * db + b * da))

    def nodes(self, flat: Array) -> tuple[Array, Array]:
        # a_j b_j, (m,). A neuron of a normalised deep network has no inner weights: NaN, (m, d).
        a, b, _ = self._parts(flat)
        return np.asarray(a * b), np.full((self.m, self.d), np.nan)
