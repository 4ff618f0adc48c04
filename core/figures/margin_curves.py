"""Panel of normalised margins against time; the paper's Figure 1 has none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from core.figures.levels import REACH, line_height, math_label, reference_levels
from core.figures.names import POINTS
from core.figures.numbers import linear_ticks, math_text
from core.figures.palette import Palette, rgba
from core.figures.primitives import (
    Array,
    Axis,
    Box,
    Curves,
    Dash,
    Dots,
    KeyEntry,
    Level,
    Marker,
    Panel,
    PanelContent,
)
from core.figures.time_axis import Across, keys_of
from core.network.recorded_network import ZERO, why_no_output
from core.numbers import time_text
from core.observables.registry import OBSERVABLES
from core.reference.margin import ReferenceMargin
from core.reference.share import REACHED, Promise, Reach, first_reach
from core.runs import Run

# name, text, factor, dash. l1/2 instead of l1: hard <= l1/2 <= gamma_gl/2 are directly comparable.
CURVES: tuple[tuple[str, str, float, Dash], ...] = (
    ("smoothed_margin", "smoothed", 1.0, "dashed"),
    ("hard_margin", "hard", 1.0, "solid"),
    ("l1_margin", "$\\ell_1$ / 2", 0.5, "dotted"),
)
# Twice the resolution: each of four panels in a row has 400 dots across, at 300 dpi.
MOST_POINTS = 800


@final
@dataclass(frozen=True, slots=True, eq=False)
class MarginTraces:
    """Margins of a run: frames (F,), their keys (F,), and a trace (F,) for each of CURVES.

    Keys are log10 of t, of the steps or of |W|^2. A trace is the margin times its factor in CURVES
    and times `scale`; NaN at frames without a margin.
    """

    frames: Array
    keys: Array
    values: tuple[Array, ...]
    share_of: str = ""  # reference of the shares; "" for margins themselves
    scale: float = 1.0  # factor that turns margins into shares
    reach: Reach | None = None  # when the hard margin first reaches 90 % of `share_of`
    # Keys (2,) of the frame before `reach` and of its own.
    around: Array = field(default_factory=lambda: np.empty(0))
    height: float = REACHED  # share at `reach`: 90 %, or more at a frame that jumps there
    why_none: str = ZERO  # reason if no frame has a margin
    steps: bool = False  # t counts steps


def margin_traces(
    run: Run, last: int, against: str = "log10_time", promise: Promise | None = None
) -> MarginTraces:
    """Compute the margins of a run up to a frame, thinned to MOST_POINTS frames.

    Parameters
    ----------
    run, last : Run, int
        Open run, and its last frame.
    against, promise : str, Promise, optional
        Horizontal axis: "log10_time", "step" or "norm_squared". With a promise the margins are
        shares of it, and all frames decide when 90 % is reached.

    Returns
    -------
    MarginTraces
    """
    frames = np.unique(np.linspace(0, last, min(MOST_POINTS, last + 1)).round().astype(np.int64))
    scale = 1.0 if promise is None else promise.scale
    values = tuple(
        scale * factor * np.array([OBSERVABLES[name].value_at(run, k) for k in frames.tolist()])
        for name, _, factor, _ in CURVES
    )
    keys = keys_of(run, frames, against)
    traces = MarginTraces(frames.astype(np.float64), keys, values, steps=run.counts_steps)
    if words := why_no_output(run.experiment.network):
        traces = replace(traces, why_none=words.replace(", ", ",\n"))
    if promise is None or promise.margin is None:
        return traces
    hard = scale * np.array([OBSERVABLES["hard_margin"].value_at(run, k) for k in range(last + 1)])
    reach = first_reach(hard, run.log10_time[: last + 1])
    traces = replace(traces, scale=scale, share_of=promise.label, reach=reach)
    if reach is None:
        return traces
    around = np.array([max(reach.frame - 1, 0), reach.frame])
    height = REACHED if reach.part < 1.0 else float(hard[reach.frame])
    return replace(traces, around=keys_of(run, around, against), height=height)


def margin_axis(
    traces: Sequence[MarginTraces], time: Across, references: Sequence[ReferenceMargin] = ()
) -> Axis:
    """Return the vertical axis for the margins of all runs of a figure.

    The axis holds 0, the largest value, and all values in the last quarter of the horizontal axis.
    The smoothed margin starts at values as low as -44 / |W|^2, beside which nothing else would be
    seen. Early values therefore extend the axis at most as far below 0 as it reaches above.

    Parameters
    ----------
    traces : sequence of MarginTraces
        Margins of each run, or their shares of a promise.
    time : TimeAxis or QuantityAxis
        Horizontal axis of the figure.
    references : sequence of ReferenceMargin
        Reference margins of all runs, scaled as the traces. The axis holds the upper ends of their
        brackets that are at most REACH times the largest value, with space for a label above.

    Returns
    -------
    Axis
        Shares reach 1.2 at least. The label is "normalised margin", or names the promise.
    """
    places = [time.place(trace.keys) for trace in traces]
    finite_places = [x[np.isfinite(x)] for x in places]
    ends = [x for x in finite_places if x.size]
    start, end = (min(x[0] for x in ends), max(x[-1] for x in ends)) if ends else (0.0, 0.0)
    all_values, late = [np.zeros(1)], [np.zeros(1)]
    for trace, x in zip(traces, places, strict=True):
        for values in trace.values:
            finite = np.isfinite(values)
            all_values.append(values[finite])
            late.append(values[finite & (x >= 0.25 * start + 0.75 * end)])
    top = float(np.concatenate(all_values).max())
    lines = [(one.factor or 0.0) * one.bracket.upper for one in references if one.is_drawable]
    # Shares show the full range, with space for the reference's name above it.
    shares = {trace.share_of for trace in traces}
    if shares != {""}:
        top = max(top, 1.2)
    nearby_lines = [line for line in lines if 0.0 < line <= REACH * top]
    top = max([top, *nearby_lines])
    reach = max(top, -float(np.concatenate(late).min()))
    bottom = max(float(np.concatenate(all_values).min()), -reach)
    if reach == 0.0:
        top, bottom = 0.01, -0.01
    pad = 0.06 * (top - bottom)
    if nearby_lines:  # space for a label above the line
        top = max(top, max(nearby_lines) + 0.1 * (top - bottom))
    label = "normalised margin"
    if shares != {""}:
        label = f"share of {math_label(shares.pop())}" if len(shares) == 1 else "share promised"
        label = "share promised, or margin" if "" in shares else label
    return Axis(bottom - pad, top + pad, linear_ticks(bottom - pad, top + pad, 5), label)


def _colour(position: int, palette: Palette) -> str:
    # The hard margin, which reference lines bound, in the text colour.
    return (palette.references[0], palette.foreground, palette.references[1])[position]


def margin_ink(
    traces: MarginTraces, count: int, time: Across, y: Axis, palette: Palette
) -> PanelContent:
    """Return the first points of each trace, as curves.

    Parameters
    ----------
    traces : MarginTraces
        Margins of a run, or their shares of a promise.
    count : int
        Number of points, from the first frame on; 0 for none.
    time, y : TimeAxis or QuantityAxis, Axis
        Horizontal and vertical axis.
    palette : Palette
        Colours: the hard margin has that of text.

    Returns
    -------
    PanelContent
        A curve for each of CURVES. Dots are a curve's only visible point, a triangle on the lower
        edge where a curve last comes up from below or ends there, and a ring where shares first
        reach 90 %. A note says why no point is visible.
    """
    x = time.place(traces.keys[:count])
    curves, dots, finite = [], [], False
    for position, ((name, _, _, dash), trace) in enumerate(zip(CURVES, traces.values, strict=True)):
        values = trace[:count]
        colour = rgba(_colour(position, palette))[None, :]
        width = np.array([1.6 if name == "hard_margin" else 1.2])
        curves.append(Curves(name, x[None, :], values[None, :], colour, width, dash))
        is_finite = np.isfinite(x) & np.isfinite(values)
        finite = finite or bool(np.isfinite(values).any())
        # A line through one point is invisible.
        if np.count_nonzero(is_finite) == 1:
            dots.append(Dots(name, x[is_finite], values[is_finite], colour, np.array([14.0])))
        place = _entry(x, values, y.low)
        if place is not None:
            dot, foot, area = np.array([[place], [y.low], [12.0]])
            below = Dots(f"{name} below", dot, foot, colour, area, Marker.DOWN, clipped=False)
            dots.append(below)
    dots += _ring(traces, count, time, palette)
    if finite and not np.isfinite(x).any():
        return PanelContent(note="only $t$ = 0,\nwhich a logarithmic\naxis cannot show")
    return PanelContent(
        tuple(curves), tuple(dots), "" if finite else f"no margin:\n{traces.why_none}"
    )


def _ring(traces: MarginTraces, count: int, time: Across, palette: Palette) -> list[Dots]:
    """Return a ring where 90 % is first reached, on the line between two frames; [] before."""
    reach = traces.reach
    if reach is None or not count or traces.frames[count - 1] < reach.frame:
        return []
    before, after = time.place(traces.around).tolist()
    place = after if reach.part == 1.0 else before + reach.part * (after - before)
    if not np.isfinite(place):
        return []
    clear = rgba(palette.foreground, 0.0)[None, :]
    x, y, area = np.array([[place], [traces.height], [34.0]])
    return [Dots("90 %", x, y, clear, area, Marker.RING, palette.foreground)]


def _entry(x: Array, values: Array, low: float) -> float | None:
    """Return where a curve last comes up through the lower edge, None if it is never below.

    A curve that does not come up, or has a gap there, is at its last point below the edge.
    """
    with np.errstate(invalid="ignore"):
        indices = np.flatnonzero((values < low) & np.isfinite(x))
    if indices.size == 0:
        return None
    last = int(indices[-1])
    if last + 1 == values.size or not np.isfinite(values[last + 1]):
        return float(x[last])
    share = (low - values[last]) / (values[last + 1] - values[last])
    return float(x[last] + share * (x[last + 1] - x[last]))


def margin_panel(
    row: int,
    letter: str,
    box: Box,
    traces: MarginTraces,
    time: Across,
    y: Axis,
    palette: Palette,
    references: Sequence[ReferenceMargin],
    points: float = POINTS,
) -> Panel:
    """Build the panel of margins of one run.

    Parameters
    ----------
    row, letter, box : int, str, Box
        Row of the run, letter, and box in millimetres.
    traces : MarginTraces
        Margins of the run, or their shares of a promise.
    time, y : TimeAxis or QuantityAxis, Axis
        Axes, shared by the runs of a figure.
    palette, points : Palette, float
        Colours, and size of letters.
    references : sequence of ReferenceMargin
        Reference margins, scaled as the traces: a dashed line with a label for each that has a
        factor and a value.

    Returns
    -------
    Panel
        With a line at 0, and for shares a dotted line at 90 % with the time that reaches it.
    """
    ink = margin_ink(traces, traces.frames.size, time, y, palette)
    entries = [
        KeyEntry(text, (_colour(position, palette),), dash)
        for position, (_, text, _, dash) in enumerate(CURVES)
    ]
    key = (entries[1], entries[0], entries[2])
    zero = Level(0.0, palette.muted)
    levels = (zero, *reference_levels(references, y, box.height, points, palette))
    if traces.share_of:
        levels = (*levels, _line_at_share(traces, y, box.height, points, palette))
    return Panel("margins", row, letter, "margins", box, time.axis(), y, ink, levels, key=key)


def _line_at_share(
    traces: MarginTraces, y: Axis, height: float, points: float, palette: Palette
) -> Level:
    """Return a dotted line at 90 % with the time at which the hard margin first reaches it."""
    reach = traces.reach
    percent = f"{100.0 * REACHED:.0f} %"
    words = f"{percent} not reached"
    if reach is not None:
        words = f"{percent} at {math_text(time_text(reach.log10_time, traces.steps))}"
    below = REACHED - 0.95 * line_height(y, height, points)
    # At the left, where the hard margin is far below.
    return Level(REACHED, palette.muted, words, "dotted", label_at=below, align="left")
