"""State of a run, and requests to it across threads.

    idle --start--> running <--resume/pause--> paused
                       |                          |
                       +--end, stop--> finishing <+--stop
                                           |
                                        finished (with a reason)

`Control` belongs to one run. Any thread requests (pause, resume, stop); the training thread obeys
between chunks and between the stages of a step, and publishes one frozen Status under one lock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, final

MOST_NOTES = 8  # notes kept per run


@final
class RunState(Enum):
    """Stage of a run."""

    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHING = "finishing"
    FINISHED = "finished"


@final
class FinishReason(Enum):
    """Reason for a run's end."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    DIVERGED = "diverged"
    FAILED = "failed"
    DISK_FULL = "disk_full"


@final
@dataclass(frozen=True, slots=True)
class Status:
    """Consistent snapshot of a run.

    `committed` is the last safe frame, -1 before the first. `notes` are the last sentences of the
    dynamics so far, in order; `details` has only the latest. `path` is the file of a run that has
    ended: another than the requested one, if that contains an older, finished run.
    """

    state: RunState = RunState.IDLE
    reason: FinishReason | None = None
    committed: int = -1
    planned: int = 0
    step: int = 0
    log10_time: float = float("-inf")
    engine: str = ""
    details: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    path: Path | None = None


@final
class Control:
    """Requests to a run and its status. Thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._status = Status()
        self._pause = False
        self._stop = False

    @property
    def status(self) -> Status:
        with self._changed:
            return self._status

    @property
    def stop_requested(self) -> bool:
        with self._changed:
            return self._stop

    @property
    def pause_requested(self) -> bool:
        with self._changed:
            return self._pause and not self._stop

    def pause(self) -> None:
        """Request a pause after the present chunk."""
        self._request_pause(pause=True)

    def resume(self) -> None:
        """Request the end of a pause."""
        self._request_pause(pause=False)

    def stop(self) -> None:
        """Request the end of the run; recorded frames stay."""
        with self._changed:
            self._stop = True
            self._changed.notify_all()

    def _request_pause(self, pause: bool) -> None:
        with self._changed:
            self._pause = pause
            self._changed.notify_all()

    def wait_while_paused(self, seconds: float) -> None:
        """Sleep until resumed or stopped, for `seconds` at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._stop or not self._pause, timeout=seconds)

    def publish(self, **changes: Any) -> Status:
        """Replace fields of the status, add `details["note"]` to its notes, and return it.

        Only the thread that trains calls this.
        """
        with self._changed:
            self._status = replace(self._status, **changes)
            # Keep earlier messages for readers that poll later than the next message.
            self._add_note((self._status.details or {}).get("note", ""))
            self._changed.notify_all()
            return self._status

    def add_note(self, note: str) -> Status:
        """Add a sentence to `Status.notes`, once; only the thread that trains calls this."""
        with self._changed:
            self._add_note(note)
            self._changed.notify_all()
            return self._status

    def _add_note(self, note: str) -> None:
        """Append a new sentence to the last `MOST_NOTES` notes; the caller holds the lock."""
        notes = self._status.notes
        if note and note not in notes:
            self._status = replace(self._status, notes=(*notes, note)[-MOST_NOTES:])


def describe_end(status: Status, path: Path, notes: int = 0) -> Iterator[str]:
    """Yield the notes of a run, why it did not complete, and advice.

    Parameters
    ----------
    status : Status
        Last status.
    path : Path
        File of the run.
    notes : int
        Number of notes already reported.

    Yields
    ------
    str
    """
    details: dict[str, Any] = dict(status.details or {})
    for note in status.notes[notes:]:
        yield f"{path.name}: {note}"
    if status.reason is FinishReason.DIVERGED:
        yield (
            f"{path.name} diverged at step {details['step']} with dynamics.step = "
            f"{details['step_size']:g} ({details['why']}); try dynamics.step = "
            f"{details['suggested_step']:g}. All frames up to there are recorded."
        )
    elif status.reason is FinishReason.CANCELLED:
        yield f"{path.name} was interrupted; {status.committed + 1} frames are recorded."
    elif status.reason is FinishReason.FAILED and "note" not in details:
        yield (
            f"{path.name} stopped: the flow's step became too small to continue; it is recorded "
            "up to there."
        )
