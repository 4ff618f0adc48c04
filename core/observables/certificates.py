"""How nearly the direction of W is a KKT point of the margin problem min |theta|^2, p_i >= 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from core.network.kernel import gram
from core.observables.margins import flat_margins
from core.observables.observable import Observable, Shape, memoised
from core.runs import Run

MOST_EXAMPLES = 300


class Certificate(NamedTuple):
    """Relative stationarity residual and complementarity."""

    residual: float
    complementarity: float


def certificate(run: Run, index: int) -> Certificate:
    """The nearest multipliers lambda >= 0, by nonnegative least squares; NaN unless min p_i > 0.

    theta^ = theta / p_min^(1/L); the residual is |theta^ - sum_i lambda_i grad p_i(theta^)| divided
    by |theta^|, and the complementarity sum_i lambda_i (p_i(theta^) - 1) / sum_i lambda_i.
    """
    result: Certificate = memoised(run, "_certificate", index, _certificate)
    return result


def _certificate(run: Run, index: int) -> Certificate:
    p = flat_margins(run, index)
    if not p.min() > 0.0:
        return Certificate(float("nan"), float("nan"))
    degree = run.network.degree
    theta = run.parameters(index) / p.min() ** (1.0 / degree)
    p = p / p.min()
    alpha, U = run.network.effective(theta)
    kernel = gram(alpha, U, run.dataset.x, run.dataset.y)
    # Everything lives in the span of the gradients: K = J J', J theta = L p (Euler), and K = A'A
    # turns |theta - J' lambda|^2 into |A lambda - b|^2 + |theta|^2 - |b|^2, an n x n problem.
    values, vectors = np.linalg.eigh(kernel)
    kept = values > 1e-13 * values[-1]
    root = np.sqrt(values[kept])
    A = root[:, None] * vectors[:, kept].T
    b = (vectors[:, kept].T @ (degree * p)) / root
    multipliers, distance = nnls(A, b)
    squared = float(np.dot(theta, theta))
    residual = np.sqrt(max(squared - float(b @ b), 0.0) + distance**2) / np.sqrt(squared)
    total = float(multipliers.sum())
    slack = float(multipliers @ (p - 1.0)) / total if total > 0.0 else float("nan")
    return Certificate(float(residual), slack)


def kkt_residual(run: Run, index: int) -> float:
    return certificate(run, index).residual


def complementarity(run: Run, index: int) -> float:
    return certificate(run, index).complementarity


OBSERVABLES = (
    Observable(
        "kkt_residual", "KKT residual",
        "min over lambda >= 0 of |theta^ - sum_i lambda_i grad p_i(theta^)| / |theta^|",
        "frei23, Theorem 3.1", Shape.SCALAR, kkt_residual, most_examples=MOST_EXAMPLES,
    ),
    Observable(
        "complementarity", "complementarity",
        "sum_i lambda_i (p_i(theta^) - 1) / sum_i lambda_i",
        "frei23, Theorem 3.1", Shape.SCALAR, complementarity, most_examples=MOST_EXAMPLES,
    ),
)  # fmt: skip
