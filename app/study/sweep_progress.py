"""How far a study is: buttons, a bar, and a line of words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from app.widgets.elided import ElidedLabel
from app.widgets.inputs import push_button
from app.widgets.layouts import filled, laid
from core.numbers import duration_text, whole_text

if TYPE_CHECKING:
    from core.sweep.control import SweepStatus

RUN, CONTINUE, AGAIN = "Run", "Continue", "Run what failed"
ALL_THERE = "All cells are there."


def words_of(status: SweepStatus, pausing: bool, stopping: bool) -> str:
    """A status in a line.

    >>> from core.sweep.control import SweepStatus
    >>> words_of(SweepStatus(total=200, done=37, running=2, failed=1, eta=45.0), False, False)
    '37 of 200 cells, 1 failed, 2 running; about 45 s left'
    >>> words_of(SweepStatus(total=200, compiling=("flow", "margins")), False, False)
    '0 of 200 cells; compiling kernels first, once on this computer'
    """
    parts = [f"{whole_text(status.done)} of {whole_text(status.total)} cells"]
    if status.failed:
        parts.append(f"{status.failed} failed")
    if status.running:
        parts.append(f"{status.running} running")
    text = ", ".join(parts)
    if stopping:
        return f"{text}; stopping ..."
    if status.compiling:
        return f"{text}; compiling kernels first, once on this computer"
    if status.lacks_workers:
        return f"{text}; waiting: no worker of the cluster is left"
    if pausing:
        return f"{text}; paused" + ("" if not status.running else " once they are done")
    if math.isfinite(status.eta) and status.done + status.failed < status.total:
        text += f"; about {duration_text(status.eta)} left"
    return text


@final
class SweepProgress(QWidget):
    """run_requested, pause_requested(held), cancel_requested."""

    run_requested = Signal()
    pause_requested = Signal(bool)
    cancel_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.run = push_button(
            RUN, self, "Run the cells that are not there yet; finished ones are kept"
        )
        self.run.setProperty("primary", True)
        self.run.clicked.connect(self.run_requested)
        self.pause = push_button("Pause", self, "Start no more cells until it is pressed again")
        self.pause.setCheckable(True)
        self.pause.toggled.connect(self._toggled)
        self.cancel = push_button(
            "Cancel", self, "End the study; finished cells stay, and Continue goes on from them"
        )
        self.cancel.clicked.connect(self.cancel_requested)
        self.bar = QProgressBar(self, textVisible=False)
        self.bar.setAccessibleName("Cells that are done")
        self.words = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        line = filled(laid(QHBoxLayout(self), spacing=8), self.run, self.pause, self.cancel)
        for part, share in ((self.bar, 2), (self.words, 3)):
            line.addSpacing(8)
            line.addWidget(part, share)
        self.show_idle(0, 0, 0, possible=False)

    def _toggled(self, held: bool) -> None:
        self.pause.setText("Resume" if held else "Pause")
        self.pause_requested.emit(held)

    def show_idle(self, done: int, failed: int, total: int, possible: bool) -> None:
        """Nothing runs; so many cells are there."""
        left = total - done
        begun = done + failed > 0 and left > 0
        self.run.setText(AGAIN if left == failed > 0 else CONTINUE if begun else RUN)
        self.run.setEnabled(possible and left > 0)
        self._show_buttons(False)
        self._show_bar(done, total)
        words = f"{whole_text(done)} of {whole_text(total)} cells are there" if done else ""
        words += f"; {failed} failed" if failed else ""
        self.words.set_text(ALL_THERE if total and not left else words)

    def show_status(self, status: SweepStatus, pausing: bool, stopping: bool) -> None:
        """It runs."""
        focused = self.run.hasFocus()
        self._show_buttons(not stopping)
        if focused:  # before Run is disabled, and after Pause can take it
            self.pause.setFocus()
        self.run.setEnabled(False)
        # Failed cells are over too: without them the bar would never be full.
        self._show_bar(status.done + status.failed, status.total)
        words = words_of(status, pausing, stopping) if status.total else "Looking what is there ..."
        self.words.set_text(words)

    def _show_bar(self, done: int, total: int) -> None:
        self.bar.setRange(0, max(total, 1))
        self.bar.setValue(done)

    def _show_buttons(self, running: bool) -> None:
        self.cancel.setEnabled(running)
        self.pause.setEnabled(running)
        if not running and self.pause.isChecked():
            # Unchecked by hand it would ask to go on with what has ended.
            with QSignalBlocker(self.pause):
                self.pause.setChecked(False)
            self.pause.setText("Pause")
