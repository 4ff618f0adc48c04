"""Computes what the views asked for and the screen cannot wait for, beside the window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QObject, Signal

from app.state.background_values import BackgroundValues
from app.worker import Request, Worker

# As long as one run keeps the others waiting, and closing the thread.
SLICE_SECONDS = 0.05


@final
class Calculator(QObject):
    """`values_computed` arrives in the thread of the window whenever there are new numbers."""

    values_computed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._watched: tuple[BackgroundValues, ...] = ()
        self._worker = Worker("calculator", self._compute, self, one_core=True)
        self._worker.progress.connect(self.values_computed)
        # For what was asked in the moment in which the thread found nothing more to do.
        self._worker.result.connect(self.wake)

    def watch(self, watched: Sequence[BackgroundValues]) -> None:
        """Set the runs to compute for; work on others ends with the value at hand."""
        self._watched = tuple(watched)
        self.wake()

    def wake(self) -> None:
        """Something was asked for, or there are new frames."""
        if self.busy and not self._worker.busy:
            self._worker.request()

    @property
    def busy(self) -> bool:
        """Whether anything is still to be computed."""
        return any(later.pending for later in self._watched)

    def close(self) -> None:
        """End the thread, and wait for it."""
        self._watched = ()
        self._worker.close()

    def _compute(self, request: Request) -> None:
        """Compute a slice for each run in turn until nothing is to do; in the thread."""
        while sum(later.work(SLICE_SECONDS) for later in self._watched):  # not any: all, in turn
            request.progress()
