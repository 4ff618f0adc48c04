"""Axes of a study's panels: places of values, ticks, and their texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.figures.numbers import linear_ticks, math_number, math_text
from core.figures.primitives import Axis, plain
from core.figures.ticks import multiples
from core.figures.time_axis import TimeAxis
from core.numbers import number_text
from core.observables.registry import OBSERVABLES
from core.studies.layout import PICTURES, PanelLayout
from core.studies.panel_lines import Line

Array = NDArray[np.float64]
X_LABELS: Mapping[str, str] = {
    "step": "steps",
    "data.d": "dimension $d$",
    "data.n": "examples $n$",
    "network.m": "width $m$",
    "n": "examples $n$",
    "d": "dimension $d$",
    "m": "width $m$",
    "n / d": "$n\\,/\\,d$",
    "n / d^2": "$n\\,/\\,d^2$",
    "network.init_multiple": "initialisation, in multiples of $\\omega_{\\mathrm{TF}}$",
    "dynamics.step": "step size",
    "loss.l2": "regularisation $\\lambda$",
}
MOST_TICKS = 6


@final
@dataclass(frozen=True, slots=True)
class Scale:
    """Scale of an axis: log10 of values, the values themselves, or log10 t as of a moment."""

    log: bool
    time: TimeAxis | None = None

    def place(self, values: Any) -> Array:
        """Return the places of values on the axis.

        Parameters
        ----------
        values : array
            Values of any shape.

        Returns
        -------
        array
            Of the same shape; NaN for what a logarithmic axis cannot show.
        """
        array: Array = np.asarray(values, dtype=np.float64)
        if self.time is not None:
            return self.time.place(array)
        if not self.log:
            return array
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(array > 0.0, np.log10(array), np.nan)

    def ticks(self, low: float, high: float) -> tuple[tuple[float, str], ...]:
        """Return ticks between two places: decades, parts of them, or round numbers."""
        if not self.log:
            return linear_ticks(low, high, MOST_TICKS)
        first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
        if last - first >= 2:
            return tuple((float(k), _power(k)) for k in multiples(first, last, MOST_TICKS))
        ticks = [
            factor * 10.0**k
            for k in range(math.floor(low), math.ceil(high) + 1)
            for factor in ((1.0, 2.0, 5.0) if high - low > 1.0 else (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
        ]
        inside = [v for v in ticks if low - 1e-9 <= math.log10(v) <= high + 1e-9]
        return tuple((math.log10(v), math_text(number_text(v))) for v in inside)


def _power(k: int) -> str:
    return number_text(10.0**k) if -2 <= k <= 3 else math_number(f"10^{k}")


# ----------------------------------------------------------------------------------------- axes


def x_axis(layout: PanelLayout, lines: Sequence[Line]) -> Axis:
    """Return the horizontal axis that shows all lines."""
    scale = scales_of(layout, lines)[0]
    if scale.time is not None:
        return scale.time.axis()
    places = np.concatenate([scale.place(line.x) for line in lines])
    places = places[np.isfinite(places)]
    low, high = (float(places.min()), float(places.max())) if places.size else (0.0, 1.0)
    # A single value still needs a range around it.
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    pad = (0.02 if layout.kind in ("traces", *PICTURES) else 0.05) * (high - low)
    ticks = scale.ticks(low - pad, high + pad)
    if layout.kind in ("sweep", "crossing"):
        ticks = _own_ticks(places, scale) or ticks
    label = (
        layout.x_label or X_LABELS.get(layout.x, "" if layout.x else "$z$") or words_of(layout.x)
    )
    return Axis(low - pad, high + pad, ticks, label)


def _own_ticks(places: Array, scale: Scale) -> tuple[tuple[float, str], ...]:
    """Return ticks at the values that were run, if these are few short whole numbers; else ()."""
    # Rounded: logarithms of one value may differ in their last digits between runs.
    own = np.unique(np.round(places, 9))
    values = [float(10.0**place) if scale.log else float(place) for place in own]
    are_integers = all(abs(v - round(v)) < 1e-6 * max(abs(v), 1.0) and abs(v) < 1e4 for v in values)
    if not are_integers or not 2 <= own.size <= MOST_TICKS + 1:
        return ()
    # With less distance the numbers would touch.
    if np.diff(own).min() < 0.12 * (own[-1] - own[0]):
        return ()
    return tuple((float(place), f"{round(v)}") for place, v in zip(own, values, strict=True))


def y_axis(layout: PanelLayout, lines: Sequence[Line]) -> Axis:
    """Return the vertical axis that shows all lines with their bars, and the reference levels."""
    scale = Scale(layout.y_scale == "log")
    if layout.limits is not None:
        low, high = (float(value) for value in scale.place(np.array(layout.limits)))
        pad = 0.0
    else:
        heights = [scale.place(part) for line in lines for part in (line.mean, line.low, line.high)]
        heights.append(scale.place([mark.value for mark in layout.levels]))
        places = np.concatenate(heights)
        places = places[np.isfinite(places)]
        low, high = (float(places.min()), float(places.max())) if places.size else (0.0, 1.0)
        if high - low < 1e-9 * max(abs(high), 1.0):
            low, high = low - 0.5, high + 0.5
        pad = 0.06 * (high - low)
        level_places = scale.place([mark.value for mark in layout.levels if mark.text])
        if level_places.size and np.nanmax(level_places, initial=-math.inf) > high - 2.0 * pad:
            high += 2.0 * pad  # space for the text above the level
    return Axis(
        low - pad, high + pad, scale.ticks(low - pad, high + pad), layout.y_label or _y(layout)
    )


def _y(layout: PanelLayout) -> str:
    if layout.kind == "activation":
        return "$\\phi(z)$"
    return words_of(layout.y[0]) if len(layout.y) == 1 else ""


def words_of(formula: str) -> str:
    """Return an observable's title, or the formula with spaces for underscores."""
    if formula in OBSERVABLES:
        return OBSERVABLES[formula].title
    start = formula.removesuffix("_0")
    if "/" in formula and start.split("/")[0].strip() == start.split("/")[-1].strip():
        return f"{words_of(start.split('/')[0].strip())}, relative to $t$ = 0"
    return plain(formula.replace("_", " "))


def scales_of(layout: PanelLayout, lines: Sequence[Line]) -> tuple[Scale, Scale]:
    log = layout.x_scale == "log" and layout.kind not in PICTURES
    time = None
    if layout.kind == "traces" and layout.x == "t":
        ends = np.concatenate([line.x for line in lines])
        low, high = float(ends.min()), float(ends.max())
        time = TimeAxis(low, high) if high - low > 1e-6 else TimeAxis(low - 0.5, high + 0.5)
    return Scale(log, time), Scale(layout.y_scale == "log")
