"""Level lines of values on a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.figures.primitives import Axis

Floats = NDArray[np.float64]
# Corners of a cell in order, as (row, column), and the edges between them.
CORNERS = np.array([(0, 0), (0, 1), (1, 1), (1, 0)])
NEXT = [1, 2, 3, 0]


def contour(values: Floats, level: float = 0.0) -> Floats:
    """Return the segments along which values on a grid cross a level.

    Values are interpolated linearly along the edges of the grid's cells, which is exact for those
    of a plane. In a cell with four crossed edges, the first two are joined, and the others.

    Parameters
    ----------
    values : array (rows, columns)
        Finite values.
    level : float
        Level that the values cross.

    Returns
    -------
    array (s, 2, 2)
        Ends (column, row) of each segment.

    Examples
    --------
    >>> contour(np.array([[-1.0, 1.0], [-1.0, 1.0]])).tolist()
    [[[0.5, 0.0], [0.5, 1.0]]]
    """
    v = np.asarray(values, dtype=np.float64) - level
    is_above = v > 0.0
    rows = is_above[:-1] ^ is_above[1:]
    columns = is_above[:, :-1] ^ is_above[:, 1:]
    # Only the few cells with a crossed edge are processed further.
    mixed = np.argwhere(rows[:, :-1] | rows[:, 1:] | columns[:-1])
    corners = mixed[:, None, :] + CORNERS  # (cells, 4, 2)
    before = v[corners[..., 0], corners[..., 1]]
    after = before[:, NEXT]
    crossed = (before > 0.0) != (after > 0.0)
    share = np.where(crossed, before, 0.0) / np.where(crossed, before - after, 1.0)
    points = corners + share[..., None] * (corners[:, NEXT] - corners)
    order = np.argsort(~crossed, axis=1, kind="stable")
    points = np.take_along_axis(points, order[:, :, None], axis=1)[..., ::-1]
    return np.concatenate([points[:, :2], points[crossed.sum(axis=1) == 4, 2:]])


def level_lines(values: Floats, level: float, x: Axis, y: Axis) -> Floats:
    """Return the segments of `contour` in the units of two axes.

    Parameters
    ----------
    values : array (rows, columns)
        Values at evenly spaced points of both axes.
    level : float
        Level that the values cross.
    x, y : Axis
        Axes of the columns and of the rows.

    Returns
    -------
    array (s, 2, 2)
        Ends (x, y) of each segment.
    """
    rows, columns = values.shape
    steps = (x.high - x.low) / (columns - 1), (y.high - y.low) / (rows - 1)
    return np.asarray((x.low, y.low) + contour(values, level) * steps)
