"""Explanation of a library without rows, and the actions that fill it."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.widgets.inputs import push_button
from app.widgets.labels import quiet_label
from app.widgets.layouts import add_all, space

NO_RUNS = "No runs yet. Every run that you train is recorded and listed here."
NO_MATCH = "No run matches. Use fewer words, or another condition."
NO_TRASH = "The trash is empty."
ROOM = 24


@final
class EmptyPage(QWidget):
    """Sentence in place of the rows, with the actions that fill them."""

    run_requested = Signal()
    open_requested = Signal()
    clear_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sentence = quiet_label("", self, wrap=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.run = push_button("Run the study", self, "Train the runs of the chosen study")
        self.open = push_button("Open files ...", self, "Open run files from a folder of your own")
        self.clear = push_button("Clear the search", self)
        self.run.clicked.connect(self.run_requested)
        self.open.clicked.connect(self.open_requested)
        self.clear.clicked.connect(self.clear_requested)
        buttons = space(QHBoxLayout(), spacing=8)
        add_all(buttons, 1, self.run, self.open, self.clear, 1)
        column = space(QVBoxLayout(self), (ROOM, ROOM, ROOM, ROOM), 12)
        add_all(column, 1, self.sentence, buttons, 2)

    def explain(self, searching: bool, trashed: bool) -> None:
        """Explain why no run is listed."""
        self.sentence.setText(NO_MATCH if searching else NO_TRASH if trashed else NO_RUNS)
        self.clear.setVisible(searching)
        for button in (self.run, self.open):
            button.setVisible(not searching and not trashed)
