"""Deep linear network f(x) = W_L ... W_1 x with one output, whose modes have exact solutions.

Source: Saxe, McClelland and Ganguli 2014; Arora, Cohen and Hazan 2018. L-homogeneous. Gradient flow
of any loss conserves W_(l+1)'W_(l+1) - W_l W_l' (docs/theory.md, 4.17). The last layer is a'.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.linear_predictor import LinearPredictor
from core.network.parametrisation import Array, Arrays, Block, Shape, join_flat, squared_norms
from core.network.section import FILE_MEANING, NetworkSection
from core.network.standard import draw_on_sphere
from core.settings import setting


@final
class DeepLinearNetwork(NetworkSection):
    title: ClassVar[str] = "deep linear network f(x) = W_L ... W_1 x of one output, all trained"
    source: ClassVar[str] = "Saxe, McClelland and Ganguli 2014; Arora, Cohen and Hazan 2018"
    shrinks: ClassVar[str] = "m or layers"

    words: ClassVar[str] = "deep linear network"
    kind: Literal["deep_linear"] = "deep_linear"
    layers: int = setting(3, meaning="L, number of weight matrices", ge=2, le=16)
    init: Literal["aligned", "paper", "balanced", "random", "file"] = setting(
        "aligned",
        meaning="balanced: each W_l of rank one and norm scale^(1/L), so that f = scale <w, x> "
        "with w uniform on the sphere; aligned or paper: the same with w along "
        f"sum_i y_i x_i; random: all entries N(0, scale^(2/L)/m); {FILE_MEANING}",
    )
    scale: float = setting(1e-3, meaning="size of the product of the layers", gt=0, le=1e6)

    @property
    def small_start(self) -> bool:
        return self.init != "file"

    def weights(self, d: int, k: int) -> int:
        m = self.m or 1
        return m * (d + (self.layers - 2) * m + k)


@final
class DeepLinear(LinearPredictor):
    """Deep linear network with parameters W1 (m, d), W2, ..., W(L-1) (m, m) and a (m,).

    >>> net = DeepLinear(DeepLinearNetwork(m=1, layers=3), Shape(1, np.zeros((5, 2))), {})
    >>> net.coefficients(np.array([1.0, 2.0, 3.0, 5.0])).tolist()  # 5 * 3 * (1, 2)
    [15.0, 30.0]
    """

    kind = "deep_linear"
    section = DeepLinearNetwork

    def __init__(self, section: DeepLinearNetwork, shape: Shape, fixed: Arrays) -> None:
        m, self.m, self.d, self.degree = shape.m, shape.m, shape.d, section.layers
        self.layout = (
            Block("W1", (m, self.d)),
            *(Block(f"W{place}", (m, m)) for place in range(2, self.degree)),
            Block("a", (m,)),
        )
        self.scaled = self.size

    @staticmethod
    def initial(section: DeepLinearNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw one unit vector a layer, from the last to the first, and w; or all entries."""
        size, layout = (
            section.scale ** (1.0 / section.layers),
            DeepLinear(section, shape, {}).layout,
        )
        if section.init == "random":
            sd = size / np.sqrt(shape.m)
            return {one.name: sd * generator.standard_normal(one.shape) for one in layout}
        units = draw_on_sphere(generator, section.layers - 1, shape.m)
        w = draw_on_sphere(generator, 1, shape.d)[0]
        if section.init != "balanced" and shape.y is not None:
            pull = shape.y @ shape.x
            length = float(np.linalg.norm(pull))
            w = pull / length if length > 0.0 else w
        rows = [w, *units]
        arrays = {
            block.name: size * np.outer(rows[place + 1], rows[place])
            for place, block in enumerate(layout[:-1])
        }
        return {**arrays, "a": size * rows[-1]}

    def matrices(self, flat: Any) -> list[Any]:
        """Return W_1, ..., W_(L-1), and a as a row, (1, m)."""
        *inner, a = self.unpack(flat).values()
        return [*inner, a[None]]

    def coefficients(self, flat: Any) -> Any:
        *inner, row = self.matrices(flat)
        for W in reversed(inner):
            row = row @ W
        return row[0]

    def push_coefficients(self, flat: Array, direction: Array) -> Array:
        (*inner, row), (*changes, along) = self.matrices(flat), self.matrices(direction)
        for W, change in zip(reversed(inner), reversed(changes), strict=True):
            along = along @ W + row @ change
            row = row @ W
        return np.asarray(along[0])

    def pull_coefficients(self, flat: Array, d_beta: Array) -> Array:
        *inner, row = self.matrices(flat)
        columns = [d_beta]  # W_l ... W_1 d_beta
        for W in inner:
            columns.append(W @ columns[-1])
        slopes = [columns.pop()]
        for W, column in zip(reversed(inner), reversed(columns), strict=True):
            slopes.append(np.outer(row[0], column))
            row = row @ W
        return np.asarray(join_flat(slopes[::-1]))

    def invariants(self, flat: Array) -> Array:
        layers = self.matrices(flat)
        differences = [after.T @ after - before @ before.T for before, after in pairwise(layers)]
        return np.asarray(join_flat(differences))

    def imbalance(self, flat: Array) -> Array:
        """Return a_j^2 - |w_j|^2 of each row w_j of the last matrix, (m,)."""
        *_, W, a = self.unpack(flat).values()
        return np.asarray(a**2 - squared_norms(W))

    def nodes(self, flat: Array) -> tuple[Array, Array]:
        """Return a, and the rows of W_(L-1) ... W_1: the nodes of the last hidden layer."""
        *inner, a = self.unpack(flat).values()
        U = inner[0]
        for W in inner[1:]:
            U = W @ U
        return np.asarray(a), np.asarray(U)
