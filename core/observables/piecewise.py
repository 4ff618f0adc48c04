"""Predictor on a plane as a piecewise linear function, and its exact level lines.

Along each kink <u_j, x~> = 0 a ReLU network changes its slope, so that level lines on a grid have
stairs where they run beside kinks. Here triangles are cut along those kinks that matter, until the
function is linear on each triangle that a level line crosses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.network.activation import LEAKY, RELU
from core.network.parametrisation import TwoLayer
from core.runs import Run

Array = NDArray[np.float64]
Ends = tuple[float, float]
MOST_NODES = 4096  # with more neurons kinks are far smaller than a pixel, and too many
SIDES = 8  # of the initial grid: 16 takes twice as long (m = 64: 9 ms for 5)
MOST_ROUNDS = 64
# Tolerances of f against a linear function on a triangle: relative to its range there, so that a
# line is off by that fraction of a triangle's side, and relative to the largest |f|.
TOLERANCE, ROUNDING = 5e-4, 1e-12
JOINED = 1e-9  # relative to the extent of all lines: closer ends are joined
MOST_NUMBERS = 2_000_000  # triangles times neurons per batch


@final
@dataclass(frozen=True, slots=True, eq=False)
class PlaneFunction:
    """Function f(p) = sum_j jumps_j max(<slopes_j, p> + offsets_j, 0) + <linear, p> + constant.

    slopes (m, 2), offsets (m,), jumps (m,), linear (2,).
    """

    slopes: Array
    offsets: Array
    jumps: Array
    linear: Array
    constant: float

    def __call__(self, points: Array) -> Array:
        """Return f (...,) at points (..., 2)."""
        active = np.maximum(points @ self.slopes.T + self.offsets, 0.0)
        return np.asarray(active @ self.jumps + points @ self.linear + self.constant)


def plane_function(run: Run, index: int, axes: tuple[int, int]) -> PlaneFunction | None:
    """Return a frame's f on the plane of two coordinates of the data, where all others are 0.

    Parameters
    ----------
    run : Run
        Open run.
    index : int
        Index of the frame.
    axes : (int, int)
        Coordinates of the plane, from 0.

    Returns
    -------
    PlaneFunction or None
        f at the recorded parameters, without the factor e^(L rho): its zeros are those of the
        physical network. None unless the network is a `TwoLayer` of one output with ReLUs, leaky
        or not, and at most MOST_NODES neurons, and `axes` are two different coordinates.
    """
    network, d = run.network, int(run.dataset.d)
    if not isinstance(network, TwoLayer) or network.k > 1 or network.m > MOST_NODES:
        return None
    phi = network.activation
    if phi.code not in (RELU, LEAKY) or d < 2 or axes[0] == axes[1]:
        return None
    points = np.zeros((3, d))
    points[1, axes[0]] = points[2, axes[1]] = 1.0
    inputs, outside = run.as_network_inputs(points)
    flat = run.parameters(index)
    alpha, U = network.effective(flat)
    z = U @ inputs.T  # (m, 3)
    if outside is not None:
        z = z + U[:, network.d - 1, None] * outside
    slope = float(phi.slope) if phi.code == LEAKY else 0.0
    slopes, offsets, jumps = z[:, 1:] - z[:, :1], z[:, 0], (1.0 - slope) * alpha
    linear, constant = slope * (alpha @ slopes), slope * (alpha @ offsets)
    if not network.plain_sum:
        plain = np.maximum(offsets, 0.0) @ jumps + constant
        constant += float(network.outputs(flat, inputs, outside)[0]) - plain
    return PlaneFunction(slopes, offsets, jumps, linear, float(constant))


def level_segments(f: PlaneFunction, x_ends: Ends, y_ends: Ends, level: float = 0.0) -> Array:
    """Return segments along which f has a value, in a rectangle.

    Parameters
    ----------
    f : PlaneFunction
        Function on the plane.
    x_ends, y_ends : tuple of float
        Ends of the rectangle's sides.
    level : float
        Value of f.

    Returns
    -------
    ndarray, shape (s, 2, 2)
        Ends of the segments. Where f has the value on a whole area, that area's border. Parts that
        are closed within a triangle of the first grid are found too, unless they are so small that
        f differs by less than TOLERANCE of its range from a linear function there.
    """
    triangles, largest = _grid(x_ends, y_ends), 0.0
    segments: list[Array] = []
    for rounds in range(MOST_ROUNDS + 1):
        if not triangles.size:
            break
        parts: list[Array] = []
        count = max(MOST_NUMBERS // max(f.jumps.size, 1), 1)
        for start in range(0, len(triangles), count):
            some = triangles[start : start + count]
            z = some @ f.slopes.T + f.offsets  # (t, 3, m)
            values = np.maximum(z, 0.0) @ f.jumps + some @ f.linear + f.constant - level
            largest = max(largest, float(np.abs(values).max(initial=0.0)))
            values[np.abs(values) <= ROUNDING * largest] = 0.0
            low, high = np.maximum(-z.min(axis=1), 0.0), np.maximum(z.max(axis=1), 0.0)
            # Largest difference of max(z, 0) and the linear function through its values.
            with np.errstate(invalid="ignore", divide="ignore"):
                sag = np.where((low > 0.0) & (high > 0.0), low * high / (low + high), 0.0) * f.jumps
            below = np.maximum(sag, 0.0).sum(axis=1)
            above = np.maximum(-sag, 0.0).sum(axis=1)
            lowest, highest = values.min(axis=1), values.max(axis=1)
            crossed = (lowest - below <= 0.0) & (highest + above >= 0.0)
            bent = below + above > np.maximum(TOLERANCE * (highest - lowest), ROUNDING * largest)
            ready = crossed & (~bent | (rounds == MOST_ROUNDS))
            segments.append(_crossings(some[ready], values[ready]))
            cut = crossed & ~ready
            node = np.abs(sag[cut]).argmax(axis=1)
            parts.append(
                _cut(some[cut], np.take_along_axis(z[cut], node[:, None, None], 2)[..., 0])
            )
        triangles = np.concatenate(parts)
    return np.concatenate([np.empty((0, 2, 2)), *segments])


def lines_of(segments: Array) -> Array:
    """Join segments to lines.

    Parameters
    ----------
    segments : array (s, 2, 2)
        Ends of the segments.

    Returns
    -------
    array (k, 2)
        Points of the lines, with a row of NaN between two lines.

    Examples
    --------
    >>> lines_of(np.array([[[0.0, 0.0], [1.0, 0.0]], [[2.0, 1.0], [1.0, 0.0]]])).tolist()
    [[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]]
    """
    if not segments.size:
        return np.empty((0, 2))
    points = segments.reshape(-1, 2)
    grain = JOINED * float(np.ptp(points, axis=0).max())
    _, firsts, names = np.unique(
        np.rint(points / grain), axis=0, return_index=True, return_inverse=True
    )
    ends: list[tuple[int, int]] = [(a, b) for a, b in names.reshape(-1, 2).tolist() if a != b]
    neighbours: dict[int, list[int]] = {}
    for number, pair in enumerate(ends):
        for name in pair:
            neighbours.setdefault(name, []).append(number)
    lines: list[Array] = []
    # Start at ends and branches; the remaining lines are rings.
    starts = sorted(neighbours, key=lambda name: len(neighbours[name]) % 2 == 0)
    for start in [name for name in starts for _ in neighbours[name]]:
        line = [start]
        while neighbours[line[-1]]:
            number = neighbours[line[-1]].pop()
            a, b = ends[number]
            after = b if a == line[-1] else a
            neighbours[after].remove(number)
            line.append(after)
        if len(line) > 1:
            lines += [points[firsts[line]], np.full((1, 2), np.nan)]
    return np.concatenate(lines[:-1]) if lines else np.empty((0, 2))


def _grid(x_ends: Ends, y_ends: Ends) -> Array:
    """Return the triangles (t, 3, 2) of a grid over a rectangle."""
    x, y = np.meshgrid(np.linspace(*x_ends, SIDES + 1), np.linspace(*y_ends, SIDES + 1))
    points = np.stack([x, y], axis=-1)
    corners = points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]
    a, b, c, d = (corner.reshape(-1, 2) for corner in corners)
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def _cut(triangles: Array, z: Array) -> Array:
    """Cut triangles, each with z (t, 3) of both signs, where z is 0; return them, (t, 3, 2)."""
    positive = z > 0.0
    alone = np.where(positive.sum(axis=1) == 1, positive.argmax(axis=1), (~positive).argmax(axis=1))
    turn = (alone[:, None] + np.arange(3)) % 3
    a, b, c = np.moveaxis(np.take_along_axis(triangles, turn[:, :, None], axis=1), 1, 0)
    za, zb, zc = np.take_along_axis(z, turn, axis=1).T
    first = a + (za / (za - zb))[:, None] * (b - a)
    second = a + (za / (za - zc))[:, None] * (c - a)
    parts = ((a, first, second), (first, b, c), (first, c, second))
    return np.concatenate([np.stack(part, axis=1) for part in parts])


def _crossings(triangles: Array, values: Array) -> Array:
    """Return segments (s, 2, 2) along which values (t, 3), linear on each triangle, are 0.

    A triangle that is 0 on a side alone and has no positive value contributes the side.
    """
    positive = values > 0.0
    # Otherwise a triangle below an area of zeros would have no line at its border.
    side = np.where(positive.any(axis=1, keepdims=True), positive, values < 0.0)
    mixed = side.any(axis=1) & ~side.all(axis=1)
    corners, v, side = triangles[mixed], values[mixed], side[mixed]
    after, w = np.roll(corners, -1, axis=1), np.roll(v, -1, axis=1)
    crossed = side != np.roll(side, -1, axis=1)
    share = np.where(crossed, v, 0.0) / np.where(crossed, v - w, 1.0)
    points = corners + share[..., None] * (after - corners)
    segments = points[crossed].reshape(-1, 2, 2)
    return np.asarray(segments[(segments[:, 0] != segments[:, 1]).any(axis=1)])
