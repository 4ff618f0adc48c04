"""Notes at points of curves: their marks in a plot, and the point at which one is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from PySide6.QtCore import QPoint

from app.state.display import DisplayData
from app.state.node_values import Floats
from app.views.pixels import nearest_point
from app.widgets.overlay import NodeMark
from app.widgets.plot_item import Plot
from app.widgets.screen_text import greek
from core.library.entry import MomentNote

LONGEST_LABEL = 28  # characters of a note beside its mark


class NotedCurve(Protocol):
    """Curve of a view, as notes use it (app.views.trace_view.TraceCurve)."""

    @property
    def values(self) -> Floats: ...
    @property
    def plain(self) -> Floats | None: ...
    @property
    def name(self) -> str: ...


def note_marks(
    notes: Sequence[MomentNote], lines: Sequence[NotedCurve], places: Floats, data: DisplayData
) -> tuple[NodeMark, ...]:
    """Return the marks of the notes at some curves, numbered as on the time slider."""
    marks = []
    for number, note in enumerate(notes, 1):
        line = next((one for one in lines if one.name == note.quantity), None)
        if line is None or not note.quantity:
            continue
        times = data.log10_time[: line.values.size]
        frame = int(np.argmin(np.abs(np.nan_to_num(times - note.log10_time, nan=np.inf))))
        text = greek(note.text)
        short = text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}\u2026"
        x, y = float(places[frame]), float(line.values[frame])
        marks.append(NodeMark(x, y, f"{number}", short))
    return tuple(marks)


def draft_at(
    plot: Plot,
    lines: Sequence[NotedCurve],
    places: Floats,
    data: DisplayData | None,
    place: QPoint,
) -> MomentNote | None:
    """Return a note without text at the point of a curve nearest to a position on the screen."""
    if data is None or not lines:
        return None
    position = plot.viewport().mapFromGlobal(place)
    first = int(np.isinf(data.log10_time[0]))  # t = 0 has no place on a logarithmic axis
    part = slice(first, min(line.values.size for line in lines))
    curves = [(places[part], line.values[part]) for line in lines]
    number, frame = nearest_point(plot, curves, position.x(), position.y())
    if number < 0:
        return None
    line, frame = lines[number], frame + first
    value = float((line.values if line.plain is None else line.plain)[frame])
    return MomentNote(float(data.log10_time[frame]), "", line.name, value)
