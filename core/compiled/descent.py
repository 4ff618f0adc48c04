"""Constant-step gradient descent on a two-layer network, K steps a call, compiled."""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple, final

from numpy.typing import NDArray

from core.compiled.jit import compile_kernel
from core.compiled.kernel import is_active
from core.compiled.network import Net, evaluate_outputs, vjp
from core.losses import CROSS_ENTROPY, LEAST_SQUARES, LOGISTIC, SQUARED
from core.network.activation import RELU

GOING, BUFFER_FULL, DONE, DIVERGED, DEAD = 0, 1, 2, 3, 4

Array = NDArray[Any]


@final
class Progress:
    """Progress of a run, see core.compiled.records."""

    worst: float  # the largest loss measure so far
    step: int  # steps taken
    mark: int  # the next frame's place on the schedule
    buffered: int  # frames in the buffer


class Run(NamedTuple):
    """Schedule and step of a run of constant steps on all examples."""

    progress: Progress
    schedule: Array  # (frames,), the steps of frames
    step_size: float  # eta
    shrink: float  # 1 - 2 eta lambda: the gradient step of the penalty lambda |W|^2


class Work(NamedTuple):
    """Network, and the arrays of its passes over a batch of b examples."""

    net: Net
    flat: Array  # parameters W
    loss: int  # code of the loss
    limit: float  # of the loss measure; a run above it has diverged
    columns: Array  # (D, b), the inputs
    Z: Array  # (m, b) and C, see core.compiled.network
    C: Array
    F: Array  # (k, b) outputs, and G their weights
    G: Array
    gradient: Array  # same size as W


@compile_kernel
def logistic_slopes(f: Array, y: Array, scale: float, g: Array) -> float:
    """Write g_i = -scale y_i / (1 + e^p_i); return sum max(-p_i, 0).

    Parameters
    ----------
    f : array (n,)
        Outputs.
    y : array (n,)
        Labels +-1.
    scale : float
        Factor of the slopes.
    g : array (n,)
        Slopes, written in place.

    Returns
    -------
    float
        Sum over the examples with p_i = y_i f_i; 0 if all p_i >= 0, NaN if some p_i is not finite.
    """
    for i in range(f.size):
        p = y[i] * f[i]
        # Neither branch lets exp overflow.
        if p >= 0:
            e = exp(-p)
            weight = e / (1 + e)
        else:
            weight = 1 / (1 + exp(p))
        g[i] = -scale * weight * y[i]
    total = 0.0
    for i in range(f.size):
        p = y[i] * f[i]
        # An infinite margin of the right sign has loss 0 but is a divergence: 0 p is NaN.
        total += max(-p, 0.0) + 0.0 * p
    return total


@compile_kernel
def softmax_slopes(F: Array, y: Array, scale: float, G: Array) -> float:
    """Write G_ci = scale (softmax_c(F_.i) - 1[c = y_i]); return sum_i (max_c F_ci - F_yi).

    Parameters
    ----------
    F : array (k, n)
        Logits.
    y : array (n,)
        Class numbers.
    scale : float
        Factor of the slopes.
    G : array (k, n)
        Slopes, written in place.

    Returns
    -------
    float
        Sum of the n gaps to the largest logit; 0 if every example has its own logit on top.
    """
    k, n = F.shape
    measure = 0.0
    for i in range(n):
        top = F[0, i]
        for c in range(1, k):
            top = max(top, F[c, i])
        for c in range(k):
            # Subtracting the largest keeps exp from overflowing.
            G[c, i] = exp(F[c, i] - top)
        total = F.dtype.type(0)
        for c in range(k):
            total += G[c, i]
        own = int(y[i])
        for c in range(k):
            G[c, i] *= scale / total
        G[own, i] -= scale
        measure += top - F[own, i]
    return measure


@compile_kernel
def slopes(loss: int, F: Array, y: Array, scale: float, G: Array) -> float:
    """Write G = scale dl/dF; return the loss's measure of divergence.

    sum exp(-p), sum max(-p, 0), sum (1 - p)^2, sum (f - y)^2/2, or the sum of the gaps to the
    largest logit.

    Parameters
    ----------
    loss : int
        Code of core.losses.
    F : array (k, n)
        Outputs.
    y : array (n,)
        Labels, targets, or class numbers.
    scale : float
        Factor of the slopes.
    G : array (k, n)
        Slopes, written in place.

    Returns
    -------
    float
        Sum over the n examples, without the factor `scale`; NaN or inf past divergence.
    """
    if loss == LOGISTIC:
        return logistic_slopes(F[0], y, scale, G[0])
    if loss == CROSS_ENTROPY:
        return softmax_slopes(F, y, scale, G)
    f, g = F[0], G[0]
    total = 0.0
    if loss in (SQUARED, LEAST_SQUARES):
        half = 1.0 if loss == SQUARED else 0.5
        for i in range(f.size):
            g[i] = 2 * half * scale * (f[i] - y[i])
        for i in range(f.size):
            gap = f[i] - y[i]
            total += half * gap * gap
        return total
    for i in range(f.size):
        g[i] = exp(-y[i] * f[i])
    for i in range(f.size):
        total += g[i]
    for i in range(f.size):
        g[i] *= -scale * y[i]
    return total


@compile_kernel
def descend(work: Work, X: Array, y: Array, budget: int, run: Run, buffer: Array) -> int:
    """Take steps W <- shrink W - eta grad R(W), and copy W to `buffer` when scheduled.

    Parameters
    ----------
    work : Work
        Network; work.flat is updated in place, as all its arrays are.
    X : array (n, D) or (0, D)
        Inputs x~ row by row, which makes small problems faster.
    y : array (n,)
        Labels, targets, or class numbers.
    budget : int
        Largest number of steps.
    run : Run
        Schedule and step; its progress is updated in place.
    buffer : array (rows, size)
        Frames, written in place.

    Returns
    -------
    int
        GOING, BUFFER_FULL, DONE, DIVERGED (loss measure above the limit or not a number) or
        DEAD (no unit is active on any example: the gradient is zero for ever).
    """
    net, flat, Z, F, G, gradient = work.net, work.flat, work.Z, work.F, work.G, work.gradient
    progress, schedule, shrink = run.progress, run.schedule, run.shrink
    scale = run.step_size / work.Z.shape[1]
    for _ in range(budget):
        if progress.mark == schedule.size:
            return DONE
        if progress.buffered == buffer.shape[0]:
            return BUFFER_FULL
        evaluate_outputs(net, flat, work.columns, Z, F)
        total = slopes(work.loss, F, y, scale, G)
        if not total <= work.limit:  # false for NaN, which is also a divergence
            return DIVERGED
        if total > progress.worst:
            progress.worst = total
        vjp(net, flat, work.columns, X, G, Z, work.C, gradient)
        moves = False
        for j in range(flat.size):
            moves |= gradient[j] != 0
            flat[j] = shrink * flat[j] - gradient[j]
        # A ReLU network without active units never changes again, unless a penalty shrinks it.
        # Activity is checked only after a step that moved nothing.
        if shrink == 1 and not moves and net.phi == RELU and not is_active(Z):
            return DEAD
        progress.step += 1
        if progress.step == schedule[progress.mark]:
            for j in range(flat.size):
                buffer[progress.buffered, j] = flat[j]
            progress.buffered += 1
            progress.mark += 1
    if progress.mark == schedule.size:
        return DONE
    return GOING
