"""Interface of all networks, and maps from trained parameters to effective weights.

Every binary model of the papers but the abstract head is f(x) = sum_j alpha_j phi(<u_j, x~>) seen
through a parametrisation. Dynamics, run files, observables and views know only `Network`.
`TwoLayer` is a network with effective weights; a parametrisation adds three linear maps to it.
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
    """Name, as in the paper, and shape of one array of parameters."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Sizes of a network: m nodes, training inputs x (n, d), k outputs (1 for two classes).

    Networks with statistics of the data read `x`; starts that depend on the targets read `y` (n,).
    """

    m: int
    x: Array
    k: int = 1
    y: Array | None = None

    @property
    def d(self) -> int:
        return int(self.x.shape[1])


class Network(ABC):
    """Trained parameters, kept flat in the order of `layout`, and their meaning.

    The first `scaled` entries of a flat vector are the homogeneous parameters W_h, in which f has
    degree L = `degree`: f(c W_h) = c^L f(W_h) for c > 0. A frame's factor e^rho multiplies these
    only. If `homogeneous` is false, f is homogeneous in no parameters, and margins are still
    divided by the power `degree` of the norm. `fixed` holds the untrained parameters by name. k
    counts the outputs, 1 for two classes.

    In all methods `flat` (size,) are the trained parameters, and `inputs` (n, D) the nodes' inputs
    x~. Networks with effective weights take arrays and tensors where the type is Any.
    """

    kind: ClassVar[str]
    section: ClassVar[type[NetworkSection]]
    engine: ClassVar[str] = "NumPy"  # library that computes networks without compiled kernels
    # Properties used by other parts of the program; each default is safe for any network.
    compiled: ClassVar[bool] = False  # has kernels in core.compiled.network
    classes: ClassVar[Literal["two", "several", "any"]] = "two"  # of the data, for k = 1 or k >= 3
    # Full-batch training keeps each v_j in the span of the rows of x~ and v_j(0). With `centred`,
    # x~ are the inputs minus their training mean (core.problem.reduction).
    row_space: ClassVar[bool] = False
    centred: ClassVar[bool] = False
    # alpha and U are parameters, or untrained: `pull` returns them unchanged.
    direct: ClassVar[bool] = False
    # f = <a*b, F(x)> with outer weights a_j b_j; with `fixed_features` F is untrained.
    factored: ClassVar[bool] = False
    fixed_features: ClassVar[bool] = False
    # F is near 0 at the paper's start, at any size of the weights.
    starts_small: ClassVar[bool] = False
    inner_weights: ClassVar[bool] = True  # a node has inner weights u_j in the space of x~
    # f is a sum of alpha_j relu(<u_j, x>) on x itself: min_i p_i/|W|^2 <= gamma_gl/2, and the
    # features of gamma_ntk are those of the nodes.
    plain_relu: bool = False
    degree: int = 2
    inner_degree: int = 1  # degree of f in the inner weights u_j
    homogeneous: bool = True
    m: int
    d: int  # dimension of the network's input x, before ones are appended
    k: int = 1
    layout: tuple[Block, ...]
    fixed: Mapping[str, Array] = MappingProxyType({})
    scaled: int
    # Blocks whose product of norms replaces |W_h|^L in normalised margins.
    product: tuple[str, ...] = ()

    @abstractmethod
    def __init__(self, section: Any, shape: Shape, fixed: Arrays) -> None:
        """Make the network of a section for a shape; `fixed` has the untrained arrays.

        Sets m, d, layout and scaled; k and fixed where they differ from 1 and nothing.
        """

    @staticmethod
    @abstractmethod
    def initial(section: Any, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Draw the start of the paper: all arrays by name, trained and untrained."""

    @property
    def size(self) -> int:
        return sum(block.size for block in self.layout)

    def inputs(self, x: Array) -> Array:
        """Return the nodes' inputs x~ (n, D) of x (n, d): x, x centred, or x with a 1 appended."""
        return x

    @abstractmethod
    def outputs(self, flat: Any, inputs: Any, offset: Any = None) -> Any:
        """Return the outputs f.

        Parameters
        ----------
        flat, inputs : array (size,), array (n, D)
            Trained parameters and inputs x~.
        offset : array (m, n), optional
            <e_j, x_i> for points outside the span of the training data, by which the last
            coordinate of u_j counts in row-space runs (core.problem.reduction).

        Returns
        -------
        array (n,), or (n, k) for k > 1
            Outputs.
        """

    @abstractmethod
    def gradient(self, flat: Any, inputs: Any, g: Any) -> Any:
        """Return sum_i g_i grad f(x_i), or sum_ic g_ic grad f_c(x_i) for g (n, k).

        Returns
        -------
        array (size,)
            Gradient in the trained parameters.
        """

    @abstractmethod
    def derivative(self, flat: Array, inputs: Array, direction: Array) -> Array:
        """Return the derivative of the outputs along a flat direction, J direction.

        Returns
        -------
        array (n,) or (n, k)
            Derivative of each output.
        """

    def gram(self, flat: Array, inputs: Array) -> Array:
        """Return the tangent kernel <grad f_i, grad f_r> in the trained parameters.

        Row by row as J (J' e_i), without J (n, size): right for any network. Networks whose kernel
        has a closed form override this method.

        Returns
        -------
        array (n, n), or (n k, n k) with the class fastest
            Symmetric kernel matrix.
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
        """Return each node's conserved difference of squared norms, (m,); empty if none.

        Gradient flow conserves a_j^2 - b_j^2 of `factored` networks, whose first blocks are a and
        b.
        """
        if not self.factored:
            return np.zeros(0)
        a, b = flat[: 2 * self.m].reshape(2, self.m)
        return np.asarray(a**2 - b**2)

    def nodes(self, flat: Array) -> tuple[Array, Array]:
        """Return signed sizes s (m,) of the outer weights, and effective inner weights U (m, D).

        For k > 1 outputs s_j = |A_j|. NaN where a network has none.
        """
        return np.full(self.m, np.nan), np.full((self.m, self.d), np.nan)

    def directions(self, flat: Array) -> Array:
        """Return each node's inner weights, whose rotation is monitored, (m, d); NaN if none.

        These are V, trained or not, if the network has it, and not u_j, which may be scaled or
        turned.
        """
        parts = {**self.fixed, **self.unpack(flat)}
        return np.asarray(parts["V"] if "V" in parts else self.nodes(flat)[1][:, : self.d])

    def fixed_shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        """Return the required shape of each untrained array by name."""
        sizes = {"V": (shape.m, shape.d), "a": (shape.m,)}
        return {name: sizes[name] for name in self.fixed}

    def physical(self, flat: NDArray[Any], rho: float) -> NDArray[Any]:
        """Return the physical parameters (size,): the homogeneous ones times e^rho."""
        # No copy: descent has rho = 0 at every frame.
        if rho == 0.0:
            return flat
        with np.errstate(over="ignore"):
            return np.concatenate([np.exp(rho) * flat[: self.scaled], flat[self.scaled :]])

    def norm(self, flat: Array) -> float:
        """Return |W_h|, the norm of the homogeneous parameters."""
        return float(np.linalg.norm(flat[: self.scaled]))

    def norm_power(self, flat: Array) -> float:
        """Return the divisor of margins, L-homogeneous and at most |W_h|^L.

        |W_h|^L, or the product of the norms of some blocks.
        """
        if self.product:
            parts = self.unpack(flat)
            return float(prod(np.linalg.norm(parts[name]) for name in self.product))
        return self.norm(flat) ** self.degree

    @property
    def margin_norm(self) -> tuple[str, str]:
        """Text and TeX of the divisor of margins (`norm_power`).

        W are the trained parameters if all weights are trained and homogeneous.
        """
        if self.product:
            texts = [f"|{name}|" for name in self.product]
            return " ".join(texts), "\\,".join(f"\\Vert {name}\\Vert" for name in self.product)
        ends = accumulate(block.size for block in self.layout)
        names = [one.name for one, end in zip(self.layout, ends, strict=True) if end <= self.scaled]
        is_complete = len(names) == len(self.layout) and not self.fixed
        inside = names[0] if len(names) == 1 else "W" if is_complete else f"({', '.join(names)})"
        power = f"^{self.degree}" if self.degree != 1 else ""
        tex = inside.replace("_", "\\_")  # names of a user's network
        return f"|{inside}|{power}", f"\\Vert {tex}\\Vert{power}"

    def margins(self, flat: Array, inputs: Array, y: Array) -> Array:
        """Return the margins (n,): p_i = y_i f(x_i), or `margins_of` the logits for k > 1."""
        return margins_of(self.outputs(flat, inputs), y)

    def unpack(self, flat: Any) -> dict[str, Any]:
        """Return views of `flat` (..., size) by name, each (..., *shape)."""
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
        """Return the flat float64 vector (size,) of named arrays in the shapes of `layout`."""
        parts = [np.asarray(arrays[block.name], dtype=np.float64) for block in self.layout]
        return np.concatenate([part.reshape(-1) for part in parts])


def margins_of(f: Array, y: Array) -> Array:
    """Return the margins (n,) of outputs f (n,), y = +-1, or of logits (n, k), y class numbers.

    >>> margins_of(np.array([[1.0, 3.0, 2.0]]), np.array([1.0])).tolist()
    [1.0]
    """
    if f.ndim == 1:
        return np.asarray(y * f)
    rows, own = np.arange(f.shape[0]), y.astype(np.int64)
    other_scores = f.copy()
    # Excludes the own logit from the maximum, whatever its size.
    other_scores[rows, own] = -np.inf
    return np.asarray(f[rows, own] - other_scores.max(axis=1))


class TwoLayer(Network):
    """Network f(x) = sum_j alpha_j phi(<u_j, x~>) whose weights depend on trained parameters.

    A parametrisation implements `effective`, its linearisation `push` and the transpose `pull`; the
    defaults of both are for weights that are the parameters themselves. `code` is the number of the
    compiled twin in core.compiled.network; without one the general engines train the network.
    """

    code: int
    d: int  # dimension of V; U may have one more coordinate, for a bias
    activation: Activation = Activation()
    plain_sum: bool = True  # f is that sum alone, without an outer bias

    def gram(self, flat: Array, inputs: Array) -> Array:
        """Return the tangent kernel, in closed form where the weights are parameters, or fixed."""
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
        """Return alpha (m,) or (m, k) and U (m, D) of the two-layer network at `flat`."""

    def push(self, flat: Any, direction: Any) -> tuple[Any, Any]:
        """Return (d alpha, d U), the derivative of `effective` along a flat direction."""
        return self.effective(direction)

    def pull(self, flat: Any, d_alpha: Any, d_U: Any) -> Any:
        """Return the gradient in the trained parameters, flat, from that in (alpha, U)."""
        return join_flat([d_alpha, d_U[:, : self.d], *d_U[:, self.d :].T])

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

    def constant(self, array: Array, reference: Any) -> Any:
        """Return an untrained array with the type and device of `reference`; cache tensors."""
        if isinstance(reference, np.ndarray):
            return array.astype(reference.dtype, copy=False)
        cache = self.__dict__.setdefault("_constants", {})
        # The entry keeps the array alive, so that no other array can get its id.
        key = (id(array), reference.dtype, reference.device)
        if key not in cache:
            cache[key] = reference.new_tensor(array)
        return cache[key]

    def compiled_constants(self) -> tuple[Array, float]:
        """Return an array (p, q) and a number that the compiled twin needs beside `flat`."""
        return np.zeros((1, 1)), 0.0


def weighted_gram(inputs: Array, alpha: Array, slopes: Array) -> Array:
    """Return the part of the tangent kernel, (n, n) or (n k, n k), of trained inner weights.

    sum_j <x~_i, x~_r> w_ji w_jr, w = alpha phi'(z), for inputs x~ (n, D), alpha (m,) or (m, k), and
    slopes phi'(z) (m, n).
    """
    xx, n = inputs @ inputs.T, inputs.shape[0]
    if alpha.ndim == 1:
        w = alpha[:, None] * slopes
        return np.asarray(xx * (w.T @ w))
    m, k = alpha.shape
    w = (slopes[:, :, None] * alpha[:, None, :]).reshape(m, n * k)
    return np.asarray(np.repeat(np.repeat(xx, k, axis=0), k, axis=1) * (w.T @ w))


def join_flat(parts: list[Any]) -> Any:
    """Concatenate arrays or tensors, flattened, to one flat vector."""
    flats = [part.reshape(-1) for part in parts]
    if isinstance(flats[0], np.ndarray):
        return np.concatenate(flats)
    import torch

    return torch.cat(flats)


def squared_norms(V: Array) -> Array:
    """Return |v_j|^2 of the rows of V (m, d), (m,)."""
    return np.asarray(np.einsum("jk,jk->j", V, V))
