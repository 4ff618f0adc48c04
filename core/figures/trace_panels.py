"""Panels of chosen observables and of singular values over the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.figures.bounds import bound_at_frames, bounds_beside, end_label, predicted_curves
from core.figures.levels import PlacedLandmark, landmark_levels, landmarks_of, line_height
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
from core.figures.strips import Extent, extent_of, stack_limits, stack_strips, strip_room, with_air
from core.figures.ticks import with_range
from core.figures.time_axis import Across, keys_of
from core.observables.registry import is_loop_number, observable_of, title_with_unit
from core.observables.spectrum import has_inner, log10_singular_values
from core.runs import Run

# Twice the resolution of a column; values of the spectrum are far more expensive.
MOST_POINTS, MOST_SPECTRA, LATER = 800, 256, 64
LEADING = 16
MOST_DECADES = 6.0  # below the largest; the rest is rounding, since V V' is decomposed
TITLE_SHARE, MOST_TITLE = 0.1, 0.45  # fraction of a strip for titles: per strip, and at most
TITLES = {"curves": "curves", "spectrum": "singular values of $V$"}
EMPTY = {"curves": "no value at any frame", "spectrum": "all inner weights are 0"}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """Numbers of a run: frames (F,), their keys on the horizontal axis (F,), and values (k, F)."""

    frames: NDArray[np.int64]
    keys: Array
    names: tuple[str, ...]
    values: Array


@final
@dataclass(frozen=True, slots=True, eq=False)
class TracePanel:
    """Panels of all rows of a figure: shared axes, and `heights` (k, F) of each row."""

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
        """Return the first `count` points of each curve."""
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
        """Return the titles of a row's strips, and the landmarks of their curves.

        Parameters
        ----------
        row, y, height : int, Axis, float
            Row of the run, vertical axis of the figure, and height of the panel in millimetres.

        Returns
        -------
        tuple of Level
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
    """Return the colour of the curve at a position, the same on the screen."""
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


def thin_frames(last: int, max_frames: int) -> NDArray[np.int64]:
    """Return evenly spaced frames from 0 to `last`.

    Parameters
    ----------
    last, max_frames : int
        Last frame, and the most frames that are returned.

    Returns
    -------
    array (k,) of int
    """
    return np.unique(np.linspace(0, last, min(max_frames, last + 1)).round().astype(np.int64))


def curves_panels(
    runs: Sequence[Run],
    lasts: Sequence[int],
    x: Across,
    palette: Palette,
    view: ViewOptions,
    points: float = POINTS,
) -> TracePanel:
    """Compute the chosen observables of each run, each on an axis that all runs share.

    Parameters
    ----------
    runs, lasts : sequence of Run, sequence of int
        Open runs, and the last frame of each.
    x : Across
        Horizontal axis.
    palette, points : Palette, float
        Colours, and size of letters.
    view : ViewOptions
        Observables, their bounds, and logarithms or not.

    Returns
    -------
    TracePanel
    """
    traces = []
    for run, last in zip(runs, lasts, strict=True):
        frames = thin_frames(last, MOST_POINTS)
        names = tuple(name for name in view.curves if observable_of(name).applies(run))
        values = [[observable_of(name).value_at(run, i) for i in frames.tolist()] for name in names]
        shaped = np.array(values, dtype=np.float64).reshape(len(names), frames.size)
        traces.append(Traces(frames, keys_of(run, frames, view.against), names, shaped))
    bounds = [
        (*bounds_beside(view, row, one.names), *predicted_curves(run, one.names, one.frames))
        for row, (run, one) in enumerate(zip(runs, traces, strict=True))
    ]
    extents = _extents(runs, lasts, traces, x, view, bounds)
    head = min(TITLE_SHARE * len(extents), MOST_TITLE)
    axes, heights, placed = [], [], []
    for run, one in zip(runs, traces, strict=True):
        own = {name: extents[name] for name in one.names}
        strips = stack_strips(own, head, view.logarithmic)
        axes.append(with_range(Axis(0.0, 1.0, (), "", strips=strips), *stack_limits(strips)))
        rows = [strip.heights(row) for strip, row in zip(strips, one.values, strict=True)]
        heights.append(np.array(rows).reshape(one.values.shape))
        placed.append(
            tuple(
                (mark, float(strips[mark.position].heights(np.array([mark.landmark.value]))[0]))
                for mark in landmarks_of(run, one.names, list(one.values))
            )
        )
    columns = (tuple(traces), tuple(heights), tuple(axes))
    return TracePanel("curves", *columns, x, palette, view, tuple(placed), points, tuple(bounds))


def _extents(
    runs: Sequence[Run],
    lasts: Sequence[int],
    traces: Sequence[Traces],
    x: Across,
    view: ViewOptions,
    bounds: Sequence[tuple[BoundCurve, ...]],
) -> dict[str, Extent]:
    """Return what each observable's axis holds, in all rows: curves, bounds and landmarks."""
    extents: dict[str, Extent] = {}
    for row, (run, last, one) in enumerate(zip(runs, lasts, traces, strict=True)):
        # Invisible values, such as at t = 0, do not affect the axis.
        is_finite = np.isfinite(x.place(one.keys))
        named_values = [
            (name, values[is_finite]) for name, values in zip(one.names, one.values, strict=True)
        ]
        named_values += zip(one.names, _later_values(run, last, view), strict=False)
        named_values += [
            (bound.view, bound_at_frames(bound, one.frames)[is_finite]) for bound in bounds[row]
        ]
        near = [mark for mark in landmarks_of(run, one.names, list(one.values)) if mark.near]
        named_values += [
            (one.names[mark.position], np.array([mark.landmark.value])) for mark in near
        ]
        for name, values in named_values:
            extents[name] = extents.get(name, Extent()) | extent_of(values)
    return extents


def spectrum_panels(
    runs: Sequence[Run], lasts: Sequence[int], x: Across, palette: Palette, view: ViewOptions
) -> TracePanel:
    """Compute log10 of the leading singular values of the inner weights of each run.

    Parameters
    ----------
    runs, lasts, x, palette, view
        As of `curves_panels`.

    Returns
    -------
    TracePanel
    """
    traces = []
    for run, last in zip(runs, lasts, strict=True):
        frames = thin_frames(last, MOST_SPECTRA)
        count = min(LEADING, int(run.network.m), int(run.dataset.d)) if has_inner(run) else 0
        values = np.full((count, frames.size), np.nan)
        for place, index in enumerate(frames.tolist() if count else ()):
            sigma = log10_singular_values(run, index)[:count]
            values[: sigma.size, place] = sigma
        names = tuple(f"sigma {k + 1}" for k in range(count))
        traces.append(Traces(frames, keys_of(run, frames, view.against), names, values))
    heights = tuple(np.where(np.isfinite(one.values), one.values, np.nan) for one in traces)
    y = _axis(traces, heights, x, Axis(0.0, 1.0, (), "singular value", "log"))
    if y.high - y.low > MOST_DECADES:
        y = with_range(y, y.high - MOST_DECADES, y.high)
    return TracePanel("spectrum", tuple(traces), heights, (y,) * len(traces), x, palette, view)


def _later_values(run: Run, last: int, view: ViewOptions) -> list[Array]:
    """Return the observables after the last frame shown: the axis is that of the whole run."""
    frames = np.unique(np.linspace(last, run.frames - 1, LATER).round().astype(np.int64))
    names = [name for name in view.curves if observable_of(name).applies(run)]
    if last == run.frames - 1:
        return []
    return [
        np.array([observable_of(name).value_at(run, i) for i in frames.tolist()]) for name in names
    ]


def _axis(traces: Sequence[Traces], heights: Sequence[Array], x: Across, bare: Axis) -> Axis:
    """Return limits for all rows, from what has a place on the horizontal axis."""
    parts = [
        rows[:, np.isfinite(x.place(one.keys))].ravel()
        for one, rows in zip(traces, heights, strict=True)
    ]
    values = np.concatenate(parts)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    return with_range(bare, *with_air(low, high))
