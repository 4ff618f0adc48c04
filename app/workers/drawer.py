"""Figures of the window, drawn by a process beside it that is kept for a while.

begin, or draw in a worker's thread --> the process, which the first figure starts
IDLE_MS after the last one          --> it is ended: it takes as much memory as a small window
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal

if TYPE_CHECKING:
    from core.figures.figure_beside import FigureDrawer
    from core.figures.primitives import FigureScene

IDLE_MS = 30_000


@final
class Drawer(QObject):
    """`draw` is for any thread; whoever calls it waits. `close` once nobody does."""

    _used = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._making = threading.Lock()
        self._drawer: FigureDrawer | None = None
        self._idle = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._idle.timeout.connect(self.rest)
        self._used.connect(self._on_used)
        self._closed = False

    def begin(self) -> None:
        """Start the process, for a figure that somebody will ask for soon."""
        self._made().begin()
        self._on_used()

    def draw(
        self, scene: FigureScene, suffix: str, dpi: float, cancelled: Callable[[], bool]
    ) -> bytes:
        """As `core.figures.figure_beside.FigureDrawer.draw`."""
        try:
            return self._made().draw(scene, suffix, dpi, cancelled)
        finally:
            self._used.emit()

    def rest(self) -> None:
        """End the process; later, where a figure is being drawn."""
        if self._drawer is not None and not self._drawer.end():
            self._idle.start()

    def close(self) -> None:
        """End the process; called when no thread draws any more."""
        self._closed = True
        self._idle.stop()
        if self._drawer is not None:
            self._drawer.end()

    def _on_used(self) -> None:
        if not self._closed:  # what a thread said last arrives later than it ends
            self._idle.start()

    def _made(self) -> FigureDrawer:
        # What figures are made of is loaded with the first one: a start has none.
        from core.figures.figure_beside import FigureDrawer

        with self._making:
            if self._drawer is None:
                self._drawer = FigureDrawer()
            return self._drawer
