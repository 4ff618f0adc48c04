"""A tool button that follows its action for as long as the window is open."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QActionEvent
from PySide6.QtWidgets import QToolButton

from app.widgets.plain_text import menu_text


@final
class ActionFollower(QObject):
    """Puts into a button what has changed of its action, in place of Qt.

    Qt 6.11 calls `setDefaultAction` anew with every change, and each call connects the action's
    `changed` once more: 144 bytes a change that stay, and as many calls the next time.
    """

    def __init__(self, button: QToolButton) -> None:
        super().__init__(button)
        button.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt's question whether to hold an event back."""
        if event.type() is not QEvent.Type.ActionChanged:
            return False
        if not (isinstance(event, QActionEvent) and isinstance(watched, QToolButton)):
            return False
        action = event.action()
        if action != watched.defaultAction():
            return False
        watched.setText(menu_text(action.iconText()))  # it has no mark of a key left
        watched.setIcon(action.icon())
        watched.setToolTip(action.toolTip())
        watched.setStatusTip(action.statusTip())
        watched.setWhatsThis(action.whatsThis())
        watched.setCheckable(action.isCheckable())
        watched.setChecked(action.isChecked())
        watched.setEnabled(action.isEnabled())
        return True
