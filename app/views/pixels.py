"""Points of plots in pixels: the one at the pointer, and those that no screen resolves."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.state.node_values import Floats
from app.widgets.plot_item import Plot
from app.widgets.screen_text import shown_number
from core.numbers import raise_powers

REACH = 12.0  # pixels
MOST_DIGITS = 10


def resolved_text(value: float, grain: float) -> str:
    """Return a number with the digits resolved by pixels `grain` apart.

    >>> resolved_text(12.3456, 0.05), resolved_text(12.3456, 3.0), resolved_text(0.0, 0.05)
    ('12.35', '12', '0')
    """
    if not math.isfinite(value) or not 0.0 < grain < math.inf or abs(value) < 0.5 * grain:
        return shown_number(0.0 if abs(value) < 0.5 * grain else value)
    digits = math.floor(math.log10(abs(value))) - math.floor(math.log10(grain)) + 1
    return shown_number(value, min(max(digits, 1), MOST_DIGITS))


def pixel_width(plot: Plot) -> float:
    """Return the width of a screen pixel, in units of the horizontal axis."""
    pixels = plot.view.rect().width() * plot.devicePixelRatioF()
    return abs(plot.visible_range().width()) / pixels if pixels >= 1.0 else 0.0


def log10_text(log10_value: float, grain: float) -> str:
    """Return a number given by its log10, rounded for pixels `grain` apart.

    >>> log10_text(2.18749, 0.004)
    '10^2.187'
    """
    if log10_value == -math.inf:
        return "0"
    decimals = min(max(-math.floor(math.log10(grain)), 0), MOST_DIGITS) if grain > 0.0 else 2
    return raise_powers(f"10^{log10_value:.{decimals}f}")


def nearest_point(
    plot: Plot, lines: Sequence[tuple[Floats, Floats]], x: float, y: float
) -> tuple[int, int]:
    """Return the line nearest to a pixel within REACH, and the nearer end of its segment.

    (-1, -1) for none. Lines are places and heights in units of the axes.
    """
    best, place = REACH, (-1, -1)
    if not plot.plot_area().contains(x, y):
        return place
    point = np.array([x, y])
    for number, (places, heights) in enumerate(lines):
        indices = np.flatnonzero(np.isfinite(places) & np.isfinite(heights))
        if indices.size == 0:
            continue
        left = float(plot.place(x - REACH, y)[0])
        right = float(plot.place(x + REACH, y)[0])
        # Places increase, except for |W|^2, which may turn back: then all points are examined.
        part = indices
        if (np.diff(places[indices]) >= 0.0).all():
            ends = np.searchsorted(places[indices], [left, right])
            part = indices[max(int(ends[0]) - 1, 0) : int(ends[1]) + 1]
        points = plot.pixels(np.stack([places[part], heights[part]], axis=1))
        distance, nearest = _to_segments(points, point)
        if distance < best:
            best, place = distance, (number, int(part[nearest]))
    return place


def _to_segments(points: Floats, point: Floats) -> tuple[float, int]:
    """Return the distance of a broken line (k, 2) from a point, and its nearest point."""
    to_points = np.hypot(*(points - point).T)
    if len(points) == 1:
        return float(to_points[0]), 0
    way = np.diff(points, axis=0)
    squared = np.maximum(np.square(way).sum(axis=1), 1e-300)
    share = np.clip(((point - points[:-1]) * way).sum(axis=1) / squared, 0.0, 1.0)
    distances = np.hypot(*(points[:-1] + share[:, None] * way - point).T)
    nearest = int(np.argmin(distances))
    return float(distances[nearest]), nearest + int(to_points[nearest + 1] < to_points[nearest])


TOLERANCE = 0.03  # pixels: a fiftieth of a pen, at most 8 of 255 levels at a sharp edge


def points_to_draw(x: Floats, Y: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Return the points of curves Y (K, T) over increasing x (T,) to keep, (K, T).

    The polygon through them is within `tolerance` of all points left out, in the direction of Y:
    chords replace blocks of 2, 4, 8, ... steps whose points are that close. Curves are kept whole
    where values are not finite.
    """
    curves, count = Y.shape
    mask = np.ones((curves, count), dtype=np.bool_)
    flat = np.ones((curves, max(count - 1, 0)), dtype=np.bool_)
    half = 1
    while 2 * half <= count - 1 and flat.any():
        starts = 2 * half * np.arange((count - 1) // (2 * half))
        inside = starts[:, None] + np.arange(1, 2 * half)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            width = (x[starts + 2 * half] - x[starts])[:, None]
            share = (x[inside] - x[starts][:, None]) / width
            start, end = Y[:, starts, None], Y[:, starts + 2 * half, None]
            close = np.abs(start + share * (end - start) - Y[:, inside]) <= tolerance
        halves = flat[:, : 2 * starts.size].reshape(curves, starts.size, 2)
        flat = close.all(axis=2) & halves.all(axis=2)
        mask[:, starts + half] &= ~flat
        half *= 2
    return mask
