"""The window that shows how far an export is, and how long it will still take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.state.time_left import TimeLeft
from app.widgets.inputs import quiet_label
from app.widgets.layouts import filled, laid
from core.numbers import duration_text


@final
class ProgressWindow(QDialog):
    """How far an export is. Closing it is asking to cancel; it goes when the work has ended."""

    cancel_requested = Signal()

    def __init__(
        self, parent: QWidget | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        """`now` is the clock by which the time left is told."""
        super().__init__(parent)
        self._now, self._left = now, TimeLeft(now())
        self.setWindowTitle("Export")
        self.setMinimumWidth(400)
        self.label = QLabel(self, textFormat=Qt.TextFormat.PlainText)
        self.left = quiet_label("", self)
        self.bar = QProgressBar(self, textVisible=False)
        self.cancel = QPushButton("Cancel", self)
        self.cancel.clicked.connect(self.cancel_requested)
        column = laid(QVBoxLayout(self), (24, 16, 24, 24), 16)
        filled(column, self.label, self.bar, self.left, filled(QHBoxLayout(), 1, self.cancel))

    def begin(self, title: str) -> None:
        """Get ready for a job."""
        self.label.setText(f"{title} ...")
        # Qt's way to show that something goes on whose length is not known yet.
        self.bar.setRange(0, 0)
        self.cancel.setEnabled(True)
        self._left = TimeLeft(self._now())

    def show_progress(self, done: int, total: int) -> None:
        """So many parts of all are done."""
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        seconds = self._left.after(self._now(), done, total)
        known = math.isfinite(seconds) and done < total
        self.left.setText(f"about {duration_text(seconds)} left" if known else "")

    def cancelling(self) -> None:
        """The work will stop at its next chance."""
        self.label.setText("Stopping ...")
        self.cancel.setEnabled(False)

    # QDialog's own would hide the window while the thread is still at work.
    def reject(self) -> None:  # Escape
        self.cancel_requested.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore()
        self.cancel_requested.emit()
