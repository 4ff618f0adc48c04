"""Networks, and the map from trained parameters to the effective weights of the one network.

Every binary model of the papers but the abstract head is f(x) = sum_j alpha_j phi(<u_j, x~>) seen
through a parametrisation. `Network` is what dynamics, run files, observables and views know;
`TwoLayer` is a network with effective weights, to which a parametrisation adds three linear maps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from core.network import kernel
from core.network.activation import Activation
from core.network.section import NetworkSection

Array = NDArray[np.float64]
Arrays = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """One array of parameters: its name in the paper and its shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What a network is made for: m nodes, inputs x (n, d) it is trained on, k outputs.

    `x` is needed by networks with statistics of the data; k = 1 for two classes.
    """

    m: int
    x: Array
    k: int = 1

    @property
    def d(self) -> int:
        return int(self.x.shape[1])


class Network(ABC):
    """Trained parameters, kept flat in the order of `layout`, and what they mean.

    The first `scaled` entries of a flat vector are the homogeneous parameters W_h, in which f has
    degree L = `degree`: f(c W_h) = c^L f(W_h) for c > 0. Where a frame has a factor e^rho it
    multiplies these only. `homogeneous` is false where f is homogeneous in no parameters; `degree`
    then still says by which power of the norm margins are divided. `fixed` are the parameters that
    are not trained, by name. k is the number of outputs, 1 for two classes.
    """

    kind: ClassVar[str]
    section: ClassVar[type[NetworkSection]]
    engine: ClassVar[str] = "NumPy"  # what computes where there is no compiled twin
    # What other parts of the program ask of a network: each default is right for any network.
    compiled: ClassVar[bool] = False  # there are kernels for it: its twin in core.compiled.network
    classes: ClassVar[Literal["two", "several", "any"]] = "two"  # of data, for k = 1 or k >= 3
    # Full-batch training leaves each v_j in the span of the rows of x~ and of v_j(0); `centred`:
    # x~ are the inputs minus their training mean (core.problem.reduction).
    row_space: ClassVar[bool] = False
    centred: ClassVar[bool] = False
    # alpha and U are parameters as they are, or not trained: `pull` of them gives them back.
    direct: ClassVar[bool] = False
    # f = <a*b, F(x)> with outer weights a_j b_j; `fixed_features`: nothing of F is trained.
    factored: ClassVar[bool] = False
    fixed_features: ClassVar[bool] = False
    starts_small: ClassVar[bool] = False  # f is near 0 at the paper's start, whatever the weights
    inner_weights: ClassVar[bool] = True  # a node has inner weights u_j in the space of x~
    # f is a sum of alpha_j relu(<u_j, x>) on x itself: min_i p_i/|W|^2 <= gamma_gl/2, and the
    # features of gamma_ntk are those of the nodes.
    plain_relu: bool = False
    degree: int = 2
    inner_degree: int = 1  # of f in the inner weights u_j
    homogeneous: bool = True
    m: int
    d: int  # dimension of x as the network is given it, before ones are appended
    k: int = 1
    layout: tuple[Block, ...]
    fixed: Mapping[str, Array] = MappingProxyType({})
    scaled: int
    # The blocks of which margins are divided by the product of the norms, instead of |W_h|^L.
    product: tuple[str, ...] = ()

    @abstractmethod
    def __init__(self, section: Any, shape: Shape, fixed: Arrays) -> None:
        """The network of a section, of its own class, for a shape; `fixed` has what is untrained.

        Sets m, d, layout and scaled, and k and fixed where they are not 1 and nothing.
        """

    @staticmethod
    @abstractmethod
    def initial(section: Any, shape: Shape, generator: Generator) -> dict[str, Array]:
        """All arrays of the paper's start by name, trained and untrained."""

    @property
    def size(self) -> int:
        return sum(block.size for block in self.layout)

    def inputs(self, x: Array) -> Array:
        """x~ (n, D), what the nodes see of x (n, d): x itself, centred, or with a 1 appended."""
        return x

    @abstractmethod
    def outputs(self, flat: Any, inputs: Any, offset: Any = None) -> Any:
        """f (n,), or (n, k) for k > 1, at x~ = `inputs`.

        `offset` (m, n) is what row-space runs do not see of points outside the span of the training
        data: <e_j, x_i>, by which the last coordinate z_j of u_j counts (core.problem.reduction).
        """

    @abstractmethod
    def gradient(self, flat: Any, inputs: Any, g: Any) -> Any:
        """sum_i g_i grad f(x_i) (sum_ic g_ic grad f_c(x_i)) in the trained parameters, flat."""

    @abstractmethod
    def derivative(self, flat: Array, inputs: Array, direction: Array) -> Array:
        """The derivative of the outputs along a flat direction: J direction, (n,) or (n, k)."""

    def gram(self, flat: Array, inputs: Array) -> Array:
        """The tangent kernel <grad f_i, grad f_r>, (n, n); (n k, n k) with the class fastest.

        Row by row as J (J' e_i), without J (n, size) itself: right for any network. Networks whose
        kernel has a closed form override this.
        """
        slopes = self.output_slopes(flat, inputs)
        rows = np.array([np.ravel(self.derivative(flat, inputs, slope)) for slope in slopes])
        # Symmetric to the last digit, as eigenvalue routines take it to be.
        return np.asarray(0.5 * (rows + rows.T))

    def output_slopes(self, flat: Array, inputs: Array) -> Iterator[Array]:
        """Yield the gradient (size,) of each output of each example, the class fastest."""
        units = [np.ones(1)] if self.k == 1 else np.eye(self.k)[:, None]
        for i in range(inputs.shape[0]):
            for unit in units:
                yield np.asarray(self.gradient(flat, inputs[i : i + 1], unit))

    def imbalance(self, flat: Array) -> Array:
        """Per node, the difference of squared norms that gradient flow conserves; empty if none.

        a_j^2 - b_j^2 of `factored` networks, whose first blocks are a and b.
        """
        if not self.factored:
            return np.zeros(0)
        a, b = flat[: 2 * self.m].reshape(2, self.m)
        return np.asarray(a**2 - b**2)

    def nodes(self, flat: Array) -> tuple[Array, Array]:
        """(s (m,), U (m, D)): signed sizes of the outer weights, and the effective inner weights.

        For k > 1 outputs s_j = |A_j|. NaN where there are none.
        """
        return np.full(self.m, np.nan), np.full((self.m, self.d), np.nan)

    def directions(self, flat: Array) -> Array:
        """The inner weight vector of each node, whose rotation is watched, (m, d); NaN if none.

        V, trained or not, where the network has it: not u_j, which may be shortened or turned.
        """
        parts = {**self.fixed, **self.unpack(flat)}
        return np.asarray(parts["V"] if "V" in parts else self.nodes(flat)[1][:, : self.d])

    def fixed_shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        """The shapes that the untrained arrays must have, by name."""
        sizes = {"V": (shape.m, shape.d), "a": (shape.m,)}
        return {name: sizes[name] for name in self.fixed}

    def physical(self, flat: NDArray[Any], rho: float) -> NDArray[Any]:
        """The parameters themselves: the homogeneous ones times e^rho."""
        # The very array, without a copy: descent has rho = 0 at every frame.
        if rho == 0.0:
            return flat
        with np.errstate(over="ignore"):
            return np.concatenate([np.exp(rho) * flat[: self.scaled], flat[self.scaled :]])

    def norm(self, flat: Array) -> float:
        """|W_h|, the norm of the homogeneous parameters."""
        return float(np.linalg.norm(flat[: self.scaled]))

    def norm_power(self, flat: Array) -> float:
        """What margins are divided by: |W_h|^L, or the product of the norms of some blocks.

        L-homogeneous, whatever it is; at most |W_h|^L.
        """
        if self.product:
            parts = self.unpack(flat)
            return float(prod(np.linalg.norm(parts[name]) for name in self.product))
        return self.norm(flat) ** self.degree

    @property
    def margin_norm(self) -> tuple[str, str]:
        """Text and TeX of what margins are divided by (`norm_power`).

        W are the trained parameters, where all weights are trained and homogeneous; else those
        that are both are named.
        """
        if self.product:
            texts = [f"|{name}|" for name in self.product]
            return " ".join(texts), "\\,".join(f"\\Vert {name}\\Vert" for name in self.product)
        ends = accumulate(block.size for block in self.layout)
        names = [one.name for one, end in zip(self.layout, ends, strict=True) if end <= self.scaled]
        whole = len(names) == len(self.layout) and not self.fixed
        inside = names[0] if len(names) == 1 else "W" if whole else f"({', '.join(names)})"
        power = f"^{self.degree}" if self.degree != 1 else ""
        tex = inside.replace("_", "\\_")  # of a user's own names
        return f"|{inside}|{power}", f"\\Vert {tex}\\Vert{power}"

    def margins(self, flat: Array, inputs: Array, y: Array) -> Array:
        """p_i = y_i f(x_i), or the own logit minus the largest other for k > 1, shape (n,)."""
        return margins_of(self.outputs(flat, inputs), y)

    def unpack(self, flat: Any) -> dict[str, Any]:
        """Views of `flat` (..., size) by name, each (..., *shape)."""
        runs = flat.shape[:-1]
        return {
            name: flat[..., place].reshape(*runs, *shape) for name, place, shape in self._places
        }

    @cached_property
    def _places(self) -> tuple[tuple[str, slice, tuple[int, ...]], ...]:
        ends = accumulate(block.size for block in self.layout)
        return tuple(
            (block.name, slice(end - block.size, end), block.shape)
            for block, end in zip(self.layout, ends, strict=True)
        )

    def pack(self, arrays: Arrays) -> Array:
        """The flat float64 vector of named arrays; shapes must be those of `layout`."""
        parts = [np.asarray(arrays[block.name], dtype=np.float64) for block in self.layout]
        return np.concatenate([part.reshape(-1) for part in parts])


def margins_of(f: Array, y: Array) -> Array:
    """Margins (n,) of outputs f (n,) with y = +-1, or of logits (n, k) with class numbers y.

    >>> margins_of(np.array([[1.0, 3.0, 2.0]]), np.array([1.0])).tolist()
    [1.0]
    """
    if f.ndim == 1:
        return np.asarray(y * f)
    rows, own = np.arange(f.shape[0]), y.astype(np.int64)
    others = f.copy()
    # Left out of the maximum, whatever the size of the logits.
    others[rows, own] = -np.inf
    return np.asarray(f[rows, own] - others.max(axis=1))


class TwoLayer(Network):
    """f(x) = sum_j alpha_j phi(<u_j, x~>) for weights that depend on the trained parameters.

    A parametrisation gives `effective`, its linearisation `push` and the transpose `pull`; the
    defaults of both are for weights that are the parameters themselves. They take NumPy arrays and
    torch tensors, of any floating type. `code` is the number of the compiled twin in
    core.compiled.network; without one the general engines train the network.
    """

    code: int
    d: int  # of V, which the last coordinate of U may exceed by a bias
    activation: Activation = Activation()
    plain_sum: bool = True  # f is that sum alone, without an outer bias

    def gram(self, flat: Array, inputs: Array) -> Array:
        """As of any network; in closed form where the weights are parameters, or fixed."""
        if not self.direct:
            return super().gram(flat, inputs)
        alpha, U = self.effective(flat)
        z = U @ inputs.T
        # Without J (n, size): two products of the size of the activations.
        inner, outer = weighted_gram(inputs, alpha, self.activation.slopes(z)), self.activation(z)
        if not {"a", "A"}.isdisjoint(self.fixed):
            return inner
        return np.asarray(inner + np.kron(outer.T @ outer, np.eye(self.k)))

    @abstractmethod
    def effective(self, flat: Any) -> tuple[Any, Any]:
        """(alpha (m,) or (m, k), U (m, D)) of the two-layer network that `flat` stands for."""

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        """(d alpha, d U), the derivative of `effective` along a flat direction."""
        return self.effective(direction)

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        """The gradient in the trained parameters, flat, from that in (alpha, U)."""
        return joined([d_alpha, d_U[:, : self.d], *d_U[:, self.d :].T])

    def outputs(self, flat: Any, inputs: Any, offset: Any = None) -> Any:
        alpha, U = self.effective(flat)
        outside = None if offset is None else U[:, self.d - 1, None] * offset
        return kernel.outputs(alpha, U, inputs, self.activation, outside)

    def gradient(self, flat: Any, inputs: Any, g: Any) -> Any:
        alpha, U = self.effective(flat)
        return self.pull(flat, *kernel.gradient(alpha, U, inputs, g, self.activation))

    def derivative(self, flat: Array, inputs: Array, direction: Array) -> Array:
        alpha, U = self.effective(flat)
        return kernel.derivative(alpha, U, inputs, *self.push(flat, direction), self.activation)

    def nodes(self, flat: Array) -> tuple[Array, Array]:
        alpha, U = self.effective(flat)
        return (alpha if alpha.ndim == 1 else np.linalg.norm(alpha, axis=1)), U

    def constant(self, array: Array, like: Any) -> Any:
        """An untrained array in the type, and on the device, of `like`; tensors are made once."""
        if isinstance(like, np.ndarray):
            return array.astype(like.dtype, copy=False)
        kept = self.__dict__.setdefault("_constants", {})
        # The array is this network's own, so that no other can take its id while the entry is kept.
        key = (id(array), like.dtype, like.device)
        if key not in kept:
            kept[key] = like.new_tensor(array)
        return kept[key]

    def compiled_constants(self) -> tuple[Array, float]:
        """What the compiled twin needs beside flat: an array (p, q), and a number."""
        return np.zeros((1, 1)), 0.0


def weighted_gram(inputs: Array, alpha: Array, slopes: Array) -> Array:
    """sum_j <x~_i, x~_r> w_ji w_jr with w = alpha phi'(z), (n, n), or (n k, n k) for alpha (m, k).

    What the trained inner weights contribute to the tangent kernel.
    """
    xx, n = inputs @ inputs.T, inputs.shape[0]
    if alpha.ndim == 1:
        w = alpha[:, None] * slopes
        return np.asarray(xx * (w.T @ w))
    m, k = alpha.shape
    w = (slopes[:, :, None] * alpha[:, None, :]).reshape(m, n * k)
    return np.asarray(np.repeat(np.repeat(xx, k, axis=0), k, axis=1) * (w.T @ w))


def joined(parts: list[Any]) -> Any:
    """One flat vector of NumPy arrays or torch tensors."""
    flats = [part.reshape(-1) for part in parts]
    if isinstance(flats[0], np.ndarray):
        return np.concatenate(flats)
    import torch

    return torch.cat(flats)


def squared_norms(V: Array) -> Array:
    """|v_j|^2 of the rows, (m,)."""
    return np.asarray(np.einsum("jk,jk->j", V, V))
