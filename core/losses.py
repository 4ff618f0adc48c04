"""The losses in the log domain: value, dual weights, smoothed margin, for margins of any size.

With p_i = y_i f(x_i) and S = sum_i l(p_i) the unnormalised smoothed margin is l^-1(S), the SUM and
not the mean (telgarsky22, section 1.2; homogeneity, section 3). The dual weights are
q_i = l'(p_i) / l'(l^-1(S)): a probability vector for the exponential loss, of sum >= 1 for the
logistic one. Nothing here under- or overflows, whatever the size of p.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

Array = NDArray[np.float64]
LARGE_MARGIN = 30.0  # ln(1 + e^-p) = e^-p to one part in 1e13 beyond this


class LossFunction(ABC):
    """A loss l of one margin z, decreasing and convex, with l(z) -> 0 as z -> infinity."""

    kind: str
    code: int  # how compiled kernels tell the losses apart
    at_zero: float  # l(0): below R = l(0)/n every example is classified correctly

    @abstractmethod
    def log_value(self, z: Array) -> Array:
        """ln l(z), elementwise."""

    @abstractmethod
    def value(self, z: Array) -> Array:
        """l(z), elementwise (may overflow to infinity where l itself does)."""

    @abstractmethod
    def slope(self, z: Array) -> Array:
        """l'(z) < 0, elementwise."""

    @abstractmethod
    def curvature(self, z: Array) -> Array:
        """l''(z), elementwise."""

    @abstractmethod
    def inverse_of_log(self, log_s: float) -> float:
        """l^-1(exp(log_s))."""

    @abstractmethod
    def dual(self, p: Array) -> Array:
        """q_i = l'(p_i) / l'(l^-1(sum_k l(p_k))), shape (n,)."""

    def log_sum(self, p: Array) -> float:
        """ln sum_i l(p_i)."""
        return float(logsumexp(self.log_value(p)))

    def log_risk(self, p: Array) -> float:
        """ln R, R = (1/n) sum_i l(p_i)."""
        return self.log_sum(p) - float(np.log(p.size))

    def smoothed(self, p: Array) -> float:
        """l^-1(sum_i l(p_i)): the smoothed margin before it is divided by |W|^L."""
        return self.inverse_of_log(self.log_sum(p))


@final
class Exponential(LossFunction):
    """l(z) = exp(-z).

    >>> round(Exponential().smoothed(np.array([1000.0, 1000.0])), 9)
    999.306852819
    """

    kind = "exponential"
    code = 0
    at_zero = 1.0

    def log_value(self, z: Array) -> Array:
        return -z

    def value(self, z: Array) -> Array:
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(-z)

    def slope(self, z: Array) -> Array:
        return -self.value(z)

    def curvature(self, z: Array) -> Array:
        return self.value(z)

    def inverse_of_log(self, log_s: float) -> float:
        return -log_s

    def dual(self, p: Array) -> Array:
        with np.errstate(under="ignore"):
            weights = np.exp(
                p.min() - p
            )  # relative to the largest, so that no digits of p are lost
        return np.asarray(weights / weights.sum())


def softplus(z: Array) -> Array:
    """ln(1 + e^z) without overflow.

    >>> softplus(np.array([800.0, 0.0])).tolist() == [800.0, float(np.log(2.0))]
    True
    """
    with np.errstate(under="ignore"):
        return np.asarray(np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))))


@final
class Logistic(LossFunction):
    """l(z) = ln(1 + exp(-z)), with l^-1(S) = -ln(e^S - 1).

    >>> loss = Logistic()
    >>> round(loss.smoothed(np.array([-800.0])), 9)
    -800.0
    >>> round(loss.smoothed(np.array([3.0])), 12)
    3.0
    """

    kind = "logistic"
    code = 1
    at_zero = float(np.log(2.0))

    def log_value(self, z: Array) -> Array:
        small = np.log(softplus(-np.minimum(z, LARGE_MARGIN)))
        return np.where(z > LARGE_MARGIN, -z, small)

    def value(self, z: Array) -> Array:
        return softplus(-z)

    def slope(self, z: Array) -> Array:
        with np.errstate(under="ignore"):
            return np.asarray(-expit(-z))

    def curvature(self, z: Array) -> Array:
        with np.errstate(under="ignore"):
            return np.asarray(expit(z) * expit(-z))

    def inverse_of_log(self, log_s: float) -> float:
        if log_s < -15.0:
            return -log_s - 0.5 * float(np.exp(log_s))
        s = float(np.exp(log_s))
        if s > 30.0:
            return -(s + float(np.log1p(-np.exp(-s))))
        return -float(np.log(np.expm1(s)))

    def dual(self, p: Array) -> Array:
        at_smoothed = softplus(np.array([self.smoothed(p)]))[0]
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(at_smoothed - softplus(p)))


LOSSES: dict[str, LossFunction] = {loss.kind: loss for loss in (Exponential(), Logistic())}
