"""Sentences about a t that falls: frames of a run come in the order of t."""

from __future__ import annotations

import math
from typing import final

from core.errors import InputError

ADVICE = (
    "if t starts over in each epoch, count the steps through all epochs; if the loop went back to "
    "a checkpoint, record with resume=True, or with overwrite=True for a new recording"
)


@final
class OrderError(InputError):
    """A frame whose t is not after the latest frame."""


def explain_fall(t: float, last: float) -> str:
    """Return why no frame is due at t, which is below the last t that `due` was asked about."""
    return (
        f"t = {t:g} comes after t = {last:g}, so that no frame is due before t exceeds {last:g} "
        f"again; {ADVICE}."
    )


def explain_order(t: float) -> str:
    """Return why a frame at t, which is not after the latest frame, is left out."""
    return (
        f"t = {t:g} is not after the frame before it, and that frame is left out; frames come in "
        f"the order of t, and t = 0 is the start; {ADVICE}."
    )


def explain_nothing_new(reached: float, last: float) -> str:
    """Return why a resumed recording has no more frames than before."""
    return (
        f"no frame was added: the recording has t = {last:g} already, and the loop came to t = "
        f"{reached:g}. If the loop started again from its beginning, record with overwrite=True."
    )


def is_number(t: object) -> bool:
    """Return True for a finite number, or an array of one; False for a text."""
    try:
        return not isinstance(t, str | bytes) and math.isfinite(float(t))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
