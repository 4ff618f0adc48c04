"""Saxe's closed curve of the mode, from a balanced start along the target."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.network.linear import Linear
from core.observables.linear_modes import (
    ROUNDING,
    SAXE,
    WHERE,
    curvature,
    flow_condition,
    is_linear,
    target,
)
from core.observables.prediction import Prediction
from core.runs import Run

Array = NDArray[np.float64]


def saxe_curve(t: Array, s: float, start: float) -> Array:
    """Return the solution of da/dt = 2 a (s - a), a(0) = `start`.

    Parameters
    ----------
    t : array (T,)
        Times.
    s : float
        Strength of the target, > 0.
    start : float
        a(0) > 0.

    Returns
    -------
    array (T,)
        a(t) = s e^(2st)/(e^(2st) - 1 + s/a(0)).

    Examples
    --------
    >>> saxe_curve(np.array([0.0, np.log(999.0) / 2.0, np.inf]), 1.0, 1e-3).round(12).tolist()
    [0.001, 0.5, 1.0]
    """
    return np.asarray(s / (1.0 + (s / start - 1.0) * np.exp(-2.0 * s * t)))


def _at_start(run: Run) -> tuple[float, float, float]:
    """Return |s|, <s/|s|, beta(0)> and the part of beta(0) across s."""
    assert isinstance(run.network, Linear)
    s, (a, V) = target(run), run.network.unpack(run.origin).values()
    length = float(np.linalg.norm(s))
    beta = a @ V
    component = float(beta @ s) / length if length > 0.0 else 0.0
    across = float(np.linalg.norm(beta - component * s / length)) if length > 0.0 else 0.0
    return length, component, across


def condition(run: Run) -> str:
    """Return why Saxe's curve does not apply to a linear network; "" if it does."""
    sentence = flow_condition(run)
    if sentence:
        return sentence
    length, component, across = _at_start(run)
    if not length > 0.0:
        return "the targets do not depend linearly on the inputs: X'y = 0"
    if across > ROUNDING * abs(component) or not component > 0.0:
        return "the start is not aligned: f(0) is no positive multiple of the target <s, x>"
    return ""


def values(run: Run, t: Array) -> Array:
    length, component, _ = _at_start(run)
    return saxe_curve(curvature(run) * t, length, component)


PREDICTIONS = (
    Prediction(
        "mode_saxe",
        "mode_strength",
        "Saxe",
        "Saxe's strength of the mode",
        "s e^(2sct)/(e^(2sct) - 1 + s/a(0)), s the length of X'y/(n c), c = tr(X'X)/(n d)",
        SAXE,
        values,
        is_linear,
        condition,
        WHERE,
        tex=r"\frac{s\,e^{2sct}}{e^{2sct}-1+s/a(0)}",
    ),
)
