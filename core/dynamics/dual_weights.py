"""Slopes of losses that vanish, by their dual weights: nothing underflows, whatever the margins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.losses import EXPONENTIAL, LossFunction, softplus

Array = NDArray[Any]


def output_weights(loss: LossFunction, f: Array, y: Array) -> Array:
    """Return the weights g of the outputs in sum_i q_i grad p_i = sum_i g_i grad f(x_i).

    Parameters
    ----------
    loss : LossFunction
        Loss that goes to zero.
    f : array (n,) or (n, k)
        Outputs.
    y : array (n,)
        Labels +-1, or class numbers.

    Returns
    -------
    array of the shape of f
        y_i q_i with sum_i q_i = 1; for k classes sum_c q_ic for the own one, -q_ic for the others.

    Examples
    --------
    >>> from core.losses import Exponential
    >>> f, y = np.array([2e4, -2e4]), np.array([1.0, -1.0])
    >>> output_weights(Exponential(), f, y).tolist()
    [0.5, -0.5]
    """
    q = loss.dual(loss.scores(f, y))
    q = q / q.sum()
    if f.ndim == 1:
        return np.asarray(y * q)
    own = y.astype(np.int64)
    g = np.zeros(f.shape)
    g[np.arange(f.shape[1])[None, :] != own[:, None]] = -q.reshape(-1)
    g[np.arange(own.size), own] = q.sum(axis=1)
    return g


def scaled_slopes(loss: LossFunction, f: Array, y: Array, k: float) -> Array:
    """Return 2^k dl/df.

    Parameters
    ----------
    loss : LossFunction
        Loss that goes to zero.
    f : array (n,) or (n, c)
        Outputs.
    y : array (n,)
        Labels +-1, or class numbers.
    k : float
        Power of 2.

    Returns
    -------
    array of the shape of f
        Slopes of the losses of the examples.

    Examples
    --------
    >>> from core.losses import Exponential
    >>> slope = scaled_slopes(Exponential(), np.array([2000.0]), np.array([1.0]), 2885.0)
    >>> bool(np.isclose(slope[0], -np.exp(2885.0 * np.log(2.0) - 2000.0)))
    True
    """
    p = loss.scores(f, y)
    psi = loss.smoothed_margin(p)
    # q_i = l'(p_i)/l'(psi), and |l'(psi)| is exp(-psi), or 1/(1 + e^psi).
    log_slope = -psi if loss.code == EXPONENTIAL else -float(softplus(np.array([psi]))[0])
    size = float(np.exp(log_slope + k * np.log(2.0))) * float(loss.dual(p).sum())
    return -size * output_weights(loss, f, y)
