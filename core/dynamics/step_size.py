"""lambda_0, the curvature that limits the step of gradient descent at the start.

lambda_0 = lambda_max(sqrt(w) K sqrt(w)) / n + 2 lambda, with w_i = l''(p_i), lambda the penalty's
factor and K_ij = <grad p_i, grad p_j>.
Constant-step descent is safe below about 2/lambda_0; the default step is 1/lambda_0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.network.kernel import gradient, gram
from core.problem import Problem

Array = NDArray[np.float64]
DENSE_EXAMPLES = 1_500


def lambda_0(problem: Problem, flat: Array | None = None) -> float:
    """lambda_0 at flat parameters, by default those the run starts from.

    Infinite where l'' overflows (margins below -700): no step is safe there.
    """
    start = problem.start
    at = np.exp(start.rho) * start.parameters if flat is None else flat
    alpha, U = problem.network.effective(at)
    x, y = problem.dataset.x, problem.dataset.y
    penalty = 2.0 * problem.experiment.loss.l2
    root = np.sqrt(problem.loss.curvature(problem.margins(at)))
    if not np.isfinite(root).all():
        return float("inf")
    if problem.dataset.n <= DENSE_EXAMPLES:
        weighted = root[:, None] * gram(alpha, U, x, y) * root
        return float(np.linalg.eigvalsh(weighted)[-1]) / problem.dataset.n + penalty
    return _by_lanczos(alpha, U, x, y * root) / problem.dataset.n + penalty


def _by_lanczos(alpha: Array, U: Array, x: Array, signed_root: Array) -> float:
    """The same eigenvalue from products with K only, for many examples."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    z = U @ x.T
    active = z > 0.0
    hidden = np.where(active, z, 0.0)

    def product(w: Array) -> Array:
        d_alpha, d_U = gradient(alpha, U, x, signed_root * np.ravel(w))
        along = d_alpha @ hidden + alpha @ (active * (d_U @ x.T))
        return np.asarray(signed_root * along)

    n = x.shape[0]
    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    start = np.full(n, n**-0.5)
    return float(eigsh(operator, k=1, v0=start, tol=1e-8, return_eigenvectors=False)[0])


def default_step(problem: Problem) -> float:
    """1/lambda_0, or 1 where lambda_0 is zero (a network that cannot move)."""
    value = lambda_0(problem)
    return 1.0 / value if np.isfinite(value) and value > 0.0 else 1.0


def rounded_down(value: float) -> float:
    """Two significant digits, rounded down: a step that can be typed.

    >>> rounded_down(0.4491), rounded_down(7.199)
    (0.44, 7.1)
    """
    if not np.isfinite(value) or value <= 0.0:
        return value
    scale = 10.0 ** (np.floor(np.log10(value)) - 1.0)
    return float(f"{np.floor(value / scale * (1.0 + 1e-12)) * scale:.2g}")
