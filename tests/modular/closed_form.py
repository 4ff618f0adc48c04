"""Quadratic network of largest margin on addition modulo p, and its margin by plain NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PHASES = 6  # of the nodes of one frequency


def best_network(p: int) -> tuple[Array, Array, Array]:
    """Return U, V and W, each (3 (p - 1), p), of a network that has margin / N = gamma*.

    Six nodes for each frequency k = 1, ..., (p - 1)/2: phases 2 pi j/6 of u, four times that of
    v, and the sum of both of w; every |theta_j| is 1. Six are enough because the means over them of
    exp(i (c th_u + e th_v)) vanish for (c, e) = (1, 1), (2, 2), (2, 0), (0, 2), (3, 1), (1, -1) and
    (1, 3), which are the terms of f that do not belong to a + b.
    """
    t, k = np.arange(p), np.arange(1, (p - 1) // 2 + 1)
    phase = 2.0 * np.pi * np.arange(PHASES) / PHASES
    angle = (2.0 * np.pi / p) * np.outer(k, t)[:, None, :]
    size = np.sqrt(2.0 / (3.0 * p))
    u, v, w = (
        (size * np.cos(angle + shift[None, :, None])).reshape(-1, p)
        for shift in (phase, 4.0 * phase, 5.0 * phase)
    )
    return u, v, w


def quadratic_outputs(U: Array, V: Array, W: Array) -> Array:
    """Return f(a, b)[c] for all pairs, (p, p, p)."""
    hidden = (U[:, :, None] + V[:, None, :]) ** 2
    return np.asarray(np.einsum("jab,jc->abc", hidden, W))


def quadratic_margin(U: Array, V: Array, W: Array) -> float:
    """Return min over a, b and c != a + b of f(a, b)[a + b] - f(a, b)[c]."""
    p = U.shape[1]
    f = quadratic_outputs(U, V, W)
    own = (np.arange(p)[:, None] + np.arange(p)[None, :]) % p
    true = np.take_along_axis(f, own[:, :, None], axis=2)
    gaps = np.where(np.arange(p) == own[:, :, None], np.inf, true - f)
    return float(gaps.min())


def cubed_norms(U: Array, V: Array, W: Array) -> float:
    """Return N = sum_j |theta_j|_2^3, theta_j = (u_j, v_j, w_j)."""
    squared = (U**2).sum(axis=1) + (V**2).sum(axis=1) + (W**2).sum(axis=1)
    return float((squared**1.5).sum())
