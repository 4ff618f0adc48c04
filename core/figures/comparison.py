"""Several runs in one figure: a panel for each observable, a key, and notes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.comparison.alignment import Array, to_axis_numbers
from core.comparison.comparison import ComparedLine, Comparison
from core.comparison.question import AGAINST, BANDS, CompareQuestion
from core.errors import InputError
from core.figures.layout import FOOT, LINE, MARGIN, title_texts, wrap
from core.figures.names import COLUMN, PAGE, POINTS
from core.figures.numbers import linear_ticks, math_number, math_words
from core.figures.palette import LIGHT, Palette, rgba, run_colour
from core.figures.primitives import (
    Axis,
    Band,
    Box,
    Curves,
    FigureScene,
    KeyEntry,
    Panel,
    PanelContent,
    Text,
    plain,
)
from core.figures.scene import letter_of
from core.figures.ticks import power_ticks
from core.figures.time_axis import TimeAxis
from core.observables.registry import observable_of

WIDTH, LEFT, RIGHT, HEIGHT = 120.0, 14.0, 4.0, 62.0  # millimetres
NARROWEST, WIDEST = 60.0, 400.0
HEAD, KEY_LINE = 9.0, 3.5
FAINT = 0.2  # of a band
MOST_DECADES = 8


def words_for(question: CompareQuestion) -> str:
    """Return the label of the vertical axis."""
    title = observable_of(question.observable).title
    title = f"{title}, sorted" if question.is_by_rank else title
    return f"difference of the {title}" if question.kind == "differences" else title


def check_width(width: float) -> None:
    """Raise InputError for a width that leaves no room, or that no page has."""
    if not NARROWEST <= width <= WIDEST:
        raise InputError(
            f"A comparison cannot be {width:g} mm wide; choose {NARROWEST:g} to {WIDEST:g} mm, "
            f"usually {COLUMN:g} or {PAGE:g} mm."
        )


def comparison_scene(
    comparisons: Sequence[Comparison], title: str, palette: Palette = LIGHT, width: float = WIDTH
) -> FigureScene:
    """Build a figure with a panel for each comparison, one below the other.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Compared lines with their questions.
    title : str
        Title of the figure.
    palette : Palette
        Colours.
    width : float
        Width in millimetres, 60 to 400.

    Returns
    -------
    FigureScene

    Raises
    ------
    InputError
        A width out of range.
    """
    check_width(width)
    texts, top = title_texts(plain(title), width)
    panels = []
    for row, comparison in enumerate(comparisons):
        lines = len(comparison.lines)
        top += HEAD + KEY_LINE * (lines - 1) + 1.5
        box = Box(LEFT, round(top, 2), width - LEFT - RIGHT, HEIGHT)
        letter = letter_of(row, len(comparisons))
        panels.append(_panel(comparison, row, letter, box, palette))
        top += HEIGHT + FOOT
    notes = list(dict.fromkeys(note for one in comparisons for note in one.notes))
    bands = [one.question.band for one in comparisons if one.question.kind == "bands"]
    footer = [f"Bands: {BANDS[band]}." for band in dict.fromkeys(bands)] + notes
    top += LINE if footer else 0.0
    for paragraph in footer:
        for line in wrap(math_words(plain(paragraph)), width - 2 * MARGIN, POINTS):
            texts.append(Text(MARGIN, top, line, POINTS, muted=True))
            top += LINE
    height = round(top + MARGIN, 2)
    return FigureScene(width, height, POINTS, title, palette, tuple(panels), tuple(texts))


def _panel(comparison: Comparison, row: int, letter: str, box: Box, palette: Palette) -> Panel:
    question, lines = comparison.question, comparison.lines
    colours = [run_colour(shade, palette) for shade in comparison.line_shades]
    x, places = _horizontal_axis(comparison)
    curves, bands, key = [], [], []
    for line, line_x, colour in zip(lines, places, colours, strict=True):
        ink = rgba(colour)[None, :]
        curves.append(
            Curves(line.label, line_x[None, :], line.values[None, :], ink, np.array([1.2]))
        )
        if line.has_band:
            bands.append(Band(line_x, line.low, line.high, rgba(colour, FAINT)))
        key.append(KeyEntry(math_words(plain(line.label)), (colour,)))
    empty = not any(np.isfinite(line.values).any() for line in lines)
    note = "nothing can be compared" if empty else ""
    ink_of = PanelContent(tuple(curves), (), note, tuple(bands))
    y = _vertical_axis(lines, math_words(plain(words_for(question))))
    title = observable_of(question.observable).title
    title = f"{title} at {comparison.moment}" if comparison.moment else title
    return Panel(
        "comparison", row, letter, plain(title), box, x, y, ink_of,
        key=tuple(key), key_columns=1, key_lines=len(lines),
    )  # fmt: skip


def _horizontal_axis(comparison: Comparison) -> tuple[Axis, list[Array]]:
    """Return the horizontal axis, and the places of each line on it."""
    against, lines = comparison.question.against, comparison.lines
    places = [to_axis_numbers(line.places, against) for line in lines]
    values = np.concatenate([np.empty(0), *places])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    if against == "log10_time":
        time = TimeAxis(low, high, comparison.steps)
        return time.axis(), [time.place(one) for one in places]
    pad = 0.02 * (high - low)
    if against == "risk":  # falls during a run: better values are further right
        ticks = tuple((-place, text) for place, text in _decades(low, high))
        return Axis(-high - pad, -low + pad, ticks, "risk"), [-one for one in places]
    ticks = linear_ticks(low, high, 6)
    if against in ("step", "norm_squared"):
        ticks = _decades(low, high)
    quantity = "step" if against == "time" and comparison.steps else against
    label = math_words(AGAINST[quantity])
    return Axis(low - pad, high + pad, ticks, label), places


def _decades(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Return ticks of an axis that shows log10 of a quantity."""
    return tuple((x, math_number(text)) for x, text in power_ticks(low, high, MOST_DECADES))


def _vertical_axis(lines: Sequence[ComparedLine], label: str) -> Axis:
    """Return the vertical axis."""
    parts = [part for line in lines for part in (line.values, line.low, line.high)]
    values = np.concatenate([np.empty(0), *parts])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    if high - low <= 1e-12 * max(abs(high), 1e-300):
        room = 0.5 * abs(high) or 0.5
        low, high = low - room, high + room
    pad = 0.06 * (high - low)
    return Axis(low - pad, high + pad, linear_ticks(low - pad, high + pad, 5), label)
