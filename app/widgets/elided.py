"""A label that shortens its text to the room there is; the tooltip tells the whole."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.widgets.plain_text import plain_tip


@final
class ElidedLabel(QWidget):
    """One line of text, shortened in the middle or at the right."""

    def __init__(
        self,
        parent: QWidget | None = None,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
        role: QPalette.ColorRole = QPalette.ColorRole.WindowText,
    ) -> None:
        super().__init__(parent)
        self._text = ""
        self._mode, self._role = mode, role
        self._align = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        # A path of any length must not make the window wider.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_alignment(self, alignment: Qt.AlignmentFlag) -> None:
        """Left or right."""
        self._align = alignment | Qt.AlignmentFlag.AlignVCenter

    def text(self) -> str:
        """The whole text."""
        return self._text

    def set_text(self, text: str, explanation: str = "") -> None:
        """Show a text; the tooltip is the text itself unless something else is said."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self.updateGeometry()  # its sizeHint is that of the text
            self.update()
        self.setToolTip(plain_tip(explanation or text))

    def shown_text(self) -> str:
        """The text as it is painted."""
        return self.fontMetrics().elidedText(self._text, self._mode, self.width())

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text) + 2, metrics.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self._role))
        painter.drawText(self.rect(), self._align, self.shown_text())
        painter.end()
