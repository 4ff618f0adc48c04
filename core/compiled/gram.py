"""Constant-step descent of the coefficients on the examples, K steps a call, compiled.

For networks whose inner weights are trained as they are (with biases as an input 1), a full-batch
step adds rows of the inputs to U, so that U(t) = s(t) U(0) + D(t) X, and the preactivations

    Z <- shrink Z - C (X X'),   D <- shrink D - C,   s <- shrink s

need one product of size m n n where plain coordinates need two of size m n d. Exact, as
core.problem.reduction is; tested against core.compiled.descent.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from core.compiled.blas import gemm
from core.compiled.descent import (
    BUFFER_FULL,
    BUFFERED,
    DEAD,
    DIVERGED,
    DONE,
    GOING,
    MARK,
    STEP,
    WORST,
    slopes,
)
from core.compiled.jit import compiled
from core.compiled.kernel import backward, is_active, outputs
from core.network.activation import RELU

Array = NDArray[Any]
BLOCK = 256  # nodes at a time: their rows of four matrices stay in the cache


@compiled
def weights(s: Array, U0: Array, D: Array, X: Array, U: Array) -> None:
    """U = s U(0) + D X."""
    gemm(D, X, U)
    for j in range(U.shape[0]):
        for k in range(U.shape[1]):
            U[j, k] += s[0] * U0[j, k]


@compiled
def move(shrink: float, gram: Array, C: Array, W: Array, Z: Array, D: Array) -> None:
    """Z <- shrink Z - C (X X'), D <- shrink D - C; W is work."""
    gemm(C, gram, W)
    m, n = C.shape
    for j in range(m):
        z, w, d, c = Z[j], W[j], D[j], C[j]
        for i in range(n):
            z[i] = shrink * z[i] - w[i]
            d[i] = shrink * d[i] - c[i]


@compiled
def update(
    phi: int, slope: float, trains_outer: int, alpha: Array, Z: Array, D: Array, gram: Array,
    shrink: float, G: Array, C: Array, W: Array, gained: Array, h: Array,
) -> None:  # fmt: skip
    """Move alpha, Z and D by weights G (k, n) of the outputs, a block of nodes at a time."""
    m, k = alpha.shape
    for first in range(0, m, BLOCK):
        last = min(first + BLOCK, m)
        c, z = C[: last - first], Z[first:last]
        backward(phi, slope, alpha[first:last], z, G, c, gained[first:last], h)
        move(shrink, gram, c, W[: last - first], z, D[first:last])
    if trains_outer == 1:
        for j in range(m):
            for o in range(k):
                alpha[j, o] = shrink * alpha[j, o] - gained[j, o]


@compiled
def descend(
    phi: int, slope: float, trains_outer: int, alpha: Array, U0: Array, s: Array, Z: Array,
    D: Array, X: Array, gram: Array, y: Array, loss: int, step_size: float, shrink: float,
    limit: float, C: Array, W: Array, F: Array, G: Array, gained: Array, h: Array, floats: Array,
    counts: Array, schedule: Array, outer: Array, inner: Array, budget: int,
) -> int:  # fmt: skip
    """As core.compiled.descent.descend; alpha and U are copied to `outer`, `inner` when scheduled,
    and U to the next of `inner` at DEAD.

    alpha (m, k), Z and D (m, n), C and W (BLOCK, n) work, F, G (k, n), gained (m, k), h (n,).
    """
    n = Z.shape[1]
    for _ in range(budget):
        if counts[MARK] == schedule.size:
            return DONE
        if counts[BUFFERED] == outer.shape[0]:
            return BUFFER_FULL
        outputs(phi, slope, alpha, Z, F, h)
        total = slopes(loss, F, y, step_size / n, G)
        if not total <= limit:
            return DIVERGED
        if total > floats[WORST]:
            floats[WORST] = total
        if shrink == 1 and phi == RELU and not is_active(Z):
            weights(s, U0, D, X, inner[counts[BUFFERED]])
            return DEAD
        update(phi, slope, trains_outer, alpha, Z, D, gram, shrink, G, C, W, gained, h)
        s[0] *= shrink
        counts[STEP] += 1
        if counts[STEP] == schedule[counts[MARK]]:
            for j in range(alpha.shape[0]):
                for o in range(alpha.shape[1]):
                    outer[counts[BUFFERED], j, o] = alpha[j, o]
            weights(s, U0, D, X, inner[counts[BUFFERED]])
            counts[BUFFERED] += 1
            counts[MARK] += 1
    if counts[MARK] == schedule.size:
        return DONE
    return GOING
