"""The line of the theory panel that says where a run's margin is going."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.theory.statement_row import BoundBox
from app.widgets.inputs import quiet_label
from app.widgets.layouts import filled, laid
from app.widgets.plain_text import rich_tip
from app.widgets.symbols import rich

FINAL = "final margin"  # core.observables.final_margin.KEY, which loads the numerical libraries
NAME = "Final margin"
SHOW = "Show it among the margins"


@final
class FinalLine(QWidget):
    """requested(key, shown): its ends are wanted among the margins, or no more."""

    requested = Signal(str, bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.words = quiet_label("", self, wrap=True)
        self.words.setTextFormat(Qt.TextFormat.RichText)
        self.shown = BoundBox(SHOW, self)
        self.shown.toggled.connect(self._toggled)
        filled(laid(QVBoxLayout(self), (0, 0, 0, 4), 4), self.words, self.shown)
        self.hide()

    def show_words(self, words: tuple[str, str, str], bounds: frozenset[str]) -> None:
        """Its ends, their condition and a tip; all empty where nothing is known."""
        ends, condition, tip = words
        text = f"{NAME} <b>{rich(ends)}</b>, {rich(condition)}"
        self.words.setText(text if ends else "")
        self.words.setAccessibleName(f"{NAME} {ends}, {condition}" if ends else "")
        self.words.setToolTip(rich_tip(tip))
        with QSignalBlocker(self.shown):
            self.shown.setChecked(FINAL in bounds)
        self.setVisible(bool(ends))

    def _toggled(self, shown: bool) -> None:
        self.requested.emit(FINAL, shown)
