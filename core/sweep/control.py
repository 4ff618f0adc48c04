"""Requests to a sweep, and its status: numbers and paths, never arrays."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any, final

from core.studies.cell_table import Row
from core.training.control import Control


@final
@dataclass(frozen=True, slots=True)
class SweepStatus:
    """Consistent snapshot of a sweep.

    `total` cells, of which `done` are finished (`kept` of them before the start) or `failed`;
    `running` workers are busy; `seconds` since the start and `eta` to the end, NaN if unknown.
    `compiling` are the groups of kernels that the first cell waits for. `ended`: no worker has work
    left. `at_work` are the names of the cells in the workers' present batches, which run one after
    another. `lacks_workers`: cells wait because a cluster has no worker left.
    """

    total: int = 0
    done: int = 0
    kept: int = 0
    failed: int = 0
    running: int = 0
    seconds: float = 0.0
    eta: float = float("nan")
    compiling: tuple[str, ...] = ()
    paused: bool = False
    stopped: bool = False
    ended: bool = False
    lacks_workers: bool = False
    last: Row | None = None
    at_work: frozenset[str] = frozenset()


@final
class SweepControl:
    """Requests to a sweep and its status. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._status = SweepStatus()
        self._enough = False
        self.cell = Control()  # controls the cell that runs in this process, if any

    @property
    def status(self) -> SweepStatus:
        with self._lock:
            return self._status

    @property
    def stop_requested(self) -> bool:
        return self.cell.stop_requested

    @property
    def pause_requested(self) -> bool:
        return self.cell.pause_requested

    @property
    def enough_requested(self) -> bool:
        with self._lock:
            return self._enough

    def stop_submitting(self) -> None:
        """Start no more cells, and finish once the submitted ones have ended."""
        with self._lock:
            self._enough = True

    def pause(self) -> None:
        """Start no more cells; those in workers finish, one in this process waits."""
        self.cell.pause()

    def resume(self) -> None:
        self.cell.resume()

    def stop(self) -> None:
        """Stop the sweep and its workers; finished cells stay, and the rest can be resumed."""
        self.cell.stop()

    def publish(self, **changes: Any) -> SweepStatus:
        """Replace fields of the status; only the thread that runs the sweep calls this."""
        with self._lock:
            self._status = replace(self._status, **changes)
            return self._status
