"""Leaving: asks while something is being recorded, stops it, and puts everything away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMessageBox

from app.main_window import MainWindow
from app.state.session import OpenRun, Session

STOP, KEEP = "Stop and close", "Keep running"


@final
class Closing(QObject):
    """Decides whether the window may close, and calls `put_away` once when it does."""

    def __init__(self, window: MainWindow, session: Session, put_away: Callable[[], None]) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._put_away = put_away
        self._done = False
        window.closing.connect(self._asked)

    def _asked(self) -> None:
        if self._done:
            return
        if self._session.live and not self._agreed(self._session.live):
            self._window.may_close = False
            return
        self._done = True
        self._put_away()

    def _agreed(self, live: Sequence[OpenRun]) -> bool:
        box = QMessageBox(self._window)
        box.setObjectName("closing")
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Marginscope")
        count = "A run is" if len(live) == 1 else f"{len(live)} runs are"
        box.setText(f"{count} still being trained.")
        box.setInformativeText(
            "What is recorded so far stays in the run files either way, and can be continued later."
        )
        stop = box.addButton(STOP, QMessageBox.ButtonRole.DestructiveRole)
        keep = box.addButton(KEEP, QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        box.exec()
        agreed = box.clickedButton() is stop
        box.deleteLater()
        return agreed
