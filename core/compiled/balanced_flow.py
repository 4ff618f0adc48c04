"""Gradient flow in plain time with exactly balanced layers, many steps a call, compiled.

For f(x) = sum_j a_j phi(<v_j, x>) the flow conserves c_j = a_j^2 - |v_j|^2. Each step is one of
Heun's method, after which the longer of a_j and v_j gets the length that c_j implies:
|a_j| = sqrt(|v_j|^2 + c_j) with its sign at the start where c_j >= 0, and else
|v_j| = sqrt(a_j^2 - c_j). Without that explicit steps let c_j drift, shrinking neurons change their
signs, and runs from small starts end elsewhere (Boursier and Flammarion 2025).

A step of length h is cut into equal parts, and these in two, as long as Heun's and Euler's results
differ by more than `tolerance` of some neuron's length: where the flow is stiff, and around the
kinks of phi, where it jumps. Parts of h/FINEST are accepted whatever their error is.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from numpy.typing import NDArray

from core.compiled.descent import Work, slopes
from core.compiled.jit import compile_kernel
from core.compiled.network import evaluate_outputs, vjp

FINEST = 64  # maximal number of parts of a step

Array = NDArray[Any]


class Balance(NamedTuple):
    """Conserved quantities of m neurons, and the arrays of a step."""

    conserved: Array  # (m,), c_j
    signs: Array  # (m,), of a_j at the start, 0 for a_j = 0
    part: Array  # (1,), number of parts into which the last step was divided
    base: Array  # the parameters before a part
    first: Array  # grad R at `base`
    euler: Array  # the parameters after Euler's step


@compile_kernel
def slope(work: Work, X: Array, y: Array, flat: Array) -> float:
    """Write grad R into work.gradient; return the sum of the loss's measure.

    Parameters
    ----------
    work : Work
        Network and work arrays, overwritten.
    X : array (n, D)
        Inputs x~.
    y : array (n,)
        Labels or targets.
    flat : array (size,)
        Point.

    Returns
    -------
    float
        Result of `core.compiled.descent.slopes`, a sum over the n examples; NaN or inf past
        divergence.
    """
    evaluate_outputs(work.net, flat, work.columns, work.Z, work.F)
    total = slopes(work.loss, work.F, y, 1.0 / work.Z.shape[1], work.G)
    vjp(work.net, flat, work.columns, X, work.G, work.Z, work.C, work.gradient)
    return total


@compile_kernel
def rebalance(flat: Array, m: int, conserved: Array, signs: Array) -> None:
    """Give a_j where c_j >= 0, and else v_j, the length that c_j implies.

    Parameters
    ----------
    flat : array (size,)
        Parameters (a, V), updated in place.
    m : int
        Number of neurons.
    conserved : array (m,)
        c_j.
    signs : array (m,)
        Signs of a_j at the start, which a_j gets where c_j >= 0.
    """
    d = flat.size // m - 1
    for j in range(m):
        v = flat[m + j * d : m + (j + 1) * d]
        square = 0.0
        for i in range(d):
            square += v[i] * v[i]
        if conserved[j] >= 0.0:
            flat[j] = signs[j] * sqrt(square + conserved[j])
        elif square > 0.0:
            factor = sqrt((flat[j] * flat[j] - conserved[j]) / square)
            for i in range(d):
                v[i] *= factor


@compile_kernel
def largest_difference(first: Array, second: Array, m: int) -> float:
    """Return the largest |w_j - w_j'|/|w_j| over the neurons w_j = (a_j, v_j) of two networks.

    Parameters
    ----------
    first, second : array (size,)
        Parameters (a, V) of both.
    m : int
        Number of neurons.

    Returns
    -------
    float
        Largest relative difference; 1 at least if w_j = 0 and w_j' != 0, and 0 for equal networks.
    """
    d = first.size // m - 1
    largest = 0.0
    for j in range(m):
        gap, size = (first[j] - second[j]) ** 2, first[j] * first[j]
        for i in range(m + j * d, m + (j + 1) * d):
            gap += (first[i] - second[i]) ** 2
            size += first[i] * first[i]
        if size > 0.0:
            largest = max(largest, gap / size)
        elif gap > 0.0:
            largest = max(largest, 1.0)
    return sqrt(largest)


@compile_kernel
def heun_step(work: Work, balance: Balance, X: Array, y: Array, h: float) -> float:
    """Write one part of a Heun step from balance.base into work.flat, rebalanced.

    Euler's result is rebalanced too, before Heun's second slope and the comparison.

    Parameters
    ----------
    work : Work
        Network and work arrays, overwritten.
    balance : Balance
        base and first = grad R there; euler is overwritten.
    X : array (n, D)
        Inputs x~.
    y : array (n,)
        Labels or targets.
    h : float
        Length of the part.

    Returns
    -------
    float
        `largest_difference` of Heun's and Euler's results.
    """
    flat, base, first, euler = work.flat, balance.base, balance.first, balance.euler
    m = work.net.m
    for i in range(flat.size):
        euler[i] = base[i] - h * first[i]
    rebalance(euler, m, balance.conserved, balance.signs)
    slope(work, X, y, euler)
    for i in range(flat.size):
        flat[i] = base[i] - 0.5 * h * (first[i] + work.gradient[i])
    rebalance(flat, m, balance.conserved, balance.signs)
    return largest_difference(flat, euler, m)


@compile_kernel
def balanced_steps(
    work: Work, balance: Balance, X: Array, y: Array, budget: int, h: float, tolerance: float
) -> int:
    """Take `budget` steps of length h, fewer if the loss's measure exceeds work.limit or is NaN.

    Parameters
    ----------
    work : Work
        Network; work.flat is updated in place.
    balance : Balance
        Conserved quantities; `part` is updated in place, the arrays of a step are overwritten.
    X : array (n, D)
        Inputs x~.
    y : array (n,)
        Labels or targets.
    budget : int
        Number of steps.
    h : float
        Length of a step.
    tolerance : float
        Error of a part, relative to each neuron's length.

    Returns
    -------
    int
        Number of steps taken.
    """
    flat, base, first, part = work.flat, balance.base, balance.first, balance.part
    for step in range(budget):
        place, parts = 0, part[0]  # in units of 1/FINEST of a step
        while place < FINEST:
            # False for NaN, which counts as too large.
            if not slope(work, X, y, flat) <= work.limit:
                return step
            for i in range(flat.size):
                base[i], first[i] = flat[i], work.gradient[i]
            error = heun_step(work, balance, X, y, h * parts / FINEST)
            while parts > 1 and not error <= tolerance:
                parts //= 2
                error = heun_step(work, balance, X, y, h * parts / FINEST)
            place += parts
            # Double the part only at a multiple of the doubled length, so that parts never pass the
            # end of the step.
            if 4.0 * error <= tolerance and parts < FINEST and place % (2 * parts) == 0:
                parts *= 2
        part[0] = parts
    return budget
