"""Notes at moments of runs in a figure: numbered marks on curves over time, and a list below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, final

import numpy as np

from core.figures.layout import LETTER_EM, MM_PER_POINT
from core.figures.numbers import math_text, sentence_words
from core.figures.options import Note, Notes
from core.figures.palette import Palette, rgba
from core.figures.primitives import Array, Curves, Label, Panel
from core.figures.time_axis import Across, TimeAxis, keys_of
from core.numbers import time_text
from core.runs import Run

ROUNDING = 1e-9  # log10 t by which a frame at a note's moment may be later
MARK_WIDTH = 0.6  # points
EDGE = 0.03  # share of the frame's width within which a number does not extend beyond the frame


@final
@dataclass(frozen=True, slots=True)
class FigureNote:
    """Note with its number in the figure, and the place of its run."""

    number: int
    row: int
    log10_time: float
    text: str


def number_notes(notes: Notes, runs: Sequence[Run], lasts: Sequence[int]) -> list[FigureNote]:
    """Give each note a number: run by run, in the order of time.

    Parameters
    ----------
    notes : sequence of sequence of Note
        Notes of each run.
    runs : sequence of Run
        Runs of the figure.
    lasts : sequence of int
        Last frame of each run whose curves are drawn.

    Returns
    -------
    list of FigureNote
        Without the notes after a figure's last moment. Notes after the end of a run are at its end.
    """
    result: list[FigureNote] = []
    for row, (some, run, last) in enumerate(zip(notes, runs, lasts, strict=False)):
        end = float(run.log10_time[last])
        is_whole = last == run.frames - 1
        for note in sorted(some, key=_time_of):
            time = float(note.log10_time)
            if time <= end or is_whole:
                result.append(FigureNote(len(result) + 1, row, min(time, end), note.text))
    return result


def _time_of(note: Note) -> float:
    return float(note.log10_time)


def list_notes(notes: Sequence[FigureNote], steps: bool) -> list[str]:
    """Return the notes as paragraphs below a figure; `steps`: t counts steps."""
    return [
        f"{one.number}. {math_text(time_text(one.log10_time, steps))}: {sentence_words(one.text)}"
        for one in notes
    ]


def mark_notes(
    panel: Panel,
    run: Run,
    notes: Sequence[FigureNote],
    x: Across,
    against: str,
    palette: Palette,
    points: float,
) -> Panel:
    """Return a panel of curves with a dotted line and a number at the moment of each note.

    Parameters
    ----------
    panel : Panel
        Panel of curves, over its final range.
    run : Run
        Run of the panel.
    notes : sequence of FigureNote
        Notes of the run, in the order of time.
    x : TimeAxis or QuantityAxis
        Horizontal axis.
    against : str
        Quantity of the horizontal axis.
    palette : Palette
        Colours.
    points : float
        Size of letters.

    Returns
    -------
    Panel
    """
    low, high = panel.x.low, panel.x.high
    marked = [(_place_of(one, run, x, against), one.number) for one in notes]
    marked = [(place, number) for place, number in marked if low <= place <= high]
    if not marked:
        return panel
    at: Array = np.array([place for place, _ in marked])
    ends = np.tile([panel.y.low, panel.y.high], (at.size, 1))
    colours = np.tile(rgba(palette.muted), (at.size, 1))
    widths = np.full(at.size, MARK_WIDTH)
    marks = Curves("notes", np.stack([at, at], axis=1), ends, colours, widths, "dotted")
    letter = LETTER_EM * (points - 0.5) * MM_PER_POINT * (high - low) / panel.box.width
    words = tuple(
        Label(place, panel.y.low, text, palette.foreground, _align(place, low, high))
        for place, text in join_numbers(marked, letter)
    )
    ink = panel.ink
    return replace(panel, ink=replace(ink, curves=(marks, *ink.curves), words=(*ink.words, *words)))


def _place_of(note: FigureNote, run: Run, x: Across, against: str) -> float:
    """Return the place of a note on the horizontal axis; t = 0 is at the axis's start."""
    key = note.log10_time
    if not isinstance(x, TimeAxis):
        frames = np.searchsorted(run.log10_time[: run.frames], [key + ROUNDING], side="right") - 1
        key = float(keys_of(run, np.maximum(frames, 0), against)[0])
    place = float(x.place(np.array([key]))[0])
    return place if math.isfinite(place) else x.axis().low


def join_numbers(marked: Sequence[tuple[float, int]], letter: float) -> list[tuple[float, str]]:
    """Join the numbers of marks that are too near for a label each.

    Parameters
    ----------
    marked : sequence of (float, int)
        Places with their numbers, in the order of places.
    letter : float
        Width of a letter in the units of places.

    Returns
    -------
    list of (float, str)
        Places and texts of labels.

    Examples
    --------
    >>> join_numbers([(0.0, 1), (5.0, 2), (5.1, 3), (9.0, 4), (9.1, 5), (9.2, 6)], 0.5)
    [(0.0, '1'), (5.05, '2, 3'), (9.1, '4\u20136')]
    """
    groups: list[list[tuple[float, int]]] = []
    for place, number in marked:
        if groups and place - groups[-1][-1][0] < (len(_number_text(groups[-1])) + 1) * letter:
            groups[-1].append((place, number))
        else:
            groups.append([(place, number)])
    return [(0.5 * (some[0][0] + some[-1][0]), _number_text(some)) for some in groups]


def _number_text(group: Sequence[tuple[float, int]]) -> str:
    first, last = group[0][1], group[-1][1]
    if len(group) > 2:
        return f"{first}\u2013{last}"
    return ", ".join(str(number) for _, number in group)


def _align(place: float, low: float, high: float) -> Literal["left", "center", "right"]:
    if place - low < EDGE * (high - low):
        return "left"
    return "right" if high - place < EDGE * (high - low) else "center"
