"""Saxe's closed curve of the mode, from a balanced start along the target."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.observables.linear_modes import (
    SAXE,
    WHERE,
    aligned_condition,
    curvature,
    is_linear,
    start_in_modes,
    target_modes,
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


def values(run: Run, t: Array) -> Array:
    """Return Saxe's strength of the one mode of a run.

    Parameters
    ----------
    run : Run
        Open run.
    t : array (T,)
        Times of the run, >= 0.

    Returns
    -------
    array (T,)
        `saxe_curve` in the time c t.
    """
    (_, (length,)), ((strength,), _) = target_modes(run), start_in_modes(run)
    return saxe_curve(curvature(run) * t, float(length), float(strength))


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
        aligned_condition,
        WHERE,
        tex=r"\frac{s\,e^{2sct}}{e^{2sct}-1+s/a(0)}",
    ),
)
