"""Panels of chosen observables and of singular values over the run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.figures.bounds import bound_at_frames, end_label
from core.figures.levels import PlacedLandmark, landmark_levels, line_height
from core.figures.names import POINTS
from core.figures.numbers import math_words
from core.figures.options import PLAIN, BoundCurve, ViewOptions
from core.figures.palette import Palette, rgba, time_colours
from core.figures.primitives import (
    NAN,
    Array,
    Axis,
    Box,
    Curves,
    Dash,
    Dots,
    Label,
    Level,
    Panel,
    PanelContent,
    TimeKey,
    plain,
)
from core.figures.strips import strip_room
from core.figures.time_axis import Across
from core.observables.registry import is_loop_number, title_with_unit

TITLES = {"curves": "curves", "spectrum": "singular values of $V$"}
EMPTY = {"curves": "no value at any frame", "spectrum": "all inner weights are 0"}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """k named numbers of a run: frames (F,), their keys (F,), and values (k, F); NaN if unknown.

    Keys are log10 of t, of the steps or of |W|^2. Values are in the unit of the observable; those
    of the spectrum are log10 of the singular values.
    """

    frames: NDArray[np.int64]
    keys: Array
    names: tuple[str, ...]
    values: Array


@final
@dataclass(frozen=True, slots=True, eq=False)
class TracePanel:
    """Panels of curves or of singular values (`kind`) of all runs of a figure, a row each.

    Rows share the horizontal axis `x` and the scale of each quantity. `heights` (k, F) of a row are
    its values as places on its vertical axis, a stack of strips for curves. `landmarks` are those
    of each row with their heights, and `bounds` its bounds and predictions. Letters have `points`.
    """

    kind: str
    traces: tuple[Traces, ...]
    heights: tuple[Array, ...]
    axes: tuple[Axis, ...]
    x: Across
    palette: Palette
    view: ViewOptions = PLAIN
    landmarks: tuple[tuple[tuple[PlacedLandmark, float], ...], ...] = ()
    points: float = POINTS
    bounds: tuple[tuple[BoundCurve, ...], ...] = ()

    def panel(self, row: int, letter: str, box: Box) -> Panel:
        """Build the panel of a run at its last frame.

        Parameters
        ----------
        row, letter, box : int, str, Box
            Row of the run, letter, and box in millimetres.

        Returns
        -------
        Panel
        """
        ink = self.ink(row, self.traces[row].frames.size)
        y = self.axes[row]
        panel = Panel(self.kind, row, letter, TITLES[self.kind], box, self.x.axis(), y, ink)
        panel = replace(panel, levels=self.levels(row, y, box.height))
        if self.kind == "curves":  # each strip has its own title
            return panel
        names = self.traces[row].names
        ramp = time_colours(np.linspace(1.0, 0.0, max(len(names), 2)), self.palette)
        texts = tuple(f"$\\sigma_{{{k + 1}}}$" for k in range(len(names)))
        return replace(panel, key=TimeKey("", texts, ramp[: len(names)]))

    def ink(self, row: int, count: int) -> PanelContent:
        """Return the first `count` points of each curve of a row, the first curve on top."""
        traces, heights = self.traces[row], self.heights[row]
        x = self.x.place(traces.keys[:count])
        curves, dots = [], []
        for k in reversed(range(len(traces.names))):  # the first on top
            colour, dash = self._pen(row, k)
            y = heights[k, :count]
            if self.kind == "curves" and is_loop_number(traces.names[k]):
                y = bridge_gaps(x, y)
            curves.append(line(traces.names[k], x, y, colour, dash))
            is_finite = np.isfinite(x) & np.isfinite(y)
            if np.count_nonzero(is_finite) == 1:  # a line through one point is invisible
                ink = rgba(colour)[None, :]
                dots.append(
                    Dots(traces.names[k], x[is_finite], y[is_finite], ink, np.array([14.0]))
                )
        bounds, words = self._bounds(row, count, x)
        is_known = bool(np.isfinite(heights[:, :count]).any()) and bool(np.isfinite(x).any())
        note = "" if is_known else EMPTY[self.kind]
        return PanelContent((*curves, *bounds), tuple(dots), note, words=words)

    def levels(self, row: int, y: Axis, height: float) -> tuple[Level, ...]:
        """Return the titles of a row's strips, the lines between these, and landmarks of curves.

        Parameters
        ----------
        row, y, height : int, Axis, float
            Row of the run, vertical axis over its final range, and height of the panel in
            millimetres.

        Returns
        -------
        tuple of Level
            None of a strip with too little room for a line of text, and none without strips.
        """
        levels: list[Level] = []
        line = line_height(y, height, self.points)
        for k, strip in enumerate(y.strips):
            low, high = strip_room(y.strips, k)
            low, end = max(y.low, low), y.high if k == 0 else min(y.high, strip.end)
            if end - low < line:
                continue
            colour = curve_colour(k, self.palette)
            if strip is not y.strips[-1]:
                levels.append(Level(strip.start, self.palette.muted))
            title = math_words(plain(title_with_unit(strip.quantity)))
            levels.append(Level(NAN, colour, title, label_at=end - line, align="left"))
            axis = replace(y, low=low, high=max(min(high, end), low + line))
            placed = [
                (one.landmark, place, colour)
                for one, place in (self.landmarks[row] if self.landmarks else ())
                if one.position == k
            ]
            part = height * (axis.high - axis.low) / (y.high - y.low)
            for one in landmark_levels(placed, axis, part, self.points):
                elsewhere = y.low <= one.value <= y.high and not axis.low <= one.value <= axis.high
                levels.append(replace(one, value=NAN) if elsewhere else one)
        return tuple(levels)

    def _pen(self, row: int, k: int) -> tuple[str, Dash]:
        if self.kind == "curves":
            return curve_colour(k, self.palette), "solid"
        count = len(self.traces[row].names)
        ramp = time_colours(np.linspace(1.0, 0.0, max(count, 2)), self.palette)
        return "#" + bytes(ramp[k, :3]).hex(), "solid"

    def _bounds(
        self, row: int, count: int, x: Array
    ) -> tuple[tuple[Curves, ...], tuple[Label, ...]]:
        traces = self.traces[row]
        lines, words = [], []
        for bound in self.bounds[row] if self.bounds else ():
            k = traces.names.index(bound.view)
            y = self.axes[row].strips[k].heights(bound_at_frames(bound, traces.frames[:count]))
            predicted = bound.prediction is not None
            colour = self.palette.theory if predicted else curve_colour(k, self.palette)
            dash: Dash = "dashed" if predicted else "dotted"
            width = 1.2 if bound.name else 0.7
            lines.append(line(bound.key, x, y, colour, dash, width))
            words += end_label(bound.name, x, y, colour)
        return tuple(lines), tuple(words)


def curve_colour(position: int, palette: Palette) -> str:
    """Return the colour (#rrggbb) of the curve at a position, the same as on the screen."""
    colours = (palette.foreground, *palette.references, palette.positive)
    return colours[position % len(colours)]


def words_of(name: str) -> str:
    """Return an observable in words, for a key."""
    return math_words(name.replace("_", " "))


def line(name: str, x: Array, y: Array, colour: str, dash: Dash, width: float = 1.2) -> Curves:
    """Return one curve through points.

    Parameters
    ----------
    name, colour, dash, width
        Name of the curve, colour (#rrggbb), style of the line, and width in points.
    x, y : array (F,)
        Places of the points on the axes; NaN leaves a gap.

    Returns
    -------
    Curves
    """
    return Curves(name, x[None, :], y[None, :], rgba(colour)[None, :], np.array([width]), dash)


def bridge_gaps(x: Array, y: Array) -> Array:
    """Bridge the gaps between known heights by straight lines.

    A loop passes some numbers only at some frames.

    Parameters
    ----------
    x, y : array (F,)
        Places and heights, NaN where unknown.

    Returns
    -------
    array (F,)
        NaN before the first known height, and after the last.

    Examples
    --------
    >>> bridge_gaps(np.arange(5.0), np.array([np.nan, 1.0, np.nan, 3.0, np.nan])).tolist()
    [nan, 1.0, 2.0, 3.0, nan]
    """
    places = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if not places.size:
        return y
    right = np.searchsorted(places, np.arange(y.size))
    is_inside = np.isnan(y) & (right > 0) & (right < places.size)
    left, right = places[right[is_inside] - 1], places[right[is_inside]]
    with np.errstate(invalid="ignore", divide="ignore"):  # both may be equal, for example |W|^2
        share = np.clip((x[is_inside] - x[left]) / (x[right] - x[left]), 0.0, 1.0)
    heights = y.copy()
    heights[is_inside] = y[left] + share * (y[right] - y[left])
    return heights
