"""Where the curves of a plot run, in pixels, so that labels stand beside them and not on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF

Floats = NDArray[np.float64]
AIR = 1.5  # pixels between a curve and a label


class Mapped(Protocol):
    """A plot, as far as it is needed here."""

    def shown(self) -> QRectF:
        """Its range, in the units of the axes."""

    def pixels(self, points: Floats) -> Floats:
        """Where points (k, 2) lie in pixels."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """Curves over common places (T,), increasing: their values (k, T), NaN where there is none."""

    places: Floats
    values: Floats

    def seen(self, plot: Mapped, inside: QRectF) -> Obstacles:
        """What is seen of them."""
        heights = np.full((self.values.shape[0], max(round(inside.width()), 2)), np.nan)
        columns = np.linspace(inside.left(), inside.right(), heights.shape[1])
        for row, values in zip(heights, self.values, strict=True):
            known = np.isfinite(values) & np.isfinite(self.places)
            if known.any():
                pixels = plot.pixels(np.stack([self.places[known], values[known]], axis=1))
                x, y = pixels.T
                row[:] = np.interp(columns, x, y, left=np.nan, right=np.nan)
        return Obstacles(inside.left(), heights)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Obstacles:
    """The heights (k, W) of curves in the columns of pixels from `left` on."""

    left: float
    heights: Floats

    def crossed(self, box: QRectF) -> bool:
        """Whether a curve runs through a box."""
        first = max(int(box.left() - self.left) - 1, 0)
        part = self.heights[:, first : int(box.right() - self.left) + 2]
        if part.shape[1] < 2:
            return False
        # From one column to the next a steep curve passes over many rows.
        upper, lower = np.fmin(part[:, 1:], part[:, :-1]), np.fmax(part[:, 1:], part[:, :-1])
        inside = (upper <= box.bottom() + AIR) & (lower >= box.top() - AIR)
        return bool(inside.any())


NO_CURVES = Obstacles(0.0, np.empty((0, 0)))
