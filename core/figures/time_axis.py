"""Axis of time, frames of the moments of a figure, and their colours.

Up to log10 t = 10 the axis shows t on a logarithmic scale. Beyond, it follows the schedule of
frames (core.problem.schedule.coordinate) and shows log10 t, so that t = 10 and log10 t = 10^4 both
stay visible and every tick is at the number that it shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.figures.numbers import math_number, nice_step
from core.figures.palette import Palette, time_colours
from core.figures.primitives import Axis
from core.figures.ticks import MAKERS, multiples, needs_logarithm, with_range
from core.numbers import number_text, power_text
from core.problem.schedule import PLAIN_HORIZON, coordinate
from core.runs import Run

Array = NDArray[np.float64]
MOST_MOMENTS = 8
MOST_TICKS = 6
NEAR = 0.005  # distance on the axis below which two moments count as one


@final
@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Axis from `low` to `high` in log10 t, both finite. `steps`: t counts steps."""

    low: float
    high: float
    steps: bool = False

    @property
    def far(self) -> bool:
        """True if the axis shows log10 t instead of t."""
        return self.high > PLAIN_HORIZON

    @property
    def name(self) -> str:
        if self.steps:
            return "$\\log_{10}$ steps" if self.far else "steps"
        return "$\\log_{10}\\,t$" if self.far else "$t$"

    def place(self, log10_time: Array | float) -> Array:
        """Return the places of moments on the axis.

        Parameters
        ----------
        log10_time : array or float
            log10 t.

        Returns
        -------
        array
            Of the same shape; NaN for t = 0, which a logarithmic axis cannot show.
        """
        x = np.asarray(log10_time, dtype=np.float64)
        x = np.where(np.isneginf(x), np.nan, x)
        return coordinate(x) if self.far else x

    def text(self, log10_time: float) -> str:
        """Return a moment in the axis's own terms, for its ticks and keys."""
        if log10_time == -math.inf:
            return "0" if self.steps else "$t$ = 0"
        if self.far:
            rounded = float(f"{log10_time:.1e}")  # frames are near the moments, not exactly at them
            return math_number(number_text(rounded) if rounded < 1e3 else _power(rounded))
        return math_number(power_text(log10_time))

    def axis(self) -> Axis:
        """Return the horizontal axis of a panel."""
        low, high = (float(value) for value in self.place(np.array([self.low, self.high])))
        pad = 0.02 * (high - low)
        ticks = tuple((float(self.place(x)), self.text(x)) for x in self._ticks())
        shows = "far" if self.far else "powers"
        if len(ticks) < 2:
            tick_list = MAKERS[shows](low, high, MOST_TICKS - 2)
            ticks = tuple((x, math_number(text)) for x, text in tick_list)
        label = self.name if self.steps else f"time {self.name}"
        return Axis(low - pad, high + pad, ticks, label, shows)

    def _ticks(self) -> list[float]:
        first, last = math.ceil(self.low - 1e-9), math.floor(min(self.high, 1.0 + 1e9) + 1e-9)
        if not self.far:
            return [float(x) for x in multiples(first, last, MOST_TICKS)]
        decades = range(math.floor(math.log10(self.high) + 1e-9) + 1)
        step = max(1, round(nice_step(len(decades), MOST_TICKS - 1)))
        near = [float(x) for x in (-4.0, -2.0, 0.0) if x >= self.low and step < 3]
        return near[-2:] + [10.0**k for k in decades if k % step == 0]


def _power(value: float) -> str:
    exponent = math.log10(value)
    return f"10^{exponent:.0f}" if abs(exponent - round(exponent)) < 1e-9 else number_text(value, 2)


def time_axis(runs: Sequence[Run], lasts: Sequence[int]) -> TimeAxis:
    """Return the axis that shows all runs up to a frame of each."""
    times = np.concatenate(
        [run.log10_time[: last + 1] for run, last in zip(runs, lasts, strict=True)]
    )
    times, steps = times[np.isfinite(times)], all(run.counts_steps for run in runs)
    if times.size == 0:
        return TimeAxis(-1.0, 1.0, steps)
    low, high = float(times.min()), float(times.max())
    # A single moment still needs a range around it.
    if high - low < 1e-6:
        return TimeAxis(low - 0.5, high + 0.5, steps)
    return TimeAxis(low, high, steps)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Moments of a figure, increasing log10 t, the same for all its runs."""

    axis: TimeAxis
    times: tuple[float, ...]

    def frames(self, run: Run, last: int) -> tuple[int, ...]:
        """Return the frames of a run nearest to the moments, in order, up to and with `last`."""
        places = self.axis.place(run.log10_time[: last + 1])
        chosen = {last}
        for time in self.times:
            distance = np.abs(places - self.axis.place(time))
            if not np.isfinite(distance).any():
                continue
            nearest = int(np.nanargmin(distance))
            # A run that ended before a moment has no frame for it.
            if distance[nearest] <= self.tolerance:
                chosen.add(nearest)
        if not np.isfinite(places[last]):  # only t = 0
            return (last,)
        return tuple(sorted(chosen))

    @property
    def tolerance(self) -> float:
        """Half the smallest distance of two moments: a frame represents at most one moment."""
        gaps = np.diff(self.axis.place(np.array(self.times)))
        return 0.5 * float(gaps.min()) if gaps.size else 0.5

    def colours(self, log10_times: Iterable[float], palette: Palette) -> NDArray[np.uint8]:
        """Return the colours of times: evenly spaced over the moments, on the axis between.

        Parameters
        ----------
        log10_times : iterable of float
            log10 of k times.
        palette : Palette
            Colours.

        Returns
        -------
        array (k, 4) of uint8
            RGBA rows.
        """
        places = self.axis.place(np.array(list(log10_times)))
        if not self.times:
            return time_colours(np.ones(places.size), palette)
        levels = np.linspace(0.0, 1.0, len(self.times)) if len(self.times) > 1 else np.ones(1)
        fractions = np.interp(places, self.axis.place(np.array(self.times)), levels)
        return time_colours(np.nan_to_num(fractions, nan=0.0), palette)


def moments(runs: Sequence[Run], lasts: Sequence[int], axis: TimeAxis) -> Moments:
    """Choose at most eight moments: the recorded marks, else decades, and the last one.

    Decades are those from t = 1 on, of runs that end before t = 10 all of their own range; within a
    decade moments are evenly spaced. Beyond log10 t = 10 the decades of log10 t join them. A run of
    eight frames or fewer shows all.

    Parameters
    ----------
    runs : sequence of Run
        Open runs.
    lasts : sequence of int
        Last frame of each run.
    axis : TimeAxis
        Axis of all runs.

    Returns
    -------
    Moments
    """
    ends = [float(run.log10_time[last]) for run, last in zip(runs, lasts, strict=True)]
    end = max(ends)
    if not math.isfinite(end):
        return Moments(axis, ())
    if max(lasts) <= MOST_MOMENTS and len(runs) == 1:
        times = [float(x) for x in runs[0].log10_time[: lasts[0] + 1] if math.isfinite(x)]
        return Moments(axis, _thin(times, axis))
    marks = {mark for run in runs for mark in run.experiment.recording.log10_times}
    met = {x for x in marks if axis.low <= x < end}
    candidates = met or _decades(axis.low, end)
    if axis.far:
        late = {10.0**k for k in range(math.floor(math.log10(end) + 1e-9) + 1)}
        candidates = candidates | late
    inside = {x for x in candidates if axis.low <= x <= end} | {end}
    if met and len(inside) > MOST_MOMENTS:  # keep the marks, and drop decades next to them
        inside = met | {end}
    return Moments(axis, _thin(sorted(inside), axis))


def _decades(low: float, end: float) -> set[float]:
    """Return log10 of the times that are shown of runs from 10^low to 10^end without marks."""
    first = 0 if end >= 1.0 else math.ceil(low - 1e-9)
    decades = {float(k) for k in range(first, math.floor(min(end, PLAIN_HORIZON) + 1e-9) + 1)}
    if len(decades | {end}) < 2:
        return {float(x) for x in np.linspace(low, end, MOST_MOMENTS)}
    return decades


def _thin(times: Sequence[float], axis: TimeAxis) -> tuple[float, ...]:
    """Return sorted times without near repeats, at most eight, with the last one."""
    moments: list[float] = []
    for time in times:
        # Keep the later of the two: the last moment is never dropped.
        if moments and float(axis.place(time) - axis.place(moments[-1])) < NEAR:
            moments.pop()
        moments.append(time)
    if len(moments) > MOST_MOMENTS:
        step = math.ceil((len(moments) - 1) / (MOST_MOMENTS - 1))
        # Counted from the end, which is kept.
        moments = moments[::-1][::step][::-1]
    return tuple(moments)


# -------------------------------------------------------- other horizontal axes: steps and |W|^2

LABELS = {"step": "step", "norm_squared": "$\\Vert W\\Vert^2$"}
EXTENT_SAMPLES = 200  # frames that determine the range of an axis


@final
@dataclass(frozen=True, slots=True)
class QuantityAxis:
    """Axis from `low` to `high` in log10 of the steps or of |W|^2.

    `wide`: the axis is logarithmic.
    """

    name: str
    low: float
    high: float
    wide: bool = True

    def place(self, keys: Array) -> Array:
        """Return the places of a quantity on the axis.

        Parameters
        ----------
        keys : array
            log10 of the quantity, of any shape.

        Returns
        -------
        array
            Of the same shape; NaN where the axis has no place.
        """
        finite = np.where(np.isfinite(keys), keys, np.nan)
        return finite if self.wide else np.asarray(10.0**finite)

    def axis(self) -> Axis:
        """Return the horizontal axis of a panel."""
        low, high = (float(x) for x in self.place(np.array([self.low, self.high])))
        pad = 0.02 * (high - low) or 0.5
        bare = Axis(low, high, (), LABELS[self.name], "powers" if self.wide else "plain")
        return with_range(bare, low - pad, high + pad)


Across = TimeAxis | QuantityAxis


def keys_of(run: Run, frames: NDArray[np.int64], against: str) -> Array:
    """Return log10 of the quantity that curves are drawn against.

    Parameters
    ----------
    run : Run
        Open run.
    frames : array (F,)
        Frames.
    against : str
        "log10_time", "step" or "norm_squared", which is |W|^2.

    Returns
    -------
    array (F,)
        -inf where the quantity is 0.
    """
    if against == "log10_time":
        return np.asarray(run.log10_time[frames], dtype=np.float64)
    if against == "step":
        with np.errstate(divide="ignore"):
            return np.log10(np.asarray(run.steps[frames], dtype=np.float64))
    lengths = [run.network.norm(run.parameters(index)) for index in frames.tolist()]
    with np.errstate(divide="ignore"):
        # In logarithms: e^(2 rho) overflows for rho > 354.
        return np.asarray(2.0 * (np.log10(np.array(lengths)) + run.rho[frames] / math.log(10.0)))


def horizontal_axis(
    runs: Sequence[Run], lasts: Sequence[int], against: str, time: TimeAxis
) -> Across:
    """Return the horizontal axis that shows all runs up to a frame of each.

    Parameters
    ----------
    runs : sequence of Run
        Open runs.
    lasts : sequence of int
        Last frame of each run.
    against : str
        "log10_time", "step" or "norm_squared".
    time : TimeAxis
        Axis for "log10_time".

    Returns
    -------
    TimeAxis or QuantityAxis
    """
    if against == "log10_time":
        return time
    low, high = _quantity_limits(runs, lasts, against)
    # The range covers the whole runs at every moment, as on the screen.
    limits = _quantity_limits(runs, [run.frames - 1 for run in runs], against)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    return QuantityAxis(against, low, high, against == "step" or needs_logarithm(*limits))


def _quantity_limits(
    runs: Sequence[Run], lasts: Sequence[int], against: str
) -> tuple[float, float]:
    frames = [
        np.unique(np.linspace(0, last, EXTENT_SAMPLES).round().astype(np.int64)) for last in lasts
    ]
    keys = [keys_of(run, some, against) for run, some in zip(runs, frames, strict=True)]
    values = np.concatenate(keys)
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
