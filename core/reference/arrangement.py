"""Exact pricing in one, two and three dimensions: every face of the points' arrangement."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.reference.watch import Watch

Array = NDArray[np.float64]
# Where the tree search prunes badly (docs/decisions/0008); in more the faces are too many.
MOST_DIMENSIONS = 3
PARALLEL = 1e-9  # sine below which two points count as parallel


def value_at(x: Array, c: Array, v: Array) -> Array:
    """sum_i c_i relu(<v, x_i>) at the rows of v (k, r), shape (k,)."""
    return np.asarray(np.maximum(v @ x.T, 0.0) @ c)


def unit(rows: Array) -> Array:
    """The rows that are not 0, divided by their lengths."""
    lengths = np.linalg.norm(rows, axis=1)
    # A shorter row has lost the digits of its direction.
    kept = lengths > 1e-300
    return np.asarray(rows[kept] / lengths[kept, None])


def arcs(x: Array) -> tuple[Array, Array]:
    """The ends and the middles of the arcs into which points (n, 2) cut the circle.

    >>> np.abs(arcs(np.array([[1.0, 0.0]]))[1].round(3)).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    angles = np.arctan2(x[:, 1], x[:, 0]) + 0.5 * np.pi
    cuts = np.sort(np.mod(np.concatenate([angles, angles + np.pi]), 2.0 * np.pi))
    middles = 0.5 * (cuts + np.append(cuts[1:], cuts[0] + 2.0 * np.pi))
    ends = np.column_stack([np.cos(cuts), np.sin(cuts)])
    return ends, np.column_stack([np.cos(middles), np.sin(middles)])


def candidates(x: Array, c: Array) -> Iterator[Array]:
    """Unit directions among which sum_i c_i relu(<v, x_i>) is largest, x (n, r), r <= 3.

    Within a face of the arrangement of the planes <v, x_i> = 0 the sum is <v, w> with the w of that
    face, so that a maximum inside it lies at w projected to the face's span, or the face is a
    vertex. A vertex is an end of an arc on the circle of some point; every arc lies between two
    vertices there, and every cell beside an arc.
    """
    r = x.shape[1]
    if r == 1:
        yield np.array([[1.0], [-1.0]])
        return
    if r == 2:
        ends, middles = arcs(x)
        yield np.vstack([ends, unit(((middles @ x.T > 0.0) * c) @ x)])
        return
    for normal in unit(x):
        yield from beside(x, c, normal)


def beside(x: Array, c: Array, normal: Array) -> Iterator[Array]:
    """The candidates of the vertices, arcs and cells along the circle <v, normal> = 0."""
    # The right singular vectors but the first: an orthonormal basis across `normal`.
    plane = np.linalg.svd(normal[None])[2][1:]
    flat = x @ plane.T
    lengths = np.linalg.norm(x, axis=1)
    crossing = np.linalg.norm(flat, axis=1) > PARALLEL * lengths
    if not crossing.any():
        return
    ends, middles = arcs(flat[crossing])
    active = ((middles @ plane @ x.T > 0.0) & crossing) * c
    yield ends @ plane
    yield unit(active @ flat) @ plane
    for side in (1.0, -1.0):
        # Points along `normal` are 0 on its circle, and active on one side of it.
        touching = (~crossing & (side * (x @ normal) > 0.0)) * c
        yield unit((active + touching) @ x)


def largest(x: Array, c: Array, watch: Watch) -> tuple[float, Array, int]:
    """The maximum over unit v of sum_i c_i relu(<v, x_i>), where it is, and how many were tried.

    >>> value, v, _ = largest(np.array([[3.0, 4.0]]), np.array([2.0]), Watch())
    >>> value, v.tolist()
    (10.0, [0.6, 0.8])
    """
    best, where, tried = -np.inf, np.zeros(x.shape[1]), 0
    for directions in candidates(x, c):
        watch.look()
        if len(directions):
            values = value_at(x, c, directions)
            tried += len(values)
            if values.max() > best:
                best, where = float(values.max()), directions[np.argmax(values)]
    return best, where, tried
