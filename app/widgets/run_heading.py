"""Heading of a run, which marks the current one and makes a run current by a click."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFont, QMouseEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QWidget

BAR, GAP = 3, 6  # pixels: bar of the current run, space between bar and text
CURRENT = "Current run: theory, numbers, branches and bookmarks refer to it."
OTHER = "Click to make this the current run."


@final
class RunHeading(QLabel):
    """Name of a run; of several open runs the current one is bold, with a bar at its left."""

    clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, textFormat=Qt.TextFormat.PlainText)
        self.setMinimumWidth(1)
        self._current: bool | None = None
        self._set_weight()

    @property
    def is_marked(self) -> bool:
        """True for the current one of several runs."""
        return bool(self._current)

    def set_current(self, current: bool | None) -> None:
        """Mark the run as current or not; None if it is the only open one."""
        if current is self._current:
            return
        self._current = current
        several = current is not None
        self._set_weight()
        # The same margin for all, so that nothing moves when another run becomes current.
        self.setContentsMargins(BAR + GAP if several else 0, 0, 0, 0)
        self.setToolTip((CURRENT if current else OTHER) if several else "")
        self.setAccessibleDescription("current run" if current else "")
        shape = Qt.CursorShape.PointingHandCursor if several else Qt.CursorShape.ArrowCursor
        self.setCursor(shape)
        self.update()

    def _set_weight(self) -> None:
        font = self.font()
        is_other = self._current is False
        font.setWeight(QFont.Weight.Normal if is_other else QFont.Weight.DemiBold)
        self.setFont(font)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        # A new style sheet restores the label's original font.
        if event.type() is QEvent.Type.StyleChange:
            self._set_weight()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._current:
            painter = QPainter(self)
            accent = self.palette().color(QPalette.ColorRole.Highlight)
            painter.fillRect(0, 0, BAR, self.height(), accent)
            painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.clicked.emit()
        else:
            super().mousePressEvent(event)
