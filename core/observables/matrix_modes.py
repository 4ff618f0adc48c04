"""Strengths of the single modes of a linear network with several outputs, and their exact curves.

The modes are the singular vectors u_r, v_r of the target S, read as a matrix: the strength of mode
r is u_r' W_L ... W_1 v_r, and s_r is its target (docs/theory.md, 4.17). Of equal singular values
the decomposition may give any vectors; the sum of their strengths depends on none.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.network.deep_linear import DeepLinear
from core.observables.depth_mode import is_deep, predict_mode
from core.observables.linear_modes import aligned_condition, coefficients, target_modes
from core.observables.matrix_solution import condition, has_two_layers, products
from core.observables.observable import Landmark, Observable
from core.observables.prediction import Prediction
from core.runs import Run

Array = NDArray[np.float64]
NUMBERS = (1, 2, 3, 4)  # of modes with an observable, from the largest singular value on


def has_several_outputs(run: Run) -> bool:
    """Return True for a product of matrices with several rows on real targets."""
    return isinstance(run.network, DeepLinear) and run.network.rows > 1 and run.dataset.real


def has_mode_number(number: int, run: Run) -> bool:
    """Return True if the target of a run has a mode of that number, counted from 1."""
    return has_several_outputs(run) and target_modes(run)[1].size >= number


def strength(number: int, run: Run, index: int) -> float:
    """Return the strength of one mode of the target at a frame.

    Parameters
    ----------
    number : int
        Mode, counted from 1 by falling singular value.
    run : Run
        Open run.
    index : int
        Index of the frame.

    Returns
    -------
    float
        u_r' W_L ... W_1 v_r; NaN without a mode of that number.
    """
    if not has_mode_number(number, run):
        return float("nan")
    beta = coefficients(run.network, run.physical_parameters(index))
    return float(target_modes(run)[0][number - 1] @ beta)


def length_outside(run: Run, index: int) -> float:
    """Return the length of the product without its modes at a frame; NaN for other networks."""
    if not has_several_outputs(run):
        return float("nan")
    directions, _ = target_modes(run)
    beta = coefficients(run.network, run.physical_parameters(index))
    return float(np.linalg.norm(beta - (directions @ beta) @ directions))


def _landmark(number: int, run: Run) -> Landmark | None:
    if not has_mode_number(number, run):
        return None
    value = float(target_modes(run)[1][number - 1])
    tip = f"singular value {number} of the target"
    return Landmark(value, f"s_{number}", f"$s_{number}$", tip)


def _along_curve(number: int, run: Run, t: Array) -> Array:
    return predict_mode(run, number, t)


def _along_solution(number: int, run: Run, t: Array) -> Array:
    """Return a mode of the target along the exact solution at times t (T,), `number` from 1."""
    return np.asarray(products(run, t) @ target_modes(run)[0][number - 1])


def _is_deep_mode(number: int, run: Run) -> bool:
    return is_deep(run) and has_mode_number(number, run)


def _is_two_layer_mode(number: int, run: Run) -> bool:
    return has_two_layers(run) and has_mode_number(number, run)


SOURCE = "saxe14; docs/theory.md, 4.17"
WHERE = "deep linear networks with network.rows > 1 on real targets"
TWO_LAYERS = "deep linear networks of two layers with network.rows > 1 on real targets"
OBSERVABLES = (
    *(
        Observable(
            f"mode_{number}",
            f"strength of mode {number}",
            f"u' W_L ... W_1 v, u and v the singular vectors number {number} of X'y/(n c), "
            "read as a matrix",
            SOURCE,
            partial(strength, number),
            applies=partial(has_mode_number, number),
            where=WHERE,
            tex=rf"u_{number}^T W_L\cdots W_1 v_{number}",
            landmark=partial(_landmark, number),
        )
        for number in NUMBERS
    ),
    Observable(
        "mode_rest",
        "product outside the modes",
        "|B - sum_r u_r v_r' (u_r' B v_r)|, B = W_L ... W_1; 0 for aligned starts",
        SOURCE,
        length_outside,
        applies=has_several_outputs,
        where=WHERE,
        tex=r"|B-\sum_r u_r v_r^T(u_r^T B v_r)|_F",
    ),
)
PREDICTIONS = (
    *(
        Prediction(
            f"mode_{number}_depth",
            f"mode_{number}",
            "mode of depth L",
            f"exact strength of mode {number}",
            "a of da/dt = L c a^(2-2/L) (s - a), s the target's singular value of that number",
            SOURCE,
            partial(_along_curve, number),
            partial(_is_deep_mode, number),
            aligned_condition,
            WHERE,
            tex=rf"\dot{{a}}=Lc\,a^{{2-2/L}}(s_{number}-a)",
        )
        for number in NUMBERS
    ),
    *(
        Prediction(
            f"mode_{number}_matrix",
            f"mode_{number}",
            "matrix solution",
            f"strength of mode {number} by the matrix solution",
            "u' W2 W1 v of QQ' = E Q0 (I + Q0' P Q0)^-1 Q0' E",
            "Fukumizu 1998 and Braun et al. 2022; docs/theory.md, 4.14",
            partial(_along_solution, number),
            partial(_is_two_layer_mode, number),
            condition,
            TWO_LAYERS,
            tex=r"QQ^T=E\,Q_0(I+Q_0^TP\,Q_0)^{-1}Q_0^TE",
        )
        for number in NUMBERS
    ),
)
