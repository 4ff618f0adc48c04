"""Panels of a study's figure: lines with bands or error bars, axes, keys and reference lines."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from core.figures.layout import LETTER_MM, SAMPLE_MM
from core.figures.numbers import linear_ticks, math_number, math_text, number_text
from core.figures.palette import BLUE, VERMILION, Palette, rgba, time_colours
from core.figures.primitives import (
    Axis,
    Band,
    Box,
    Colours,
    Curves,
    Dash,
    Dots,
    Ink,
    KeyEntry,
    Level,
    Marker,
    Panel,
    TimeKey,
    Words,
    plain,
)
from core.figures.study_colours import coloured
from core.figures.time_axis import TimeAxis
from core.observables.registry import OBSERVABLES
from core.studies.layout import PICTURES, PanelLayout
from core.studies.panel_lines import Line

Array = NDArray[np.float64]
X_LABELS: Mapping[str, str] = {
    "step": "steps", "data.d": "dimension $d$",
    "data.n": "examples $n$", "network.m": "width $m$", "n": "examples $n$", "d": "dimension $d$",
    "m": "width $m$", "n / d": "$n\\,/\\,d$", "n / d^2": "$n\\,/\\,d^2$",
    "network.init_multiple": "initialisation, in multiples of $\\omega_{\\mathrm{TF}}$",
    "dynamics.step": "step size", "loss.l2": "regularisation $\\lambda$",
}  # fmt: skip
MOST_TICKS = 6
FEW_POINTS = 12  # a line of no more shows its points
DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")
ORDERED = 3  # so many lines of numbers, or more, run through the colours of time
BAR, WIDTH, AREA = 0.8, 1.4, 13.0


@final
@dataclass(frozen=True, slots=True)
class Scale:
    """Where values lie on an axis: log10 of them, they themselves, or log10 t as a moment does."""

    log: bool
    time: TimeAxis | None = None

    def place(self, values: Any) -> Array:
        """NaN for what a logarithmic axis cannot show."""
        found: Array = np.asarray(values, dtype=np.float64)
        if self.time is not None:
            return self.time.place(found)
        if not self.log:
            return found
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(found > 0.0, np.log10(found), np.nan)

    def ticks(self, low: float, high: float) -> tuple[tuple[float, str], ...]:
        """Ticks between two places: decades, parts of them on short axes, or round numbers."""
        if not self.log:
            return linear_ticks(low, high, MOST_TICKS)
        first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
        if last - first >= 2:
            step = next(k for k in (1, 2, 5, 10, 20, 50, 100) if (last - first) // k < MOST_TICKS)
            return tuple((float(k), _power(k)) for k in range(first, last + 1) if k % step == 0)
        shown = [
            factor * 10.0**k
            for k in range(math.floor(low), math.ceil(high) + 1)
            for factor in ((1.0, 2.0, 5.0) if high - low > 1.0 else (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
        ]
        kept = [v for v in shown if low - 1e-9 <= math.log10(v) <= high + 1e-9]
        return tuple((math.log10(v), math_text(number_text(v))) for v in kept)


def _number(value: float) -> str:
    """A setting's value: whole numbers in full, others to three digits."""
    whole = value == round(value) and abs(value) < 1e5
    return str(int(value)) if whole else math_text(number_text(value))


def _power(k: int) -> str:
    return number_text(10.0**k) if -2 <= k <= 3 else math_number(f"10^{k}")


# ----------------------------------------------------------------------------------------- axes


def x_axis(layout: PanelLayout, lines: Sequence[Line]) -> Axis:
    """The horizontal axis that shows all lines."""
    scale = _scales(layout, lines)[0]
    if scale.time is not None:
        return scale.time.axis()
    places = np.concatenate([scale.place(line.x) for line in lines])
    places = places[np.isfinite(places)]
    low, high = (float(places.min()), float(places.max())) if places.size else (0.0, 1.0)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    pad = (0.02 if layout.kind in ("traces", *PICTURES) else 0.05) * (high - low)
    ticks = scale.ticks(low - pad, high + pad)
    if layout.kind in ("sweep", "crossing"):
        ticks = _own_ticks(places, scale) or ticks
    label = (
        layout.x_label or X_LABELS.get(layout.x, "" if layout.x else "$z$") or _words_of(layout.x)
    )
    return Axis(low - pad, high + pad, ticks, label)


def _own_ticks(places: Array, scale: Scale) -> tuple[tuple[float, str], ...]:
    """Ticks at the values that were run, where these are few short whole numbers; else none."""
    own = np.unique(np.round(places, 9))
    values = [float(10.0**place) if scale.log else float(place) for place in own]
    whole = all(abs(v - round(v)) < 1e-6 * max(abs(v), 1.0) and abs(v) < 1e4 for v in values)
    if not whole or not 2 <= own.size <= MOST_TICKS + 1:
        return ()
    if np.diff(own).min() < 0.12 * (own[-1] - own[0]):
        return ()
    return tuple((float(place), f"{round(v)}") for place, v in zip(own, values, strict=True))


def y_axis(layout: PanelLayout, lines: Sequence[Line]) -> Axis:
    """The vertical axis that shows all lines with their bars, and the reference levels."""
    scale = Scale(layout.y_scale == "log")
    if layout.limits is not None:
        low, high = (float(value) for value in scale.place(np.array(layout.limits)))
        pad = 0.0
    else:
        shown = [scale.place(part) for line in lines for part in (line.mean, line.low, line.high)]
        shown.append(scale.place([mark.value for mark in layout.levels]))
        places = np.concatenate(shown)
        places = places[np.isfinite(places)]
        low, high = (float(places.min()), float(places.max())) if places.size else (0.0, 1.0)
        if high - low < 1e-9 * max(abs(high), 1.0):
            low, high = low - 0.5, high + 0.5
        pad = 0.06 * (high - low)
        named = scale.place([mark.value for mark in layout.levels if mark.text])
        if named.size and np.nanmax(named, initial=-math.inf) > high - 2.0 * pad:
            high += 2.0 * pad  # room for the words above the level
    return Axis(
        low - pad, high + pad, scale.ticks(low - pad, high + pad), layout.y_label or _y(layout)
    )


def _y(layout: PanelLayout) -> str:
    if layout.kind == "activation":
        return "$\\phi(z)$"
    return _words_of(layout.y[0]) if len(layout.y) == 1 else ""


def _words_of(formula: str) -> str:
    """An observable's title, or the formula with spaces for underscores."""
    if formula in OBSERVABLES:
        return OBSERVABLES[formula].title
    start = formula.removesuffix("_0")
    if "/" in formula and start.split("/")[0].strip() == start.split("/")[-1].strip():
        return f"{_words_of(start.split('/')[0].strip())}, relative to $t$ = 0"
    return plain(formula.replace("_", " "))


# ---------------------------------------------------------------------------------------- lines


def line_colours(lines: Sequence[Line], palette: Palette) -> list[str]:
    """Ordered numbers run through viridis; a few lines, and words, have the palette's colours."""
    if ordered(lines):
        rows = time_colours(np.linspace(0.0, 1.0, len(lines)), palette)
        return ["#" + "".join(f"{part:02x}" for part in row[:3]) for row in rows]
    if len(lines) == 1:
        return [palette.positive]
    colours = (BLUE, VERMILION, *palette.references, palette.foreground, palette.muted)
    return [colours[k % len(colours)] for k in range(len(lines))]


def ordered(lines: Sequence[Line]) -> bool:
    """Whether the lines stand for three or more numbers."""
    return len(lines) >= ORDERED and all(isinstance(line.value, int | float) for line in lines)


def _ink_of(
    line: Line, colour: str, dash: Dash, scales: tuple[Scale, Scale], layout: PanelLayout,
    axis: Axis,
) -> Ink:  # fmt: skip
    x, y = scales
    places, mean = x.place(line.x), y.place(line.mean)
    low, high = y.place(line.low), y.place(line.high)
    if y.log:
        low = np.where(np.isnan(low) & np.isfinite(high), -300.0, low)
    rows = rgba(colour)[None, :]
    curves = [Curves("mean", places[None, :], mean[None, :], rows, np.array([WIDTH]), dash)]
    curves = curves if line.joined else []
    bands: tuple[Band, ...] = ()
    wide = bool(np.any(np.abs(high - low)[np.isfinite(low)] > 0.0))
    if layout.kind == "traces" and wide:
        bands = (Band(places, low, high, rgba(colour, 0.22)),)
    elif wide:
        curves.append(_bars(places, low, high, rows, 0.011 * (axis.high - axis.low)))
    dots: tuple[Dots, ...] = ()
    if not line.joined or (layout.kind not in PICTURES and line.x.size <= FEW_POINTS):
        known = np.isfinite(mean) & np.isfinite(places)
        count = np.count_nonzero(known)
        dots = (
            Dots(
                "points", places[known], mean[known], np.repeat(rows, count, axis=0),
                np.full(count, AREA), clipped=False,
            ),
        )  # fmt: skip
    return Ink(tuple(curves), dots, bands=bands)


def _bars(x: Array, low: Array, high: Array, colour: Colours, cap: float) -> Curves:
    """Error bars with caps: each a line, its caps broken off by NaN."""
    gap = np.full(x.size, np.nan)
    xs = np.stack([x - cap, x + cap, gap, x, x, gap, x - cap, x + cap], axis=1)
    ys = np.stack([low, low, gap, low, high, gap, high, high], axis=1)
    return Curves("bars", xs, ys, np.repeat(colour, x.size, axis=0), np.full(x.size, BAR))


def _scales(layout: PanelLayout, lines: Sequence[Line]) -> tuple[Scale, Scale]:
    log = layout.x_scale == "log" and layout.kind not in PICTURES
    time = None
    if layout.kind == "traces" and layout.x == "t":
        ends = np.concatenate([line.x for line in lines])
        low, high = float(ends.min()), float(ends.max())
        time = TimeAxis(low, high) if high - low > 1e-6 else TimeAxis(low - 0.5, high + 0.5)
    return Scale(log, time), Scale(layout.y_scale == "log")


def _slopes(layout: PanelLayout, lines: Sequence[Line], axis: Axis, palette: Palette) -> Ink:
    """Straight lines of given slopes in the places of the axes, with their words."""
    curves, words = [], []
    x, y = _scales(layout, lines)
    for mark in layout.slopes:
        anchor = mark.at or _anchor(lines)
        if anchor is None:
            continue
        u, v = float(x.place(anchor[0])), float(y.place(anchor[1]))
        ends = np.array([axis.low, axis.high])
        heights = v + mark.value * (ends - u)
        colour = rgba(palette.muted)[None, :]
        curves.append(
            Curves("slope", ends[None, :], heights[None, :], colour, np.array([0.9]), "dashed")
        )
        inside = axis.low + 0.42 * (axis.high - axis.low)
        height = v + mark.value * (inside - u)
        below = _is_freer_below(lines, inside, height, x, y)
        # Along a rising line there is room at the upper left and at the lower right of a point.
        align: Literal["left", "right"] = "left" if below == (mark.value > 0.0) else "right"
        words.append(Words(inside, height, mark.text, palette.muted, align, below))
    return Ink(tuple(curves), words=tuple(words))


def _is_freer_below(
    lines: Sequence[Line], inside: float, height: float, x: Scale, y: Scale
) -> bool:
    """Whether the lines leave more room below a place than above it."""
    apart, ends = [], [height]
    for line in lines:
        places, heights = x.place(line.x), y.place(line.mean)
        known = np.isfinite(places) & np.isfinite(heights)
        if known.any():
            apart.append(float(np.interp(inside, places[known], heights[known])) - height)
            ends += heights[known].tolist()
    near = 0.05 * (max(ends) - min(ends))  # lines that run along with it are in the way of neither
    above = min((gap for gap in apart if gap >= near), default=math.inf)
    under = min((-gap for gap in apart if gap <= -near), default=math.inf)
    return under > above


def _anchor(lines: Sequence[Line]) -> tuple[float, float] | None:
    for line in lines:
        known = np.flatnonzero(np.isfinite(line.mean) & (line.x > 0.0))
        if known.size:
            return float(line.x[known[0]]), float(line.mean[known[0]])
    return None


# ----------------------------------------------------------------------------------------- keys


def _key(
    layout: PanelLayout, lines: Sequence[Line], colours: Sequence[str]
) -> tuple[KeyEntry, ...] | TimeKey:
    if ordered(lines) and layout.kind != "crossing":
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
    """A line in words, with the slope that was measured on it."""
    if line.value in layout.y and layout.names:
        text = layout.names[layout.y.index(line.value)]
    elif isinstance(line.value, str) and line.value in layout.y:
        text = _words_of(line.value)
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
    return plain(str(value))


def _dashes(lines: Sequence[Line]) -> list[Dash]:
    """Words and pairs are told apart by their dashes too."""
    return [DASHES[0 if ordered(lines) else k % len(DASHES)] for k in range(len(lines))]


def key_columns(entries: Sequence[KeyEntry], width_mm: float) -> int:
    """How many entries of a key fit side by side; 0: all of them."""
    for columns in range(len(entries), 1, -1):
        longest = sum(
            max(len(_shown(entry.text)) for entry in entries[k::columns]) for k in range(columns)
        )
        if LETTER_MM * longest + SAMPLE_MM * columns <= width_mm:
            return 0 if columns == len(entries) else columns
    return 1 if len(entries) > 1 else 0


def _shown(text: str) -> str:
    """What is seen of a text, a letter for each sign."""
    letters = re.sub(
        r"\\(,|mathrm|log|[A-Za-z]+)", lambda m: "o" * (m[1] not in (",", "mathrm")), text
    )
    return "".join(char for char in letters if char not in "${}^_")


# ---------------------------------------------------------------------------------------- panel


def study_panel(
    layout: PanelLayout, lines: Sequence[Line], row: int, letter: str, box: Box, palette: Palette
) -> Panel:
    """A panel of a study; without lines it says that nothing is there yet."""
    title = layout.title
    if not lines:
        nothing = Axis(0.0, 1.0, (), layout.x_label or "")
        note = Ink(note="no run of these\nin the folder")
        return Panel("study", row, letter, title, box, nothing, nothing, note)
    x, y = x_axis(layout, lines), y_axis(layout, lines)
    pictures = layout.kind in ("points", "function")
    colours = coloured(lines, palette) if pictures else line_colours(lines, palette)
    inks = [_slopes(layout, lines, x, palette)]
    for line, colour, dash in zip(lines, colours, _dashes(lines), strict=True):
        inks.append(_ink_of(line, colour, dash, _scales(layout, lines), layout, x))
    levels, words = _levels(layout, x, y, palette)
    ink = Ink(
        tuple(c for part in inks for c in part.curves), tuple(d for i in inks for d in i.dots),
        bands=tuple(b for part in inks for b in part.bands),
        words=(*words, *(w for part in inks for w in part.words)),
    )  # fmt: skip
    key = _key(layout, lines, colours)
    columns = 0 if isinstance(key, TimeKey) else key_columns(key, box.width)
    return Panel("study", row, letter, title, box, x, y, ink, levels, key=key, key_columns=columns)


def _levels(
    layout: PanelLayout, x: Axis, y: Axis, palette: Palette
) -> tuple[tuple[Level, ...], tuple[Words, ...]]:
    levels, words = [], []
    for mark in layout.levels:
        place = float(Scale(layout.y_scale == "log").place(mark.value))
        if not y.low <= place <= y.high:
            continue
        levels.append(Level(place, palette.muted, mark.text, "dashed"))
        if mark.text:
            words.append(Words(x.low, place, f" {mark.text}", palette.muted))
    return tuple(levels), tuple(words)
