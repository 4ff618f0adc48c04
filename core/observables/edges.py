"""Edges of stability: the sharpness above which the steps of each optimiser diverge on a quadratic.

2/eta of descent, more or less with momentum (core.study_file.momentum), and for sharpness-aware
descent an edge that depends on the gradient. Adam has one for its preconditioned sharpness
(core.dynamics.preconditioning), which needs its moments at the frame.
"""

from __future__ import annotations

import numpy as np

from core.dynamics.curvature import TOLERANCE
from core.dynamics.preconditioning import preconditioned_sharpness, preconditioner
from core.dynamics.step_size import objective_gradient
from core.network.quadratic import cubed_norm_gradient
from core.observables.observable import Landmark, cached_per_frame
from core.observables.solver_state import state_at
from core.runs import Run
from core.study_file.descent import Adam, GradientDescent
from core.study_file.momentum import Momentum
from core.study_file.sam import SharpnessAware


def step_size(run: Run) -> float:
    """Return eta of full-batch descent: plain, with momentum, sharpness-aware or Adam's.

    NaN for other dynamics, for Adam without `has_moments`, and without a step in the settings.
    """
    dynamics = run.experiment.dynamics
    if isinstance(dynamics, Adam):
        return dynamics.step if has_moments(run) else float("nan")
    rules = GradientDescent | Momentum | SharpnessAware
    if not isinstance(dynamics, rules) or dynamics.step is None:
        return float("nan")
    return dynamics.step


def has_moments(run: Run) -> bool:
    """Return True for Adam on the whole training set whose moments can be repeated."""
    dynamics = run.experiment.dynamics
    if not isinstance(dynamics, Adam) or run.is_external:
        return False
    return dynamics.schedule == "constant" and dynamics.batch in (0, run.dataset.n)


def inverse_edge(run: Run, index: int) -> float:
    """Return 1 over the edge of the last step, of sharpness-aware descent that of the next one.

    eta/2 of descent, less with momentum, or in a warm-up; infinite where SAM has no gradient.
    NaN where `step_size` is.
    """
    dynamics, eta, step = run.experiment.dynamics, step_size(run), float(run.steps[index])
    if isinstance(dynamics, Adam):
        length = float(eta * max(step, 1.0) ** -dynamics.power)
        beta = dynamics.beta1
        edge = (2.0 - length * dynamics.weight_decay) * (1.0 + beta) / ((1.0 - beta) * length)
        return 1.0 / edge
    if isinstance(dynamics, SharpnessAware):
        return dynamics.inverse_edge(eta, gradient_length(run, index))
    if not isinstance(dynamics, Momentum):
        return 0.5 * eta
    warm = min(1.0, step / dynamics.warm_up) if dynamics.warm_up else 1.0
    return warm * eta / dynamics.edge


def gradient_length(run: Run, index: int) -> float:
    """Return |grad R| at a frame, penalties included."""
    flat, network, loss = run.physical_parameters(index), run.network, run.experiment.loss
    with np.errstate(over="ignore", invalid="ignore"):
        gradient = objective_gradient(run.problem, flat)
        if loss.l23 > 0.0:
            gradient = gradient + loss.l23 * cubed_norm_gradient(network, flat)
        return float(np.linalg.norm(gradient))


@cached_per_frame
def find_preconditioned(run: Run, index: int) -> np.ndarray:
    """Return the largest eigenvalue of P^-1/2 H P^-1/2 and the bound on its error.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    array (2,)
        NaN at t = 0, where Adam has seen no gradient, and where its moments are unknown.
    """
    dynamics, missing = run.experiment.dynamics, np.full(2, np.nan)
    if not has_moments(run) or run.steps[index] == 0:
        return missing
    assert isinstance(dynamics, Adam)
    flat, state = run.physical_parameters(index), state_at(run, index)
    if state is None or not np.isfinite(flat).all():
        return missing
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        P = preconditioner(dynamics, state)
        top = preconditioned_sharpness(run.problem, flat, P)
    return np.array([top.largest, max(float(top.bounds[0]), TOLERANCE * abs(top.largest))])


def preconditioned_value(run: Run, index: int) -> float:
    """Return Adam's preconditioned sharpness; NaN where `find_preconditioned` is."""
    return float(find_preconditioned(run, index)[0])


def preconditioned_error(run: Run, index: int) -> float:
    """Return the bound on the error of `preconditioned_value`; NaN where that is."""
    return float(find_preconditioned(run, index)[1])


def adam_edge(run: Run) -> Landmark | None:
    """Return the edge of the preconditioned sharpness, for steps of equal length."""
    dynamics = run.experiment.dynamics
    if not (isinstance(dynamics, Adam) and has_moments(run)) or dynamics.power > 0.0:
        return None
    edge = 1.0 / inverse_edge(run, 0)
    words = (
        f"(2 + 2 beta)/((1 - beta) eta) = {edge:.3g}: where the preconditioned sharpness exceeds "
        "it, Adam on a quadratic diverges (Cohen et al. 2022)"
    )
    return Landmark(edge, "edge", "edge", words)
