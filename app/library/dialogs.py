"""Asks for the name, the tags or the note of runs of the library."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.widgets.inputs import quiet_label
from app.widgets.layouts import filled, laid

WIDTH = 420


@final
class TextDialog(QDialog):
    """One text, in a line or in several; `deed` is what it is for, `before` what it was."""

    def __init__(
        self, deed: str, question: str, hint: str, before: str, parent: QWidget, lines: bool = False
    ) -> None:
        super().__init__(parent)
        self.deed, self.before = deed, before
        self.setWindowTitle("Library of runs")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        label = QLabel(question, self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.line = QLineEdit(before, self)
        self.field = QPlainTextEdit(before, self, tabChangesFocus=True)
        for part, shown in ((self.line, not lines), (self.field, lines)):
            part.setAccessibleName(question)
            part.setVisible(shown)
        self._lines = lines
        self.line.selectAll()
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        rows = (label, self.line, self.field, quiet_label(hint, self, wrap=True), buttons)
        filled(laid(QVBoxLayout(self), (16, 16, 16, 16), 8), *rows)
        self.setMinimumWidth(WIDTH)
        (self.field if lines else self.line).setFocus()

    def text(self) -> str:
        """What stands there now."""
        return self.field.toPlainText() if self._lines else self.line.text()
