"""Dual weights and smoothed margins at p = E p(theta), compiled, for both losses.

`startup` = 1 means the logistic loss while some margin is still below 20; otherwise l = e^-p, which
is the logistic loss to one part in 1e9 there. Formulas: core.losses, the reference for the tests.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p
from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compiled

Array = NDArray[Any]


@compiled
def smallest(p: Array) -> float:
    """min_i p_i."""
    least = p[0]
    for i in range(1, p.size):
        least = min(least, p[i])
    return least  # type: ignore[no-any-return]


@compiled
def softplus(z: float) -> float:
    """ln(1 + e^z)."""
    return max(z, 0.0) + log1p(exp(-abs(z)))


@compiled
def log_logistic(z: float) -> float:
    """ln ln(1 + e^-z)."""
    return -z if z > 30.0 else log(softplus(-z))


@compiled
def log_sum_of_losses(startup: int, p: Array, e: float) -> float:
    """ln sum_i l(e p_i)."""
    if startup == 0:
        # The difference first: at e p = 1e20 the rounding of e p alone would overflow exp.
        least, total = smallest(p), 0.0
        for i in range(p.size):
            total += exp(e * (least - p[i]))
        return log(total) - e * least
    top = log_logistic(e * smallest(p))
    total = 0.0
    for i in range(p.size):
        total += exp(log_logistic(e * p[i]) - top)
    return top + log(total)


@compiled
def smoothed_margin(startup: int, p: Array, e: float) -> float:
    """l^-1(sum_i l(e p_i))."""
    log_s = log_sum_of_losses(startup, p, e)
    if startup == 0:
        return -log_s
    if log_s < -15.0:
        return -log_s - 0.5 * exp(log_s)
    total = exp(log_s)
    if total > 30.0:
        return -(total + log1p(-exp(-total)))
    return -log(expm1(total))


@compiled
def log_n_over_q(startup: int, p: Array, e: float) -> float:
    """ln(n/Q), Q = |l'(l^-1(sum_i l(e p_i)))|: dt = (n/Q) ds."""
    gt = smoothed_margin(startup, p, e)
    return log(p.size) + (softplus(gt) if startup == 1 else gt)


@compiled
def dual_weights(startup: int, p: Array, e: float, q: Array) -> None:
    """q_i = l'(e p_i) / l'(l^-1(sum_k l(e p_k)))."""
    if startup == 0:
        least, total = smallest(p), 0.0
        for i in range(p.size):
            q[i] = exp(e * (least - p[i]))  # relative to the largest: no digits of p are lost
            total += q[i]
        for i in range(p.size):
            q[i] /= total
        return
    at_smoothed = softplus(smoothed_margin(1, p, e))
    for i in range(p.size):
        q[i] = exp(at_smoothed - softplus(e * p[i]))
