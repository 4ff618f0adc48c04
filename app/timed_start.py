"""`marginscope --time-start`: when the window was seen, and when its picture moved, as JSON.

The window opens as for a user, and is closed then. Seconds are those since 1970, so that whoever
started the program can tell how long that took from nothing. Beside each stands how long the
window's thread waited for a processor until then, which is the doing of other programs.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, QTimer

from app.main_window import MainWindow
from app.qt_application import QtApplication
from app.start import main as open_window

LOOK_MS = 10


def waited() -> float:
    """Seconds for which this thread could have run and other programs did; 0 where the system does
    not tell."""
    try:
        told = Path("/proc/self/schedstat").read_text("ascii")
    except OSError:
        return 0.0
    return int(told.split()[1]) / 1e9


@final
class Watch(QObject):
    """Looks for the window, and tells the moments of its first paint and its first movement."""

    def __init__(self) -> None:
        super().__init__()
        self._window: MainWindow | None = None
        self._shown = ""
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def _look(self) -> None:
        if self._window is None:
            found = [one for one in QtApplication.topLevelWidgets() if isinstance(one, MainWindow)]
            if found:
                self._window = found[0]
                self._window.painted.connect(self._painted)
            return
        now = self._window.transport.time.text()
        if self._shown and now != self._shown:
            self._tell("moved")
            self._timer.stop()
            signal.raise_signal(signal.SIGTERM)  # closes it without a question
        self._shown = now

    def _painted(self) -> None:
        self._tell("painted")

    def _tell(self, what: str) -> None:
        print(json.dumps({what: time.time(), f"{what}_waited": waited()}), flush=True)


def main(names: Sequence[str]) -> int:
    """Open the window, tell both moments, and close it."""
    application = QtApplication([sys.argv[0]])
    watch = Watch()
    open_window(names)
    del watch, application
    return 0
