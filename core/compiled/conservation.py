"""Restoration of what gradient flow conserves in each neuron, after an explicit step."""

from __future__ import annotations

from math import exp, sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compile_kernel
from core.compiled.network import Net, node_rows
from core.network.activation import BATCH_NORM, NORMALISED, SCALAR, WITH_BIAS

Array = NDArray[Any]


@compile_kernel
def rebalance_scalar(balance: Array, scale: float, theta: Array, newer: Array) -> bool:
    """Restore a_j^2 - b_j^2 = scale balance_j: see `rebalance`.

    The flow multiplies a_j + b_j by a positive factor and a_j - b_j by its inverse: each keeps its
    sign, and the shorter one follows from the longer one.

    Parameters
    ----------
    balance, scale : array (m,), float
        Conserved quantities at |W| = 1, and e^(-2 rho).
    theta, newer : array (2 m,)
        (a, b) before and after the step; newer is updated in place.

    Returns
    -------
    bool
        False if a conserved sign has changed.
    """
    m = balance.size
    same_signs = True
    for j in range(m):
        total, gap = newer[j] + newer[m + j], newer[j] - newer[m + j]
        if abs(total) >= abs(gap):
            same_signs = same_signs and total * (theta[j] + theta[m + j]) >= 0.0
            gap = scale * balance[j] / total if total != 0.0 else 0.0
        else:
            same_signs = same_signs and gap * (theta[j] - theta[m + j]) >= 0.0
            total = scale * balance[j] / gap
        newer[j], newer[m + j] = 0.5 * (total + gap), 0.5 * (total - gap)
    return same_signs


@compile_kernel
def rebalance(net: Net, balance: Array, rho: float, theta: Array, newer: Array) -> bool:
    """Restore what the flow conserves in each neuron after a step from theta at rho.

    Scalar networks conserve a_j^2 - b_j^2, standard ones and those with biases a_j^2 - |u_j|^2; if
    the latter is negative a_j may change its sign, and the neuron is left alone.

    Parameters
    ----------
    net : Net
        Network.
    balance, rho : array (m,), float
        Conserved quantities at |W| = 1, and ln |W| before the step.
    theta, newer : array (P,)
        Parameters before and after the step; newer is updated in place.

    Returns
    -------
    bool
        False if a conserved sign has changed: the step was too long for the neuron's decay.
    """
    # Explicit steps let the balance drift by h^2, and so does rounding in a neuron that decayed to
    # 1e-8. Such a neuron would leave 0 with the wrong sign (docs/decisions/0037).
    scale = exp(-2.0 * rho)
    if net.code == SCALAR:
        return rebalance_scalar(balance, scale, theta, newer)
    m, same_signs = balance.size, True
    width = net.D - 1 if net.code == WITH_BIAS else net.D  # columns of V
    for j in range(m):
        if balance[j] < 0.0:
            continue
        square = scale * balance[j]
        for i in range(m + j * width, m + (j + 1) * width):
            square += newer[i] * newer[i]
        if net.code == WITH_BIAS:
            square += newer[m + m * width + j] ** 2
        same_signs = same_signs and newer[j] * theta[j] >= 0.0
        newer[j] = sqrt(square) if theta[j] >= 0.0 else -sqrt(square)
    return same_signs


@compile_kernel
def renormalise(net: Net, theta: Array, newer: Array) -> float:
    """Divide the last stage by |W_h|, and return |W_h|; restore |v_j| if the flow conserves it.

    Parameters
    ----------
    net, theta, newer : Net, array (P,), array (P,)
        Network, and parameters before and after the step; newer is updated in place.

    Returns
    -------
    float
        |W_h| of the homogeneous parameters, with |W_h| = 1 before the step.
    """
    norm = 0.0
    for k in range(net.scaled):
        norm += newer[k] * newer[k]
    norm = sqrt(norm)
    for k in range(net.scaled):
        newer[k] /= norm
    # The gradient is orthogonal to v_j there: the flow conserves |v_j|, but a step along the
    # tangent lengthens it (docs/theory.md, 2.2). With eps > 0 nothing is conserved.
    conserves = net.code == NORMALISED or (
        net.code == BATCH_NORM and net.normalises == 1 and net.eps == 0.0
    )
    if conserves:
        before, after = node_rows(net, theta)[2], node_rows(net, newer)[2]
        for j in range(before.shape[0]):
            previous = new = 0.0
            for i in range(before.shape[1]):
                previous += before[j, i] * before[j, i]
                new += after[j, i] * after[j, i]
            factor = sqrt(previous / new)
            for i in range(before.shape[1]):
                after[j, i] *= factor
    return norm
