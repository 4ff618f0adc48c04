"""Asks for one line: a name, or a link. The window goes on meanwhile."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QLabel, QLineEdit, QWidget

from app.widgets.layouts import widen_for_title


def line_dialog(parent: QWidget, key: str, title: str, label: str, text: str = "") -> QInputDialog:
    """A dialog, not open yet, that `textValueSelected` tells of; `text` stands there, selected."""
    dialog = QInputDialog(parent)
    dialog.setObjectName(key)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setTextValue(text)
    widen_for_title(dialog)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for shown in dialog.findChildren(QLabel):
        shown.setTextFormat(Qt.TextFormat.PlainText)
    line = dialog.findChild(QLineEdit)
    assert line is not None
    line.setAccessibleName(label)
    line.selectAll()
    return dialog
