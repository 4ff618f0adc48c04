"""Frames of a loop: their order in t, how many are kept, and the numbers beside them."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Mapping
from typing import Any, final

from core.errors import InputError
from core.numbers import whole_text
from core.run_files.frame import A_DECADE, Schedule
from core.run_files.schema import MAX_FRAMES, MAX_METRICS, MAX_NAME, NUMBER_NAME

# -------------------------------------------------------------------------------------- warnings

INSIDE = ("marginscope.", "torch.")


class RecordingWarning(UserWarning):
    """Warning about a recording: a frame is left out, or numbers do not agree."""


def warn_user(text: str) -> None:
    """Warn at the nearest line outside this package and PyTorch, whose modules call hooks."""
    frame, levels = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith(INSIDE):
        frame, levels = frame.f_back, levels + 1
    warnings.warn(text, RecordingWarning, stacklevel=levels + 1)


# ------------------------------------------------------------------------------------ order in t

ADVICE = (
    "if t starts over in each epoch, count the steps through all epochs; if the loop went back to "
    "a checkpoint, record with resume=True, or with overwrite=True for a new recording"
)


@final
class OrderError(InputError):
    """A frame whose t is not after the latest frame."""


def explain_fall(t: float, last: float) -> str:
    """Return why no frame is due at t, which is below the last t that `due` was called with."""
    return (
        f"t = {t:g} comes after t = {last:g}, so no frame is due until t exceeds {last:g} again; "
        f"{ADVICE}."
    )


def explain_order(t: float) -> str:
    """Return why a frame at t, which is not after the latest frame, is left out."""
    return (
        f"t = {t:g} is not after the previous frame, so the frame is left out; record frames in "
        f"the order of t, from t = 0 on; {ADVICE}."
    )


def explain_nothing_new(reached: float, last: float) -> str:
    """Return why a resumed recording has no more frames than before."""
    return (
        f"no frame was added: the recording already reaches t = {last:g}, but the loop only t = "
        f"{reached:g}. If the loop started again from its beginning, record with overwrite=True."
    )


def is_number(t: object) -> bool:
    """Return True for a finite number, or an array of one; False for a text."""
    try:
        return not isinstance(t, str | bytes) and math.isfinite(float(t))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False


# -------------------------------------------------------------------------------------- thinning

DENSE = 1000  # number of frames from which they are thinned


@final
class Thinning:
    """Choice of the frames that a loop records without asking `due`."""

    def __init__(self, first: float) -> None:
        self._sparse = Schedule(first=first)

    def note_frame(self, t: float) -> None:
        """Note that a frame was recorded at t."""
        self._sparse.note_frame(t)

    def explain(self, frames: int, t: float) -> str:
        """Return why a frame is left out by thinning; "" if it is recorded."""
        if frames < DENSE or self._sparse.due(t):
            return ""
        return (
            f"from t = {t:g} on, only {A_DECADE} frames per decade of t are kept: "
            f"{whole_text(DENSE)} are recorded, and a run holds {whole_text(MAX_FRAMES)}; to "
            "choose frames yourself, record where due(t) is true"
        )


# ------------------------------------------------------------------------- numbers beside frames

ALLOWED = f"letters, digits and _, joined by single . / or -, at most {MAX_NAME} characters"


@final
class LoopNumbers:
    """Names of numbers that a recording has seen: each is a column of its tables."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def take(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the numbers by name.

        Raises InputError for a value that is not one number, for a name that a column cannot have,
        and for more than `MAX_METRICS` names in one recording.
        """
        numbers = {name: _as_number(name, value) for name, value in values.items()}
        for name in numbers:
            if name not in self._names:
                self._add(name)
        return numbers

    def _add(self, name: str) -> None:
        if not NUMBER_NAME.fullmatch(name):
            raise InputError(
                f"{name[:MAX_NAME]!r} is not a valid name; use {ALLOWED}, such as val_acc or "
                "train/loss."
            )
        if len(self._names) >= MAX_METRICS:
            raise InputError(
                f"a recording has at most {MAX_METRICS} names of numbers, and {name} is one too "
                "many; leave it out, or store it elsewhere."
            )
        self._names.add(name)


def _as_number(name: str, value: Any) -> float:
    try:
        # Detach a loss of PyTorch, whose gradient makes float() warn; item() avoids the warning for
        # NumPy arrays with one element.
        bare = value.detach() if hasattr(value, "detach") else value
        return float(bare.item() if hasattr(bare, "item") else bare)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise InputError(
            f"{name[:MAX_NAME]} is not a single number; pass only single numbers with a frame."
        ) from error
