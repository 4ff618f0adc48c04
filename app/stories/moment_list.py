"""List of moments whose rows are dragged: within the list, or from one list into another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListWidget, QWidget

from app.widgets.labels import plain_tip

DROP_WIDTH = 2  # pixels of the line at which a row would be dropped


@final
class MomentList(QListWidget):
    """Rows of plain texts. A drag only requests a change, which the owner carries out.

    Qt's own drags would run a nested event loop, in which playback stops.
    """

    row_dragged = Signal(int, QPoint)
    """Row and position on the screen, while the row is dragged."""
    row_dropped = Signal(int, QPoint)
    """Row and position on the screen at which the row was dropped."""
    removal_requested = Signal()
    move_requested = Signal(int)
    """Alt+Up (-1) or Alt+Down (1)."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setDragEnabled(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._press: QPoint | None = None
        self._pressed_row = -1
        self._is_dragging = False
        self._gap = -1  # row before which a dragged row would be dropped

    def set_texts(self, texts: Sequence[str], row: int) -> None:
        """Show some rows, one of them current (-1: none)."""
        with QSignalBlocker(self):
            self.clear()
            for text in texts:
                self.addItem(text)
                self.item(self.count() - 1).setToolTip(plain_tip(text))
            self.setCurrentRow(row)

    def gap_at(self, place: QPoint) -> int:
        """Return the row before which a position on the screen lies; -1 outside the list."""
        position = self.viewport().mapFromGlobal(place)
        if not self.viewport().rect().contains(position):
            return -1
        for row in range(self.count()):
            if position.y() < self.visualItemRect(self.item(row)).center().y():
                return row
        return self.count()

    def set_gap(self, gap: int) -> None:
        """Show where a dragged row would be dropped; -1 for nowhere."""
        if gap != self._gap:
            self._gap = gap
            self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if event.button() is Qt.MouseButton.LeftButton:
            position = event.position().toPoint()
            self._press = position
            item = self.itemAt(position)
            self._pressed_row = -1 if item is None else self.row(item)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._press is None or self._pressed_row < 0:
            return
        position = event.position().toPoint()
        if (position - self._press).manhattanLength() >= QApplication.startDragDistance():
            self._is_dragging = True
        if self._is_dragging:
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            self.row_dragged.emit(self._pressed_row, event.globalPosition().toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        was_dragging, row = self._is_dragging, self._pressed_row
        self._press, self._pressed_row, self._is_dragging = None, -1, False
        self.viewport().unsetCursor()
        if was_dragging:
            self.row_dropped.emit(row, event.globalPosition().toPoint())
        else:
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removal_requested.emit()
        elif key in steps and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.move_requested.emit(steps[key])
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._gap < 0:
            return
        painter = QPainter(self.viewport())
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), DROP_WIDTH))
        last = self.item(min(self._gap, self.count() - 1)) if self.count() else None
        box = self.visualItemRect(last) if last is not None else None
        y = 1 if box is None else box.top() if self._gap < self.count() else box.bottom()
        painter.drawLine(0, y, self.viewport().width(), y)
        painter.end()
