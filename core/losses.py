"""Losses in the log domain: value, dual weights, smoothed margin, for margins of any size.

A loss sees an example's scores: its margin p_i = y_i f(x_i), or for k > 2 classes the k - 1 margins
P_ic = f_y(x_i) - f_c(x_i) of its own logit over each other one, in the order of c.

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

Array = NDArray[np.float64]
# Codes of the losses in compiled kernels. Run files store the first three (core.compiled.log_time).
EXPONENTIAL, LOGISTIC, CROSS_ENTROPY, SQUARED, LEAST_SQUARES = range(5)
UNKNOWN = -1  # not in any kernel
LARGE_MARGIN = 30.0  # ln(1 + e^-p) = e^-p to one part in 1e13 beyond this


def log_sum_exp(values: Array) -> float:
    """Return ln sum_i e^v_i, as SciPy does, at a tenth of the cost for few values.

    >>> round(log_sum_exp(np.array([1000.0, 1000.0])) - 1000.0, 12)
    0.69314718056
    """
    largest = float(values.max(initial=-np.inf))
    if not np.isfinite(largest):
        return largest
    # Count the largest terms instead of adding them: their sum would swamp the digits of the
    # others.
    powers = np.exp(values - largest)
    top = values == largest
    powers[top] = 0.0
    count = float(np.count_nonzero(top))
    return float(np.log1p(powers.sum() / count) + np.log(count) + largest)


class LossFunction(ABC):
    """Convex loss l of an example's scores; l(z) -> 0 as z -> infinity if it is `monotone`."""

    kind: str
    code: int  # one of the codes above
    at_zero: float  # l(0): below R = l(0)/n every example is classified correctly
    monotone: bool = True
    lipschitz: bool = False  # |l'| is bounded
    fits: bool = False  # l falls with |f - y|: outputs are fitted to the targets

    @abstractmethod
    def log_value(self, z: Array) -> Array:
        """Return ln l of each example, (n,), for scores z (n,) or (n, k - 1)."""

    @abstractmethod
    def value(self, z: Array) -> Array:
        """Return l of each example, (n,); infinite where l itself overflows."""

    @abstractmethod
    def scores(self, f: Array, y: Array) -> Array:
        """Return the scores (n,) or (n, k - 1) of outputs f (n,) or (n, k), labels y (n,)."""

    @abstractmethod
    def output_gradient(self, f: Array, y: Array) -> Array:
        """Return dl/df, of the shape of f (n,) or (n, k)."""

    @abstractmethod
    def output_curvature(self, f: Array, y: Array, df: Array) -> Array:
        """Return the Hessian of l in the outputs times df, of the shape of f."""

    def inverse_of_log(self, log_s: float) -> float:
        """Return l^-1(exp(log_s)) for one score; NaN if l is not monotone."""
        return float("nan")

    @abstractmethod
    def dual(self, p: Array) -> Array:
        """Return q_i = l'(p_i) / l'(l^-1(sum_k l(p_k))), of the shape of the scores p."""

    def divergence(self, p: Array) -> Array:
        """Return the measure of divergence, (n,): l, or max(-margin, 0) if l grows slowly.

        The twin of core.compiled.descent.slopes, which sums it.
        """
        if not self.lipschitz:
            return self.value(p)
        return np.maximum(-(p if p.ndim == 1 else p.min(axis=1)), 0.0)

    def log_sum(self, p: Array) -> float:
        """Return ln sum_i l(p_i)."""
        return log_sum_exp(self.log_value(p))

    def log_risk(self, p: Array) -> float:
        """Return ln R, R = (1/n) sum_i l(p_i)."""
        return self.log_sum(p) - float(np.log(p.shape[0]))

    def smoothed_margin(self, p: Array) -> float:
        """Return l^-1(sum_i l(p_i)): the smoothed margin before it is divided by |W|^L."""
        return self.inverse_of_log(self.log_sum(p))


class MarginLoss(LossFunction):
    """Loss of the margin p = y f for y = +-1."""

    @abstractmethod
    def slope(self, z: Array) -> Array:
        """Return l'(z), elementwise."""

    @abstractmethod
    def curvature(self, z: Array) -> Array:
        """Return l''(z), elementwise."""

    def scores(self, f: Array, y: Array) -> Array:
        return np.asarray(y * f)

    def output_gradient(self, f: Array, y: Array) -> Array:
        return np.asarray(y * self.slope(y * f))

    def output_curvature(self, f: Array, y: Array, df: Array) -> Array:
        return np.asarray(self.curvature(y * f) * df)


@final
class Exponential(MarginLoss):
    """Exponential loss l(z) = exp(-z).

    >>> round(Exponential().smoothed_margin(np.array([1000.0, 1000.0])), 9)
    999.306852819
    """

    kind = "exponential"
    code = EXPONENTIAL
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
            weights = np.exp(p.min() - p)  # relative to the largest, which keeps all digits of p
        return np.asarray(weights / weights.sum())


def softplus(z: Array) -> Array:
    """Return ln(1 + e^z) without overflow, elementwise.

    >>> softplus(np.array([800.0, 0.0])).tolist() == [800.0, float(np.log(2.0))]
    True
    """
    with np.errstate(under="ignore"):
        return np.asarray(np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))))


@final
class Logistic(MarginLoss):
    """Logistic loss l(z) = ln(1 + exp(-z)), with l^-1(S) = -ln(e^S - 1).

    >>> loss = Logistic()
    >>> round(loss.smoothed_margin(np.array([-800.0])), 9)
    -800.0
    >>> round(loss.smoothed_margin(np.array([3.0])), 12)
    3.0
    """

    kind = "logistic"
    code = LOGISTIC
    at_zero = float(np.log(2.0))
    lipschitz = True

    def log_value(self, z: Array) -> Array:
        small = np.log(softplus(-np.minimum(z, LARGE_MARGIN)))
        return np.where(z > LARGE_MARGIN, -z, small)

    def value(self, z: Array) -> Array:
        return softplus(-z)

    def slope(self, z: Array) -> Array:
        from scipy.special import expit  # slow to load

        with np.errstate(under="ignore"):
            return np.asarray(-expit(-z))

    def curvature(self, z: Array) -> Array:
        with np.errstate(under="ignore"):
            # l''(z) = s (1 - s) as a product of two slopes: 1 - s would cancel where s is near 1.
            return np.asarray(self.slope(z) * self.slope(-z))

    def inverse_of_log(self, log_s: float) -> float:
        # S may underflow: use -ln(e^S - 1) = -ln S - S/2 - S^2/24, whose last term is below 4e-15
        # here.
        if log_s < -15.0:
            return -log_s - 0.5 * float(np.exp(log_s))
        s = float(np.exp(log_s))
        # e^S overflows from S = 710 on; early frames with many examples have such sums.
        if s > 30.0:
            return -(s + float(np.log1p(-np.exp(-s))))
        return -float(np.log(np.expm1(s)))

    def dual(self, p: Array) -> Array:
        at_smoothed = softplus(np.array([self.smoothed_margin(p)]))[0]
        with np.errstate(under="ignore"):
            # |l'(z)| = 1/(1 + e^z); the ratio is taken in logarithms, since both terms underflow
            # late.
            return np.asarray(np.exp(at_smoothed - softplus(p)))


@final
class Squared(MarginLoss):
    """Squared loss l(p) = (1 - p)^2 = (y - f)^2 for y = +-1 (wei19, sections B.3 and F.3).

    It is not monotone, and so has neither a smoothed margin nor dual weights.

    >>> Squared().value(np.array([3.0])).tolist()
    [4.0]
    """

    kind = "squared"
    code = SQUARED
    at_zero = 1.0
    monotone = False
    fits = True

    def log_value(self, z: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(2.0 * np.log(np.abs(1.0 - z)))

    def value(self, z: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray((1.0 - z) ** 2)

    def slope(self, z: Array) -> Array:
        return 2.0 * (z - 1.0)

    def curvature(self, z: Array) -> Array:
        return np.full(z.shape, 2.0)

    def dual(self, p: Array) -> Array:
        return np.full(p.shape, np.nan)


@final
class LeastSquares(LossFunction):
    """Loss l = factor (f - y)^2 for real y: 1/2, or 1 as PyTorch's MSELoss. A score is f - y.

    >>> LeastSquares().value(LeastSquares().scores(np.array([3.0]), np.array([0.5]))).tolist()
    [3.125]
    >>> LeastSquares("mse", 1.0).value(np.array([2.5])).tolist()
    [6.25]
    """

    monotone = False
    fits = True

    def __init__(self, kind: str = "least_squares", factor: float = 0.5) -> None:
        self.kind, self.factor = kind, factor
        self.code = LEAST_SQUARES if kind == "least_squares" else UNKNOWN
        self.at_zero = factor  # for labels +-1: below R = factor/n every |f - y| is below 1

    def log_value(self, z: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(2.0 * np.log(np.abs(z)) + np.log(self.factor))

    def value(self, z: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray(self.factor * z**2)

    def scores(self, f: Array, y: Array) -> Array:
        return np.asarray(f - y)

    def output_gradient(self, f: Array, y: Array) -> Array:
        return np.asarray(2.0 * self.factor * (f - y))

    def output_curvature(self, f: Array, y: Array, df: Array) -> Array:
        return np.asarray(2.0 * self.factor * df, dtype=np.float64)

    def dual(self, p: Array) -> Array:
        return np.full(p.shape, np.nan)


@final
class CrossEntropy(LossFunction):
    """Cross-entropy l = ln(1 + sum_(c != y) exp(f_c - f_y)) of k logits.

    Source: frei23, F.2; wei19, Theorem C.1. It is the logistic loss of m = -ln sum_c exp(-P_c), so
    that l^-1 and the dual weights are those of the logistic loss, shared among the classes by
    exp(-P_c).

    >>> round(float(np.exp(CrossEntropy().value(np.zeros((1, 2)))[0])), 12)
    3.0
    """

    kind = "cross_entropy"
    code = CROSS_ENTROPY
    # Not ln k, the loss at f = 0: below ln 2 the gap to every other logit is positive.
    at_zero = float(np.log(2.0))
    lipschitz = True

    @staticmethod
    def _against_all(P: Array) -> Array:
        from scipy.special import logsumexp

        return np.asarray(-logsumexp(-P, axis=-1))

    def log_value(self, z: Array) -> Array:
        return _logistic.log_value(self._against_all(z))

    def value(self, z: Array) -> Array:
        return _logistic.value(self._against_all(z))

    def scores(self, f: Array, y: Array) -> Array:
        own = y.astype(np.int64)
        n, k = f.shape
        is_other = np.arange(k)[None, :] != own[:, None]
        gaps = f[np.arange(n), own][:, None] - f
        return np.asarray(gaps[is_other].reshape(n, k - 1))

    def output_gradient(self, f: Array, y: Array) -> Array:
        from scipy.special import softmax

        gradient = softmax(f, axis=1)
        gradient[np.arange(f.shape[0]), y.astype(np.int64)] -= 1.0
        return np.asarray(gradient)

    def output_curvature(self, f: Array, y: Array, df: Array) -> Array:
        from scipy.special import softmax

        p = softmax(f, axis=1)
        return np.asarray(p * (df - (p * df).sum(axis=1, keepdims=True)))

    def inverse_of_log(self, log_s: float) -> float:
        return _logistic.inverse_of_log(log_s)

    def dual(self, p: Array) -> Array:
        from scipy.special import softmax

        weights = _logistic.dual(self._against_all(p))
        with np.errstate(under="ignore"):
            return np.asarray(weights[:, None] * softmax(-p, axis=1))


@final
class Unknown(LossFunction):
    """Unnamed loss of another program's run, of which only the margins are known.

    >>> Unknown().value(np.zeros(2)).tolist()
    [nan, nan]
    """

    kind = "unknown"
    code = UNKNOWN
    at_zero = float("nan")
    monotone = False

    def log_value(self, z: Array) -> Array:
        return np.full(z.shape[0], np.nan)

    value = log_value

    def scores(self, f: Array, y: Array) -> Array:
        return np.asarray(y * f) if f.ndim == 1 else LOSSES["cross_entropy"].scores(f, y)

    def output_gradient(self, f: Array, y: Array) -> Array:
        return np.full(f.shape, np.nan)

    def output_curvature(self, f: Array, y: Array, df: Array) -> Array:
        return np.full(f.shape, np.nan)

    def dual(self, p: Array) -> Array:
        return np.full(p.shape, np.nan)


_logistic = Logistic()
LOSSES: dict[str, LossFunction] = {
    loss.kind: loss
    for loss in (Exponential(), _logistic, Squared(), LeastSquares(), CrossEntropy())
}
# Losses of recorded runs only.
RECORDED: dict[str, LossFunction] = {"mse": LeastSquares("mse", 1.0), Unknown.kind: Unknown()}


def loss_named(kind: str) -> LossFunction:
    """Return the loss of a kind, also of one that only recorded runs have."""
    return RECORDED[kind] if kind in RECORDED else LOSSES[kind]
