"""Contrast of colours, as WCAG 2 defines it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.figures.palette import rgb

Floats = NDArray[Any]


def luminance(colours: ArrayLike) -> Floats:
    """Return the relative luminance of RGB(A) rows (0 to 255) by WCAG 2; black 0, white 1."""
    channel = np.asarray(colours, dtype=np.float64)[..., :3] / 255.0
    linear = np.where(channel <= 0.04045, channel / 12.92, ((channel + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))


def contrast(colours: ArrayLike, background: str) -> Floats:
    """Return the contrast ratio of RGB(A) rows to a background, 1 to 21, by WCAG 2.

    >>> contrast([255, 255, 255], "#000000").item()
    21.0
    """
    one, two = luminance(colours), luminance(rgb(background))
    return np.asarray((np.maximum(one, two) + 0.05) / (np.minimum(one, two) + 0.05))
