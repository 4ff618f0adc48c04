"""Why a run did not complete, in sentences for whoever started it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.training.control import FinishReason, Status


def ending_sentences(status: Status, path: Path, notes: int = 0) -> Iterator[str]:
    """Return the notes of a run from `notes` on; why it did not complete, and what to do."""
    details: dict[str, Any] = dict(status.details or {})
    for note in status.notes[notes:]:
        yield f"{path.name}: {note}"
    if status.reason is FinishReason.DIVERGED:
        yield (
            f"{path.name} diverged at step {details['step']} with dynamics.step = "
            f"{details['step_size']:g} ({details['why']}); try dynamics.step = "
            f"{details['suggested_step']:g}. Everything up to there is recorded."
        )
    elif status.reason is FinishReason.CANCELLED:
        yield f"{path.name} was interrupted; {status.committed + 1} frames are recorded."
    elif status.reason is FinishReason.FAILED and "note" not in details:
        yield f"{path.name} stopped: the flow's step became too small to go on; it is recorded."
