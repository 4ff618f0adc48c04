"""Level lines of values on a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# The corners of a cell in turn, as (row, column), and the edges between them.
CORNERS = np.array([(0, 0), (0, 1), (1, 1), (1, 0)])
NEXT = [1, 2, 3, 0]


def contour(values: Floats, level: float = 0.0) -> Floats:
    """Segments (s, 2, 2) along which values (rows, columns) cross a level, as (column, row).

    Values are taken as linear along the edges of the grid's cells, so that those of a plane are
    met exactly. Where all four edges of a cell are crossed, its first two are joined.

    >>> contour(np.array([[-1.0, 1.0], [-1.0, 1.0]])).tolist()
    [[[0.5, 0.0], [0.5, 1.0]]]
    """
    v = np.asarray(values, dtype=np.float64) - level
    above = v > 0.0
    rows = above[:-1] ^ above[1:]
    columns = above[:, :-1] ^ above[:, 1:]
    # Only the few cells with a crossed edge are looked at any further.
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
