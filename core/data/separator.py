"""The hard-margin linear separator through the origin (gamma_linear)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.data.dataset import Array
from core.errors import InputError


def max_margin(points: Array) -> tuple[float, Array, NDArray[np.intp]]:
    """max over |w| = 1 of min_i <G_i, w> for the rows G_i = y_i x_i: margin, w (d,), support.

    Lawson and Hanson: with u >= 0 closest to e in min |[G'; 1'] u - e_(d+1)|, q = u / sum u are the
    weights of the hull's point nearest to 0, and w points there. `support` are the indices of
    positive weight. Raises InputError where no w is right on every point.

    >>> margin, w, support = max_margin(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> round(margin, 6), w.round(6).tolist(), support.tolist()
    (0.707107, [0.707107, 0.707107], [0, 1])
    """
    from scipy.optimize import nnls  # slow to load, and needed for few data

    count, d = points.shape
    stacked = np.vstack([points.T, np.ones(count)])
    weights, _ = nnls(stacked, np.concatenate([np.zeros(d), [1.0]]))
    nearest = points.T @ (weights / weights.sum())
    length = float(np.linalg.norm(nearest))
    # Of the points, and not the hull's distance: it is a margin of this w however far NNLS came.
    margin = float((points @ nearest).min()) / length if length > 0 else 0.0
    if margin <= 0.0:
        raise InputError("The points cannot be separated by a hyperplane through the origin.")
    return margin, nearest / length, np.flatnonzero(weights > 0)
