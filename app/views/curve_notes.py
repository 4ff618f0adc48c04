"""Notes at points of curves: their marks in a plot, and the point at which one is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPoint

from app.views.pixels import nearest_point
from app.widgets.overlay import NodeMark
from app.widgets.screen_text import greek
from core.library.entry import MomentNote

if TYPE_CHECKING:
    from app.state.display import DisplayData
    from app.views.trace_view import TraceView

LONGEST_LABEL = 28  # characters of a note beside its mark


def note_marks(view: TraceView, data: DisplayData) -> tuple[NodeMark, ...]:
    """Return the marks of the notes at curves that a view shows, numbered as on the slider."""
    marks = []
    for number, note in enumerate(view.notes, 1):
        line = next((one for one in view.shown_lines if one.name == note.quantity), None)
        if line is None or not note.quantity:
            continue
        times = data.log10_time[: line.values.size]
        frame = int(np.argmin(np.abs(np.nan_to_num(times - note.log10_time, nan=np.inf))))
        text = greek(note.text)
        short = text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}\u2026"
        x, y = float(view.places[frame]), float(line.values[frame])
        marks.append(NodeMark(x, y, f"{number}", short))
    return tuple(marks)


def draft_at(view: TraceView, place: QPoint) -> MomentNote | None:
    """Return a note without text at the point of a curve nearest to a position on the screen."""
    data, lines = view.data, view.shown_lines
    if data is None or not lines:
        return None
    here = view.plot.viewport().mapFromGlobal(place)
    first = view.first(data)
    part = slice(first, min(line.values.size for line in lines))
    curves = [(view.places[part], line.values[part]) for line in lines]
    number, frame = nearest_point(view.plot, curves, here.x(), here.y())
    if number < 0:
        return None
    line, frame = lines[number], frame + first
    value = float((line.values if line.plain is None else line.plain)[frame])
    return MomentNote(float(data.log10_time[frame]), "", line.name, value)
