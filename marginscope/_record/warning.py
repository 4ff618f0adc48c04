"""Warnings of recorders, at the line of the user's own program."""

from __future__ import annotations

import inspect
import warnings

INSIDE = ("marginscope.", "torch.")


class RecordingWarning(UserWarning):
    """Warning of a recorder: of a frame that is left out, or of numbers that do not agree."""


def warn_user(text: str) -> None:
    """Warn at the nearest line outside this package and PyTorch, whose modules call hooks."""
    frame, levels = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith(INSIDE):
        frame, levels = frame.f_back, levels + 1
    warnings.warn(text, RecordingWarning, stacklevel=levels + 1)
