"""Certificates of a frame: distance from a KKT point, and the integration error of a flow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.observables.margins import dual_margin, flat_norm_power, flat_scores, hard_margin, scale
from core.observables.observable import Observable, cached_per_frame
from core.runs import Run
from core.study_file.dynamics import GradientFlow, MirrorFlow

# ------------------------------------------------------------------------------------------- KKT
#
# The norm is that of the homogeneous parameters W_h alone; in the others (V of the normalised and
# batch-norm networks and of the head) stationarity requires sum_i lambda_i grad p_i = 0.

Array = NDArray[np.float64]
MOST_EXAMPLES = 300  # constraints p >= 1; k classes have n (k - 1)


class Certificate(NamedTuple):
    """Relative stationarity residual and complementarity."""

    residual: float
    complementarity: float


NONE = Certificate(float("nan"), float("nan"))


@cached_per_frame
def certificate(run: Run, index: int) -> Certificate:
    """Return the KKT residuals of the best multipliers lambda >= 0; NaN unless min p > 0.

    theta^ = theta / p_min^(1/L), theta the homogeneous parameters and 0 for the others; the
    residual is |theta^ - sum_i lambda_i grad p_i(theta^)| / |theta^|, with the gradient in all
    trained parameters, and the complementarity sum_i lambda_i (p_i(theta^) - 1) / sum_i lambda_i.
    Nonnegative least squares finds lambda. For k classes the constraints are those of all n (k - 1)
    scores. NaN for networks that are not homogeneous.
    """
    p = flat_scores(run, index).reshape(-1)
    network = run.network
    if not network.homogeneous or not p.min() > 0.0:
        return NONE
    degree, flat = network.degree, run.parameters(index)
    # In units with min p = 1: theta^ = c theta. grad p(theta^) is c^(L-1) times grad p(theta) in
    # the homogeneous parameters, but c^L times in the others.
    c = float(p.min()) ** (-1.0 / degree)
    point = np.concatenate([c * flat[: network.scaled], flat[network.scaled :]])
    p = p / p.min()
    squared = float(np.dot(point[: network.scaled], point[: network.scaled]))
    return certify_multipliers(score_gram(run, point), degree * p, squared, p)


def score_gram(run: Run, flat: Array) -> Array:
    """Return the Gram matrix of the gradients of all scores at flat parameters.

    Parameters
    ----------
    run : Run
        Open run.
    flat : array (size,)
        Flat parameters.

    Returns
    -------
    array (n, n) or (n (k - 1), n (k - 1))
        <grad P, grad P'>; the class is the fastest index.
    """
    K, y, k = run.network.gram(flat, run.inputs), run.dataset.y, run.network.k
    if k == 1:
        return np.asarray(y[:, None] * K * y[None, :])
    own, n = y.astype(np.int64), y.size
    # differences[i, c', c]: coefficient of output c in the c'-th score of example i
    differences = np.zeros((n, k - 1, k))
    for i in range(n):
        other_classes = [c for c in range(k) if c != own[i]]
        differences[i, :, own[i]] = 1.0
        differences[i, np.arange(k - 1), other_classes] = -1.0
    blocks = K.reshape(n, k, n, k)
    scores = np.einsum("iac,icrd,rbd->iarb", differences, blocks, differences, optimize=True)
    return np.asarray(scores.reshape(n * (k - 1), n * (k - 1)))


def certify_multipliers(kernel: Any, b: Array, squared: float, p: Array) -> Certificate:
    """Minimise |theta - J' lambda| over lambda >= 0; return residual and complementarity there.

    The problem is one in the span of the gradients: K = A'A turns the squared distance into
    |A lambda - A^-T b|^2 + |theta|^2 - |A^-T b|^2, a problem of the size of K.

    Parameters
    ----------
    kernel : array (N, N)
        K = J J', the Gram matrix of the N gradients.
    b : array (N,)
        J theta; L p for homogeneous scores of degree L.
    squared : float
        |theta|^2.
    p : array (N,)
        Scores, scaled to min p = 1.

    Returns
    -------
    Certificate
        |theta - J' lambda|/|theta|, and sum_i lambda_i (p_i - 1)/sum_i lambda_i, which is NaN for
        lambda = 0. The multipliers themselves are not returned.
    """
    from scipy.optimize import nnls  # slow to load

    values, vectors = np.linalg.eigh(kernel)
    # Directions with smaller eigenvalues are rounding, and the target is divided by their roots.
    mask = values > 1e-13 * values[-1]
    root = np.sqrt(values[mask])
    A = root[:, None] * vectors[:, mask].T
    target = (vectors[:, mask].T @ b) / root
    multipliers, distance = nnls(A, target)
    # The part outside the span of the gradients; rounding may make its square negative.
    outside = max(squared - float(target @ target), 0.0)
    residual = np.sqrt(outside + distance**2) / np.sqrt(squared)
    total = float(multipliers.sum())
    slack = float(multipliers @ (p - 1.0)) / total if total > 0.0 else float("nan")
    return Certificate(float(residual), slack)


def kkt_residual(run: Run, index: int) -> float:
    """Return the relative residual of the KKT conditions (`certificate`); NaN unless min p > 0."""
    return certificate(run, index).residual


def complementarity(run: Run, index: int) -> float:
    """Return the multipliers' mean of p_i - 1, with scores of least 1; NaN without multipliers."""
    return certificate(run, index).complementarity


def has_certificate(run: Run) -> bool:
    """Return True for homogeneous networks, losses with duals, and at most 300 constraints."""
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


# ----------------------------------------------------------------------------- integration error


def has_error(run: Run) -> bool:
    """Return True for flows in log time whose steps are checked."""
    exact = run.network.fixed_features and isinstance(run.experiment.dynamics, MirrorFlow)
    return exact or isinstance(run.experiment.dynamics, GradientFlow)


def integration_error(run: Run, index: int) -> float:
    """Return the largest estimated error within the last decade, plus the bias of the cap.

    The decade is one of t early in the run and one of log10 t from t = 10^(10/9) on: late in a run
    everything happens in log t. Up to t = 10^3 errors add up, and a second solution measures them
    (core.dynamics.companion). Later the flow forgets the errors of earlier steps, and the largest
    of a decade bounds the rest of them. If the temperature e^(L rho) exceeds the cap, the run
    follows the flow at the cap, whose margin is too low by at most sum_i q_i p_i - min_i p_i.

    Over |W|^L, as the margins. NaN at t = 0, and if no step of the decade was checked.
    """
    run, index = run.whole_run, run.whole_run.frames_before - run.frames_before + index
    times = run.log10_time[: index + 1]
    now = float(times[-1])
    if not np.isfinite(now):
        return float("nan")
    first = int(np.searchsorted(times, now - max(1.0, 0.9 * now)))
    errors = np.array([step_error(run, frame) for frame in range(first, index + 1)])
    if not np.isfinite(errors).any():
        return float("nan")
    return float(np.nanmax(errors)) + _bias(run, index)


@cached_per_frame
def step_error(run: Run, index: int) -> float:
    """Return the error stored with a frame, over |W|^L; NaN if no step was checked."""
    # In a recorded loop a number of that name is the loop's own.
    diagnostics = {} if run.is_external else run.diagnostics(index)
    error = diagnostics.get("margin_error", float("nan"))
    power = flat_norm_power(run, index)
    return error / power if power > 0.0 else float("nan")


def _bias(run: Run, index: int) -> float:
    """Return sum_i q_i p_i - min_i p_i if q has the cap's temperature; 0 below the cap."""
    cap = run.temperature_cap
    if cap is None or scale(run, index) <= cap:
        return 0.0
    return max(0.0, dual_margin(run, index) - hard_margin(run, index))


INTEGRATION = (
    Observable(
        "integration_error",
        "integration error of the margin",
        "largest |min p - min p'| / |W|^L over the last decade, p' after two half steps instead of "
        "one; up to t = 10^3 twice the difference of a second solution at three times the step; "
        "above the temperature cap plus sum_i q_i p_i - min_i p_i",
        "definition (step doubling)",
        integration_error,
        applies=has_error,
        where="flows in log time",
        tex=r"\max\frac{|\min_i p_i-\min_i p_i'|}{|W|^L}",
    ),
)
