"""The network f(x) = sum_j alpha_j phi(<u_j, x>) and its derivatives, for effective weights.

Written once for all parametrisations, for NumPy arrays and torch tensors: the reference that
compiled engines are tested against, and what observables are computed with. Shapes: alpha (m,), or
(m, k) for k outputs, U (m, d), x (n, d).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.network.activation import Activation

Array = NDArray[np.float64]
RELU = Activation()


def outputs(alpha: Any, U: Any, x: Any, phi: Activation = RELU, offset: Any = None) -> Any:
    """f(x_i), shape (n,), or (n, k); `offset` (m, n) is added to the preactivations.

    >>> x = np.array([[1.0, 2.0], [-1.0, 0.0]])
    >>> outputs(np.array([2.0]), np.array([[1.0, 1.0]]), x).tolist()
    [6.0, 0.0]
    """
    z = U @ x.T
    if offset is not None:
        z += offset
    return alpha @ phi(z) if alpha.ndim == 1 else (alpha.T @ phi(z)).T


def gradient(alpha: Any, U: Any, x: Any, g: Any, phi: Activation = RELU) -> tuple[Any, Any]:
    """(d alpha, d U) of sum_i g_i f(x_i), or of sum_ic g_ic f_c(x_i) for g (n, k).

    d alpha_j = sum_i g_i phi(<u_j, x_i>), d u_j = alpha_j sum_i g_i phi'(<u_j, x_i>) x_i.
    """
    z = U @ x.T
    weighted = alpha[:, None] * g if alpha.ndim == 1 else alpha @ g.T
    return phi(z) @ g, (phi.slopes(z) * weighted) @ x


def derivative(
    alpha: Array, U: Array, x: Array, d_alpha: Array, d_U: Array, phi: Activation = RELU
) -> Array:
    """The derivative of the outputs along (d_alpha, d_U), shape (n,) or (n, k)."""
    z = U @ x.T
    along = d_alpha.T @ phi(z) + alpha.T @ (phi.slopes(z) * (d_U @ x.T))
    return np.asarray(along.T)
