"""Computes what the views asked for and the screen cannot wait for, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QObject, Signal

from app.state.later import Later

SLICE_SECONDS = 0.05


@final
class Calculator(QObject):
    """`computed` arrives in the thread of the window whenever there are new numbers.

    The thread begins with the first wish and ends with `close`.
    """

    computed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._watched: tuple[Later, ...] = ()
        self._wish = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None

    def watch(self, watched: Sequence[Later]) -> None:
        """The runs to compute for; work on others ends with the value at hand."""
        self._watched = tuple(watched)
        self.wake()

    def wake(self) -> None:
        """Something was asked for, or there are new frames."""
        if self._closed or not any(later.pending for later in self._watched):
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="calculator")
            self._thread.start()
        self._wish.set()

    @property
    def busy(self) -> bool:
        """Whether anything is still to be computed."""
        return any(later.pending for later in self._watched)

    def close(self) -> None:
        """End the thread, and wait for it."""
        self._closed, self._watched = True, ()
        self._wish.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        from threadpoolctl import ThreadpoolController  # looks through all loaded libraries

        libraries = ThreadpoolController()
        while not self._closed:
            self._wish.wait()
            self._wish.clear()
            # The idle threads of a BLAS spin, and keep the processor from the window.
            with libraries.limit(limits=1, user_api="blas"):
                while self._turn():
                    self.computed.emit()

    def _turn(self) -> bool:
        """A slice for each run; whether anything was to do. After `close` there are no runs."""
        done = [later.work(SLICE_SECONDS) for later in self._watched]
        return any(done)
