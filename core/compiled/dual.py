"""Dual weights and smoothed margins at scores E p(theta), compiled, for all log-time losses.

`form` is the loss's code while some score is still below 20, and EXPONENTIAL from there on, which
the others are to one part in 1e9. `n_others` is the number of scores of an example:
1, or k - 1 for k classes, one example after another. Formulas: core.losses, which the tests use.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p
from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compile_kernel
from core.losses import EXPONENTIAL, LOGISTIC

Array = NDArray[Any]


@compile_kernel
def smallest(p: Array) -> float:
    """Return min_i p_i."""
    least = p[0]
    for i in range(1, p.size):
        least = min(least, p[i])
    return least  # type: ignore[no-any-return]


@compile_kernel
def softplus(z: float) -> float:
    """Return ln(1 + e^z)."""
    # No overflow at either end, and no digits lost to the 1 for z far below 0.
    return max(z, 0.0) + log1p(exp(-abs(z)))


@compile_kernel
def log_logistic(z: float) -> float:
    """Return ln ln(1 + e^-z)."""
    # ln(softplus(-z)) = -z - e^-z/2 ...: the omitted term is below 5e-14.
    return -z if z > 30.0 else log(softplus(-z))


@compile_kernel
def log_sum_of_losses(form: int, n_others: int, p: Array, e: float) -> float:
    """Return ln sum_i l(e p_i).

    Parameters
    ----------
    form : int
        Code of the loss, or EXPONENTIAL late.
    n_others : int
        Scores of an example.
    p : array (N,)
        Scores.
    e : float
        Temperature.

    Returns
    -------
    float
        Logarithm of the sum over examples (over scores if `form` is EXPONENTIAL); finite also where
        the sum underflows or overflows.
    """
    least, total = smallest(p), 0.0
    if form == EXPONENTIAL:
        # Subtract before multiplying: at e p = 1e20 the rounding of e p alone would overflow exp.
        for i in range(p.size):
            total += exp(e * (least - p[i]))
        return log(total) - e * least
    top = log_logistic(e * least)
    if form == LOGISTIC:
        for i in range(p.size):
            total += exp(log_logistic(e * p[i]) - top)
        return top + log(total)
    for i in range(0, p.size, n_others):
        total += exp(log_logistic(against_all(p[i : i + n_others], e)) - top)
    return top + log(total)


@compile_kernel
def against_all(p: Array, e: float) -> float:
    """Return -ln sum_c exp(-e p_c): cross-entropy is the logistic loss of this."""
    least, total = smallest(p), 0.0
    for c in range(p.size):
        total += exp(e * (least - p[c]))
    return e * least - log(total)


@compile_kernel
def smoothed_margin(form: int, n_others: int, p: Array, e: float) -> float:
    """Return l^-1(sum_i l(e p_i)).

    Parameters
    ----------
    form : int
        Code of the loss, or EXPONENTIAL late.
    n_others : int
        Scores of an example.
    p : array (N,)
        Scores.
    e : float
        Temperature.

    Returns
    -------
    float
        Smoothed margin in units of e p, not divided by e; at most e min p.
    """
    log_s = log_sum_of_losses(form, n_others, p, e)
    if form == EXPONENTIAL:
        return -log_s
    if log_s < -15.0:  # -ln(e^s - 1) = -ln s - s/2 - s^2/24 ...: the omitted terms are below 1e-14
        return -log_s - 0.5 * exp(log_s)
    total = exp(log_s)
    if total > 30.0:  # through e^-total, which does not overflow
        return -(total + log1p(-exp(-total)))
    return -log(expm1(total))


@compile_kernel
def log_n_over_q(form: int, n_others: int, p: Array, e: float) -> float:
    """Return ln(n/Q), Q = |l'(l^-1(sum_i l(e p_i)))|: dt = (n/Q) ds.

    Parameters
    ----------
    form : int
        Code of the loss, or EXPONENTIAL late.
    n_others : int
        Scores of an example.
    p : array (N,)
        Scores.
    e : float
        Temperature.

    Returns
    -------
    float
        ln(n/Q) for n = N/n_others examples, finite also where Q underflows.
    """
    gt = smoothed_margin(form, n_others, p, e)
    return log(p.size // n_others) + (softplus(gt) if form != EXPONENTIAL else gt)


@compile_kernel
def dual_weights(form: int, n_others: int, p: Array, e: float, q: Array) -> None:
    """Write the dual weights q_i = l'(e p_i) / l'(l^-1(sum_k l(e p_k))).

    Parameters
    ----------
    form : int
        Code of the loss, or EXPONENTIAL late.
    n_others : int
        Scores of an example.
    p : array (N,)
        Scores.
    e : float
        Temperature.
    q : array (N,)
        Dual weights, written in place.
    """
    if form == EXPONENTIAL:
        least, total = smallest(p), 0.0
        for i in range(p.size):
            q[i] = exp(e * (least - p[i]))  # relative to the largest, which keeps all digits of p
        for i in range(p.size):
            total += q[i]
        for i in range(p.size):
            q[i] /= total
        return
    # l'(p)/l'(psi) = (1 + e^psi)/(1 + e^p) as a difference of logarithms: no overflow at either
    # end.
    at_smoothed = softplus(smoothed_margin(form, n_others, p, e))
    if form == LOGISTIC:
        for i in range(p.size):
            q[i] = exp(at_smoothed - softplus(e * p[i]))
        return
    for i in range(0, p.size, n_others):
        z = against_all(p[i : i + n_others], e)
        weight = at_smoothed - softplus(z)
        for c in range(i, i + n_others):
            q[c] = exp(weight + z - e * p[c])
