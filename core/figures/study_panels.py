"""Panels of a study's figure: lines with bands or error bars, keys and reference lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.figures.keys import key_columns
from core.figures.numbers import math_text, math_words
from core.figures.palette import BLUE, VERMILION, Palette, rgba, time_colours
from core.figures.primitives import (
    Axis,
    Band,
    Box,
    Colours,
    Curves,
    Dash,
    Dots,
    Key,
    KeyEntry,
    Label,
    Level,
    Marker,
    Panel,
    PanelContent,
    TimeKey,
    plain,
)
from core.figures.study_axes import Scale, scales_of, words_of, x_axis, y_axis
from core.numbers import number_text
from core.studies.layout import PICTURES, PanelLayout
from core.studies.panel_lines import LABELS, Line

Array = NDArray[np.float64]
FEW_POINTS = 12  # a line of up to 12 points shows them as markers
DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")
ORDERED = 3  # from 3 numeric lines on, colours are those of time
BAR, WIDTH, AREA = 0.8, 1.4, 13.0


# ---------------------------------------------------------------------------------------- lines


def line_colours(lines: Sequence[Line], palette: Palette) -> list[str]:
    """Return the colours of lines: viridis for ordered numbers, the palette's for few and words."""
    if is_ordered(lines):
        rows = time_colours(np.linspace(0.0, 1.0, len(lines)), palette)
        return ["#" + "".join(f"{part:02x}" for part in row[:3]) for row in rows]
    if len(lines) == 1:
        return [palette.positive]
    colours = (BLUE, VERMILION, *palette.references, palette.foreground, palette.muted)
    return [colours[k % len(colours)] for k in range(len(lines))]


def colours_of_lines(lines: Sequence[Line], palette: Palette) -> list[str]:
    """Return the colour of each line: of its label for examples, of text and references for others.

    Colours repeat if functions outnumber them.
    """
    labels = {LABELS[1.0]: palette.positive, LABELS[-1.0]: palette.negative}
    curves = cycle((palette.foreground, *palette.references))
    return [labels[line.value] if not line.joined else next(curves) for line in lines]


def is_ordered(lines: Sequence[Line]) -> bool:
    """Return True if the lines are three or more numbers."""
    return len(lines) >= ORDERED and all(isinstance(line.value, int | float) for line in lines)


def _ink_of(
    line: Line,
    colour: str,
    dash: Dash,
    scales: tuple[Scale, Scale],
    layout: PanelLayout,
    axis: Axis,
) -> PanelContent:
    x, y = scales
    places, mean = x.place(line.x), y.place(line.mean)
    low, high = y.place(line.low), y.place(line.high)
    if y.log:
        # A bar whose lower end is at or below 0 leaves the frame of a logarithmic axis.
        low = np.where(np.isnan(low) & np.isfinite(high), -300.0, low)
    rows = rgba(colour)[None, :]
    curves = [Curves("mean", places[None, :], mean[None, :], rows, np.array([WIDTH]), dash)]
    curves = curves if line.joined else []
    bands: tuple[Band, ...] = ()
    # One run per point has no bars; their caps alone would look like dashes.
    wide = bool(np.any(np.abs(high - low)[np.isfinite(low)] > 0.0))
    if layout.kind == "traces" and wide:
        bands = (Band(places, low, high, rgba(colour, 0.22)),)
    elif wide:
        curves.append(_bars(places, low, high, rows, 0.011 * (axis.high - axis.low)))
    dots: tuple[Dots, ...] = ()
    if not line.joined or (layout.kind not in PICTURES and line.x.size <= FEW_POINTS):
        is_known = np.isfinite(mean) & np.isfinite(places)
        count = np.count_nonzero(is_known)
        colours, areas = np.repeat(rows, count, axis=0), np.full(count, AREA)
        # Not clipped: half of a point on the frame would be missing.
        dots = (Dots("points", places[is_known], mean[is_known], colours, areas, clipped=False),)
    return PanelContent(tuple(curves), dots, bands=bands)


def _bars(x: Array, low: Array, high: Array, colour: Colours, cap: float) -> Curves:
    """Return error bars with caps: each a line, its caps broken off by NaN."""
    gap = np.full(x.size, np.nan)
    xs = np.stack([x - cap, x + cap, gap, x, x, gap, x - cap, x + cap], axis=1)
    ys = np.stack([low, low, gap, low, high, gap, high, high], axis=1)
    return Curves("bars", xs, ys, np.repeat(colour, x.size, axis=0), np.full(x.size, BAR))


def _slopes(
    layout: PanelLayout, lines: Sequence[Line], axis: Axis, palette: Palette
) -> PanelContent:
    """Return straight lines of given slopes in the places of the axes, with their words."""
    curves, words = [], []
    x, y = scales_of(layout, lines)
    for mark in layout.slopes:
        anchor = mark.at or _anchor(lines)
        if anchor is None:
            continue
        u, v = float(x.place(anchor[0])), float(y.place(anchor[1]))
        ends = np.array([axis.low, axis.high])
        # In axis positions, where a power law is a straight line.
        heights = v + mark.value * (ends - u)
        colour = rgba(palette.muted)[None, :]
        curves.append(
            Curves("slope", ends[None, :], heights[None, :], colour, np.array([0.9]), "dashed")
        )
        inside = axis.low + 0.42 * (axis.high - axis.low)
        height = v + mark.value * (inside - u)
        below = _is_freer_below(lines, inside, height, x, y)
        # Along a rising line the upper left and the lower right of a point are free.
        align: Literal["left", "right"] = "left" if below == (mark.value > 0.0) else "right"
        words.append(Label(inside, height, mark.text, palette.muted, align, below))
    return PanelContent(tuple(curves), words=tuple(words))


def _is_freer_below(
    lines: Sequence[Line], inside: float, height: float, x: Scale, y: Scale
) -> bool:
    """Return True if the lines leave more room below a place than above it."""
    gaps, ends = [], [height]
    for line in lines:
        places, heights = x.place(line.x), y.place(line.mean)
        is_known = np.isfinite(places) & np.isfinite(heights)
        if is_known.any():
            gaps.append(float(np.interp(inside, places[is_known], heights[is_known])) - height)
            ends += heights[is_known].tolist()
    near = 0.05 * (max(ends) - min(ends))  # lines parallel to it do not obstruct the label
    above = min((gap for gap in gaps if gap >= near), default=math.inf)
    under = min((-gap for gap in gaps if gap <= -near), default=math.inf)
    return under > above


def _anchor(lines: Sequence[Line]) -> tuple[float, float] | None:
    for line in lines:
        indices = np.flatnonzero(np.isfinite(line.mean) & (line.x > 0.0))
        if indices.size:
            return float(line.x[indices[0]]), float(line.mean[indices[0]])
    return None


# ----------------------------------------------------------------------------------------- keys


def _key(layout: PanelLayout, lines: Sequence[Line], colours: Sequence[str]) -> Key:
    if is_ordered(lines) and layout.kind != "crossing":
        texts = tuple(_number(float(line.value)) for line in lines)
        rows = np.stack([rgba(colour) for colour in colours])
        return TimeKey(layout.legend.replace("{}", "").rstrip(" ="), texts, rows)
    if len(lines) == 1 and not layout.legend and not layout.names:
        return ()
    return tuple(
        KeyEntry(line_text(layout, line), (colour,), dash, () if line.joined else (Marker.DISC,))
        for line, colour, dash in zip(lines, colours, _dashes(lines), strict=True)
    )


def line_text(layout: PanelLayout, line: Line) -> str:
    """Return a line in words, with its measured slope."""
    if line.value in layout.y and layout.names:
        text = layout.names[layout.y.index(line.value)]
    elif isinstance(line.value, str) and line.value in layout.y:
        text = words_of(line.value)
    else:
        text = (layout.legend or "{}").replace("{}", _value_text(line.value))
    if line.slope is not None:
        slope, low, high = line.slope
        text += f": {number_text(slope)}"
        if math.isfinite(low):
            text += f" [{number_text(low, 2)}, {number_text(high, 2)}]"
    return text


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number(float(value))
    return math_words(plain(str(value)))


def _number(value: float) -> str:
    """Return a setting's value: whole numbers in full, others to three digits."""
    is_integer = value == round(value) and abs(value) < 1e5
    return str(int(value)) if is_integer else math_text(number_text(value))


def _dashes(lines: Sequence[Line]) -> list[Dash]:
    """Return the dash of each line: words and pairs differ in their dashes too."""
    return [DASHES[0 if is_ordered(lines) else k % len(DASHES)] for k in range(len(lines))]


# ---------------------------------------------------------------------------------------- panel


def study_panel(
    layout: PanelLayout, lines: Sequence[Line], row: int, letter: str, box: Box, palette: Palette
) -> Panel:
    """Build a panel of a study; without lines it says that no run is there yet.

    Parameters
    ----------
    layout : PanelLayout
        Panel of the lines.
    lines : sequence of Line
        Its lines.
    row, letter, box : int, str, Box
        Row of the panel, letter, and box in millimetres.
    palette : Palette
        Colours.

    Returns
    -------
    Panel
    """
    title = layout.title
    if not lines:
        empty_axis = Axis(0.0, 1.0, (), layout.x_label or "")
        note = PanelContent(note="no run of these\nin the folder")
        return Panel("study", row, letter, title, box, empty_axis, empty_axis, note)
    x, y = x_axis(layout, lines), y_axis(layout, lines)
    pictures = layout.kind in ("points", "function")
    colours = colours_of_lines(lines, palette) if pictures else line_colours(lines, palette)
    # First, so that measured lines are drawn above.
    inks = [_slopes(layout, lines, x, palette)]
    for line, colour, dash in zip(lines, colours, _dashes(lines), strict=True):
        inks.append(_ink_of(line, colour, dash, scales_of(layout, lines), layout, x))
    levels, words = _levels(layout, x, y, palette)
    ink = PanelContent(
        tuple(c for part in inks for c in part.curves),
        tuple(d for i in inks for d in i.dots),
        bands=tuple(b for part in inks for b in part.bands),
        words=(*words, *(w for part in inks for w in part.words)),
    )
    key = _key(layout, lines, colours)
    columns = 0 if isinstance(key, TimeKey) else key_columns(key, box.width)
    return Panel("study", row, letter, title, box, x, y, ink, levels, key=key, key_columns=columns)


def miniature(
    layout: PanelLayout, lines: Sequence[Line], palette: Palette
) -> list[tuple[Array, str]]:
    """Return the lines of a panel without its axes.

    Parameters
    ----------
    layout : PanelLayout
        Panel of the lines.
    lines : sequence of Line
        Its lines, at least one.
    palette : Palette
        Colours of the lines.

    Returns
    -------
    list of (array of shape (k, 2), str)
        Points of each line in shares of the frame, from the lower left corner, and its colour.
    """
    x, y = x_axis(layout, lines), y_axis(layout, lines)
    x_scale, y_scale = scales_of(layout, lines)
    curves = []
    for line, colour in zip(lines, line_colours(lines, palette), strict=True):
        xs = (x_scale.place(line.x) - x.low) / (x.high - x.low)
        ys = (y_scale.place(line.mean) - y.low) / (y.high - y.low)
        is_known = np.isfinite(xs) & np.isfinite(ys)
        curves.append((np.stack([xs[is_known], ys[is_known]], axis=1), colour))
    return curves


def _levels(
    layout: PanelLayout, x: Axis, y: Axis, palette: Palette
) -> tuple[tuple[Level, ...], tuple[Label, ...]]:
    levels, words = [], []
    for mark in layout.levels:
        place = float(Scale(layout.y_scale == "log").place(mark.value))
        if not y.low <= place <= y.high:
            continue
        levels.append(Level(place, palette.muted, mark.text, "dashed"))
        if mark.text:
            words.append(Label(x.low, place, f" {mark.text}", palette.muted))
    return tuple(levels), tuple(words)
