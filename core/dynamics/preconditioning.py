"""Adam as preconditioned descent: its preconditioner, and the sharpness that it meets.

Step number t is W <- W - eta P^-1 m, m the mean of the gradients with their weights
(1 - beta_1) beta_1^k, and P = (1 - beta_1^t)(sqrt(v / (1 - beta_2^t)) + epsilon) the diagonal of
both corrections. With P fixed, on a quadratic of Hessian H, this is momentum in W' = P^(1/2) W: it
diverges where the largest eigenvalue of P^-1/2 H P^-1/2 exceeds (2 + 2 beta_1)/((1 - beta_1) eta)
(Cohen et al. 2022, section 2). Decoupled decay makes the 2 of the first factor 2 - eta decay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.dynamics.curvature import TOLERANCE, sharpness
from core.dynamics.eigenvalues import Top
from core.problem.problem import Problem, State
from core.study_file.descent import Adam

Array = NDArray[np.float64]


def preconditioner(dynamics: Adam, state: State) -> Array:
    """Return the diagonal of P after the last step.

    Parameters
    ----------
    dynamics : Adam
        Constants of the run.
    state : dict of str to array
        Moments after at least one step (core.dynamics.batch_engine).

    Returns
    -------
    array (size,)
        P >= 0; 0 for weights that have never had a slope, with epsilon = 0.
    """
    from core.compiled.scaled_gradients import holds_roots  # loads numba

    k, powers = int(state["scale"][0]), state["powers"]
    second = np.asarray(state["second"], dtype=np.float64)
    roots = second if holds_roots(k, dynamics.eps) else np.sqrt(second)
    roots = np.ldexp(roots, -k)  # stored times 2^k where the loss underflows
    return np.asarray((1.0 - powers[0]) * (roots / np.sqrt(1.0 - powers[1]) + dynamics.eps))


def preconditioned_sharpness(
    problem: Problem, flat: Array, P: Array, tolerance: float = TOLERANCE
) -> Top:
    """Return the largest eigenvalue of P^-1/2 H P^-1/2 at flat parameters.

    Parameters
    ----------
    problem : Problem
        Problem whose risk has the Hessian H, penalties included.
    flat : array (size,)
        Physical parameters.
    P : array (size,)
        Diagonal >= 0; weights where it is 0 do not move, and do not count.
    tolerance : float
        Error bound relative to the value.

    Returns
    -------
    Top
        Eigenvalue with its vector and bound.
    """
    moves = P > 0.0
    scale = np.where(moves, 1.0 / np.sqrt(np.where(moves, P, 1.0)), 0.0)
    return sharpness(problem, flat, 1, tolerance, scale)
