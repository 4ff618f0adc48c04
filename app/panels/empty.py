"""What stands where the views will be, while there is no run: what to do, with buttons."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.panels.inputs import quiet_label
from app.widgets.layouts import filled, laid

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
        headline = QLabel(HEADLINE, self, alignment=Qt.AlignmentFlag.AlignHCenter)
        font = headline.font()
        font.setPointSizeF(font.pointSizeF() * 1.7)
        headline.setFont(font)
        self.explanation = quiet_label("", self, wrap=True)
        self.explanation.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.explanation.setFixedWidth(TEXT_WIDTH)
        column = filled(laid(QVBoxLayout(self), (32, 32, 32, 32), 16), 2, headline)
        column.addWidget(self.explanation, 0, Qt.AlignmentFlag.AlignHCenter)
        self.run_button = QPushButton("Run the study", self)
        self.run_button.setProperty("primary", True)
        self.run_button.clicked.connect(self.run_requested)
        self.open_button = QPushButton("Open a run file ...", self)
        self.open_button.clicked.connect(self.open_requested)
        column.addSpacing(8)
        buttons = filled(laid(QHBoxLayout(), spacing=8), 1, self.run_button, self.open_button, 1)
        filled(column, buttons, 3)
        self.set_study("")

    def sizeHint(self) -> QSize:
        return QSize(560, 400)

    def set_study(self, title: str) -> None:
        """Name the study that Run would train."""
        self.explanation.setText(EXPLANATION.format(study=title or "the study"))
        # A label that wraps asks for too little height in a column that centres it.
        self.explanation.setFixedHeight(self.explanation.heightForWidth(TEXT_WIDTH))

    def set_runnable(self, runnable: bool) -> None:
        """Whether there is a study to run, whose values are all right."""
        self.run_button.setEnabled(runnable)
