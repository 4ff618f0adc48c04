"""The line at the bottom: how far the training is, how fast, and where it is saved."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from app.style import tabular
from app.widgets.inputs import line_height
from app.widgets.labels import ElidedLabel, menu_text, plain_label, plain_tip
from app.widgets.layouts import space
from core.numbers import count_text, duration_text, raised, time_text, whole_text

# The longest texts that are usual: each place is this wide from the start, so nothing jumps.
WIDEST = {
    "step": "trained to step 000\u202f000\u202f000",
    "time": "t = 0.00 \u00d7 10\u207b\u2070",
    "rate": "000 k steps/s",
    "left": "00 min left",
}
LAST_TO_GO = ("step", "time", "left", "rate")
SPACE = 16
MESSAGE = "Compiling kernels: 00 of 00"  # what the message has room for in any window
MEANINGS = {
    "step": "Steps that the training has taken.",
    "time": "The time t that the training has reached; what is shown is beside the slider.",
    "rate": "Steps a second, over the last moments.",
    "left": "How long the training will still take, about.",
}


@final
class StatusLine(QWidget):
    """One line; what is not known is left blank. `places`: step, time, rate and left."""

    cancel_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = space(QHBoxLayout(self), (SPACE, 0, SPACE, 0), SPACE)
        self.setFixedHeight(line_height(self))
        self.places: dict[str, QLabel] = {}
        for name, widest in WIDEST.items():
            label = plain_label(parent=self)
            label.setFont(tabular(label.font()))
            label.setFixedWidth(label.fontMetrics().horizontalAdvance(widest) + 4)
            label.setToolTip(plain_tip(MEANINGS[name]))
            self.places[name] = label
            layout.addWidget(label)
        muted = QPalette.ColorRole.PlaceholderText
        self.engine = ElidedLabel(self, Qt.TextElideMode.ElideRight, muted)
        self.message = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        self.message.setMinimumWidth(self.fontMetrics().horizontalAdvance(MESSAGE) + 4)
        self.saved = ElidedLabel(self, Qt.TextElideMode.ElideMiddle, muted)
        self.saved.set_alignment(Qt.AlignmentFlag.AlignRight)
        layout.addWidget(self.engine, 2)
        layout.addWidget(self.message, 3)
        layout.addWidget(self.saved, 3)
        self.work = QToolButton(self, autoRaise=True)
        self.work.setProperty("inline", True)
        self.work.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.work.hide()
        layout.insertWidget(layout.indexOf(self.saved), self.work)
        self.work.clicked.connect(self.cancel_requested)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._needed(()), super().minimumSizeHint().height())

    def _needed(self, names: Iterable[str]) -> int:
        """The width that some places need beside what always stands here."""
        shown: list[QWidget] = [self.message, *(self.places[name] for name in names)]
        widths = [widget.minimumWidth() for widget in shown]
        if not self.work.isHidden():
            widths.append(self.work.sizeHint().width())
        return sum(width + SPACE for width in widths) + 3 * SPACE  # and of what shortens its text

    def _fit(self) -> None:
        """Show the places that there is room for: large type must not make the window wider."""
        shown: list[str] = []
        for name in LAST_TO_GO:
            there = self._needed((*shown, name)) <= self.width()
            self.places[name].setVisible(there)
            shown += [name] if there else []

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def show_work(self, words: str) -> None:
        """What is being computed beside the training; pressing it cancels. "" for nothing."""
        self.work.setText(menu_text(f"{words} \u2715"))
        self.work.setAccessibleName(f"{words} Cancel")
        self.work.setToolTip(plain_tip(f"{words} Press to cancel."))
        self.work.setVisible(bool(words))
        self._fit()

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
    ) -> None:
        """Show these texts; what is not given leaves its place blank.

        `rate` is in steps a second, `eta` in seconds, `saved` the path of the run file.
        """
        self.places["step"].setText("" if step is None else f"trained to step {whole_text(step)}")
        clock = "" if log10_time is None else raised(time_text(log10_time, padded=True))
        self.places["time"].setText(clock)
        speed = f"{count_text(rate)} steps/s" if math.isfinite(rate) else ""
        self.places["rate"].setText(speed)
        left = f"{duration_text(eta)} left" if math.isfinite(eta) else ""
        self.places["left"].setText(left)
        self.engine.set_text(engine, f"What computes the run: {engine}." if engine else "")
        self.message.set_text(message)
        path = "" if saved is None else str(saved)
        where = f"Every frame is saved as it is computed, in\n{path}" if path else ""
        self.saved.set_text(path, where)
