"""The predictor f(x) of a frame, at any points."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from core.runs import Run

Array = NDArray[np.float64]


def flat_values(run: Run, index: int, x: Array) -> Array:
    """f at the flat parameters and any points x (N, d), (N,); the class for several of them."""
    inputs, offset = run.seen(x)
    f = np.asarray(run.network.outputs(run.parameters(index), inputs, offset))
    return np.asarray(f.argmax(axis=1), dtype=np.float64) if f.ndim == 2 else f


def grid_values(
    run: Run,
    index: int,
    axes: tuple[int, int],
    first: tuple[float, float, int],
    second: tuple[float, float, int],
) -> tuple[Array, float]:
    """f at the flat parameters on a grid, (second, first), and log10 of what physical values are of
    it; for data of one coordinate on a line, (first,). The class for several of them.

    An axis is its low end, its high end and its number of points; other coordinates are 0.
    """
    across = np.linspace(*first)
    scale = run.network.degree * float(run.rho[index]) / math.log(10.0)
    d = run.dataset.d
    if d == 1:
        return flat_values(run, index, across[:, None]), scale
    up = np.linspace(*second)
    x = np.zeros((up.size, across.size, d))
    x[:, :, axes[0]] = across[None, :]
    x[:, :, axes[1]] = up[:, None]
    return flat_values(run, index, x.reshape(-1, d)).reshape(up.size, across.size), scale
