"""Network f(x) = sum_j alpha_j phi(<u_j, x>), its derivatives and margins, by effective weights.

One implementation for all parametrisations, for NumPy arrays and torch tensors. Observables use it,
and the compiled engines are tested against it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.network.activation import Activation

Array = NDArray[np.float64]
RELU = Activation()


def outputs(alpha: Any, U: Any, x: Any, phi: Activation = RELU, offset: Any = None) -> Any:
    """Return the outputs f(x_i) of the two-layer network.

    Parameters
    ----------
    alpha : array (m,) or (m, k)
        Outer weights, of one output or of k.
    U : array (m, d)
        Inner weights u_j.
    x : array (n, d)
        Inputs.
    phi : Activation
        Activation, ReLU by default.
    offset : array (m, n), optional
        Added to the preactivations <u_j, x_i>.

    Returns
    -------
    array (n,) or (n, k)
        Outputs.

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [-1.0, 0.0]])
    >>> outputs(np.array([2.0]), np.array([[1.0, 1.0]]), x).tolist()
    [6.0, 0.0]
    """
    z = U @ x.T
    if offset is not None:
        z += offset
    return alpha @ phi(z) if alpha.ndim == 1 else (alpha.T @ phi(z)).T


def gradient(alpha: Any, U: Any, x: Any, g: Any, phi: Activation = RELU) -> tuple[Any, Any]:
    """Return the gradient of sum_i g_i f(x_i), or of sum_ic g_ic f_c(x_i), in (alpha, U).

    d alpha_j = sum_i g_i phi(<u_j, x_i>), d u_j = alpha_j sum_i g_i phi'(<u_j, x_i>) x_i.

    Parameters
    ----------
    alpha : array (m,) or (m, k)
        Outer weights.
    U : array (m, d)
        Inner weights.
    x : array (n, d)
        Inputs.
    g : array (n,) or (n, k)
        Weight of each output.
    phi : Activation
        Activation, ReLU by default.

    Returns
    -------
    tuple of arrays
        d alpha, of the shape of alpha, and d U (m, d).
    """
    z = U @ x.T
    weighted = alpha[:, None] * g if alpha.ndim == 1 else alpha @ g.T
    return phi(z) @ g, (phi.slopes(z) * weighted) @ x


def derivative(
    alpha: Array, U: Array, x: Array, d_alpha: Array, d_U: Array, phi: Activation = RELU
) -> Array:
    """Return the directional derivative of the outputs along (d_alpha, d_U).

    Parameters
    ----------
    alpha, d_alpha : array (m,) or (m, k)
        Outer weights and their direction.
    U, d_U : array (m, d)
        Inner weights and their direction.
    x : array (n, d)
        Inputs.
    phi : Activation
        Activation, ReLU by default.

    Returns
    -------
    array (n,) or (n, k)
        Derivative of each output.
    """
    z = U @ x.T
    result = d_alpha.T @ phi(z) + alpha.T @ (phi.slopes(z) * (d_U @ x.T))
    return np.asarray(result.T)


def margins_of(f: Array, y: Array) -> Array:
    """Return the margins of outputs, not normalised.

    Parameters
    ----------
    f : array (n,) or (n, k)
        Outputs for two classes, or logits.
    y : array (n,)
        Labels +-1, or class numbers 0 ... k - 1 as floats.

    Returns
    -------
    array (n,)
        y_i f_i, or the own logit less the largest other one.

    Examples
    --------
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
