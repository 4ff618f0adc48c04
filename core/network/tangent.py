"""The tangent kernel <grad f_i, grad f_r> of every two-layer network, without making gradients.

With z = U x~', h = phi(z), o = phi'(z), the outer weights contribute h'h and the inner ones
(x~_i . x~_r) sum_j w_ji w_jr, w = alpha o; a normalised v_j loses the part along
its own direction (or Sigma v_j). The formulas are those of its pullbacks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.network.batch_norm import BatchNorm
from core.network.normalised import Normalised
from core.network.parametrisation import Array, Network, TwoLayer
from core.network.scalar import Scalar


def gram(network: Network, flat: Array, inputs: Array) -> Array:
    """<grad f_i, grad f_r> in the trained parameters, (n, n); (n k, n k) with the class fastest.

    By closed forms for two-layer networks, else from the gradients of the outputs one by one.
    """
    if not isinstance(network, TwoLayer):
        return _from_gradients(network, flat, inputs)
    alpha, U = network.effective(flat)
    z = U @ inputs.T
    h, o = network.activation(z), network.activation.slopes(z)
    if isinstance(network, Scalar):
        return np.asarray(_squares(h) + _squares(alpha[:, None] * o * _along(network, inputs)))
    xx = inputs @ inputs.T
    if isinstance(network, Normalised):
        return _normalised(network, flat, z, h, o, xx)
    if isinstance(network, BatchNorm):
        return _batch_norm(network, flat, inputs, h, o, xx)
    if alpha.ndim == 2:
        return _multiclass(alpha, h, o, xx)
    inner = xx * _squares(alpha[:, None] * o)
    return np.asarray(inner if "a" in network.fixed else inner + _squares(h))


def _squares(w: Any) -> Any:
    return w.T @ w


def _along(network: Scalar, inputs: Array) -> Any:
    return network.fixed["V"] @ inputs.T


def _normalised(network: Normalised, flat: Array, z: Any, h: Any, o: Any, xx: Any) -> Array:
    parts = network.unpack(flat)
    a, b = parts["a"][:, None], parts["b"][:, None]
    w = a * b * o / np.linalg.norm(parts["V"], axis=1)[:, None]
    return np.asarray(_squares(np.hypot(a, b) * h) + xx * _squares(w) - _squares(w * z))


def _batch_norm(network: BatchNorm, flat: Array, inputs: Array, h: Any, o: Any, xx: Any) -> Array:
    parts = network.unpack(flat)
    a, c, V = parts["a"][:, None], parts["c"][:, None], parts["V"]
    N, VS = network.statistics(V)
    P, q = V @ inputs.T / N, VS / N
    w = a * c * o / N
    wP, wr = w * P, w * (q @ inputs.T)
    lengths = np.linalg.norm(q, axis=1)[:, None]
    cross = wr.T @ wP
    inner = xx * _squares(w) - cross - cross.T + _squares(lengths * wP)
    return np.asarray(_squares(h) + _squares(a * o * P) + inner)


def _multiclass(A: Any, h: Any, o: Any, xx: Any) -> Array:
    (m, k), n = A.shape, h.shape[1]
    w = (o[:, :, None] * A[:, None, :]).reshape(m, n * k)
    inner = np.repeat(np.repeat(xx, k, axis=0), k, axis=1) * _squares(w)
    return np.asarray(inner + np.kron(_squares(h), np.eye(k)))


def _from_gradients(network: Network, flat: Array, inputs: Array) -> Array:
    n, k = inputs.shape[0], network.k
    rows = []
    for index in range(n * k):
        i, c = divmod(index, k)
        g = np.ones(1) if k == 1 else np.eye(k)[c : c + 1]
        rows.append(network.gradient(flat, inputs[i : i + 1], g))
    J = np.array(rows)
    return np.asarray(J @ J.T)
