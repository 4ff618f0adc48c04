"""What is under the pointer: the nearest point of some curves, and numbers with as many digits as
the screen can tell apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from app.state.node_values import Floats
from app.widgets.plot_item import Plot
from app.widgets.screen_text import raised, shown_number

REACH = 12.0  # pixels
MOST_DIGITS = 10


def resolved(value: float, grain: float) -> str:
    """A number with the digits that a screen tells whose pixels are `grain` apart.

    >>> resolved(12.3456, 0.05), resolved(12.3456, 3.0), resolved(0.0, 0.05)
    ('12.35', '12', '0')
    """
    if not math.isfinite(value) or not 0.0 < grain < math.inf or abs(value) < 0.5 * grain:
        return shown_number(0.0 if abs(value) < 0.5 * grain else value)
    digits = math.floor(math.log10(abs(value))) - math.floor(math.log10(grain)) + 1
    return shown_number(value, min(max(digits, 1), MOST_DIGITS))


def pixel_width(plot: Plot) -> float:
    """The width of a pixel of the screen, in the units of the horizontal axis."""
    pixels = plot.view.rect().width() * plot.devicePixelRatioF()
    return abs(plot.shown().width()) / pixels if pixels >= 1.0 else 0.0


def log10_text(log10_value: float, grain: float) -> str:
    """A number by its logarithm to base 10, whose pixels are `grain` apart.

    >>> log10_text(2.18749, 0.004)
    '10^2.187'
    """
    if log10_value == -math.inf:
        return "0"
    decimals = min(max(-math.floor(math.log10(grain)), 0), MOST_DIGITS) if grain > 0.0 else 2
    return raised(f"10^{log10_value:.{decimals}f}")


def nearest_point(
    plot: Plot, lines: Sequence[tuple[Floats, Floats]], x: float, y: float
) -> tuple[int, int]:
    """The line that passes nearest to a pixel, at most REACH away, and its point at the nearer end
    of the part that does; (-1, -1) for none. Lines are places and heights in the axes' units."""
    best, found = REACH, (-1, -1)
    if not plot.inside().contains(x, y):
        return found
    here = np.array([x, y])
    for number, (places, heights) in enumerate(lines):
        known = np.flatnonzero(np.isfinite(places) & np.isfinite(heights))
        if known.size == 0:
            continue
        left = float(plot.place(x - REACH, y)[0])
        right = float(plot.place(x + REACH, y)[0])
        # Places increase, but for |W|^2, which may turn: then all points are looked at.
        part = known
        if (np.diff(places[known]) >= 0.0).all():
            ends = np.searchsorted(places[known], [left, right])
            part = known[max(int(ends[0]) - 1, 0) : int(ends[1]) + 1]
        points = plot.pixels(np.stack([places[part], heights[part]], axis=1))
        distance, at = _to_segments(points, here)
        if distance < best:
            best, found = distance, (number, int(part[at]))
    return found


def _to_segments(points: Floats, here: Floats) -> tuple[float, int]:
    """How far a broken line (k, 2) is from a point, and which of its points is nearest there."""
    away = np.hypot(*(points - here).T)
    if len(points) == 1:
        return float(away[0]), 0
    way = np.diff(points, axis=0)
    squared = np.maximum(np.square(way).sum(axis=1), 1e-300)
    share = np.clip(((here - points[:-1]) * way).sum(axis=1) / squared, 0.0, 1.0)
    distances = np.hypot(*(points[:-1] + share[:, None] * way - here).T)
    nearest = int(np.argmin(distances))
    return float(distances[nearest]), nearest + int(away[nearest + 1] < away[nearest])
