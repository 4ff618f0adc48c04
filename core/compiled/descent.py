"""Constant-step gradient descent on the standard network, K steps a call, compiled."""

from __future__ import annotations

from math import exp, isfinite
from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compiled
from core.compiled.kernel import backward, inner_gradient, outputs, preactivations

GOING, BUFFER_FULL, DONE, DIVERGED, DEAD = 0, 1, 2, 3, 4
STEP, MARK, BUFFERED = 0, 1, 2  # places in the integer state
WORST = 0  # place in the float state: the largest loss sum so far

LOGISTIC = 1


@compiled
def slopes(loss: int, f: NDArray[Any], y: NDArray[Any], scale: float, g: NDArray[Any]) -> float:
    """g_i = scale * l'(p_i) y_i; returns a measure of the loss: sum exp(-p) or sum max(-p, 0)."""
    total = 0.0
    for i in range(f.size):
        p = y[i] * f[i]
        if loss == LOGISTIC:
            # both branches keep exp from overflowing
            if p >= 0:
                e = exp(-p)
                weight = e / (1 + e)
            else:
                weight = 1 / (1 + exp(p))
                total -= p
            if not isfinite(p):
                total += p
        else:
            weight = exp(-p)
            total += weight
        g[i] = -scale * weight * y[i]
    return total


@compiled
def descend(
    flat: NDArray[Any],
    XT: NDArray[Any],
    y: NDArray[Any],
    loss: int,
    step_size: float,
    shrink: float,
    limit: float,
    Z: NDArray[Any],
    C: NDArray[Any],
    f: NDArray[Any],
    g: NDArray[Any],
    gradient: NDArray[Any],
    floats: NDArray[Any],
    counts: NDArray[Any],
    schedule: NDArray[Any],
    buffer: NDArray[Any],
    budget: int,
) -> int:
    """At most `budget` steps W <- shrink W - eta grad R(W), copied to `buffer` when scheduled.

    shrink = 1 - 2 eta lambda is the gradient step of the penalty lambda |W|^2.

    Returns GOING, BUFFER_FULL, DONE, DIVERGED (loss measure above `limit` or not a number) or DEAD
    (no unit is active on any example: the gradient is zero for ever).
    """
    m, n = Z.shape
    d = XT.shape[0]
    alpha, U = flat[:m], flat[m:].reshape(m, d)
    d_alpha, d_U = gradient[:m], gradient[m:].reshape(m, d)
    for _ in range(budget):
        if counts[MARK] == schedule.size:
            return DONE
        if counts[BUFFERED] == buffer.shape[0]:
            return BUFFER_FULL
        preactivations(U, XT, Z)
        outputs(alpha, Z, f)
        total = slopes(loss, f, y, step_size / n, g)
        if not total <= limit:
            return DIVERGED
        if total > floats[WORST]:
            floats[WORST] = total
        backward(alpha, Z, g, C, d_alpha)
        inner_gradient(C, XT, d_U)
        moved = False
        for j in range(m):
            moved |= d_alpha[j] != 0
        if shrink == 1 and not moved and Z.max() <= 0:
            return DEAD
        for j in range(flat.size):
            flat[j] = shrink * flat[j] - gradient[j]
        counts[STEP] += 1
        if counts[STEP] == schedule[counts[MARK]]:
            buffer[counts[BUFFERED]] = flat
            counts[BUFFERED] += 1
            counts[MARK] += 1
    if counts[MARK] == schedule.size:
        return DONE
    return GOING
