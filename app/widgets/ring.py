"""Frame around a part of a window, which points at the part."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QMargins, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QWidget

WIDTH, LEAST_PLOT = 3, 100  # pixels; parts lower than LEAST_PLOT are controls
AROUND = QMargins(WIDTH, WIDTH, WIDTH, WIDTH)


@final
class Ring(QWidget):
    """Frame over the window that ignores clicks."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_around(self, target: QRect) -> None:
        """Frame a part of the window; hide for an empty one."""
        self.setVisible(not target.isEmpty())
        # Around a plot, unlike around a control, the frame would cross the heading above.
        ring = target.marginsAdded(AROUND) if target.height() < LEAST_PLOT else target
        self.setGeometry(ring.intersected(self._window.rect()))
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), WIDTH))
        half = WIDTH / 2.0
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(half, half, -half, -half), 6, 6)
        painter.end()
