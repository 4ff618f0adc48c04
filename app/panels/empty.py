"""What stands where the views will be, while there is no run: what to do, with buttons."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.panels.inputs import quiet_label
from app.widgets.layouts import laid

TEXT_WIDTH = 440
HEADLINE = "Watch a network learn"
EXPLANATION = (
    "Press Run to train {study}. Change its settings at the left first, if you like: everything "
    "is recorded, so you can go back to any moment. Or open a run file, or drop one here."
)


@final
class EmptyState(QWidget):
    """An invitation. `run_requested` and `open_requested` say which button was pressed."""

    run_requested = Signal()
    open_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = laid(QVBoxLayout(self), (32, 32, 32, 32), 16)
        column.addStretch(2)
        self._headline = QLabel(HEADLINE, self)
        font = self._headline.font()
        font.setPointSizeF(font.pointSizeF() * 1.7)
        self._headline.setFont(font)
        self._headline.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._explanation = quiet_label("", self)
        self._explanation.setWordWrap(True)
        self._explanation.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._explanation.setFixedWidth(TEXT_WIDTH)
        column.addWidget(self._headline)
        column.addWidget(self._explanation, 0, Qt.AlignmentFlag.AlignHCenter)
        self.run_button = QPushButton("Run the study", self)
        self.run_button.setProperty("primary", True)
        self.run_button.clicked.connect(self.run_requested)
        self.open_button = QPushButton("Open a run file ...", self)
        self.open_button.clicked.connect(self.open_requested)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch(1)
        buttons.addWidget(self.run_button)
        buttons.addWidget(self.open_button)
        buttons.addStretch(1)
        column.addSpacing(8)
        column.addLayout(buttons)
        column.addStretch(3)
        self.set_study("")

    def sizeHint(self) -> QSize:
        return QSize(560, 400)

    def set_study(self, title: str) -> None:
        """Name the study that Run would train."""
        self._explanation.setText(EXPLANATION.format(study=title or "the study"))
        # A label that wraps asks for too little height in a column that centres it.
        self._explanation.setFixedHeight(self._explanation.heightForWidth(TEXT_WIDTH))

    def set_runnable(self, runnable: bool) -> None:
        """Whether there is a study to run, whose values are all right."""
        self.run_button.setEnabled(runnable)
