"""The two-layer network of another program's run: f(x) = sum_j a_j phi(<v_j, x> + b_j) + c.

What `marginscope.record` was told of a network that is none of the papers': another activation, an
outer bias c, outer weights that are not trained. It is looked at and never trained here.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator

from core.errors import InputError
from core.network import phi
from core.network.bias import with_biases, with_ones
from core.network.parametrisation import Array, Arrays, Block, Shape, TwoLayer, joined
from core.network.section import NetworkSection
from core.run_files.networks import UNKNOWN, ActivationName, Form
from core.settings import setting

NOT_TRAINED = (
    'network.kind = "recorded" is the network of another program\'s run, and is not trained here'
)


@final
class RecordedNetwork(NetworkSection):
    title: ClassVar[str] = "f(x) = sum_j a_j phi(<v_j, x> + b_j) + c of another program's run"
    source: ClassVar[str] = "the user's own"

    kind: Literal["recorded"] = "recorded"
    activation: Literal[ActivationName, "unknown"] = setting(
        "relu", meaning="phi by name; unknown: f is not known"
    )
    slope: float = setting(0.01, meaning="slope of a leaky ReLU on the left")
    biases: bool = setting(False, meaning="whether the nodes have biases b")
    offset: bool = setting(False, meaning="whether there is an outer bias c")
    outer: bool = setting(True, meaning="whether the outer weights are trained")
    init: Literal["file"] = setting("file", meaning="file: as it was recorded")

    def not_homogeneous(self) -> str:
        if self.offset:
            return "network.offset = true: an outer bias is of another degree than the rest"
        if phi.of(self.activation, self.slope).degree == 0:
            return f'network.activation = "{self.activation}": it is not homogeneous'
        return ""


ZERO = "the network is 0"


def why_no_output(section: NetworkSection) -> str:
    """Why f has no value, where that does not depend on the weights; "" where it has one."""
    if getattr(section, "activation", "") != UNKNOWN:
        return ""
    return "f is not known, as its activation is not"


def why_no_margin(section: NetworkSection) -> str:
    """Why a frame has no margin: f has no value, or |f| is nowhere above 0."""
    return why_no_output(section) or ZERO


@final
class Recorded(TwoLayer):
    """alpha = a (m,) or A (m, k); u_j = v_j, or (v_j, b_j) on (x, 1). L = deg phi, + 1 with a."""

    kind = "recorded"
    section = RecordedNetwork
    classes = "any"
    direct = True

    def __init__(self, section: RecordedNetwork, shape: Shape, fixed: Arrays) -> None:
        self.m, self.d, self.k = shape.m, shape.d, shape.k
        self.form = Form(
            n=shape.x.shape[0],
            d=shape.d,
            m=shape.m,
            k=shape.k,
            activation=section.activation,
            slope=section.slope,
            biases=section.biases,
            offset=section.offset,
            outer=section.outer,
        )
        self.layout = tuple(Block(name, size) for name, size in self.form.layout)
        self.fixed = {
            name: np.ascontiguousarray(fixed[name], dtype=np.float64) for name, _ in self.form.fixed
        }
        self.activation = phi.of(section.activation, section.slope)  # type: ignore[assignment]
        self.plain_sum = not section.offset
        self.homogeneous = not section.not_homogeneous()
        self.inner_degree = max(1, phi.of(section.activation).degree)
        self.degree = self.inner_degree + int(section.outer)
        self.scaled = self.size - (shape.k if section.offset else 0)
        self._outer = "A" if shape.k > 1 else "a"

    @staticmethod
    def initial(section: RecordedNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Raises InputError: there is no start but that of the recording."""
        raise InputError(f"{NOT_TRAINED}; choose another kind.")

    def fixed_shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        return dict(self.form.fixed)

    def inputs(self, x: Array) -> Array:
        return with_ones(x) if self.form.biases else x

    def outputs(self, flat: Any, inputs: Any, offset: Any = None) -> Any:
        f = super().outputs(flat, inputs, offset)
        if not self.form.offset:
            return f
        c = self.unpack(flat)["c"]
        return f + (c if self.k > 1 else c[0])

    def gradient(self, flat: Any, inputs: Any, g: Any) -> Any:
        slope = super().gradient(flat, inputs, g)
        return joined([slope, np.atleast_1d(g.sum(axis=0))]) if self.form.offset else slope

    def derivative(self, flat: Array, inputs: Array, direction: Array) -> Array:
        along = super().derivative(flat, inputs, direction)
        if not self.form.offset:
            return along
        c = self.unpack(direction)["c"]
        return np.asarray(along + (c if self.k > 1 else c[0]))

    def gram(self, flat: Array, inputs: Array) -> Array:
        K = super().gram(flat, inputs)
        if not self.form.offset:
            return K
        n = inputs.shape[0]
        return np.asarray(K + np.kron(np.ones((n, n)), np.eye(self.k)))

    def effective(self, flat: Any) -> tuple[Any, Any]:
        parts = {**self.fixed, **self.unpack(flat)}
        V = parts["V"]
        return parts[self._outer], with_biases(V, parts["b"]) if self.form.biases else V

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        parts = self.unpack(direction)
        V = parts["V"]
        alpha = parts[self._outer] if self.form.outer else 0.0 * self.fixed[self._outer]
        return alpha, with_biases(V, parts["b"]) if self.form.biases else V

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        outer = [d_alpha] if self.form.outer else []
        biases = [d_U[:, -1]] if self.form.biases else []
        return joined([*outer, d_U[:, : self.d], *biases])
