"""The normalised network: f(x) = sum_j a_j b_j relu(<v_j/|v_j|, x>), all trained.

Source: homogeneity, equation 1 and section 4. 2-homogeneous in (a, b); a_j^2 - b_j^2 and |v_j| are
constant along gradient flow for every node.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.codes import NORMALISED
from core.network.parametrisation import Array, Arrays, Block, Shape, TwoLayer, joined
from core.network.section import FILE_MEANING, NetworkSection
from core.network.starts import on_sphere, signs
from core.settings import setting


@final
class NormalisedNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j b_j relu(<v_j/|v_j|, x>), all trained"
    source: ClassVar[str] = "homogeneity, equation 1 and section 4"

    kind: Literal["normalised"] = "normalised"
    init: Literal["paper", "file"] = setting(
        "paper",
        meaning=f"paper: a, b = +-1/sqrt(m) uniformly, v uniform on the sphere; {FILE_MEANING}",
    )


@final
class Normalised(TwoLayer):
    """alpha_j = a_j b_j, u_j = v_j/|v_j|."""

    kind = "normalised"
    section = NormalisedNetwork
    compiled = True
    row_space = True
    factored = True
    starts_small = True
    plain_relu = True
    code = NORMALISED

    def __init__(self, section: NormalisedNetwork, shape: Shape, fixed: Arrays) -> None:
        m, d = self.m, self.d = shape.m, shape.d
        self.layout = (Block("a", (m,)), Block("b", (m,)), Block("V", (m, d)))
        self.scaled = 2 * m

    @staticmethod
    def initial(section: NormalisedNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """a, b = +-1/sqrt(m) uniformly, v uniform on the sphere, drawn in this order."""
        # Balanced, |a_j| = |b_j|, which the flow keeps: it is the mirror flow of u_j = a_j^2, from
        # u_j(0) = 1/m (homogeneity, Lemma 3.2).
        scale = shape.m**-0.5
        a, b = scale * signs(generator, shape.m), scale * signs(generator, shape.m)
        return {"a": a, "b": b, "V": on_sphere(generator, shape.m, shape.d)}

    def _parts(self, flat: Any) -> tuple[Any, Any, Any]:
        m = self.m
        return flat[:m], flat[m : 2 * m], flat[2 * m :].reshape(m, self.d)

    def _unit(self, V: Any) -> tuple[Any, Any]:
        norms = ((V * V).sum(axis=1) ** 0.5)[:, None]
        return V / norms, norms

    def effective(self, flat: Any) -> tuple[Any, Any]:
        a, b, V = self._parts(flat)
        return a * b, self._unit(V)[0]

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        (a, b, V), (da, db, dV) = self._parts(flat), self._parts(direction)
        unit, norms = self._unit(V)
        return a * db + b * da, (dV - unit * (unit * dV).sum(axis=1)[:, None]) / norms

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        a, b, V = self._parts(flat)
        unit, norms = self._unit(V)
        across = (d_U - unit * (unit * d_U).sum(axis=1)[:, None]) / norms
        return joined([b * d_alpha, a * d_alpha, across])

    def gram(self, flat: Array, inputs: Array) -> Array:
        """The inner weights' part loses what lies along each node's own v_j."""
        a, b, V = (part.reshape(self.m, -1) for part in self._parts(flat))
        U, norms = self._unit(V)
        z = U @ inputs.T
        outer, w = np.hypot(a, b) * self.activation(z), a * b * self.activation.slopes(z) / norms
        wz = w * z
        return np.asarray(outer.T @ outer + (inputs @ inputs.T) * (w.T @ w) - wz.T @ wz)
