"""Figures of the window, drawn by a process beside it that is kept for a while.

draw, in a worker's thread --> the process, which the first figure starts
IDLE_MS after the last one --> it is ended: it takes as much memory as a small window
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from PySide6.QtCore import QObject, QTimer, Signal

from core.figures.figure_beside import FigureDrawer
from core.figures.primitives import FigureScene

IDLE_MS = 30_000


@final
class Drawer(QObject):
    """`draw` is for any thread; whoever calls it waits. `close` once nobody does."""

    _used = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._drawer = FigureDrawer()
        self._idle = QTimer(self, singleShot=True, interval=IDLE_MS)
        self._idle.timeout.connect(self.rest)
        self._used.connect(self._idle.start)

    def begin(self) -> None:
        """Start the process, for a figure that somebody will ask for soon."""
        self._drawer.begin()
        self._idle.start()

    def draw(
        self, scene: FigureScene, suffix: str, dpi: float, cancelled: Callable[[], bool]
    ) -> bytes:
        """As `core.figures.figure_beside.FigureDrawer.draw`."""
        try:
            return self._drawer.draw(scene, suffix, dpi, cancelled)
        finally:
            self._used.emit()

    def rest(self) -> None:
        """End the process; later, where a figure is being drawn."""
        if not self._drawer.end():
            self._idle.start()

    def close(self) -> None:
        """End the process; called when no thread draws any more."""
        self._idle.stop()
        self._drawer.end()
