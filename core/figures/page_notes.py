"""Notes at moments of runs, below the controls of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.figures.numbers import math_text
from core.figures.options import Notes
from core.figures.page_encoding import pieces
from core.figures.scene import last_frame
from core.figures.story_page import sentence_pieces
from core.numbers import time_text
from core.runs import Run

Frames = NDArray[np.int64]


def note_times(notes: Notes) -> list[float]:
    """Return log10 t of all notes; a page has a moment for each."""
    return [float(note.log10_time) for some in notes for note in some]


def note_content(notes: Notes, runs: Sequence[Run], frames: tuple[Frames, ...]) -> list[Any]:
    """Return the notes as a page holds them, in the order of time.

    Parameters
    ----------
    notes : sequence of sequence of Note
        Notes of each run.
    runs : sequence of Run
        Runs of the page.
    frames : tuple of array (moments,)
        Frame of each run at each moment of the page, those of the notes among them.

    Returns
    -------
    list of dict
        Index of the page's moment, number of the run, time and text in pieces.
    """
    result = []
    steps = all(run.counts_steps for run in runs)
    for row, (some, run, columns) in enumerate(zip(notes, runs, frames, strict=True)):
        for note in some:
            frame = last_frame(run, float(note.log10_time))
            time = pieces(math_text(time_text(float(note.log10_time), steps)))
            place = int(np.argmin(np.abs(columns - frame)))
            text = sentence_pieces(note.text)
            result.append({"at": place, "row": row, "time": time, "text": text})
    return sorted(result, key=lambda one: (one["at"], one["row"]))
