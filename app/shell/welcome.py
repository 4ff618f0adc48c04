"""The welcome page over the runs, when it is asked for; without runs it stands there by itself."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject, Signal

from app.playback.display import DisplayController
from app.shell.main_window import MainWindow


@final
class WelcomeController(QObject):
    """shown(bool): the page is shown over the runs, or has gone."""

    shown = Signal(bool)

    def __init__(self, window: MainWindow, display: DisplayController) -> None:
        super().__init__(window)
        self._window, self._display = window, display
        self._over = False

    def set_shown(self, on: bool) -> None:
        """Show the page over the runs, or the runs again."""
        if on == self._over:
            return
        if on and self._display.intent.compared is not None:
            self._display.ask(compared=None)
        self._over = on
        self._window.pages.set_over(self._window.welcome if on else None)
        self.shown.emit(on)

    def leave(self, _now: object = None) -> None:
        """The page gives way to what is opened."""
        self.set_shown(False)
