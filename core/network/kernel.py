"""The network f(x) = sum_j alpha_j relu(<u_j, x>) and its gradient, for effective weights.

Written once for all parametrisations, in NumPy: the reference that compiled engines are tested
against, and what observables are computed with. Shapes: alpha (m,), U (m, d), x (n, d), y (n,).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def outputs(alpha: Array, U: Array, x: Array) -> Array:
    """f(x_i), shape (n,).

    >>> x = np.array([[1.0, 2.0], [-1.0, 0.0]])
    >>> outputs(np.array([2.0]), np.array([[1.0, 1.0]]), x).tolist()
    [6.0, 0.0]
    """
    z = U @ x.T
    return np.asarray(alpha @ np.maximum(z, 0.0, out=z))


def margins(alpha: Array, U: Array, x: Array, y: Array) -> Array:
    """p_i = y_i f(x_i), shape (n,)."""
    return y * outputs(alpha, U, x)


def gradient(alpha: Array, U: Array, x: Array, g: Array) -> tuple[Array, Array]:
    """(d alpha, d U) of sum_i g_i f(x_i), the derivative of relu at 0 taken as 0.

    d alpha_j = sum_i g_i relu(<u_j, x_i>), d u_j = alpha_j sum_i g_i 1[<u_j, x_i> > 0] x_i.
    """
    z = U @ x.T
    active = z > 0.0
    return np.where(active, z, 0.0) @ g, alpha[:, None] * ((active * g) @ x)


def jacobian(alpha: Array, U: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """(d p / d alpha (n, m), d p / d U (n, m, d)) for p_i = y_i f(x_i)."""
    z = x @ U.T
    active = z > 0.0
    d_alpha = y[:, None] * np.where(active, z, 0.0)
    d_U = (y[:, None] * active * alpha)[:, :, None] * x[:, None, :]
    return d_alpha, d_U


def gram(alpha: Array, U: Array, x: Array, y: Array) -> Array:
    """K_ij = <grad p_i, grad p_j> over (alpha, U), shape (n, n): the tangent kernel with labels.

    K_ij = y_i y_j [sum_k h_ki h_kj + (x_i . x_j) sum_k alpha_k^2 o_ki o_kj].
    """
    z = U @ x.T
    active = z > 0.0
    hidden = np.where(active, z, 0.0)
    weighted = active * alpha[:, None]
    kernel = hidden.T @ hidden + (x @ x.T) * (weighted.T @ weighted)
    return np.asarray(kernel * np.outer(y, y))
