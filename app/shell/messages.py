"""Dialog with the latest messages, which no longer show in the corner of the plots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from app.widgets.layouts import add_all, space, widen_for_title

NONE_YET = "No messages yet."
SIZE = QSize(64, 20)  # characters and lines


@final
class MessagesDialog(QDialog):
    """Messages with their times, the newest first, as text that can be copied."""

    def __init__(self, messages: Iterable[tuple[str, str]], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Recent messages")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        widen_for_title(self)
        lines = [f"{moment}  {sentence}" for moment, sentence in messages]
        self.text = QPlainTextEdit("\n".join(reversed(lines)) or NONE_YET, self)
        self.text.setReadOnly(True)
        self.text.setAccessibleName("Recent messages")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        add_all(space(QVBoxLayout(self), (16, 16, 16, 16), 8), (self.text, 1), buttons)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(
            SIZE.width() * metrics.averageCharWidth(), SIZE.height() * metrics.lineSpacing()
        )
