"""Maps from trained parameters to effective weights, and the network of the latter.

Every binary model of the papers but the abstract head is f(x) = sum_j alpha_j phi(<u_j, x~>) seen
through a parametrisation. `TwoLayer` is a `Network` with effective weights; a parametrisation adds
three linear maps to it.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from core.network import kernel
from core.network.activation import Activation
from core.network.interface import Network as Network
from core.network.kernel import margins_of as margins_of
from core.network.layout import Array as Array
from core.network.layout import Arrays as Arrays
from core.network.layout import Block as Block
from core.network.layout import Shape as Shape


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
        """Return the tangent kernel, in closed form where the weights are parameters, or fixed.

        Parameters
        ----------
        flat, inputs : array (size,), array (n, D)
            Trained parameters and inputs x~.

        Returns
        -------
        array (n, n), or (n k, n k) with the class fastest
            As in `Network.gram`; weights in `fixed` contribute nothing.
        """
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
        """Return the gradient in the trained parameters: the transpose of `push`.

        Parameters
        ----------
        flat : array (size,)
            Trained parameters, at which `effective` is linearised.
        d_alpha, d_U : array (m,) or (m, k), array (m, D)
            Gradient in the effective weights.

        Returns
        -------
        array (size,)
            Flat gradient, an array or a tensor like `d_alpha`.
        """
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
        """Return what the compiled twin needs beside `flat`.

        Returns
        -------
        tuple of array (p, q) and float
            Constants of the kind's kernels (core.compiled.network); zeros (1, 1) and 0 if none.
        """
        return np.zeros((1, 1)), 0.0


def weighted_gram(inputs: Array, alpha: Array, slopes: Array) -> Array:
    """Return the part of the tangent kernel that trained inner weights contribute.

    Parameters
    ----------
    inputs : array (n, D)
        Inputs x~.
    alpha : array (m,) or (m, k)
        Outer weights.
    slopes : array (m, n)
        Slopes phi'(z) at the preactivations z_ji = <u_j, x~_i>.

    Returns
    -------
    array (n, n), or (n k, n k) with the class fastest
        sum_j <x~_i, x~_r> w_ji w_jr, w = alpha phi'(z); a sum over neurons, without 1/m.
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
    """Return the squared lengths of rows.

    Parameters
    ----------
    V : array (m, d)
        Rows v_j.

    Returns
    -------
    array (m,)
        |v_j|^2.
    """
    return np.asarray(np.einsum("jk,jk->j", V, V))
