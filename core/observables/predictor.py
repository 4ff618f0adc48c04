"""The predictor f(x) of a frame, at any points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.runs import Run

Array = NDArray[np.float64]


def flat_values(run: Run, index: int, x: Array) -> Array:
    """f at the flat parameters and any points x (N, d), (N,); the class for several of them."""
    inputs, offset = run.seen(x)
    f = np.asarray(run.network.outputs(run.parameters(index), inputs, offset))
    return np.asarray(f.argmax(axis=1), dtype=np.float64) if f.ndim == 2 else f


def values_at(run: Run, index: int, x: Array) -> Array:
    """f at any points x (N, d), (N,), or the number of the largest logit for several classes.

    At the physical scale; infinite where that overflows.
    """
    f = flat_values(run, index, x)
    if run.network.k > 1:
        return f
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(run.network.degree * run.rho[index]) * f)
