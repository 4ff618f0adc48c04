"""Light or dark as the system is, until somebody chooses by hand."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication

from app.playback.display import DisplayController
from app.shell.looks import Looks


def system_palette() -> str:
    """The name of the palette that the system's colours ask for; light where it says nothing."""
    dark = QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark
    return "dark" if dark else "light"


@final
class SystemTheme(QObject):
    """`follows`: whether the window looks as the system does. Any other choice ends that, also one
    that undo or a link brings back.

    theme_changed(palette): the system has another theme, and the window is about to have it.
    """

    theme_changed = Signal(str)

    def __init__(self, looks: Looks, display: DisplayController) -> None:
        super().__init__(looks)
        self._looks, self._display = looks, display
        self._action: QAction | None = None
        self.follows = False
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_theme)
        display.intent_changed.connect(self._look)

    def set_action(self, action: QAction) -> None:
        """The action whose mark says whether the system is followed."""
        self._action = action

    def set_follows(self, follows: bool) -> None:
        """Follow the system from now on, or no more."""
        self.follows = follows
        self._follow()

    def _on_theme(self) -> None:
        if self.follows:
            self.theme_changed.emit(system_palette())
            self._follow()

    def _follow(self) -> None:
        palette = system_palette()
        if self.follows and self._display.intent.palette != palette:
            self._display.ask(palette=palette)
            self._looks.apply()

    def _look(self) -> None:
        if self.follows and self._display.intent.palette != system_palette():
            self.follows = False
            if self._action is not None:
                self._action.setChecked(False)
