"""Values and axes of the panels of chosen observables and of singular values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.figures.bounds import bound_at_frames, bounds_beside, predicted_curves
from core.figures.levels import landmarks_of
from core.figures.names import POINTS
from core.figures.options import BoundCurve, ViewOptions
from core.figures.palette import Palette
from core.figures.primitives import Array, Axis
from core.figures.strips import Extent, extent_of, stack_limits, stack_strips, with_air
from core.figures.ticks import with_range
from core.figures.time_axis import Across, keys_of
from core.figures.trace_panels import TracePanel, Traces
from core.observables.registry import observable_of
from core.observables.spectrum import has_inner, log10_singular_values
from core.runs import Run

# Twice the resolution of a column; values of the spectrum are far more expensive.
MOST_POINTS, MOST_SPECTRA, LATER = 800, 256, 64
LEADING = 16
MOST_DECADES = 6.0  # below the largest; the rest is rounding, since V V' is decomposed
TITLE_SHARE, MOST_TITLE = 0.1, 0.45  # fraction of a strip for titles: per strip, and at most


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
    """Compute the chosen observables of each run, each in a strip whose axis all runs share.

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
        A row has no strip for an observable that does not apply to its run.
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
    """Return what the axis of each observable includes: values, bounds and near landmarks.

    Values are those of all runs at all frames, also after the last one that is shown.
    """
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
        All runs share one vertical axis, of at most MOST_DECADES.
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
    """Return the observables after the last frame shown, which the axis includes; [] if none."""
    frames = np.unique(np.linspace(last, run.frames - 1, LATER).round().astype(np.int64))
    names = [name for name in view.curves if observable_of(name).applies(run)]
    if last == run.frames - 1:
        return []
    return [
        np.array([observable_of(name).value_at(run, i) for i in frames.tolist()]) for name in names
    ]


def _axis(traces: Sequence[Traces], heights: Sequence[Array], x: Across, bare: Axis) -> Axis:
    """Return a vertical axis for all rows, over the heights at visible frames with some air."""
    parts = [
        rows[:, np.isfinite(x.place(one.keys))].ravel()
        for one, rows in zip(traces, heights, strict=True)
    ]
    values = np.concatenate(parts)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    return with_range(bare, *with_air(low, high))
