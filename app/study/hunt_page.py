"""The page of a whole study that hunts: what for, among what, how long, and what was found."""

from __future__ import annotations

from dataclasses import replace
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from app.study.finding_table import FindingTable
from app.widgets.elided import ElidedLabel
from app.widgets.inputs import ChoiceBox, ValueEdit, problem_label, push_button, quiet_label
from app.widgets.layouts import filled, laid
from app.widgets.plain_text import plain_tip
from core.extremes.question import Frames, Question, limit_of, range_of

USUAL = "hard_margin"
MINUTES = "5m"
EVERY = "any"  # seed
WHAT_TIP = (
    "An observable, or a formula over observables, reference margins and sizes, such as "
    "hard_margin / (gamma_gl / 2); slack:NAME or ratio:NAME is the room that a statement leaves"
)
OVER = {
    "seeds": ("seeds", "The seeds of data and start are drawn"),
    "start": ("starts", "The data stay; the start is drawn, and moved where it was good"),
    "data": ("data", "The start stays; the data are drawn, and moved where they were good"),
}
TAKE = {"last": "at the end", "least": "least of all frames", "largest": "largest of all frames"}
SEEDS_TIP = "The first and the last seed that may be drawn, such as 0-999; each is drawn once"
LIMIT_TIP = "A time, such as 300s, 5m or 1h, or a number of runs"


@final
class HuntPage(QWidget):
    """run_requested(path, beside): a finding is to be opened; hunt_requested, stop_requested."""

    run_requested = Signal(object, bool)
    hunt_requested = Signal()
    stop_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._asked = Question(USUAL)
        self.sense = ChoiceBox(self, "Least or largest", letters=7)
        self.sense.addItem("Least", True)
        self.sense.addItem("Largest", False)
        self.what = self._field("What is looked for", WHAT_TIP)
        self.take = ChoiceBox(self, "Of which frames", letters=10)
        for name, words in TAKE.items():
            self.take.addItem(words, name)
        self.over = ChoiceBox(self, "What is varied", letters=6)
        for place, (name, (words, tip)) in enumerate(OVER.items()):
            self.over.addItem(words, name)
            self.over.setItemData(place, plain_tip(tip), Qt.ItemDataRole.ToolTipRole)
        self.seeds = self._field("Seeds", SEEDS_TIP, EVERY)
        self.limit = self._field("How long", LIMIT_TIP, MINUTES)
        self.fit = QCheckBox("only runs that fit", self)
        self.fit.setToolTip("Leave out runs that end with training errors")
        self.hunt = push_button("Hunt", self, "Begin, or go on with the same question")
        self.stop = push_button("Stop", self, "End the hunt; what was found stays")
        self.problem = problem_label(self)
        muted = QPalette.ColorRole.PlaceholderText
        self.words = ElidedLabel(self, Qt.TextElideMode.ElideRight, muted)
        self.table = FindingTable(self)
        self._arrange()
        self.table.run_requested.connect(self.run_requested)
        self.hunt.clicked.connect(self.hunt_requested)
        self.stop.clicked.connect(self.stop_requested)
        for field in (self.what, self.seeds, self.limit):
            field.returnPressed.connect(self.hunt.click)
        self.set_hunting(False, possible=False)

    def _field(self, name: str, tip: str, empty: str = "") -> ValueEdit:
        field = ValueEdit(self)
        field.setAccessibleName(name)
        field.setToolTip(plain_tip(tip))
        field.setPlaceholderText(empty)
        return field

    def _arrange(self) -> None:
        for narrow, width in ((self.seeds, 96), (self.limit, 64)):
            narrow.setFixedWidth(width)
        first = filled(laid(QHBoxLayout(), spacing=8), self.sense, (self.what, 1), self.take)
        second = laid(QHBoxLayout(), spacing=8)
        for text, part in (("over", self.over), ("seeds", self.seeds), ("for", self.limit)):
            filled(second, quiet_label(text, self), part)
        filled(second, self.fit, 1, self.hunt, self.stop)
        column = laid(QVBoxLayout(self), (16, 12, 8, 0), 8)
        filled(column, first, second, self.problem, self.words, (self.table, 1))

    # --------------------------------------------------------------------------------- showing

    def show_question(self, question: Question | None, runs: int | None) -> None:
        """What a study asks by itself, in so many runs; the margin where it asks nothing."""
        self._asked = question or Question(USUAL)
        asked = self._asked
        self.sense.setCurrentIndex(self.sense.findData(asked.least))
        self.what.setText(asked.text)
        self.what.setCursorPosition(0)
        self.take.setCurrentIndex(self.take.findData(asked.frames.take))
        self.over.setCurrentIndex(self.over.findData(asked.over))
        self.seeds.setText("" if asked.seeds is None else "-".join(map(str, asked.seeds)))
        self.limit.setText("" if runs is None else str(runs))
        self.fit.setChecked(asked.fit)
        self.table.show_findings(())
        self.words.set_text("")
        self.show_problem("")

    def show_problem(self, sentence: str) -> None:
        """What is wrong with the question; "" for nothing."""
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))

    def set_hunting(self, hunting: bool, possible: bool) -> None:
        """Whether a hunt is on, or one could be begun."""
        parts = (self.sense, self.what, self.take, self.over, self.seeds, self.limit, self.fit)
        for part in parts:
            part.setEnabled(not hunting)
        self.hunt.setEnabled(possible and not hunting)
        self.stop.setEnabled(hunting)

    # --------------------------------------------------------------------------------- reading

    def question(self) -> Question:
        """What is asked. Raises InputError for seeds that are none."""
        asked, take = self._asked, self.take.currentData()
        # A moment and a condition are the study's own, and stand in no field here.
        own = asked.frames.take == take and asked.text == self.what.text().strip()
        seeds = self.seeds.text().strip()
        return replace(
            asked,
            text=self.what.text().strip(),
            least=bool(self.sense.currentData()),
            over=self.over.currentData(),
            frames=asked.frames if own else Frames(take),
            fit=self.fit.isChecked(),
            seeds=range_of(seeds) if seeds and seeds != EVERY else None,
        )

    def limits(self) -> tuple[int | None, float]:
        """A number of runs or seconds. Raises InputError for what is neither."""
        return limit_of(self.limit.text().strip() or MINUTES)
