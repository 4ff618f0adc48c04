"""Space and Return press the button that has the focus, whatever they mean elsewhere."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

RETURNS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@final
class ButtonKeyActivation(QObject):
    """Event filter of buttons: Space plays in the window; Qt presses tool buttons by Space only."""

    def add(self, button: QWidget) -> None:
        """Let Space and Return press a button."""
        button.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent):
            return False
        if event.type() is QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Space:
            event.accept()  # no shortcut: the key is the button's
            return True
        pressed = event.type() is QEvent.Type.KeyPress and event.key() in RETURNS
        if pressed and isinstance(watched, QAbstractButton) and watched.isEnabled():
            watched.click()
            return True
        return False
