"""Dialogs that do not block: a question with named answers, and a line of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import Qt
from PySide6.QtWidgets import QInputDialog, QLabel, QLineEdit, QMessageBox, QWidget

from app.widgets.layouts import widen_for_title

Role = QMessageBox.ButtonRole


@final
class Question(QObject):
    """Question over a window. `answer`: the text of the last button pressed, "" for none."""

    answer_given = Signal(str)  # the answer

    def __init__(self, window: QWidget, name: str) -> None:
        super().__init__(window)
        self._window, self._name = window, name
        self._box: QMessageBox | None = None
        self.answer = ""

    def show(
        self,
        text: str,
        details: str,
        answers: Mapping[str, Role],
        default: str,
        icon: QMessageBox.Icon = QMessageBox.Icon.Question,
        waits: bool = False,
    ) -> None:
        """Open the question in place of an open one; `waits`: return once it is answered.

        Return presses the button `default`, Escape the one with the role of rejection.
        """
        self.withdraw()
        box = self._box = QMessageBox(icon, "Marginscope", "", parent=self._window)
        box.setObjectName(self._name)
        box.setTextFormat(Qt.TextFormat.PlainText)  # applies to both texts
        box.setText(text)
        box.setInformativeText(details)
        for words, role in answers.items():
            button = box.addButton(words, role)
            button.setObjectName(words)  # the platform may add a mnemonic to the text
            if words == default:
                box.setDefaultButton(button)
            if role is Role.RejectRole:
                box.setEscapeButton(button)
        box.finished.connect(self._on_finished)
        if waits:
            box.exec()
        else:
            box.open()

    def withdraw(self) -> None:
        """Close the question without an answer."""
        box, self._box = self._box, None
        if box is not None:
            box.done(0)
            box.deleteLater()

    def _on_finished(self) -> None:
        box, self._box = self._box, None
        if box is not None:
            pressed = box.clickedButton()
            self.answer = next((one.objectName() for one in box.buttons() if one is pressed), "")
            box.deleteLater()  # otherwise the window, its parent, keeps it
            self.answer_given.emit(self.answer)


def line_dialog(parent: QWidget, key: str, title: str, label: str, text: str = "") -> QInputDialog:
    """Return an unopened dialog for one line of text; it emits `textValueSelected`."""
    dialog = QInputDialog(parent)
    dialog.setObjectName(key)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setTextValue(text)
    widen_for_title(dialog)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for child in dialog.findChildren(QLabel):
        child.setTextFormat(Qt.TextFormat.PlainText)
    line = dialog.findChild(QLineEdit)
    assert line is not None
    line.setAccessibleName(label)
    # QInputDialog's layout drops the dialog's own minimum.
    line.setMinimumWidth(dialog.minimumWidth())
    line.selectAll()
    return dialog
