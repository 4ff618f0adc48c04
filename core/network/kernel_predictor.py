"""Kernel predictors f(x) = sum_i c_i k(x, x_i), the limits of untrained infinitely wide networks.

Source: telgarsky22, Assumption 1.3; wei19, section 2. With neurons a ~ N(0, 1), v ~ N(0, s I) the
tangent kernel of f(x) = sum_j a_j relu(<v_j, x>), per neuron, is k = K1 + s K2 (arc-cosine
kernels):

    K1 = <x, x'> (pi - t)/(2 pi),    K2 = |x| |x'| (sin t + (pi - t) cos t)/(2 pi),

where t is the angle of x and x'. The first layer's weights contribute K1, the second's s K2.
telgarsky22 has s = 1/d, wei19 s = 1.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, final

import numpy as np
from numpy.random import Generator

from core.network.parametrisation import Array, Block, Network, Shape

Weights = Literal["both", "first", "second"]
FLAT = 2e-6  # 1 - |cosine| from which arccos is accurate to 1e-13
CHUNK = 2**22  # coordinates of nearly parallel pairs per batch


def arc_cosine(x: Array, other: Array) -> tuple[Array, Array]:
    """Return the arc-cosine kernels K1 and K2 between two sets of points.

    K1 = <x, x'> (pi - t)/(2 pi) and K2 = |x| |x'| (sin t + (pi - t) cos t)/(2 pi), t the angle of
    x and x'. At one point K1 = K2 = |x|^2/2; opposite vectors have K1 = K2 = 0.

    Parameters
    ----------
    x : array (n, d)
        Points.
    other : array (n', d)
        Other points.

    Returns
    -------
    tuple of arrays (n, n')
        K1 and K2: the parts of the inner and of the outer weights in the tangent kernel.

    Examples
    --------
    >>> K1, K2 = arc_cosine(np.eye(2)[:1], np.array([[2.0, 0.0], [-1.0, 0.0]]))
    >>> abs(K1.round(12)).tolist(), abs(K2.round(12)).tolist()
    ([[1.0, 0.0]], [[1.0, 0.0]])
    """
    inner, sizes, cosine, supplement = _angles(x, other)
    share = supplement / (2.0 * np.pi)
    sine = np.sin(supplement)
    return inner * share, sizes * (sine / (2.0 * np.pi) + share * cosine)


def mean_squares(x: Array, other: Array) -> Array:
    """Return E relu(<v, x>)^2 relu(<v, x'>)^2 over v ~ N(0, I).

    |x|^2 |x'|^2 (3 sin t cos t + (pi - t)(1 + 2 cos^2 t))/(2 pi): the arc-cosine kernel of degree
    2 (Cho and Saul, NeurIPS 2009), with that of degree 1 the law of a neuron's kernel.

    Parameters
    ----------
    x : array (n, d)
        Points.
    other : array (n', d)
        Other points.

    Returns
    -------
    array (n, n')
        Means; 3/2 |x|^4 at one point.

    Examples
    --------
    >>> mean_squares(np.eye(1), np.array([[2.0], [-1.0]])).round(12).tolist()
    [[6.0, 0.0]]
    """
    _, sizes, cosine, supplement = _angles(x, other)
    square = 3.0 * np.sin(supplement) * cosine + supplement * (1.0 + 2.0 * cosine**2)
    return np.asarray(sizes**2 * square / (2.0 * np.pi))


def _angles(x: Array, other: Array) -> tuple[Array, Array, Array, Array]:
    """Return <x, x'>, |x||x'|, cos t and pi - t of all pairs, t their angle; each is (n, n')."""
    inner = x @ other.T
    one, two = np.linalg.norm(x, axis=1), np.linalg.norm(other, axis=1)
    sizes = one[:, None] * two
    cosine = np.clip(inner / np.where(sizes > 0.0, sizes, 1.0), -1.0, 1.0)
    # The cosine is clipped; near 1 the angle is computed from chords, since arccos is
    # ill-conditioned there.
    supplement = np.pi - np.arccos(cosine)
    rows, columns = np.nonzero(np.abs(cosine) > 1.0 - FLAT)
    near = np.array_split(np.arange(rows.size), rows.size * x.shape[1] // CHUNK + 1)
    for part in near:
        i, k = rows[part], columns[part]
        supplement[i, k] = _supplement(x[i] / one[i, None], other[k] / two[k, None])
    return inner, sizes, cosine, supplement


def _supplement(u: Array, v: Array) -> Array:
    """Return pi - angle of u_i and v_i (N,), pairs of unit rows (N, d), by chords.

    arccos loses half the digits where it is flat.
    """
    difference, total = np.linalg.norm(u - v, axis=1), np.linalg.norm(u + v, axis=1)
    return np.asarray(2.0 * np.arctan2(total, difference))


def tangent_kernel(
    x: Array, other: Array, weights: Weights = "both", variance: float | None = None
) -> Array:
    """Return the infinite-width tangent kernel k(x_i, x'_j) of some layers, per neuron.

    Parameters
    ----------
    x : array (n, d)
        Points.
    other : array (n', d)
        Other points.
    weights : {"both", "first", "second"}
        Layers whose weights count: K1 + s K2, K1, or s K2.
    variance : float, optional
        s, the variance of the inner weights; 1/d by default.

    Returns
    -------
    array (n, n')
        Kernel.
    """
    first, second = arc_cosine(x, other)
    second *= 1.0 / x.shape[1] if variance is None else variance
    if weights == "both":
        return np.asarray(first + second)
    return first if weights == "first" else second


@final
class KernelNetwork(Network):
    """Kernel predictor as a network whose parameters are the coefficients c (n,), 1-homogeneous.

    The norm is that of the function, |f|^2 = c' K c, so that margins divided by it are those of the
    kernel's space. m is the width of the network whose limit the predictor is, and is not used
    here.
    """

    kind = "kernel_predictor"
    degree = 1
    margin_norm = ("|f|_H", "\\Vert f\\Vert_H")
    homogeneous = False  # homogeneous in c, but not in the norm of c: no flow, and no KKT residual

    def __init__(
        self, shape: Shape, weights: Weights = "both", variance: float | None = None
    ) -> None:
        self.m, self.d = shape.m, shape.d
        self.points, self._weights, self._variance = shape.x, weights, variance
        self.layout = (Block("coefficients", (shape.x.shape[0],)),)
        self.scaled = self.size

    @staticmethod
    def initial(section: Any, shape: Shape, generator: Generator) -> dict[str, Array]:
        """Return c = 0: the predictor is 0 before the fit.

        Parameters
        ----------
        section, generator : any, Generator
            Not used.
        shape : Shape
            Training inputs x (n, d), with one coefficient each.

        Returns
        -------
        dict of str to array
            "coefficients" (n,), zeros.
        """
        return {"coefficients": np.zeros(shape.x.shape[0])}

    @cached_property
    def matrix(self) -> Array:
        """K (n, n) of the training points."""
        return tangent_kernel(self.points, self.points, self._weights, self._variance)

    def _kernel(self, inputs: Array) -> Array:
        """Return k(x, x_i) of inputs (n', d) and the training points, (n', n)."""
        if inputs is self.points:
            return self.matrix
        return tangent_kernel(inputs, self.points, self._weights, self._variance)

    def outputs(self, flat: Any, inputs: Any, offset: Any = None) -> Any:
        return self._kernel(inputs) @ flat

    def gradient(self, flat: Any, inputs: Any, g: Any) -> Any:
        return self._kernel(inputs).T @ g

    def derivative(self, flat: Array, inputs: Array, direction: Array) -> Array:
        return np.asarray(self._kernel(inputs) @ direction)

    def norm(self, flat: Array) -> float:
        # Rounding may make c' K c negative if K is nearly singular.
        return float(np.sqrt(max(float(flat @ self.matrix @ flat), 0.0)))
