"""Frames that no schedule planned: all of them at first, and later as many to a decade of t."""

from __future__ import annotations

from typing import final

from core.numbers import whole_text
from core.run_files.frame import A_DECADE, Schedule
from core.run_files.schema import MAX_FRAMES

DENSE = 1000  # frames from which others are thinned


@final
class Thinning:
    """Choice of the frames that a loop records without asking `due`."""

    def __init__(self, first: float) -> None:
        self._sparse = Schedule(first=first)

    def passed(self, t: float) -> None:
        """Note that a frame was recorded at t."""
        self._sparse.passed(t)

    def explain(self, frames: int, t: float) -> str:
        """Return why a frame beside so many others is left out; "" if it is recorded."""
        if frames < DENSE or self._sparse.due(t):
            return ""
        return (
            f"from t = {t:g} on {A_DECADE} frames to a decade of t are kept, as "
            f"{whole_text(DENSE)} are there and a run holds {whole_text(MAX_FRAMES)}; record where "
            "due(t) says so to choose them yourself"
        )
