"""Status below the time: progress and speed of the training, else a summary of the theorems."""

from __future__ import annotations

import math
from pathlib import Path
from typing import final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.style import small
from app.widgets.labels import ElidedLabel, plain_tip
from app.widgets.layouts import add_all, space
from core.numbers import count_text, duration_text, raise_powers, time_text, whole_text

WIDEST = "1 fails as printed \u00b7 10 hold \u00b7 2 fail outside \u00b7 10 undecided"
BETWEEN = " \u00b7 "
CLICK = "Click to see when each one holds."


@final
class StatusLine(QWidget):
    """Line of constant width, with its full text as the tip.

    It shows what the program is busy with, else the progress of the training, else the summary of
    the theorems.
    """

    cancel_requested = Signal()
    clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._progress: tuple[str, ...] = ()
        self._details: tuple[str, ...] = ()
        self._message = self._work = self._summary = ""
        self.line = ElidedLabel(
            self, Qt.TextElideMode.ElideRight, QPalette.ColorRole.PlaceholderText
        )
        self.line.set_alignment(Qt.AlignmentFlag.AlignRight)
        self.cancel = QToolButton(self, autoRaise=True)
        self.cancel.setText("\u2715")
        self.cancel.setProperty("inline", True)
        self.cancel.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.cancel.clicked.connect(self.cancel_requested)
        self.cancel.hide()
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        add_all(space(QHBoxLayout(self), spacing=4), (self.line, 1), self.cancel)
        self._set_font()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._set_font()

    def _set_font(self) -> None:
        self.line.setFont(small(self.font()))
        self.updateGeometry()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.clicked.emit()

    def sizeHint(self) -> QSize:
        metrics = self.line.fontMetrics()
        return QSize(metrics.horizontalAdvance(WIDEST) + 4, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width() // 2, self.sizeHint().height())

    @property
    def text(self) -> str:
        """Text of the line, before it is shortened to fit."""
        return self.line.text()

    def show_work(self, words: str) -> None:
        """Show the present background work, with a button that cancels it."""
        self._work = words
        self.cancel.setAccessibleName(f"{words} Cancel")
        self.cancel.setToolTip(plain_tip(f"Cancel: {words}"))
        self.cancel.setVisible(bool(words))
        self._show()

    def show_summary(self, words: str) -> None:
        """Show the theorems' summary of the current run."""
        self._summary = words
        self._show()

    def show_texts(
        self,
        *,
        step: int | None = None,
        log10_time: float | None = None,
        rate: float = math.nan,
        eta: float = math.nan,
        engine: str = "",
        saved: Path | None = None,
        message: str = "",
        live: bool = False,
    ) -> None:
        """Show the progress of a run: `rate` in steps a second, `eta` in seconds."""
        steps = "" if step is None else f"step {whole_text(step)}"
        speed = f"{count_text(rate)} steps/s" if math.isfinite(rate) else ""
        time_left = f"{duration_text(eta)} left" if math.isfinite(eta) else ""
        clock = "" if log10_time is None else raise_powers(time_text(log10_time))
        self._progress = tuple(filter(None, (steps, speed, time_left))) if live else ()
        trained = f"Trained to {', '.join(filter(None, (steps, clock)))}" if steps or clock else ""
        path = f"Every frame is saved in {saved}" if saved is not None else ""
        parts = (trained, speed, time_left, f"Computed by {engine}" if engine else "", path)
        self._details = tuple(filter(None, parts))
        self._message = message
        self._show()

    def _show(self) -> None:
        """Show the most important text, and all texts in the tooltip."""
        line = self._message or self._work or BETWEEN.join(self._progress) or self._summary
        theorems = f"Theorems: {self._summary}. {CLICK}" if self._summary else ""
        texts = (self._message, self._work, theorems, *self._details)
        self.line.set_text(line, "\n".join(dict.fromkeys(filter(None, texts))))
