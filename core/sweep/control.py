"""What others may ask of a sweep, and what it tells: numbers and paths, never arrays."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any, final

from core.studies.cell_table import Row
from core.training.control import Control


@final
@dataclass(frozen=True, slots=True)
class SweepStatus:
    """One consistent view: of `total` cells so many are done (of which `kept` were there before),
    failed, running; `seconds` since the start, `eta` those left, NaN while nothing is known.
    `compiling` are the groups of kernels that are waited for before any cell is begun. `ended`
    says that no worker has anything left to do. `at_work` are the names of the cells of the batches
    that workers have now; those in the same batch follow one another. `lacks_workers` says that
    cells wait because no worker of a cluster is left.
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
    """Requests to a sweep and its status; every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._status = SweepStatus()
        self._enough = False
        self.cell = Control()  # of the cell that runs in this process, where one does

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

    def enough(self) -> None:
        """Begin no more cells, and end once those that were handed out have ended."""
        with self._lock:
            self._enough = True

    def pause(self) -> None:
        """Start no more cells; those that run elsewhere are finished, one here waits."""
        self.cell.pause()

    def resume(self) -> None:
        self.cell.resume()

    def stop(self) -> None:
        """End the sweep and its workers; what is finished stays, and the rest can be resumed."""
        self.cell.stop()

    def publish(self, **changes: Any) -> SweepStatus:
        """Replace fields of the status; only the thread that runs the sweep calls this."""
        with self._lock:
            self._status = replace(self._status, **changes)
            return self._status
