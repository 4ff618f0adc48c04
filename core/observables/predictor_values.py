"""Values of the predictor at any points, and on a grid."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from core.runs import Run

Array = NDArray[np.float64]


def flat_values(run: Run, index: int, x: Array) -> Array:
    """Return the predictor at the flat parameters.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.
    x : array (N, d)
        Points of the input space.

    Returns
    -------
    array (N,)
        f(x), or for several classes the index of the predicted class.
    """
    inputs, offset = run.as_network_inputs(x)
    f = np.asarray(run.network.outputs(run.parameters(index), inputs, offset))
    return np.asarray(f.argmax(axis=1), dtype=np.float64) if f.ndim == 2 else f


def grid_values(
    run: Run,
    index: int,
    axes: tuple[int, int],
    first: tuple[float, float, int],
    second: tuple[float, float, int],
) -> tuple[Array, float]:
    """Return the predictor at the flat parameters on a grid.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.
    axes : (int, int)
        Coordinates of the grid, from 0; all other coordinates are 0.
    first, second : (float, float, int)
        Low end, high end and number of points of each axis.

    Returns
    -------
    array (second, first)
        f, or for several classes the predicted class; (first,) for data of one coordinate.
    float
        log10 of the factor from these values to f at the physical parameters.
    """
    columns = np.linspace(*first)
    scale = run.network.degree * float(run.rho[index]) / math.log(10.0)
    d = run.dataset.d
    if d == 1:
        return flat_values(run, index, columns[:, None]), scale
    rows = np.linspace(*second)
    x = np.zeros((rows.size, columns.size, d))
    x[:, :, axes[0]] = columns[None, :]
    x[:, :, axes[1]] = rows[:, None]
    return flat_values(run, index, x.reshape(-1, d)).reshape(rows.size, columns.size), scale
