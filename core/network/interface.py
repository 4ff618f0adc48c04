"""Interface of all networks: trained parameters, kept flat, and their meaning.

Dynamics, run files, observables and views know only `Network`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import accumulate
from math import prod
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from core.network.kernel import margins_of
from core.network.layout import Array, Arrays, Block, Shape
from core.network.section import NetworkSection


class Network(ABC):
    """Trained parameters, kept flat in the order of `layout`, and their meaning.

    The first `scaled` entries of a flat vector are the homogeneous parameters W_h, in which f has
    degree L = `degree`: f(c W_h) = c^L f(W_h) for c > 0. A frame's factor e^rho multiplies these
    only. If `homogeneous` is false, f is homogeneous in no parameters, and margins are still
    divided by the power `degree` of the norm. `fixed` holds the untrained parameters by name. k
    counts the outputs, 1 for two classes.

    In all methods `flat` (size,) are the trained parameters, and `inputs` (n, D) the neurons'
    inputs x~. Networks with effective weights take arrays and tensors where the type is Any.
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
    inner_weights: ClassVar[bool] = True  # a neuron has inner weights u_j in the space of x~
    # f is a sum of alpha_j relu(<u_j, x>) on x itself: min_i p_i/|W|^2 <= gamma_gl/2, and the
    # features of gamma_ntk are those of the neurons.
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
        """Draw the start of the paper.

        Parameters
        ----------
        section : NetworkSection
            Section of the study file, of the network's kind.
        shape : Shape
            Width, training inputs (n, d), outputs and targets.
        generator : Generator
            Source of randomness; its state advances.

        Returns
        -------
        dict of str to array
            Trained and untrained float64 arrays by name, in the shapes of `layout` and `fixed`.

        Raises
        ------
        InputError
            If the section and the shape exclude each other.
        """

    @property
    def size(self) -> int:
        return sum(block.size for block in self.layout)

    def inputs(self, x: Array) -> Array:
        """Return the neurons' inputs x~.

        Parameters
        ----------
        x : array (n, d)
            Inputs.

        Returns
        -------
        array (n, D)
            `x` itself, x less the training mean (D = d), or x with a 1 appended (D = d + 1).
        """
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
        """Return sum_i g_i grad f(x_i), or sum_ic g_ic grad f_c(x_i) for k > 1.

        Parameters
        ----------
        flat, inputs : array (size,), array (n, D)
            Trained parameters and inputs x~.
        g : array (n,), or (n, k) for k > 1
            Weight of each output; a mean has the factor 1/n in it.

        Returns
        -------
        array (size,)
            Gradient in the trained parameters.
        """

    @abstractmethod
    def derivative(self, flat: Array, inputs: Array, direction: Array) -> Array:
        """Return the derivative of the outputs along a flat direction, J direction.

        Parameters
        ----------
        flat, inputs : array (size,), array (n, D)
            Trained parameters and inputs x~.
        direction : array (size,)
            Direction in the trained parameters, of any length.

        Returns
        -------
        array (n,) or (n, k)
            Derivative of each output.
        """

    def gram(self, flat: Array, inputs: Array) -> Array:
        """Return the tangent kernel <grad f_i, grad f_r> in the trained parameters.

        Row by row as J (J' e_i), without J (n, size): right for any network. Networks whose kernel
        has a closed form override this method.

        Parameters
        ----------
        flat, inputs : array (size,), array (n, D)
            Trained parameters and inputs x~.

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
        """Yield the gradient of each output of each example: the rows of J.

        Parameters
        ----------
        flat, inputs : array (size,), array (n, D)
            Trained parameters and inputs x~.

        Yields
        ------
        array (size,)
            grad f(x_i) for i = 1 ... n, or grad f_c(x_i) with the class c fastest.
        """
        units = [np.ones(1)] if self.k == 1 else np.eye(self.k)[:, None]
        for i in range(inputs.shape[0]):
            for unit in units:
                yield np.asarray(self.gradient(flat, inputs[i : i + 1], unit))

    def imbalance(self, flat: Array) -> Array:
        """Return each neuron's difference of squared norms, which gradient flow conserves.

        For `factored` networks, whose first blocks are a and b, this is a_j^2 - b_j^2.

        Parameters
        ----------
        flat : array (size,)
            Trained parameters.

        Returns
        -------
        array (m,)
            Squared outer less squared inner weights; empty, (0,), if nothing is conserved.
        """
        if not self.factored:
            return np.zeros(0)
        a, b = flat[: 2 * self.m].reshape(2, self.m)
        return np.asarray(a**2 - b**2)

    def nodes(self, flat: Array) -> tuple[Array, Array]:
        """Return the neurons as signed sizes and effective inner weights.

        Parameters
        ----------
        flat : array (size,)
            Trained parameters.

        Returns
        -------
        s : array (m,)
            Effective outer weights alpha_j with their signs, or |A_j| for k > 1 outputs.
        U : array (m, D)
            Effective inner weights u_j, not normalised. NaN where a network has no such weights.
        """
        return np.full(self.m, np.nan), np.full((self.m, self.d), np.nan)

    def directions(self, flat: Array) -> Array:
        """Return each neuron's inner weights, whose rotation is monitored.

        These are V, trained or not, if the network has it, and not u_j, which may be scaled or
        turned.

        Parameters
        ----------
        flat : array (size,)
            Trained parameters.

        Returns
        -------
        array (m, d)
            Rows v_j, not normalised; NaN if the network has no inner weights.
        """
        parts = {**self.fixed, **self.unpack(flat)}
        return np.asarray(parts["V"] if "V" in parts else self.nodes(flat)[1][:, : self.d])

    def fixed_shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        """Return the required shape of each untrained array by name."""
        sizes = {"V": (shape.m, shape.d), "a": (shape.m,)}
        return {name: sizes[name] for name in self.fixed}

    def physical(self, flat: NDArray[Any], rho: float) -> NDArray[Any]:
        """Return the physical parameters: the homogeneous ones times e^rho.

        Parameters
        ----------
        flat : array (size,)
            Stored parameters of a frame.
        rho : float
            Logarithm (base e) of the frame's factor.

        Returns
        -------
        array (size,)
            `flat` itself, not a copy, for rho = 0; inf where e^rho overflows.
        """
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
        """Return the margins of the examples, not normalised.

        Parameters
        ----------
        flat, inputs : array (size,), array (n, D)
            Trained parameters and inputs x~.
        y : array (n,)
            Labels +-1, or class numbers 0 ... k - 1 for k > 1.

        Returns
        -------
        array (n,)
            p_i = y_i f(x_i), or `margins_of` the logits for k > 1; above 0 where right.
        """
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
        """Return the flat vector of named arrays, the inverse of `unpack`.

        Parameters
        ----------
        arrays : mapping of str to array
            Arrays in the shapes of `layout`. Other names are ignored.

        Returns
        -------
        array (size,)
            New float64 vector.
        """
        parts = [np.asarray(arrays[block.name], dtype=np.float64) for block in self.layout]
        return np.concatenate([part.reshape(-1) for part in parts])
