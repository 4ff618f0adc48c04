"""What curves stand against: time, steps or |W|^2 (telgarsky22 has time in all its figures)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.figures.curve_scale import needs_logarithm
from core.figures.primitives import Axis
from core.figures.ticks import ranged
from core.figures.time_axis import TimeAxis
from core.runs import Run

Array = NDArray[np.float64]
LABELS = {"step": "step", "norm_squared": "$\\Vert W\\Vert^2$"}
LOOKS = 200  # frames that tell how far an axis reaches


@final
@dataclass(frozen=True, slots=True)
class QuantityAxis:
    """From `low` to `high` in log10 of the steps or of |W|^2; `wide`: the axis is logarithmic."""

    name: str
    low: float
    high: float
    wide: bool = True

    def place(self, keys: Array) -> Array:
        """Where log10 of the quantity lies on the axis; NaN where there is no place for it."""
        known = np.where(np.isfinite(keys), keys, np.nan)
        return known if self.wide else np.asarray(10.0**known)

    def axis(self) -> Axis:
        """The horizontal axis of a panel."""
        low, high = (float(x) for x in self.place(np.array([self.low, self.high])))
        pad = 0.02 * (high - low) or 0.5
        bare = Axis(low, high, (), LABELS[self.name], "powers" if self.wide else "plain")
        return ranged(bare, low - pad, high + pad)


Across = TimeAxis | QuantityAxis


def keys_of(run: Run, frames: NDArray[np.int64], against: str) -> Array:
    """log10 of t, of the steps or of |W|^2 at some frames; -inf where it is 0."""
    if against == "log10_time":
        return np.asarray(run.log10_time[frames], dtype=np.float64)
    if against == "step":
        with np.errstate(divide="ignore"):
            return np.log10(np.asarray(run.steps[frames], dtype=np.float64))
    lengths = [run.network.norm(run.parameters(index)) for index in frames.tolist()]
    with np.errstate(divide="ignore"):
        # In logarithms: e^(2 rho) overflows where rho passes 354.
        return np.asarray(2.0 * (np.log10(np.array(lengths)) + run.rho[frames] / math.log(10.0)))


def across(runs: Sequence[Run], lasts: Sequence[int], against: str, time: TimeAxis) -> Across:
    """The axis that shows all runs up to a frame of each."""
    if against == "log10_time":
        return time
    low, high = _ends(runs, lasts, against)
    # As on the screen by the whole runs, whatever the moment shown.
    whole = _ends(runs, [run.frames - 1 for run in runs], against)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    return QuantityAxis(against, low, high, against == "step" or needs_logarithm(*whole))


def _ends(runs: Sequence[Run], lasts: Sequence[int], against: str) -> tuple[float, float]:
    frames = [np.unique(np.linspace(0, last, LOOKS).round().astype(np.int64)) for last in lasts]
    keys = [keys_of(run, some, against) for run, some in zip(runs, frames, strict=True)]
    known = np.concatenate(keys)
    known = known[np.isfinite(known)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
