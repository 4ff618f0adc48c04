"""How nearly the direction of W is a KKT point of the margin problem min |W_h|^2, p >= 1.

The norm is that of the homogeneous parameters W_h alone; in the others (V of the normalised and
batch-norm networks and of the head) stationarity asks that sum_i lambda_i grad p_i vanishes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.observables.margins import flat_scores
from core.observables.observable import Observable, memoised
from core.runs import Run

Array = NDArray[np.float64]
MOST_EXAMPLES = 300  # constraints p >= 1: for k classes there are n (k - 1)


class Certificate(NamedTuple):
    """Relative stationarity residual and complementarity."""

    residual: float
    complementarity: float


NONE = Certificate(float("nan"), float("nan"))


@memoised
def certificate(run: Run, index: int) -> Certificate:
    """The nearest multipliers lambda >= 0, by nonnegative least squares; NaN unless min p > 0.

    theta^ = theta / p_min^(1/L), theta the homogeneous parameters and 0 for the others; the
    residual is |theta^ - sum_i lambda_i grad p_i(theta^)| / |theta^|, with the gradient in all
    trained parameters, and the complementarity sum_i lambda_i (p_i(theta^) - 1) / sum_i lambda_i.
    For k classes the constraints are those of all n (k - 1) scores. NaN for networks that are not
    homogeneous.
    """
    p = flat_scores(run, index).reshape(-1)
    network = run.network
    if not network.homogeneous or not p.min() > 0.0:
        return NONE
    degree, flat = network.degree, run.parameters(index)
    # In units in which min p = 1: theta^ = c theta, and grad p(theta^) differs from grad p(theta)
    # by c^(L-1) in the homogeneous parameters, but by c^L in the others.
    c = float(p.min()) ** (-1.0 / degree)
    there = np.concatenate([c * flat[: network.scaled], flat[network.scaled :]])
    p = p / p.min()
    squared = float(np.dot(there[: network.scaled], there[: network.scaled]))
    return nearest(score_gram(run, there), degree * p, squared, p)


def score_gram(run: Run, flat: Array) -> Array:
    """<grad P, grad P'> for all scores, (n, n) or (n (k - 1), n (k - 1)), the class fastest."""
    K, y, k = run.network.gram(flat, run.inputs), run.dataset.y, run.network.k
    if k == 1:
        return np.asarray(y[:, None] * K * y[None, :])
    own, n = y.astype(np.int64), y.size
    # differences[i, c', c]: how the c'-th score of example i is made of its outputs
    differences = np.zeros((n, k - 1, k))
    for i in range(n):
        others = [c for c in range(k) if c != own[i]]
        differences[i, :, own[i]] = 1.0
        differences[i, np.arange(k - 1), others] = -1.0
    blocks = K.reshape(n, k, n, k)
    scores = np.einsum("iac,icrd,rbd->iarb", differences, blocks, differences, optimize=True)
    return np.asarray(scores.reshape(n * (k - 1), n * (k - 1)))


def nearest(kernel: Any, b: Array, squared: float, p: Array) -> Certificate:
    """min over lambda >= 0 of |theta - J' lambda| from K = J J', b = J theta and |theta|^2.

    Everything lives in the span of the gradients: K = A'A turns the distance into
    |A lambda - A^-T b|^2 + |theta|^2 - |A^-T b|^2, a problem of the size of K.
    """
    from scipy.optimize import nnls  # slow to load

    values, vectors = np.linalg.eigh(kernel)
    # Below that only rounding is left of a direction, by whose root the target would be divided.
    kept = values > 1e-13 * values[-1]
    root = np.sqrt(values[kept])
    A = root[:, None] * vectors[:, kept].T
    target = (vectors[:, kept].T @ b) / root
    multipliers, rest = nnls(A, target)
    # What lies outside the span of the gradients; rounding may put its square below 0.
    outside = max(squared - float(target @ target), 0.0)
    residual = np.sqrt(outside + rest**2) / np.sqrt(squared)
    total = float(multipliers.sum())
    slack = float(multipliers @ (p - 1.0)) / total if total > 0.0 else float("nan")
    return Certificate(float(residual), slack)


def kkt_residual(run: Run, index: int) -> float:
    return certificate(run, index).residual


def complementarity(run: Run, index: int) -> float:
    return certificate(run, index).complementarity


def has_certificate(run: Run) -> bool:
    """Homogeneous networks, losses with duals, and not more than 300 constraints."""
    constraints = run.dataset.n * max(run.network.k - 1, 1)
    return run.network.homogeneous and run.loss.monotone and constraints <= MOST_EXAMPLES


WHERE = "homogeneous networks, at most 300 constraints p >= 1"
OBSERVABLES = (
    Observable(
        "kkt_residual",
        "KKT residual",
        "min over lambda >= 0 of |theta^ - sum_i lambda_i grad p_i(theta^)| / |theta^|",
        "frei23, Theorem 3.1",
        kkt_residual,
        applies=has_certificate,
        where=WHERE,
        tex=r"\frac{\min_{\lambda\geq 0}|\hat\theta-\sum_i\lambda_i"
        r"\nabla p_i(\hat\theta)|}{|\hat\theta|}",
        normalisation="divided by |theta^|, theta^ = theta/p_min^(1/L): scale-free",
        costly=True,
    ),
    Observable(
        "complementarity",
        "complementarity",
        "sum_i lambda_i (p_i(theta^) - 1) / sum_i lambda_i",
        "frei23, Theorem 3.1",
        complementarity,
        applies=has_certificate,
        where=WHERE,
        tex=r"\frac{\sum_i\lambda_i(p_i(\hat\theta)-1)}{\sum_i\lambda_i}",
        normalisation="lambda divided by its sum, p by p_min: scale-free",
        costly=True,
    ),
)
