"""Sharpness: the largest eigenvalues of the Hessian of the training risk (core.dynamics.curvature).

If the Hessian has a form in the examples' span, a factorisation proves the values
(core.dynamics.example_span). For few parameters they are those of the whole matrix. Otherwise
Lanczos starts at random, and ends when an eigenvalue above its values has a probability of 1e-9.
The value of a frame does not depend on which frames were computed before.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.dynamics.curvature import (
    MOST_PARAMETERS,
    TOLERANCE,
    gauss_newton_sharpness,
    needs_pytorch,
    sharpness,
)
from core.observables import trace
from core.observables.edges import (
    adam_edge,
    has_moments,
    inverse_edge,
    preconditioned_error,
    preconditioned_value,
    step_size,
)
from core.observables.observable import Landmark, Observable, cached_per_frame, cached_per_run
from core.runs import Run
from core.study_file.descent import Adam
from core.study_file.momentum import Momentum
from core.study_file.sam import SharpnessAware

if TYPE_CHECKING:
    from core.dynamics.example_span import ProvedSharpness

Array = NDArray[np.float64]
COUNT = 3


def has_sharpness(run: Run) -> bool:
    """Return True for a known loss, at most 1e7 parameters, and PyTorch if derivatives need it."""
    small = run.network.size <= MOST_PARAMETERS
    has_loss = run.experiment.loss.known and run.network.kind != "kernel_predictor"
    return small and has_loss and (not needs_pytorch(run.network) or find_spec("torch") is not None)


@cached_per_run
def make_prover(run: Run) -> ProvedSharpness | None:
    """Return the prover of the top of this run's Hessians; None if the run has none."""
    from core.dynamics.example_span import ProvedSharpness, has_span  # SciPy is slow to load

    return ProvedSharpness(run.problem) if has_span(run.problem) else None


def _largest_eigenvalues(run: Run, index: int, count: int) -> Array:
    """Return the `count` largest eigenvalues, decreasing, and bounds on their errors, (2, count).

    NaN if the weights or the risk are beyond float64.
    """
    flat = run.physical_parameters(index)
    missing = np.full((2, count), np.nan)
    if not has_sharpness(run) or not np.isfinite(flat).all():
        return missing
    proof = make_prover(run)
    proved = proof and proof.prove_at(flat, count, TOLERANCE)
    if proved is not None:
        return np.stack([proved, np.full(count, TOLERANCE * abs(float(proved[0])))])
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        top = sharpness(run.problem, flat, count)
    eigenvalues = np.stack([top.values, np.maximum(top.bounds, TOLERANCE * abs(top.largest))])
    return np.concatenate([eigenvalues, missing], axis=1)[:, :count]


@cached_per_frame
def eigenvalues(run: Run, index: int) -> Array:
    """Return the three largest eigenvalues and bounds on their errors.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (2, 3)
        Eigenvalues, decreasing; bounds. NaN where `has_sharpness` is False, for parameters that are
        not finite, and where the Hessian has no further eigenvalue.
    """
    return _largest_eigenvalues(run, index, COUNT)


@cached_per_frame
def top_value(run: Run, index: int) -> Array:
    """Return the largest eigenvalue alone, which takes fewer products, and its bound.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (2, 1)
        Eigenvalue; bound. NaN as those of `eigenvalues`.
    """
    return _largest_eigenvalues(run, index, 1)


def largest(run: Run, index: int) -> float:
    """Return the sharpness, the largest eigenvalue of the Hessian of R with its penalties."""
    return float(top_value(run, index)[0, 0])


def _entry(row: int, place: int, run: Run, index: int) -> float:
    return float(eigenvalues(run, index)[row, place])


def gauss_newton(run: Run, index: int) -> float:
    """Return the largest eigenvalue of the Gauss-Newton part of the Hessian of R.

    NaN where `has_sharpness` is False, and for parameters that are not finite.
    """
    flat = run.physical_parameters(index)
    if not has_sharpness(run) or not np.isfinite(flat).all():
        return float("nan")
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        proof = make_prover(run)
        proved = proof and proof.prove_at(flat, 1, TOLERANCE, full=False)
        if proved is not None:
            return float(proved[0])
        return gauss_newton_sharpness(run.problem, flat)


def has_stability(run: Run) -> bool:
    """Return True for full-batch descent with a sharpness, also with momentum, SAM and Adam."""
    return np.isfinite(step_size(run)) and has_sharpness(run)


def has_preconditioned(run: Run) -> bool:
    """Return True for Adam with known moments and a sharpness."""
    return has_moments(run) and has_sharpness(run)


def stability(run: Run, index: int) -> float:
    """Return eta S/2: along the top vector a step multiplies by 1 - eta S, or -1 if this is 1.

    For other optimisers S, or Adam's preconditioned sharpness, over the edge of their steps on a
    quadratic. NaN where `has_stability` is False.
    """
    S = preconditioned_value(run, index) if has_moments(run) else largest(run, index)
    return inverse_edge(run, index) * S


def _edge(run: Run) -> Landmark | None:
    eta, dynamics = step_size(run), run.experiment.dynamics
    if not np.isfinite(eta) or isinstance(dynamics, Adam | SharpnessAware):
        return None
    if isinstance(dynamics, Momentum):
        edge = dynamics.edge / eta
        words = (
            f"{dynamics.edge:.3g}/eta = {edge:.3g}: where the sharpness exceeds it, "
            f"{dynamics.words} on a quadratic diverges"
        )
        return Landmark(edge, "edge", "edge", words)
    words = (
        f"2/eta = {2.0 / eta:.3g}: where the sharpness exceeds it, steps of eta = {eta:.3g} move "
        "the weights farther away (Cohen et al., ICLR 2021)"
    )
    return Landmark(2.0 / eta, "2 / eta", r"$2\,/\,\eta$", words)


def _one(run: Run) -> Landmark | None:
    words = "1: the edge of stability, eta S/2 = 1 for descent (Cohen et al., ICLR 2021)"
    return Landmark(1.0, "edge", "edge", words)


def error_bound(run: Run, index: int) -> float:
    """Return a bound on the error of `largest`: `TOLERANCE` of it, or more if products ran out."""
    return float(top_value(run, index)[1, 0])


def stability_off(run: Run, index: int) -> float:
    """Return a bound on the error of `stability`."""
    error = preconditioned_error if has_moments(run) else error_bound
    return inverse_edge(run, index) * error(run, index)


def gauss_newton_off(run: Run, index: int) -> float:
    """Return a bound on the error of `gauss_newton`: `TOLERANCE` of its value."""
    return TOLERANCE * abs(gauss_newton(run, index))


SOURCE = "definition (Cohen et al., ICLR 2021, section 2)"
WHERE = "at most 1e7 parameters"
NORMALISATION = "none: of R with 1/n, including its penalties"
of_hessian = partial(Observable, applies=has_sharpness, where=WHERE, on_request=True)
OBSERVABLES = (
    of_hessian(
        "sharpness",
        "sharpness",
        "lambda_1 of the Hessian of R (with its penalties), to 1e-4; descent is stable below 2/eta",
        SOURCE,
        largest,
        tex=r"\lambda_1(\nabla^2R)",
        normalisation=NORMALISATION,
        costly=True,
        error=error_bound,
        landmark=_edge,
    ),
    Observable(
        "stability",
        "stability, eta S / 2",
        "eta lambda_1 / 2: descent on a quadratic diverges above 1, the edge of stability; with "
        "momentum beta it is lambda_1 over (2/eta)(1 + beta), divided by 1 + 2 beta for Nesterov's;"
        " for SAM over |g|/(2 rho) (sqrt(1 + 8 rho/(eta |g|)) - 1), g = grad R; for Adam it is "
        "preconditioned_sharpness over (2 + 2 beta_1)/((1 - beta_1) eta)",
        "definition (Cohen et al., ICLR 2021, section 3)",
        stability,
        applies=has_stability,
        where=f"full-batch gradient descent, with momentum, SAM, or Adam; {WHERE}",
        tex=r"\frac{\eta}{2}\lambda_1(\nabla^2R)",
        normalisation="by 2/eta, whatever the factor of the loss is",
        costly=True,
        on_request=True,
        error=stability_off,
        landmark=_one,
    ),
    Observable(
        "preconditioned_sharpness",
        "preconditioned sharpness",
        "lambda_1 of P^-1/2 H P^-1/2, H the Hessian of R with its penalties, and after t steps P = "
        "(1 - beta_1^t)(sqrt(v/(1 - beta_2^t)) + epsilon); undefined at t = 0, where v = 0",
        "definition (Cohen et al. 2022, section 2)",
        preconditioned_value,
        applies=has_preconditioned,
        where=f"Adam on all examples with equal or power-law steps, {WHERE}",
        tex=r"\lambda_1(P^{-1/2}\nabla^2R\,P^{-1/2})",
        normalisation="by Adam's divisor of each weight",
        costly=True,
        on_request=True,
        error=preconditioned_error,
        landmark=adam_edge,
    ),
    of_hessian(
        "hessian_2",
        "second eigenvalue of the Hessian",
        "lambda_2 of the Hessian of R, to 1e-4 of the largest",
        SOURCE,
        partial(_entry, 0, 1),
        tex=r"\lambda_2(\nabla^2R)",
        normalisation=NORMALISATION,
        costly=True,
        error=partial(_entry, 1, 1),
    ),
    of_hessian(
        "hessian_3",
        "third eigenvalue of the Hessian",
        "lambda_3 of the Hessian of R, to 1e-4 of the largest",
        SOURCE,
        partial(_entry, 0, 2),
        tex=r"\lambda_3(\nabla^2R)",
        normalisation=NORMALISATION,
        costly=True,
        error=partial(_entry, 1, 2),
    ),
    of_hessian(
        "gauss_newton",
        "sharpness of the Gauss-Newton part",
        "lambda_1 of J'HJ/n: J the derivative of the outputs, H the loss's curvature in them",
        SOURCE,
        gauss_newton,
        tex=r"\lambda_1(\frac{1}{n}J^\top HJ)",
        normalisation="with 1/n, without the penalty",
        costly=True,
        error=gauss_newton_off,
    ),
    *trace.OBSERVABLES,
)
