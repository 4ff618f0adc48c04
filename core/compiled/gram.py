"""Constant-step descent of the coefficients on the examples, K steps a call, compiled.

For networks whose inner weights are trained directly (with biases as an input 1), a full-batch
step adds rows of the inputs to U, so that U(t) = s(t) U(0) + D(t) X, and the preactivations

    Z <- shrink Z - C (X X'),   D <- shrink D - C,   s <- shrink s

need one product of size m n n where plain coordinates need two of size m n d. Exact, as
core.problem.reduction is; tested against core.compiled.descent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from core.compiled.blas import gemm
from core.compiled.descent import BUFFER_FULL, DEAD, DIVERGED, DONE, GOING, Run, slopes
from core.compiled.jit import compile_kernel
from core.compiled.kernel import backpropagate, is_active, outputs
from core.network.activation import RELU

Array = NDArray[Any]
BLOCK = 256  # neurons per block: their rows of four matrices fit into the cache


class Work(NamedTuple):
    """Network with m neurons and k outputs, n inputs in d dimensions, and work arrays."""

    phi: int  # code of the activation
    slope: float  # slope of phi on the left
    trains_outer: int  # 0 for fixed alpha
    loss: int  # code of the loss
    limit: float  # of the loss measure
    alpha: Array  # (m, k)
    U0: Array  # (m, d), U at the start
    scale: Array  # (1,), s(t)
    Z: Array  # (m, n)
    D: Array  # (m, n)
    X: Array  # (n, d)
    gram: Array  # (n, n), X X'
    y: Array  # (n,)
    C: Array  # (BLOCK, n), work array like the next five
    W: Array  # (BLOCK, n)
    F: Array  # (k, n), outputs
    G: Array  # (k, n), their weights
    gained: Array  # (m, k)
    h: Array  # (n,)
    outer: Array  # (rows, m, k), alpha of frames
    inner: Array  # (rows, m, d), their U


@compile_kernel
def copy_weights(work: Work, U: Array) -> None:
    """Write s U(0) + D X into U (m, d)."""
    U0, s = work.U0, work.scale
    gemm(work.D, work.X, U)
    for j in range(U.shape[0]):
        for k in range(U.shape[1]):
            U[j, k] += s[0] * U0[j, k]


@compile_kernel
def move(shrink: float, gram: Array, C: Array, W: Array, Z: Array, D: Array) -> None:
    """Update Z <- shrink Z - C (X X'), D <- shrink D - C.

    Parameters
    ----------
    shrink : float
        1 - 2 eta lambda.
    gram : array (n, n)
        X X'.
    C : array (b, n)
        Weighted slopes of b neurons.
    W : array (b, n)
        Work.
    Z, D : array (b, n)
        Updated in place.
    """
    gemm(C, gram, W)
    m, n = C.shape
    for j in range(m):
        z, w, d, c = Z[j], W[j], D[j], C[j]
        for i in range(n):
            z[i] = shrink * z[i] - w[i]
            d[i] = shrink * d[i] - c[i]


@compile_kernel
def update(work: Work, shrink: float) -> None:
    """Move alpha, Z and D by the weights G of the outputs, a block of neurons at a time."""
    alpha, Z, D, C, W, gained = work.alpha, work.Z, work.D, work.C, work.W, work.gained
    m, k = alpha.shape
    for first in range(0, m, BLOCK):
        last = min(first + BLOCK, m)
        c, z, target = C[: last - first], Z[first:last], gained[first:last]
        backpropagate(work.phi, work.slope, alpha[first:last], z, work.G, c, target, work.h)
        move(shrink, work.gram, c, W[: last - first], z, D[first:last])
    if work.trains_outer == 1:
        for j in range(m):
            for o in range(k):
                alpha[j, o] = shrink * alpha[j, o] - gained[j, o]


@compile_kernel
def descend(work: Work, run: Run, budget: int) -> int:
    """Take steps as core.compiled.descent.descend does, in the examples' coordinates.

    Parameters
    ----------
    work : Work
        Network; alpha and U go to `outer`, `inner` when scheduled, and U at DEAD to the next of
        `inner`. All arrays but the data are updated in place.
    run : Run
        Schedule and step; its progress is updated in place.
    budget : int
        Largest number of steps.

    Returns
    -------
    int
        GOING, BUFFER_FULL, DONE, DIVERGED or DEAD.
    """
    alpha, Z, outer, inner = work.alpha, work.Z, work.outer, work.inner
    progress, schedule, shrink = run.progress, run.schedule, run.shrink
    scale = run.step_size / work.Z.shape[1]
    for _ in range(budget):
        if progress.mark == schedule.size:
            return DONE
        if progress.buffered == outer.shape[0]:
            return BUFFER_FULL
        outputs(work.phi, work.slope, alpha, Z, work.F, work.h)
        total = slopes(work.loss, work.F, work.y, scale, work.G)
        if not total <= work.limit:
            return DIVERGED
        if total > progress.worst:
            progress.worst = total
        if shrink == 1 and work.phi == RELU and not is_active(Z):
            copy_weights(work, inner[progress.buffered])
            return DEAD
        update(work, shrink)
        # The factor of U(0) is stored separately, which spares each step m d numbers.
        work.scale[0] *= shrink
        progress.step += 1
        if progress.step == schedule[progress.mark]:
            for j in range(alpha.shape[0]):
                for o in range(alpha.shape[1]):
                    outer[progress.buffered, j, o] = alpha[j, o]
            copy_weights(work, inner[progress.buffered])
            progress.buffered += 1
            progress.mark += 1
    if progress.mark == schedule.size:
        return DONE
    return GOING
