"""lambda_0, the curvature that limits the step of gradient descent at the start.

lambda_0 = lambda_max(J' H J)/n + 2 lambda, with J the derivative of the outputs in the trained
parameters, H the loss's curvature in the outputs (l''(p_i) for two classes) and lambda the
penalty's factor. Constant-step descent is safe below about 2/lambda_0; the default is 1/lambda_0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.network.parametrisation import Network, TwoLayer
from core.problem import Problem

Array = NDArray[np.float64]
DENSE_EXAMPLES = 1_500
DENSE_VALUES = 2e7


def jacobian(network: Network, flat: Array, inputs: Array) -> Array:
    """d f / d flat, (n, size), or (n k, size) with the class running fastest, row by row."""
    n, k = inputs.shape[0], network.k
    rows = np.zeros((n * k, network.size))
    for index in range(n * k):
        i, c = divmod(index, k)
        g = np.ones(1) if k == 1 else np.eye(k)[c : c + 1]
        rows[index] = network.gradient(flat, inputs[i : i + 1], g)
    return rows


def gram(network: Network, flat: Array, inputs: Array) -> Array:
    """<grad f_i, grad f_j>, (n k, n k): the tangent kernel.

    For a network with free effective weights it is
    K_ij = sum_k h_ki h_kj + (x_i . x_j) sum_k alpha_k^2 o_ki o_kj, h = phi(Z), o = phi'(Z).
    """
    if network.kind in ("standard", "bias") and isinstance(network, TwoLayer):
        alpha, U = network.effective(flat)
        z = U @ inputs.T
        hidden, weighted = network.activation(z), network.activation.slopes(z) * alpha[:, None]
        return np.asarray(hidden.T @ hidden + (inputs @ inputs.T) * (weighted.T @ weighted))
    J = jacobian(network, flat, inputs)
    return np.asarray(J @ J.T)


def lambda_0(problem: Problem, flat: Array | None = None) -> float:
    """lambda_0 at flat parameters, by default those the run starts from.

    Infinite where l'' overflows (margins below -700): no step is safe there.
    """
    at = problem.physical_start() if flat is None else flat
    network, n = problem.network, problem.dataset.n
    penalty = 2.0 * problem.experiment.loss.l2
    f = problem.outputs(at)
    ones = problem.loss.output_curvature(f, problem.dataset.y, np.ones_like(f))
    if not np.isfinite(ones).all():
        return float("inf")
    dense = network.kind in ("standard", "bias") or n * network.size <= DENSE_VALUES
    if network.k == 1 and n <= DENSE_EXAMPLES and dense:
        root = np.sqrt(ones)
        weighted = root[:, None] * gram(network, at, problem.inputs) * root
        return float(np.linalg.eigvalsh(weighted)[-1]) / n + penalty
    return _by_lanczos(problem, at, f) / n + penalty


def _by_lanczos(problem: Problem, at: Array, f: Array) -> float:
    """lambda_max(J' H J) from products with J, H and J' only, for many examples or classes."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    network, inputs, y = problem.network, problem.inputs, problem.dataset.y

    def product(w: Array) -> Array:
        df = network.derivative(at, inputs, np.ravel(w))
        curved = problem.loss.output_curvature(f, y, df)
        return np.asarray(network.gradient(at, inputs, curved))

    operator = LinearOperator((at.size, at.size), matvec=product, dtype=np.float64)
    start = 1.0 + 0.3 * np.cos(1.0 + np.arange(at.size) ** 2)
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
