"""Constant-step gradient descent on a two-layer network, K steps a call, compiled."""

from __future__ import annotations

from math import exp, isfinite
from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compiled
from core.compiled.kernel import is_active
from core.compiled.network import Net, adjoint, forward
from core.losses import CROSS_ENTROPY, LOGISTIC, SQUARED
from core.network.activation import RELU

GOING, BUFFER_FULL, DONE, DIVERGED, DEAD = 0, 1, 2, 3, 4
STEP, MARK, BUFFERED = 0, 1, 2  # places in the integer state
WORST = 0  # place in the float state: the largest loss measure so far

Array = NDArray[Any]


@compiled
def logistic_slopes(f: Array, y: Array, scale: float, g: Array) -> float:
    """g_i = -scale y_i / (1 + e^p_i); returns sum max(-p_i, 0)."""
    total = 0.0
    for i in range(f.size):
        p = y[i] * f[i]
        # both branches keep exp from overflowing
        if p >= 0:
            e = exp(-p)
            weight = e / (1 + e)
        else:
            weight = 1 / (1 + exp(p))
            total -= p
        if not isfinite(p):
            total += p
        g[i] = -scale * weight * y[i]
    return total


@compiled
def softmax_slopes(F: Array, y: Array, scale: float, G: Array) -> float:
    """G_ci = scale (softmax_c(F_.i) - 1[c = y_i]); returns sum_i (max_c F_ci - F_yi)."""
    k, n = F.shape
    measure = 0.0
    for i in range(n):
        top = F[0, i]
        for c in range(1, k):
            top = max(top, F[c, i])
        total = F.dtype.type(0)
        for c in range(k):
            G[c, i] = exp(F[c, i] - top)
            total += G[c, i]
        own = int(y[i])
        for c in range(k):
            G[c, i] *= scale / total
        G[own, i] -= scale
        measure += top - F[own, i]
    return measure


@compiled
def slopes(loss: int, F: Array, y: Array, scale: float, G: Array) -> float:
    """G = scale dl/dF; returns the measure of the loss by which divergence is seen.

    sum exp(-p), sum max(-p, 0), sum (1 - p)^2, or the sum of the gaps to the largest logit.
    """
    if loss == LOGISTIC:
        return logistic_slopes(F[0], y, scale, G[0])
    if loss == CROSS_ENTROPY:
        return softmax_slopes(F, y, scale, G)
    f, g = F[0], G[0]
    total = 0.0
    if loss == SQUARED:
        for i in range(f.size):
            gap = f[i] - y[i]
            g[i] = 2 * scale * gap
            total += gap * gap
        return total
    for i in range(f.size):
        weight = exp(-y[i] * f[i])
        total += weight
        g[i] = -scale * weight * y[i]
    return total


@compiled
def descend(
    net: Net,
    flat: Array,
    XT: Array,
    X: Array,
    y: Array,
    loss: int,
    step_size: float,
    shrink: float,
    limit: float,
    Z: Array,
    C: Array,
    F: Array,
    G: Array,
    gradient: Array,
    floats: Array,
    counts: Array,
    schedule: Array,
    buffer: Array,
    budget: int,
) -> int:
    """At most `budget` steps W <- shrink W - eta grad R(W), copied to `buffer` when scheduled.

    shrink = 1 - 2 eta lambda is the gradient step of the penalty lambda |W|^2.

    Returns GOING, BUFFER_FULL, DONE, DIVERGED (loss measure above `limit` or not a number) or DEAD
    (no unit is active on any example: the gradient is zero for ever).
    """
    n = Z.shape[1]
    for _ in range(budget):
        if counts[MARK] == schedule.size:
            return DONE
        if counts[BUFFERED] == buffer.shape[0]:
            return BUFFER_FULL
        forward(net, flat, XT, Z, F)
        total = slopes(loss, F, y, step_size / n, G)
        if not total <= limit:
            return DIVERGED
        if total > floats[WORST]:
            floats[WORST] = total
        adjoint(net, flat, XT, X, G, Z, C, gradient)
        moved = False
        for j in range(flat.size):
            moved |= gradient[j] != 0
            flat[j] = shrink * flat[j] - gradient[j]
        if shrink == 1 and not moved and net.phi == RELU and not is_active(Z):
            return DEAD
        counts[STEP] += 1
        if counts[STEP] == schedule[counts[MARK]]:
            for j in range(flat.size):
                buffer[counts[BUFFERED], j] = flat[j]
            counts[BUFFERED] += 1
            counts[MARK] += 1
    if counts[MARK] == schedule.size:
        return DONE
    return GOING
