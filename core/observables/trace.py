"""Trace of the Hessian at a fit, and its least value among fits of linear networks.

Where the outputs fit, the Hessian of R is its Gauss-Newton part J'HJ/n. Descent with noise in the
targets drifts along the fits to those with the least trace (Blanc et al., COLT 2020; damian21). For
f(x) = a'Vx that trace is known (docs/theory.md, 4.16).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from core.network.linear import Linear
from core.network.parametrisation import TwoLayer
from core.observables.observable import Landmark, Observable, cached_per_run
from core.runs import Run
from core.study_file.label_noise import LabelNoise

Array = NDArray[np.float64]
MOST_EXAMPLES = 1_500  # of which the whole tangent kernel is cheaper than a gradient each


def squared_slopes(run: Run, flat: Array) -> float:
    """Return sum_i tr(J_i' H_i J_i) at parameters `flat`: J_i (k, size) of f, H_i (k, k) of l."""
    network, inputs, y = run.network, run.inputs, run.dataset.y
    f = run.problem.outputs(flat)
    units = [np.ones_like(f)]
    if network.k > 1:
        units = [np.broadcast_to(unit, f.shape) for unit in np.eye(network.k)]
    columns = [run.loss.output_curvature(f, y, unit).reshape(y.size, -1) for unit in units]
    H = np.stack(columns, axis=-1)
    direct = network.k == 1 and isinstance(network, TwoLayer) and network.direct
    if direct and y.size <= MOST_EXAMPLES:
        return float(np.diag(network.gram(flat, inputs)) @ H[:, 0, 0])
    slopes, total = network.output_slopes(flat, inputs), 0.0
    for curvature in H:
        J = np.stack([next(slopes) for _ in range(network.k)])
        total += float(np.sum(curvature * (J @ J.T)))
    return total


def gauss_newton_trace(run: Run, index: int) -> float:
    """Return the trace of the Gauss-Newton part of the Hessian of R, without the penalty.

    `squared_slopes` over n. NaN for parameters that are not finite, and where `has_trace` is False.
    """
    flat = run.physical_parameters(index)
    if not has_trace(run) or not np.isfinite(flat).all():
        return math.nan
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return squared_slopes(run, flat) / run.dataset.n


def has_trace(run: Run) -> bool:
    """Return True if the loss is known, and the gradients of the outputs exist."""
    return run.experiment.loss.known and run.network.kind != "kernel_predictor"


def has_least_trace(run: Run) -> bool:
    """Return True for a linear network fitted by least squares, without a penalty."""
    loss = run.experiment.loss
    return (
        isinstance(run.network, Linear) and loss.kind == "least_squares" and not loss.is_penalised
    )


@cached_per_run
def find_least_trace(run: Run) -> float:
    """Return 2 (tr S beta'S beta)^(1/2), S = X'X/n and beta a minimiser of the risk.

    For runs with `has_least_trace`.
    """
    x, y = run.inputs, run.dataset.y
    fitted = x @ np.linalg.lstsq(x, y, rcond=None)[0]
    return 2.0 * float(np.linalg.norm(x)) * float(np.linalg.norm(fitted)) / y.size


def least_trace(run: Run, index: int) -> float:
    """Return `find_least_trace`, the same at each frame; NaN where `has_least_trace` is False."""
    return find_least_trace(run) if has_least_trace(run) else math.nan


def _draw_least(run: Run) -> Landmark | None:
    if not has_least_trace(run):
        return None
    least = find_least_trace(run)
    words = f"{least:.4g}: the least trace of the Hessian at a minimum of the risk"
    return Landmark(least, "least", "least", words)


def has_noise(run: Run) -> bool:
    """Return True for SGD with label noise whose rule did not change within the run."""
    return isinstance(run.experiment.dynamics, LabelNoise) and not run.has_changed_rule


def noise_time(run: Run, index: int) -> float:
    """Return eta^2 times the steps, the time of the drift along the fits; NaN without noise."""
    dynamics = run.experiment.dynamics
    if not (isinstance(dynamics, LabelNoise) and dynamics.step and has_noise(run)):
        return math.nan
    return dynamics.step**2 * float(run.steps[index])


LEAST = "definition (docs/theory.md, 4.16)"
OBSERVABLES = (
    Observable(
        "gauss_newton_trace",
        "trace of the Hessian at a fit",
        "tr(J'HJ)/n: J the derivative of the outputs, H the loss's curvature in them; with least "
        "squares (1/n) sum_i |grad f(x_i)|^2",
        "definition (Blanc et al., COLT 2020; damian21, section 1)",
        gauss_newton_trace,
        applies=has_trace,
        where="a known loss",
        tex=r"\mathrm{tr}(\frac{1}{n}J^\top HJ)",
        normalisation="with 1/n, without the penalty",
        costly=True,
        on_request=True,
        landmark=_draw_least,
    ),
    Observable(
        "least_trace",
        "least trace at a minimum",
        "2 sqrt(tr S beta'S beta), S = X'X/n and beta a minimiser of R: the least "
        "gauss_newton_trace of all a, V with V'a = beta",
        LEAST,
        least_trace,
        applies=has_least_trace,
        where="two-layer linear networks with least squares",
        tex=r"2\sqrt{\mathrm{tr}\,S\;\beta^\top S\beta}",
        normalisation="with 1/n",
        on_request=True,
    ),
    Observable(
        "noise_time",
        "time of the drift by label noise",
        "eta^2 times the steps",
        "definition (damian21, section 1)",
        noise_time,
        applies=has_noise,
        where="SGD with label noise",
        tex=r"\eta^2\,\mathrm{steps}",
        normalisation="none",
        on_request=True,
    ),
)
