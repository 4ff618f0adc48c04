"""The line above the form that says of which run, and from when, Run makes a branch."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.widgets.inputs import push_button
from app.widgets.layouts import filled, laid
from app.widgets.plain_text import plain_tip

TIP = "Change any setting below and press Run: the branch begins at exactly that moment"


@final
class BranchLine(QWidget):
    """Hidden while there is none; cancelled: the form is to be as it was."""

    cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("branchLine")
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self.words = QLabel(self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.cancel = push_button(
            "Cancel", self, "Leave the run alone; the form is as it was before"
        )
        self.cancel.setAccessibleName("Cancel the branch")
        self.cancel.clicked.connect(self.cancelled)
        filled(laid(QHBoxLayout(self), (16, 4, 16, 4), 8), (self.words, 1), self.cancel)
        self.hide()

    def show_words(self, words: str) -> None:
        """Name the branch; "" for none."""
        self.words.setText(words)
        self.words.setToolTip(plain_tip(f"{words}. {TIP}." if words else ""))
        self.setVisible(bool(words))
