"""Points of curves that no screen shows are left out: a pen is dear for every one of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 0.03  # pixels: a fiftieth of a pen, and 8 of the 255 levels at a sharp edge at most
Floats = NDArray[np.float64]


def thinned(x: Floats, Y: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Which points of curves Y (K, T) over increasing x (T,) to keep, (K, T).

    The polygon through those kept is nowhere further from any point left out than `tolerance`, in
    the direction of Y: blocks of 2, 4, 8, ... steps are replaced by their chords where all the
    points within are that close. Curves with values that are not finite are kept whole there.
    """
    curves, count = Y.shape
    keep = np.ones((curves, count), dtype=np.bool_)
    flat = np.ones((curves, max(count - 1, 0)), dtype=np.bool_)
    half = 1
    while 2 * half <= count - 1 and flat.any():
        left = 2 * half * np.arange((count - 1) // (2 * half))
        inside = left[:, None] + np.arange(1, 2 * half)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            width = (x[left + 2 * half] - x[left])[:, None]
            share = (x[inside] - x[left][:, None]) / width
            begin, end = Y[:, left, None], Y[:, left + 2 * half, None]
            close = np.abs(begin + share * (end - begin) - Y[:, inside]) <= tolerance
        halves = flat[:, : 2 * left.size].reshape(curves, left.size, 2)
        flat = close.all(axis=2) & halves.all(axis=2)
        keep[:, left + half] &= ~flat
        half *= 2
    return keep
