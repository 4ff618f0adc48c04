"""Background computation of values that views request and the screen cannot wait for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QObject, Signal

from app.state.background_values import BackgroundValues
from app.worker import Request, Worker

# Seconds for which one run may delay the others and the end of the thread.
SLICE_SECONDS = 0.05


@final
class Calculator(QObject):
    """Worker for background values; emits `values_computed` in the window's thread for new ones."""

    values_computed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._watched: tuple[BackgroundValues, ...] = ()
        self._worker = Worker("calculator", self._compute, self, one_core=True)
        self._worker.progress.connect(self.values_computed)
        # For requests that arrived just when the thread ran out of work.
        self._worker.result.connect(self.wake)

    def watch(self, watched: Sequence[BackgroundValues]) -> None:
        """Set the runs to compute for; work on others ends with the present value."""
        self._watched = tuple(watched)
        self.wake()

    def wake(self) -> None:
        """Continue after new requests or new frames."""
        if self.busy and not self._worker.busy:
            self._worker.request()

    @property
    def busy(self) -> bool:
        """True while anything is still to be computed."""
        return any(later.pending for later in self._watched)

    def close(self) -> None:
        """End the thread, and wait for it."""
        self._watched = ()
        self._worker.close()

    def _compute(self, request: Request) -> None:
        """Compute a slice for each run in turn until nothing is left; in the thread."""
        # `sum`, not `any`: every run gets its turn.
        while sum(later.work(SLICE_SECONDS) for later in self._watched):
            request.progress()
