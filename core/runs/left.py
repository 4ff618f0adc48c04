"""Runs that no process finishes any more."""

from __future__ import annotations

from core.problem.schedule import time_text
from core.run_files.in_use import has_recorder
from core.runs.base import Run


def was_left(run: Run) -> bool:
    """Return True if a run is unfinished and the process that recorded it is gone."""
    if not run.is_recording or has_recorder(run.path) is not False:
        return False
    run.refresh()  # a recorder finishes its file before it leaves it
    return run.is_recording


def left_words(run: Run) -> str:
    """Say that a recording stopped, and how far its frames go."""
    words = "the recording stopped without being finished (its process is gone)"
    if run.frames == 0:
        return f"{words}; it has no frames"
    return f"{words}; frames up to t = {time_text(float(run.log10_time[run.frames - 1]))} are kept"
