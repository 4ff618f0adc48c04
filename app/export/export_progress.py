"""Progress window of an export, with the time left."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
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

from app.widgets.labels import quiet_label
from app.widgets.layouts import add_all, space
from core.numbers import duration_text

SURE = 1.0  # seconds until a rate is reliable
PACE = 0.5  # seconds between two texts


@final
@dataclass(slots=True)
class TimeLeft:
    """Seconds left, estimated by the mean rate, and updated twice a second at most.

    Times are in seconds of any clock.

    >>> left = TimeLeft(start=10.0)
    >>> left.estimate(10.5, 1, 10), left.estimate(14.0, 4, 10), left.estimate(14.1, 5, 10)
    (nan, 6.0, 6.0)
    >>> left.estimate(20.0, 10, 10)
    0.0
    """

    start: float
    _estimate: float = math.nan
    _at: float = -math.inf

    def estimate(self, now: float, n_done: int, total: int) -> float:
        """Return the seconds left when so many parts are done; NaN if too little is known."""
        elapsed = now - self.start
        if n_done >= total:
            self._estimate = 0.0
        elif n_done > 0 and elapsed >= SURE and now - self._at >= PACE:
            self._estimate, self._at = elapsed * (total - n_done) / n_done, now
        return self._estimate


@final
class ProgressWindow(QDialog):
    """Progress of an export. Closing it cancels; it remains until the work has ended."""

    cancel_requested = Signal()

    def __init__(
        self,
        title: str,
        parent: QWidget | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`title`: what is done; `now`: the clock of the time left."""
        super().__init__(parent)
        self._now, self._left = now, TimeLeft(now())
        self.setWindowTitle("Export")
        self.setMinimumWidth(400)
        self.label = QLabel(f"{title} ...", self, textFormat=Qt.TextFormat.PlainText)
        self.left = quiet_label("", self)
        self.bar = QProgressBar(self, textVisible=False)
        self.bar.setRange(0, 0)  # Qt's indeterminate state
        self.cancel = QPushButton("Cancel", self)
        self.cancel.clicked.connect(self.cancel_requested)
        column = space(QVBoxLayout(self), (24, 16, 24, 24), 16)
        add_all(column, self.label, self.bar, self.left, add_all(QHBoxLayout(), 1, self.cancel))

    def show_progress(self, n_done: int, total: int) -> None:
        """Show that so many parts of all are done."""
        self.bar.setRange(0, total)
        self.bar.setValue(n_done)
        seconds = self._left.estimate(self._now(), n_done, total)
        is_known = math.isfinite(seconds) and n_done < total
        self.left.setText(f"about {duration_text(seconds)} left" if is_known else "")

    def show_cancelling(self) -> None:
        """Show that the work will stop at its next chance."""
        self.label.setText("Stopping ...")
        self.cancel.setEnabled(False)

    # Escape. QDialog's own would hide the window while the thread still works.
    def reject(self) -> None:
        self.cancel_requested.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore()
        self.cancel_requested.emit()
