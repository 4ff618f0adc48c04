"""Axes of comparisons: names, ticks, and places in pixels' units and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from app.views.pixels import log10_text, resolved_text
from app.widgets.axis import NORM_SQUARED, far_times, logarithmic, plain, powers
from core.comparison.comparison import Comparison
from core.figures.ticks import TickMaker, Ticks
from core.numbers import LOG10
from core.problem.schedule import PLAIN_HORIZON, coordinate, inverse_coordinate

Floats = NDArray[np.float64]

RANKS = (0.0, 1.02)
MOMENTS = ("log10_time", "time")


def falling_powers(low: float, high: float, max_ticks: int) -> Ticks:
    """Return the ticks of an axis of -log10 of a quantity, labelled by the quantity."""
    return tuple((-place, text) for place, text in powers(-high, -low, max_ticks)[::-1])


def ranks(low: float, high: float, max_ticks: int) -> Ticks:
    """Return the ticks of an axis of shares, without those beyond 1."""
    return tuple((place, text) for place, text in plain(low, high, max_ticks) if place <= 1.0)


# Title of an axis, and its ticks.
AXES: dict[str, tuple[str, TickMaker]] = {
    "log10_time": ("time t", powers),
    "time": ("time t", plain),
    "step": ("steps", powers),
    "norm_squared": (NORM_SQUARED, logarithmic),
    "risk": ("risk", falling_powers),
    "share": ("hard margin as a share of \u03b3_gl / 2", plain),
    "rank": ("rank / m", ranks),
}


@final
@dataclass(frozen=True, slots=True)
class ComparedAxis:
    """Horizontal axis of a comparison.

    `steps`: t counts steps. `far`: log10 t exceeds what plots resolve, and is shown in the
    schedule's coordinate.
    """

    against: str = "log10_time"
    steps: bool = False
    far: bool = False

    @classmethod
    def from_comparison(cls, comparison: Comparison, last: float) -> ComparedAxis:
        """Return the axis of a comparison whose lines reach a last place."""
        against = comparison.question.against
        far = against == "log10_time" and last > PLAIN_HORIZON
        return cls(against, against in MOMENTS and comparison.steps, far)

    @property
    def shows_moments(self) -> bool:
        """True if a place is a moment."""
        return self.against in MOMENTS

    def is_like(self, other: ComparedAxis) -> bool:
        """Return True if the same place is the same number on both axes."""
        return (self.against, self.far) == (other.against, other.far)

    @property
    def name(self) -> str:
        """Name of the axis."""
        name = AXES["step" if self.steps else self.against][0]
        return f"{LOG10} {name.removeprefix('time ')}" if self.far else name

    @property
    def ticks(self) -> TickMaker:
        """Maker of the ticks."""
        return far_times if self.far else AXES[self.against][1]

    def to_axis(self, places: Floats) -> Floats:
        """Return positions of places (core.comparison.alignment) on the axis, NaN beyond it."""
        if self.against == "time":
            with np.errstate(over="ignore"):
                times = 10.0**places
            return np.where(times < 1e300, times, np.nan)
        return np.asarray(coordinate(places)) if self.far else places

    def place_of(self, position: float) -> float:
        """Return the place at a position on the axis, the inverse of `to_axis`.

        The place of a moment is log10 t, also on the axis of t; -inf at t <= 0.
        """
        if self.against == "time":
            return math.log10(position) if position > 0.0 else -math.inf
        return float(inverse_coordinate(position)) if self.far else position

    def place_text(self, place: float, grain: float) -> str:
        """Return a place in words, rounded to a grain.

        >>> ComparedAxis("rank").place_text(0.5, 0.01), ComparedAxis("step").place_text(2.0, 0.01)
        ('rank / m = .5', 'step 100')
        """
        if self.against == "step" or self.steps:
            return f"step {10.0**place:.0f}" if place < 15.0 else f"step {log10_text(place, grain)}"
        if self.against in MOMENTS:
            return f"t = {log10_text(place, grain)}"
        if self.against == "rank":
            return f"rank / m = {resolved_text(place, grain)}"
        if self.against == "norm_squared":
            return f"{NORM_SQUARED} = {log10_text(place, grain)}"
        if self.against == "risk":  # the axis holds minus log10 of the risk
            return f"risk {log10_text(-place, grain)}"
        return f"{resolved_text(place, grain)} of \u03b3_gl / 2"


def padded_range(values: Floats, share: float, flat: float = 0.5) -> tuple[float, float]:
    """Return the least and the largest finite value, with some room.

    `flat` is the room above and below equal values, as a share of them.

    >>> padded_range(np.array([0.0, 10.0, np.nan]), 0.1), padded_range(np.empty(0), 0.5)
    ((-1.0, 11.0), (-0.5, 1.5))
    >>> padded_range(np.ones(2), 0.1), padded_range(np.ones(2), 0.1, 0.125)
    ((0.5, 1.5), (0.875, 1.125))
    """
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    pad = share * (high - low)
    if not pad > 1e-12 * max(abs(low), abs(high)):  # all values equal, up to rounding
        pad = flat * max(abs(low), abs(high)) or 0.5
    return low - pad, high + pad
