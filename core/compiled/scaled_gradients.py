"""Adam's gradients where the loss underflows: times 2^k, with roots of the mean squares.

k follows the smallest margin min p, in steps of `REACH`. While it is 0 and epsilon is not, slopes,
moments and steps are those of core.compiled.stochastic to the bit. Otherwise the second moment is
stored as its root, so that weights whose slopes differ by hundreds of powers of ten all move.
"""

from __future__ import annotations

from math import exp, isfinite, ldexp, log, sqrt
from typing import Any

from numpy.typing import NDArray

from core.compiled.jit import compile_kernel, generic
from core.losses import CROSS_ENTROPY, EXPONENTIAL, LOGISTIC

Array = NDArray[Any]

LN_2 = log(2.0)
# Of |min p - k ln 2|: stored gradients are about e^-REACH to e^REACH.
REACH, REACH_32 = 200.0, 30.0
# From there on a softmax of the own logit less 1 is 0.
CANCELS, CANCELS_32 = 36.0, 16.0
# A power of 2 that no moment exceeds by a larger k.
LARGEST, LARGEST_32 = 900, 100
# Moments below are 0: rounded to multiples of the least number, they would not decay.
LEAST, LEAST_32 = 1e-300, 1e-36


@generic
def vanishes(loss: int) -> bool:
    """Return True for losses that go to 0 like exp(-p)."""
    return loss in (EXPONENTIAL, LOGISTIC, CROSS_ENTROPY)


@compile_kernel
def smallest_margin(loss: int, F: Array, y: Array) -> float:
    """Return the smallest margin min p of a batch.

    Parameters
    ----------
    loss : int
        Code of core.losses.
    F : array (k, n)
        Outputs.
    y : array (n,)
        Labels +-1, or class numbers.

    Returns
    -------
    float
        Least y_i f_i; for cross-entropy least F_yi - F_ci over c != y_i; inf without examples.
    """
    low = float("inf")
    for i in range(F.shape[1]):
        if loss == CROSS_ENTROPY:
            own = int(y[i])
            for c in range(F.shape[0]):
                if c != own:
                    low = min(low, float(F[own, i] - F[c, i]))
        else:
            low = min(low, float(y[i] * F[0, i]))
    return low


@generic
def is_far(low: float, k: float, single: bool) -> bool:
    """Return True where k is to follow min p.

    Parameters
    ----------
    low : float
        min p.
    k : float
        Present power of 2.
    single : bool
        True for float32.

    Returns
    -------
    bool
        True if |min p - k ln 2| is above REACH, or REACH_32; False if min p is not finite.
    """
    return bool(isfinite(low) and abs(low - k * LN_2) > (REACH_32 if single else REACH))


@generic
def next_scale(low: float, k: float, top: float, single: bool) -> int:
    """Return k near min p / ln 2, or as near as the present moments allow.

    Parameters
    ----------
    low : float
        min p.
    k : float
        Present power of 2.
    top : float
        Largest of the moments, squares by their roots.
    single : bool
        True for float32.

    Returns
    -------
    int
        New k >= 0; growth stops where the largest moment would exceed 2^LARGEST, or 2^LARGEST_32.
    """
    new = max(0, int(low / LN_2))
    if new <= k or top <= 0:
        return new
    room = (LARGEST_32 if single else LARGEST) - log(top) / LN_2
    return min(new, int(k) + max(0, int(room)))


@generic
def holds_roots(k: float, epsilon: float) -> bool:
    """Return True if the second moment is stored as its root."""
    return bool(k > 0 or epsilon == 0)


@compile_kernel
def follow_margin(low: float, epsilon: float, scale: Array, first: Array, second: Array) -> None:
    """Move k near min p / ln 2 where it is off by `REACH`, and the moments with it.

    Parameters
    ----------
    low : float
        min p.
    epsilon : float
        Adam's.
    scale : array (1,)
        k >= 0, updated in place.
    first, second : array (size,)
        Means of the gradient and of its square, or their roots, updated in place.
    """
    single, k = scale.itemsize == 4, float(scale[0])
    if not is_far(low, k, single):
        return
    rooted = holds_roots(k, epsilon)
    top = 0.0
    for j in range(first.size):
        root = float(second[j]) if rooted else sqrt(float(second[j]))
        top = max(top, root, abs(float(first[j])))
    new = next_scale(low, k, top, single)
    power = new - int(k)
    for j in range(first.size):
        root = float(second[j]) if rooted else sqrt(float(second[j]))
        root = ldexp(root, power)
        first[j] = ldexp(float(first[j]), power)
        second[j] = root if holds_roots(new, epsilon) else root * root
    scale[0] = new


@compile_kernel
def adapt_scaled(
    flat: Array, gradient: Array, rule: Any, epsilon: float, size: float, shrink: float, root: float
) -> None:
    """Move the weights by moments with roots; weights without a slope stay.

    Parameters
    ----------
    flat, gradient : array (size,)
        W, updated in place, and its slopes times 2^k.
    rule : Rule
        Constants; moments are updated in place.
    epsilon : float
        epsilon times 2^k.
    size, shrink, root : float
        Corrected step, factor of the decay, and root of 1 - beta_2^t.
    """
    first, second, beta_1, beta_2 = rule.first, rule.second, rule.beta_1, rule.beta_2
    least = LEAST_32 if flat.itemsize == 4 else LEAST
    for j in range(flat.size):
        g = gradient[j] + 2 * rule.penalty * flat[j]
        top = max(second[j], abs(g))
        flat[j] *= shrink
        if top < least:
            first[j] = second[j] = 0
            continue
        first[j] = beta_1 * first[j] + (1 - beta_1) * g
        before, now = second[j] / top, g / top
        second[j] = top * sqrt(beta_2 * before * before + (1 - beta_2) * now * now)
        flat[j] -= size * first[j] / (second[j] / root + epsilon)


@generic
def is_needed(loss: int, low: float, k: float, epsilon: float, single: bool) -> bool:
    """Return True if `slopes` of core.compiled.descent underflow or cancel.

    Parameters
    ----------
    loss : int
        Code of core.losses.
    low : float
        min p.
    k : float
        Power of 2.
    epsilon : float
        Adam's; with 0 every digit of the softmax counts.
    single : bool
        True for float32.

    Returns
    -------
    bool
        True if k > 0, or for cross-entropy if epsilon = 0 or min p is above CANCELS, or CANCELS_32.
    """
    cancels = epsilon == 0 or low > (CANCELS_32 if single else CANCELS)
    return bool(k > 0 or (loss == CROSS_ENTROPY and cancels))


@compile_kernel
def scaled_slopes(loss: int, F: Array, y: Array, factor: float, k: float, G: Array) -> None:
    """Write G = factor 2^k dl/dF, without cancellation in the own logit.

    Parameters
    ----------
    loss : int
        Code of core.losses.
    F : array (k, n)
        Outputs.
    y : array (n,)
        Labels +-1, or class numbers.
    factor : float
        Factor of the slopes.
    k : float
        Power of 2.
    G : array (k, n)
        Slopes, written in place.
    """
    exponent = float(k) * LN_2
    for i in range(F.shape[1]):
        if loss == CROSS_ENTROPY:
            own, total = int(y[i]), 1.0
            for c in range(F.shape[0]):
                if c != own:
                    total += exp(float(F[c, i]) - float(F[own, i]))
            for c in range(F.shape[0]):
                if c != own:
                    G[c, i] = factor * exp(exponent + float(F[c, i]) - float(F[own, i])) / total
            slope = 0.0
            for c in range(F.shape[0]):
                if c != own:
                    slope += float(G[c, i])
            G[own, i] = -slope
            continue
        p = float(y[i]) * float(F[0, i])
        if loss == EXPONENTIAL:
            weight = exp(exponent - p)
        elif p >= 0:
            weight = exp(exponent - p) / (1.0 + exp(-p))
        else:
            weight = exp(exponent) / (1.0 + exp(p))
        G[0, i] = -factor * weight * y[i]
