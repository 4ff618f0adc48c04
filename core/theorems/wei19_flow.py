"""wei19, Lemma E.7 and Theorem B.9: decrease of the perturbed flow, and weak regression.

R is the mean loss over n examples (x_i, y_i), L = R + lambda |W|^2 with lambda the setting l2, W
all weights of m neurons w_j, Theta = W, g_i = dR/df_i. rho is the distribution of theta_j = sqrt(m)
w_j, U the uniform one on the unit sphere, v the velocity of gradient flow.
"""

from __future__ import annotations

import math

import numpy as np

from core.observables.observable import cached_per_frame
from core.runs import Run
from core.theorems import common
from core.theorems.common import Array
from core.theorems.statement import Comparison, Context, Hypothesis
from core.theorems.wei19 import (
    PERTURBED,
    differentiable_features,
    global_minimiser,
    is_fully_trained,
    is_perturbed,
    of_wei19,
)

ROOM = 1e-3  # relative tolerance, for ReLU kinks within a difference
STEP = 1e-5  # relative change of L in a difference
MOST_VALUES = 250_000  # n m of the features of a linear program

# ------------------------------------------------------------------------------------ Lemma E.7


def smooth_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Lemma E.7: `differentiable_features`, and the perturbed flow."""
    kind = context.run.experiment.dynamics.kind
    return (
        differentiable_features(),
        Hypothesis("rho follows (3.2)", "the perturbed flow", kind, is_perturbed(context.run)),
    )


def risk_gradients(run: Run, flat: Array) -> tuple[Array, Array]:
    """Return gradients of the penalised risk and of the risk.

    Parameters
    ----------
    run : Run
        Open run.
    flat : array (size,)
        Flat parameters.

    Returns
    -------
    array (size,)
        grad_W of R + lambda |W|^2.
    array (n,)
        dR/df_i, with the factor 1/n of the mean.
    """
    f, y = run.network.outputs(flat, run.inputs), run.dataset.y
    g = run.loss.output_gradient(f, y) / run.dataset.n
    slope = run.network.gradient(flat, run.inputs, g)
    return np.asarray(slope + 2.0 * run.experiment.loss.l2 * flat), np.asarray(g)


def objective_derivative_terms(run: Run, index: int) -> tuple[float, float, float]:
    """Return (-sigma E_rho L', sigma E_U L', -E_rho |v|^2) of a frame, the terms of dL/dt.

    With theta_j = sqrt(m) w_j of mass 1/m: E_rho L' = sum_i g_i f(x_i) + lambda |W|^2, E_rho |v|^2
    is |grad_W L|^2, and E_U L' = lambda, since a neuron is odd in its outer weight. sigma is the
    noise of the perturbed flow, and 0 for dynamics without a sigma.
    """
    flat, l2 = run.parameters(index), float(run.experiment.loss.l2)
    sigma = float(getattr(run.experiment.dynamics, "sigma", 0.0))
    slope, g = risk_gradients(run, flat)
    mean = float(g @ run.network.outputs(flat, run.inputs)) + l2 * float(flat @ flat)
    return -sigma * mean, sigma * l2, -float(slope @ slope)


def objective_after_step(run: Run, index: int, h: float) -> float:
    """Return L of rho + h (-sigma rho + sigma U - div(v rho)), the update of E.21 of a frame's rho.

    The weights move by -h grad L, their mass shrinks to 1 - h sigma, and U has the mass h sigma.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.
    h : float
        Step in time, of either sign; 0 gives L of the frame.

    Returns
    -------
    float
        L with its penalty.
    """
    flat, l2 = run.parameters(index), float(run.experiment.loss.l2)
    sigma = float(getattr(run.experiment.dynamics, "sigma", 0.0))
    stepped = flat - h * risk_gradients(run, flat)[0]
    factor = 1.0 - h * sigma
    f = factor * run.network.outputs(stepped, run.inputs)
    risk = float(np.exp(run.loss.log_risk(run.loss.scores(f, run.dataset.y))))
    return risk + l2 * (factor * float(stepped @ stepped) + h * sigma)


def compare_objective_derivative(context: Context) -> Comparison:
    """Test the error of the formula for dL/dt <= `ROOM` at every frame.

    The error is |central difference of L - sum of `objective_derivative_terms`|, over the sum of
    the terms' absolute values. Frames with L = 0 or terms of 0 are open.
    """
    run = context.run
    errors = np.full(run.frames, np.nan)
    for k in range(run.frames):
        parts = objective_derivative_terms(run, k)
        size = sum(abs(part) for part in parts)
        if not size > 0.0:
            continue
        # Changes L by at most one part in 1e5.
        h = STEP * objective_after_step(run, k, 0.0) / size
        if not h > 0.0:  # L = 0
            continue
        rate = (objective_after_step(run, k, h) - objective_after_step(run, k, -h)) / (2.0 * h)
        errors[k] = abs(rate - sum(parts)) / size
    return common.compare_all_frames("<=", ROOM, errors, "log10_risk")


# ---------------------------------------------------------------------------------- Theorem B.9


def is_regression(run: Run) -> bool:
    """Return True for the standard ReLU network, squared loss, l2 > 0, and n m <= MOST_VALUES.

    Any dynamics.
    """
    squared = run.loss.kind == "squared" and run.experiment.loss.l2 > 0.0
    small = run.dataset.n * run.network.m <= MOST_VALUES
    return common.standard_relu(run) and is_fully_trained(run) and squared and small


@cached_per_frame
def smallest_fitting_norm(run: Run, index: int) -> float:
    """Return |Theta|^2 of the smallest network with a frame's directions v_j/|v_j| that fits.

    min 2 |beta|_1 over sum_j beta_j relu(<v_j/|v_j|, x_i>) = y_i for all i, by linear programming,
    beta_j of either sign. |Theta|^2 is that of balanced layers, and an upper bound of |Theta*|^2.
    Infinite if no such network fits, the solver fails, or all v_j are 0.
    """
    from scipy.optimize import linprog  # slow to load

    V = run.network.directions(run.parameters(index))
    lengths = np.linalg.norm(V, axis=1)
    alive = lengths > 0.0
    features = np.maximum(run.inputs @ (V[alive] / lengths[alive, None]).T, 0.0)
    if not features.size:
        return math.inf
    both_signs = np.concatenate([features, -features], axis=1)
    cost = np.ones(both_signs.shape[1])
    solution = linprog(
        cost, A_eq=both_signs, b_eq=run.dataset.y, bounds=(0.0, None), method="highs"
    )
    return 2.0 * float(solution.fun) if solution.success else math.inf


def regression_hypotheses(context: Context) -> tuple[Hypothesis, ...]:
    """Return the hypotheses of Theorem B.9: squared loss, a network that fits, the minimiser.

    The second one is met if `smallest_fitting_norm` of the last frame is finite, else undecided.
    """
    run = context.run
    fits = math.isfinite(smallest_fitting_norm(run, run.frames - 1))
    return (
        common.loss_is(run, "squared"),
        Hypothesis(
            "a network of width m fits the data",
            "f(x_i) = y_i for all i",
            "one with the run's directions" if fits else "none is known",
            True if fits else None,
        ),
        global_minimiser(),
    )


def compare_regression_objective(context: Context) -> Comparison:
    """Test L_lambda(Theta) <= lambda |Theta*|^2 at the last frame, |Theta*|^2 from above.

    |Theta*|^2 is `smallest_fitting_norm` of that frame; undecided if infinite.
    """
    run = context.run
    index, l2 = run.frames - 1, float(run.experiment.loss.l2)
    flat = run.parameters(index)
    measured = float(context.trace("risk")[index]) + l2 * float(flat @ flat)
    largest = smallest_fitting_norm(run, index)
    if not math.isfinite(largest):
        reason = "no network that fits is known: none has the run's directions"
        return common.leave_open("<=", common.NAN, measured, reason, "log10_risk")
    return common.compare_once("<=", l2 * largest, measured, "log10_risk", frame=-1)


STATEMENTS = (
    of_wei19(
        "Lemma E.7",
        "The rate at which the perturbed flow lowers its objective (to the tolerance shown).",
        r"\frac{\mathrm{d}}{\mathrm{d}t} L[\rho_t] = -\sigma \mathbb{E}_{\rho_t} L'[\rho_t] + "
        r"\sigma \mathbb{E}_{U} L'[\rho_t] - \mathbb{E}_{\rho_t} \Vert v[\rho_t] \Vert^2",
        *PERTURBED,
        smooth_hypotheses,
        compare_objective_derivative,
    ),
    of_wei19(
        "Theorem B.9",
        "Weak regularisation finds the smallest network that fits.",
        r"L_\lambda(\Theta_\lambda) \leq \lambda \Vert \Theta^* \Vert^2, \quad "
        r"\Vert \Theta_\lambda \Vert \rightarrow \Vert \Theta^* \Vert",
        is_regression,
        "the standard network, squared loss with l2 > 0",
        regression_hypotheses,
        compare_regression_objective,
        "Printed |Theta| -> |Theta*|^2, a square too many. Theta* is bounded by the smallest "
        "network with the run's own directions that fits.",
    ),
)
