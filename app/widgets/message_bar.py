"""A thin bar that says one sentence: what went wrong, or what is to be known."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from app.widgets.layouts import filled, laid


@final
class MessageBar(QWidget):
    """A thin bar with one sentence and a button that hides it; hidden while there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messageBar")
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self._words = QLabel(self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._words.setObjectName("messageBarText")
        # A sentence may name a path or a value that somebody wants to copy.
        self._words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        close = QToolButton(self, autoRaise=True)
        close.setText("\u00d7")
        close.setToolTip("Hide this message")
        close.setAccessibleName("Hide this message")
        close.clicked.connect(self.clear)
        layout = filled(laid(QHBoxLayout(self), (16, 4, 8, 4), 8), (self._words, 1))
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    @property
    def text(self) -> str:
        """The sentence that is shown; empty while there is none."""
        return self._words.text()

    def say(self, sentence: str) -> None:
        """Show a sentence; an empty one hides the bar."""
        self._words.setText(sentence)
        self.setVisible(bool(sentence))

    def clear(self) -> None:
        """Hide the bar."""
        self.say("")
