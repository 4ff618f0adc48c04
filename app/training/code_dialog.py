"""Dialog that shows the Python code of a network and asks whether it may run."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.widgets.elided import ElidedLabel
from app.widgets.inputs import quiet_label
from app.widgets.layouts import filled, laid
from app.widgets.plain_text import plain_label
from core.terminal.text import escape_controls
from core.trust import UntrustedCodeError

TRUST, CANCEL = "Trust and run", "Cancel"
TITLE = "Run the Python code of a network?"
WARNING = (
    "This network is written in Python. Its code can do whatever you can do on this computer, such "
    "as read, change and send your files. Run the code only if you trust its author."
)
REMEMBERED = (
    "Marginscope remembers exactly this code ({lines}) and asks again after every change of it."
)
ASKER, FILE, HOLDER = "Study", "Python file", "File with the code"
UNKNOWN = "the network of this run"
TAB = 8  # columns, as `core.trust.check_shown` measures lines
SIDE, WIDTH, HEIGHT = 16, 720, 520  # within the smallest window


@final
class CodeDialog(QDialog):
    """Shows who asks and the code. Return and Escape cancel."""

    def __init__(self, error: UntrustedCodeError, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("code")
        self.setWindowTitle("Marginscope")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        heading = plain_label(TITLE, self)
        heading.setProperty("heading", True)
        self.names = QFormLayout(horizontalSpacing=12, verticalSpacing=4)
        asks = bool(error.asker) and error.asker != error.file
        if asks:
            self._add_name(ASKER, error.asker)
        self._add_name(FILE if asks else HOLDER, error.file or UNKNOWN)
        self.code = self._make_code(error.code)
        count = error.code.rstrip("\n").count("\n") + 1
        lines = f"{count} lines" if count > 1 else "1 line"
        self.buttons = QDialogButtonBox(self)
        self.trust = self.buttons.addButton(TRUST, QDialogButtonBox.ButtonRole.AcceptRole)
        self.cancel = self.buttons.addButton(CANCEL, QDialogButtonBox.ButtonRole.RejectRole)
        self.trust.setAutoDefault(False)
        self.cancel.setDefault(True)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        filled(
            laid(QVBoxLayout(self), (SIDE, SIDE, SIDE, SIDE), 8),
            heading,
            plain_label(WARNING, self, wrap=True),
            self.names,
            (self.code, 1),
            quiet_label(REMEMBERED.format(lines=lines), self, wrap=True),
            self.buttons,
        )
        self.resize(WIDTH, HEIGHT)
        self.code.setFocus()  # keys scroll, and none of them runs the code

    def _add_name(self, role: str, name: str) -> None:
        """Add a row with the name of a file, as long as it may be."""
        label = ElidedLabel(self)
        label.set_text(escape_controls(name))
        label.setAccessibleName(f"{role}: {label.text()}")
        self.names.addRow(quiet_label(role, self), label)

    def _make_code(self, code: str) -> QPlainTextEdit:
        """Return the read-only text. Long lines are wrapped, so that nothing is out of sight."""
        field = QPlainTextEdit(self, readOnly=True, tabChangesFocus=True, undoRedoEnabled=False)
        family = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
        font = field.font()
        font.setFamilies([family, "DejaVu Sans Mono", "monospace"])
        font.setFixedPitch(True)
        field.setFont(font)
        field.setTabStopDistance(TAB * field.fontMetrics().horizontalAdvance(" "))
        field.setProperty("code", True)
        field.setAccessibleName("The Python code")
        field.setPlainText(code)
        return field
