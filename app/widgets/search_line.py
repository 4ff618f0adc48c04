"""A line to type into, whose keys also move in the list of what it finds."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

PAGE = 8  # rows
ACCEPTS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
MOVES = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -PAGE,
    Qt.Key.Key_PageDown: PAGE,
}
TABS = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


@final
class SearchLine(QLineEdit):
    """moved(rows): up or down. accepted(beside): Return, with Shift or without. left(): Escape."""

    moved = Signal(int)
    accepted = Signal(bool)
    run_requested = Signal()
    """Ctrl+Return was pressed."""
    left = Signal()

    def __init__(self, hint: str, parent: QWidget, alone: bool = False) -> None:
        """`alone`: there is nowhere else for Tab to go."""
        super().__init__(parent)
        self.setPlaceholderText(hint)
        self.setAccessibleName(hint)
        self.setClearButtonEnabled(True)
        self._alone = alone

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            key = Qt.Key(event.key())
            if self._alone and key in TABS:
                return True
            if key in MOVES:
                self.moved.emit(MOVES[key])
                return True
            if key in ACCEPTS and event.modifiers() & CONTROL:
                self.run_requested.emit()
                return True
            if key in ACCEPTS:
                self.accepted.emit(bool(event.modifiers() & SHIFT))
                return True
            if key == Qt.Key.Key_Escape:
                self.left.emit()
                return True
        return super().event(event)


def moved_row(row: int, step: int, count: int) -> int:
    """Where a move ends: single steps go round, pages stop at the ends.

    >>> moved_row(0, -1, 5), moved_row(4, 1, 5), moved_row(1, 8, 5), moved_row(1, -8, 5)
    (4, 0, 4, 0)
    """
    if abs(step) == 1:
        return (row + step) % max(count, 1)
    return min(max(row + step, 0), max(count - 1, 0))
