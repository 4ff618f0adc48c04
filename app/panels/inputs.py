"""The controls that fields are edited with, and how a wrong or an edited one looks."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QWidget

HEIGHT = 24
MARGIN = 8


def line_height(widget: QWidget, least: int = HEIGHT) -> int:
    """The height of one line in a widget: the grid's, or more where the system's type is large."""
    needed = widget.fontMetrics().height() + MARGIN
    return max(least, -(-needed // 4) * 4)


def set_property(widget: QWidget, name: str, value: bool) -> None:
    """Set a property that the style sheet looks at, and style the widget anew if it changed."""
    if bool(widget.property(name)) == value:
        return
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def quiet_label(text: str, parent: QWidget | None = None) -> QLabel:
    """A label in the muted colour."""
    label = QLabel(text, parent)
    label.setProperty("quiet", True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def heading_label(text: str, parent: QWidget | None = None) -> QLabel:
    """The heading of a group of rows."""
    label = QLabel(text, parent)
    label.setProperty("heading", True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def problem_label(parent: QWidget | None = None) -> QLabel:
    """A hidden label for the sentence that says what is wrong."""
    label = QLabel(parent)
    label.setProperty("problem", True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.hide()
    return label


@final
class ValueEdit(QLineEdit):
    """A line of text; Escape asks for the value from before."""

    restore_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(line_height(self))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.isModified():
            self.restore_requested.emit()
            return
        super().keyPressEvent(event)


@final
class ChoiceBox(QComboBox):
    """A combo box that the wheel changes only while it has the focus, so that panels can scroll."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(line_height(self))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
