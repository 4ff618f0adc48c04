"""Steps of steepest descent in a norm, K steps a call, compiled."""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any, NamedTuple

from numpy.typing import NDArray

from core.compiled.descent import Work, slopes
from core.compiled.jit import compile_kernel
from core.compiled.network import evaluate_outputs, vjp
from core.compiled.polar import Polar, move_blocks
from core.compiled.scaled_gradients import LN_2, scaled_slopes, smallest_margin
from core.losses import CROSS_ENTROPY, EXPONENTIAL

Array = NDArray[Any]

SIGN, LENGTH, LARGEST, SPECTRAL = range(4)  # directions


class Rule(NamedTuple):
    """Direction and lengths of steps."""

    direction: int  # one of those above
    eta: float  # length of step number 1
    power: float  # step number s has the length eta s^-power
    momentum: float
    mean: Array  # of the size of W; without elements where momentum = 0
    polar: Polar  # of SPECTRAL


@compile_kernel
def dual_weights(loss: int, F: Array, y: Array, G: Array) -> bool:
    """Write the weights of the outputs in sum_i q_i grad p_i, sum_i q_i = 1.

    Parameters
    ----------
    loss : int
        Code of core.losses.
    F : array (k, n)
        Outputs.
    y : array (n,)
        Labels +-1, or class numbers.
    G : array (k, n)
        Weights, written in place.

    Returns
    -------
    bool
        False where an output is not finite.
    """
    for c in range(F.shape[0]):
        for i in range(F.shape[1]):
            if not isfinite(F[c, i]):
                return False
    low = smallest_margin(loss, F, y)
    if loss == EXPONENTIAL or low > 0:
        scaled_slopes(loss, F, y, -1.0, low / LN_2, G)
    else:
        slopes(loss, F, y, -1.0, G)
    total = 0.0
    for i in range(F.shape[1]):
        total += abs(float(G[int(y[i]) if loss == CROSS_ENTROPY else 0, i]))
    for c in range(F.shape[0]):
        for i in range(F.shape[1]):
            G[c, i] /= total
    return True


@compile_kernel
def move(flat: Array, g: Array, direction: int, eta: float) -> None:
    """Add eta times the unit vector with the largest <u, g>.

    Parameters
    ----------
    flat, g : array (size,)
        W, updated in place, and G or its mean.
    direction : int
        SIGN, LENGTH or LARGEST.
    eta : float
        Length of the step.
    """
    if direction == SIGN:
        step = flat.dtype.type(eta)
        for j in range(flat.size):
            if g[j] > 0:
                flat[j] += step
            elif g[j] < 0:
                flat[j] -= step
    elif direction == LENGTH:
        total = 0.0
        for j in range(flat.size):
            total += float(g[j]) * float(g[j])
        if total > 0:
            step = flat.dtype.type(eta / sqrt(total))
            for j in range(flat.size):
                flat[j] += step * g[j]
    else:
        place = 0
        for j in range(flat.size):
            if abs(g[j]) > abs(g[place]):
                place = j
        if g[place] != 0:
            flat[place] += flat.dtype.type(eta if g[place] > 0 else -eta)


@compile_kernel
def steepest_steps(work: Work, X: Array, y: Array, count: int, before: int, rule: Rule) -> int:
    """Take steps on the full batch in work.columns.

    Parameters
    ----------
    work : Work
        Network; work.flat and work.gradient are updated in place.
    X : array (n, D)
        Inputs x~ row by row.
    y : array (n,)
        Labels +-1, or class numbers.
    count, before : int
        Number of steps, and of those taken since t = 0.
    rule : Rule
        Direction and lengths; the mean gradient is updated in place.

    Returns
    -------
    int
        Number of steps taken; below `count` where an output or slope is not finite.
    """
    flat, gradient, mean = work.flat, work.gradient, rule.mean
    part = flat.dtype.type(1 - rule.momentum)
    for s in range(count):
        evaluate_outputs(work.net, flat, work.columns, work.Z, work.F)
        if not dual_weights(work.loss, work.F, y, work.G):
            return s
        vjp(work.net, flat, work.columns, X, work.G, work.Z, work.C, gradient)
        for j in range(gradient.size):
            if not isfinite(gradient[j]):
                return s
        g = gradient
        if mean.size > 0:
            for j in range(mean.size):
                mean[j] += part * (gradient[j] - mean[j])
            g = mean
        eta = rule.eta * float(before + s + 1) ** -rule.power
        if rule.direction != SPECTRAL:
            move(flat, g, rule.direction, eta)
        elif not move_blocks(flat, g, eta, rule.polar):
            return s
    return count
