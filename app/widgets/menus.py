"""Menus of boxes to tick, which stay open while several are ticked."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu


@final
class TickMenu(QMenu):
    """Menu that a click on a box to tick, or Space, leaves open; Return closes it."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not self._tick(self.actionAt(event.position().toPoint())):
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Space or not self._tick(self.activeAction()):
            super().keyPressEvent(event)

    @staticmethod
    def _tick(action: QAction | None) -> bool:
        """Trigger an action that can be ticked; return False for any other."""
        if action is None or not action.isCheckable() or not action.isEnabled():
            return False
        action.trigger()
        return True
