"""Hunts among the runs of a whole study: the page of its window, and its controller."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QPalette, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QHeaderView, QVBoxLayout, QWidget

from app.study.options import StudyOptions
from app.study.whole_study import StudyRuns
from app.study.workers import Finding, HuntOrder, HuntUpdate, StudyWorker, run_hunt
from app.training.run_questions import RunQuestions
from app.widgets.inputs import ChoiceBox, ValueEdit, push_button
from app.widgets.labels import ElidedLabel, plain_tip, problem_label, quiet_label
from app.widgets.layouts import add_all, space
from app.widgets.screen_text import shown_number
from app.widgets.tables import RunTable
from core.errors import MarginscopeError
from core.extremes.question import Frames, Question, limit_of, question_of, range_of
from core.numbers import whole_text
from core.studies.claims import hunt_of
from core.studies.code import check_cells
from core.trust import UntrustedCodeError

USUAL, USUAL_REAL = "hard_margin", "risk"  # minimised by default, with labels and with real targets
MINUTES = "5m"
EVERY = "any"
WHAT_TIP = (
    "Enter an observable, or a formula of observables, reference margins and sizes, such as "
    "hard_margin / (gamma_gl / 2). Enter slack:NAME or ratio:NAME for the slack of a theorem."
)
OVER = {
    "seeds": ("seeds", "Try random seeds of data and initial weights"),
    "start": ("starts", "Keep the data; try random initial weights and refine the best"),
    "data": ("data", "Keep the initial weights; try random data and refine the best"),
}
TAKE = {"last": "at the end", "least": "minimum over frames", "largest": "maximum over frames"}
SEEDS_TIP = "Enter the first and last seed, such as 0-999; each seed is tried once"
LIMIT_TIP = "Enter a time limit, such as 300s, 5m or 1h, or a number of runs"
N_NUMBERS, VERDICT = 2, 5  # count of numeric columns, on the left; index of the verdict
COLUMNS: tuple[tuple[str, Callable[[Finding], str]], ...] = (
    ("rank", lambda one: str(one.rank) if one.rank else ""),
    ("value", lambda one: shown_number(one.value, 6) if one.rank else ""),
    ("run", lambda one: one.where),
    ("found", lambda one: one.how),
    ("state", lambda one: one.state),
    ("verdict", lambda one: one.verdict),
)
STOPPING = "; stopping ..."


@final
class FindingTable(RunTable):
    """Runs found by a hunt, best first, at most a few hundred."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.model_ = QStandardItemModel()  # `model` is a method of QTableView
        self.model_.setHorizontalHeaderLabels([title for title, _ in COLUMNS])
        super().__init__(self.model_, "Results", parent)
        self.findings: Sequence[Finding] = ()
        self.setToolTip(
            "Double-click a run to open it, or Shift-double-click to open it beside the open runs"
        )
        # Few rows, whose texts grow as runs are refined.
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for column in range(len(COLUMNS)):
            self.model_.horizontalHeaderItem(column).setTextAlignment(_alignment(column))

    def show_findings(self, findings: Sequence[Finding]) -> None:
        """Show findings; keep the scroll position, and the selection by rank."""
        self.findings = findings
        self.model_.setRowCount(len(findings))
        for row, one in enumerate(findings):
            for column, (_, text) in enumerate(COLUMNS):
                item = QStandardItem(text(one))
                item.setToolTip(plain_tip(item.text()))
                item.setTextAlignment(_alignment(column))
                self.model_.setItem(row, column, item)
        self.setColumnHidden(VERDICT, not any(one.verdict for one in findings))

    def path(self, row: int) -> Path | None:
        return self.findings[row].path


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column < N_NUMBERS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


@final
class HuntPage(QWidget):
    """Fields of a question, buttons to hunt and stop, and the findings."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._question = Question(USUAL)
        self.sense = ChoiceBox(self, "Minimise or maximise", letters=7)
        self.sense.addItem("Minimise", True)
        self.sense.addItem("Maximise", False)
        self.what = self._field("Objective", WHAT_TIP)
        self.take = ChoiceBox(self, "Frames", letters=10)
        for name, words in TAKE.items():
            self.take.addItem(words, name)
        self.over = ChoiceBox(self, "Vary", letters=6)
        for place, (name, (words, tip)) in enumerate(OVER.items()):
            self.over.addItem(words, name)
            self.over.setItemData(place, plain_tip(tip), Qt.ItemDataRole.ToolTipRole)
        self.seeds = self._field("Seeds", SEEDS_TIP, EVERY)
        self.limit = self._field("Limit", LIMIT_TIP, MINUTES)
        self.fit = QCheckBox("only runs that fit", self)
        self.fit.setToolTip("Ignore runs that end with training errors")
        self.hunt = push_button("Hunt", self, "Start the hunt, or continue with the same question")
        self.stop = push_button("Stop", self, "Stop the hunt; results are kept")
        self.problem = problem_label(self)
        muted = QPalette.ColorRole.PlaceholderText
        self.words = ElidedLabel(self, Qt.TextElideMode.ElideRight, muted)
        self.table = FindingTable(self)
        self._arrange()
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
        first = add_all(space(QHBoxLayout(), spacing=8), self.sense, (self.what, 1), self.take)
        second = space(QHBoxLayout(), spacing=8)
        for text, part in (("over", self.over), ("seeds", self.seeds), ("for", self.limit)):
            add_all(second, quiet_label(text, self), part)
        add_all(second, self.fit, 1, self.hunt, self.stop)
        column = space(QVBoxLayout(self), (16, 12, 8, 0), 8)
        add_all(column, first, second, self.problem, self.words, (self.table, 1))

    # --------------------------------------------------------------------------------- showing

    def show_question(self, question: Question, runs: int | None) -> None:
        """Show a question and a number of runs, None for the usual time."""
        current = self._question = question
        self.sense.setCurrentIndex(self.sense.findData(current.least))
        self.what.setText(current.text)
        self.what.setCursorPosition(0)
        self.take.setCurrentIndex(self.take.findData(current.frames.take))
        self.over.setCurrentIndex(self.over.findData(current.over))
        self.seeds.setText("" if current.seeds is None else "-".join(map(str, current.seeds)))
        self.limit.setText("" if runs is None else str(runs))
        self.fit.setChecked(current.fit)
        self.table.show_findings(())
        self.words.set_text("")
        self.show_problem("")

    def show_problem(self, sentence: str) -> None:
        """Show what is wrong with the question; hide if it is ""."""
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))

    def set_hunting(self, hunting: bool, possible: bool) -> None:
        """Enable the controls for a running hunt, or for a `possible` one."""
        parts = (self.sense, self.what, self.take, self.over, self.seeds, self.limit, self.fit)
        for part in parts:
            part.setEnabled(not hunting)
        self.hunt.setEnabled(possible and not hunting)
        self.stop.setEnabled(hunting)

    # --------------------------------------------------------------------------------- reading

    def question(self) -> Question:
        """Return the question. Raises InputError for invalid seeds."""
        question, take = self._question, self.take.currentData()
        # A moment and a condition belong to the study and have no field here.
        own = question.frames.take == take and question.text == self.what.text().strip()
        seeds = self.seeds.text().strip()
        return replace(
            question,
            text=self.what.text().strip(),
            least=bool(self.sense.currentData()),
            over=self.over.currentData(),
            frames=question.frames if own else Frames(take),
            fit=self.fit.isChecked(),
            seeds=range_of(seeds) if seeds and seeds != EVERY else None,
        )

    def limits(self) -> tuple[int | None, float]:
        """Return a number of runs, None for no limit, and seconds. Raises InputError."""
        return limit_of(self.limit.text().strip() or MINUTES)


@final
class HuntController(QObject):
    """Hunts with the question on the page, and shows their findings."""

    busy_changed = Signal()  # a hunt started or finished

    def __init__(
        self, page: HuntPage, options: StudyOptions, questions: RunQuestions, parent: QObject
    ) -> None:
        super().__init__(parent)
        self.page, self._options, self._questions = page, options, questions
        self._runs: StudyRuns | None = None
        self._source: object = None  # the study's own question, shown on the page
        self._words_before = ""  # of the last hunt, whose findings remain until new ones arrive
        self.worker = StudyWorker("hunt", run_hunt, self)
        self.worker.progress.connect(self._on_progress)
        self.worker.finished.connect(self._on_finished)
        page.hunt.clicked.connect(self.start)
        page.stop.clicked.connect(self.stop)

    @property
    def busy(self) -> bool:
        """True while a hunt runs."""
        return self.worker.busy

    def close(self) -> None:
        """Stop the hunt, and wait for its thread."""
        self.worker.close()

    def show_runs(self, runs: StudyRuns, possible: bool) -> None:
        """Set study, size and folder of hunts; `possible`: nothing else runs now."""
        self._runs = runs
        source = runs.study.id, runs.size, str(runs.study.results.get("hunt")), not runs.cells
        if source != self._source and not self.busy:
            self._source = source
            self._show_question(runs)
        self.page.set_hunting(self.busy, possible and bool(runs.cells))

    def _show_question(self, runs: StudyRuns) -> None:
        """Show the study's own question, or the usual one for its data."""
        real = bool(runs.cells) and all(cell.experiment.data.real for cell in runs.cells)
        usual = Question(USUAL_REAL if real else USUAL)
        try:
            table = hunt_of(runs.study.results, runs.study.id)
        except MarginscopeError as error:
            self.page.show_question(usual, None)
            self.page.show_problem(error.sentence)
            return
        if table is None:
            self.page.show_question(usual, None)
        else:
            self.page.show_question(question_of(table, runs.size), table.counts(runs.size).runs)

    # ---------------------------------------------------------------------------------- hunting

    def start(self) -> None:
        """Start a hunt, or continue the one with the same question in its folder."""
        runs, options = self._runs, self._options
        if self.busy or runs is None or not runs.cells:
            return
        try:
            question, (max_runs, seconds) = self.page.question(), self.page.limits()
            check_cells(runs.study)
        except MarginscopeError as error:
            self.page.show_problem(error.sentence)
            if isinstance(error, UntrustedCodeError):
                self._questions.confirm_trust(error, self.start)
            return
        self.page.show_problem("")
        self._words_before = self.page.words.text()
        self.page.words.set_text("Reading earlier results ...")
        jobs = None if options.on_cluster else options.jobs.value()
        folder = folder_of(runs.folder, question)
        place = max_runs, seconds, jobs, options.address
        self.worker.start(HuntOrder(runs.study, runs.size, question, folder, *place))
        self.page.set_hunting(True, possible=False)
        self.busy_changed.emit()

    def stop(self) -> None:
        """Stop the hunt; its findings remain."""
        self.worker.control.stop()
        self._show(STOPPING)

    def _on_progress(self) -> None:
        self._show(STOPPING if self.worker.control.stop_requested else "")

    def _show(self, remark: str) -> None:
        """Show the findings so far, and a sentence about them followed by `remark`."""
        update: HuntUpdate | None = self.worker.latest
        if update is not None:
            self.page.table.show_findings(update.findings)
            self.page.words.set_text(words_of(update) + remark)

    def _on_finished(self, wrong: str) -> None:
        update = self.worker.latest
        exhausted = update is not None and update.exhausted
        self._show("; every candidate has been tried" if exhausted else "")
        if update is None:
            self.page.words.set_text(self._words_before)
        self.page.show_problem(wrong)
        self.page.set_hunting(False, possible=True)
        self.busy_changed.emit()


def folder_of(folder: Path, question: Question) -> Path:
    """Return the folder of a question's findings, beside the runs of its study."""
    return folder / f"hunt-{sha256(repr(question).encode()).hexdigest()[:8]}"


def words_of(update: HuntUpdate) -> str:
    """Return the progress of a hunt in a line.

    >>> from core.extremes.hunt import HuntStatus
    >>> words_of(HuntUpdate(HuntStatus(tried=37, failed=1, best=0.468, running=2), ()))
    '37 runs, 1 failed, 2 running; best .468'
    """
    status = update.status
    parts = [f"{whole_text(status.tried)} {'run' if status.tried == 1 else 'runs'}"]
    if status.failed:
        parts.append(f"{whole_text(status.failed)} failed")
    if status.running:
        parts.append(f"{status.running} running")
    text = ", ".join(parts)
    if status.compiling:
        return f"{text}; compiling numerical code first (once per computer)"
    if status.lacks_workers:
        return f"{text}; waiting for a worker of the cluster"
    return text if math.isnan(status.best) else f"{text}; best {shown_number(status.best, 6)}"
