"""Head of a whole study's window: its options, the buttons that run it, and its progress."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from app.study.chooser import StudyChooser
from app.widgets.inputs import ChoiceBox, ValueEdit, WholeBox, line_height, push_button
from app.widgets.labels import ElidedLabel, plain_tip, problem_label, quiet_label
from app.widgets.layouts import add_all, space
from core.numbers import duration_text, whole_text
from core.studies.study import Study

if TYPE_CHECKING:
    from core.sweep.control import SweepStatus

SIZES = {"quick": "quick", "paper": "paper's size"}
AS_EDITED = "as edited"
SIZE_TIPS = {
    "quick": "Takes less than a minute on two cores; some claims need the paper's size",
    "paper": "Uses the paper's settings; takes minutes to hours",
    AS_EDITED: "Uses the settings of the study file, or those in the Settings panel",
}
HERE, CLUSTER = "this computer", "a cluster"
ADDRESS_TIP = (
    "Enter the address of a Dask scheduler with workers, as printed by `dask scheduler`. The "
    "workers must have access to the folder of the runs."
)
# As many as app.settings restores at the next start.
MOST_JOBS = 512
RUN, CONTINUE, AGAIN = "Run", "Continue", "Rerun failed"
ALL_DONE = "All runs finished."


def cells_text(count: int) -> str:
    """Return a number of runs in words.

    >>> cells_text(1), cells_text(8)
    ('1 run', '8 runs')
    """
    return "1 run" if count == 1 else f"{whole_text(count)} runs"


@final
class StudyOptions(QWidget):
    """Choices of the study, its size, where it runs, its processes and its folder."""

    changed = Signal()  # the user changed an option

    def __init__(self, cores: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder_typed = False
        self.chooser = StudyChooser(self, browses=False)
        self.size_choice = ChoiceBox(self, "Size", letters=8)
        self.place = ChoiceBox(self, "Run on", letters=8)
        self.place.addItems([HERE, CLUSTER])
        self.jobs = WholeBox(self)
        self.jobs.setAccessibleName("Processes")
        self.jobs.setToolTip("Number of runs trained at the same time, each on one core")
        self.jobs.setRange(1, MOST_JOBS)
        # One process per core: the kernels of a cell use one thread.
        self.jobs.setValue(min(cores, MOST_JOBS))
        self.jobs.lineEdit().setTextMargins(6, 0, 6, 0)  # the style sheet cannot set these
        self.cluster = ValueEdit(self)
        self.cluster.setAccessibleName("Cluster address")
        self.cluster.setPlaceholderText("tcp://host:8786")
        self.cluster.setToolTip(ADDRESS_TIP)
        self.cluster.setMinimumWidth(180)
        self.folder = ValueEdit(self)
        self.folder.setAccessibleName("Folder for runs")
        self.browse = push_button("Browse ...", self)
        self.count = ElidedLabel(
            self, Qt.TextElideMode.ElideRight, QPalette.ColorRole.PlaceholderText
        )
        self.estimate = push_button(
            "Estimate time",
            self,
            "Time a few runs on this computer, for about twenty seconds at most",
        )
        self.problem = problem_label(self)
        self._arrange()
        self._connect()
        self._show_place()

    def _arrange(self) -> None:
        grid = space(QGridLayout(), spacing=(8, 8))
        grid.setColumnStretch(1, 1)
        first = add_all(space(QHBoxLayout(), spacing=8), (self.chooser, 1))
        for text, choice in (("Size", self.size_choice), ("Run on", self.place)):
            first.addSpacing(8)
            add_all(first, self._label(text, choice), choice)
        self.jobs_label = self._label("Processes", self.jobs)
        add_all(first, self.jobs_label, self.jobs, self.cluster)
        second = add_all(space(QHBoxLayout(), spacing=8), (self.folder, 1), self.browse)
        third = add_all(space(QHBoxLayout(), spacing=8), (self.count, 1), self.estimate)
        rows = (
            ("Study", self.chooser.box, first),
            ("Save runs to", self.folder, second),
            ("", None, third),
        )
        for row, (text, label, line) in enumerate(rows):
            if label is not None:
                grid.addWidget(self._label(text, label), row, 0)
            grid.addLayout(line, row, 1)
        self.jobs.setFixedHeight(line_height(self))
        add_all(space(QVBoxLayout(self), spacing=8), grid, self.problem)

    def _label(self, text: str, part: QWidget) -> QWidget:
        label = quiet_label(text, self)
        label.setBuddy(part)
        return label

    def _connect(self) -> None:
        self.size_choice.activated.connect(self._size_chosen)
        self.place.activated.connect(self._place_chosen)
        self.jobs.valueChanged.connect(self.changed)
        self.cluster.editingFinished.connect(self.changed)
        self.folder.textEdited.connect(self._folder_edited)
        self.folder.editingFinished.connect(self.changed)
        self.browse.clicked.connect(self._browse)

    # --------------------------------------------------------------------------------- showing

    def show_study(self, study: Study, edited: bool) -> None:
        """Offer the sizes of a study, the quick one first unless the study was edited."""
        self.chooser.set_study(study)
        with QSignalBlocker(self.size_choice):
            self.size_choice.clear()
            for name, title in SIZES.items():
                if study.sizes:  # without sizes, the study itself has the paper's size
                    self.size_choice.addItem(title, name)
            if edited or not study.sizes or "paper" in study.sizes:
                self.size_choice.addItem(AS_EDITED, None)
            last = self.size_choice.count() - 1
            for row in range(last + 1):
                tip = SIZE_TIPS[self.size_choice.itemData(row) or AS_EDITED]
                self.size_choice.setItemData(row, plain_tip(tip), Qt.ItemDataRole.ToolTipRole)
            self.size_choice.setCurrentIndex(last if edited else 0)
        self._folder_typed = False

    def offer_folder(self, folder: Path) -> None:
        """Show the usual folder of the runs, unless the user typed another one."""
        if not self._folder_typed:
            self.folder.setText(str(folder))
            self.folder.setCursorPosition(0)
            self.folder.setToolTip(plain_tip(str(folder)))

    def show_count(self, words: str) -> None:
        """Show the number of cells and their cost."""
        self.count.set_text(words)

    def show_problem(self, sentence: str) -> None:
        """Show what is wrong with the choices; hide if it is ""."""
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))

    def set_locked(self, locked: bool) -> None:
        """Disable all choices while a study runs."""
        parts = (
            self.chooser.box,
            self.size_choice,
            self.place,
            self.jobs,
            self.cluster,
            self.folder,
            self.browse,
            self.estimate,
        )
        for part in parts:
            part.setEnabled(not locked)

    # --------------------------------------------------------------------------------- reading

    @property
    def size_name(self) -> str | None:
        """`quick`, `paper`, or None for the study's own settings."""
        data = self.size_choice.currentData()
        return None if data is None else str(data)

    @property
    def address(self) -> str | None:
        """Address of the cluster; None for this computer."""
        return self.cluster.text().strip() if self.on_cluster else None

    @property
    def on_cluster(self) -> bool:
        """True if a cluster is chosen."""
        return self.place.currentText() == CLUSTER

    @property
    def path(self) -> Path | None:
        """Folder of the runs; None if empty."""
        text = self.folder.text().strip()
        return Path(text).expanduser() if text else None

    @property
    def stored_options(self) -> tuple[str, int]:
        """Cluster's address ("" for none) and number of processes, for the settings."""
        return self.cluster.text().strip(), self.jobs.value()

    def set_remembered(self, cluster: str, jobs: int) -> None:
        """Restore the settings; no address means this computer, no jobs all its cores."""
        # `changed` is not needed: a study is adopted afterwards.
        with QSignalBlocker(self.jobs):
            self.cluster.setText(cluster)
            if jobs:
                self.jobs.setValue(jobs)

    # --------------------------------------------------------------------------------- editing

    def _size_chosen(self, _: int) -> None:
        self._folder_typed = False  # each size has its own default folder
        self.changed.emit()

    def _place_chosen(self, _: int) -> None:
        self._show_place()
        self.changed.emit()

    def _show_place(self) -> None:
        self.cluster.setVisible(self.on_cluster)
        self.jobs.setVisible(not self.on_cluster)
        self.jobs_label.setVisible(not self.on_cluster)

    def _folder_edited(self, _: str) -> None:
        self._folder_typed = True

    def _browse(self) -> None:
        place = QFileDialog.getExistingDirectory(self, "Folder for runs", self.folder.text())
        if place:
            self._folder_typed = True
            self.folder.setText(place)
            self.changed.emit()


def words_of(status: SweepStatus, pausing: bool, stopping: bool) -> str:
    """Return a status in a line.

    >>> from core.sweep.control import SweepStatus
    >>> words_of(SweepStatus(total=200, done=37, running=2, failed=1, eta=45.0), False, False)
    '37 of 200 runs, 1 failed, 2 running; about 45 s left'
    >>> words_of(SweepStatus(total=200, compiling=("flow", "margins")), False, False)
    '0 of 200 runs; compiling numerical code first (once per computer)'
    """
    parts = [f"{whole_text(status.done)} of {whole_text(status.total)} runs"]
    if status.failed:
        parts.append(f"{status.failed} failed")
    if status.running:
        parts.append(f"{status.running} running")
    text = ", ".join(parts)
    if stopping:
        return f"{text}; stopping ..."
    if status.compiling:
        return f"{text}; compiling numerical code first (once per computer)"
    if status.lacks_workers:
        return f"{text}; waiting for a worker of the cluster"
    if pausing:
        return f"{text}; paused" + ("" if not status.running else " once these runs finish")
    if math.isfinite(status.eta) and status.done + status.failed < status.total:
        text += f"; about {duration_text(status.eta)} left"
    return text


@final
class SweepProgress(QWidget):
    """Buttons to run, pause and cancel a study, a progress bar, and a line of text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.run = push_button(RUN, self, "Train the remaining runs; finished runs are kept")
        self.run.setProperty("primary", True)
        self.pause = push_button(
            "Pause", self, "Wait before training the next runs; choose Resume to continue"
        )
        self.pause.setCheckable(True)
        self.pause.toggled.connect(self._on_pause_toggled)
        self.cancel = push_button(
            "Cancel", self, "Stop the study; finished runs are kept, and Continue trains the others"
        )
        self.bar = QProgressBar(self, textVisible=False)
        self.bar.setAccessibleName("Finished runs")
        self.words = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        line = add_all(space(QHBoxLayout(self), spacing=8), self.run, self.pause, self.cancel)
        for part, share in ((self.bar, 2), (self.words, 3)):
            line.addSpacing(8)
            line.addWidget(part, share)
        self.show_idle(0, 0, 0, possible=False)

    def _on_pause_toggled(self, paused: bool) -> None:
        self.pause.setText("Resume" if paused else "Pause")

    def show_idle(self, n_done: int, failed: int, total: int, possible: bool) -> None:
        """Show how many cells are recorded while nothing runs."""
        n_open = total - n_done
        has_started = n_done + failed > 0 and n_open > 0
        self.run.setText(AGAIN if n_open == failed > 0 else CONTINUE if has_started else RUN)
        self.run.setEnabled(possible and n_open > 0)
        self._show_buttons(False)
        self._show_bar(n_done, total)
        words = f"{whole_text(n_done)} of {whole_text(total)} runs finished" if n_done else ""
        words += f"; {failed} failed" if failed else ""
        self.words.set_text(ALL_DONE if total and not n_open else words)

    def show_status(self, status: SweepStatus, pausing: bool, stopping: bool) -> None:
        """Show the progress of a running study."""
        focused = self.run.hasFocus()
        self._show_buttons(not stopping)
        if focused:  # while Pause can still receive the focus, before Run is disabled
            self.pause.setFocus()
        self.run.setEnabled(False)
        # Count failed cells too, otherwise the bar would never fill.
        self._show_bar(status.done + status.failed, status.total)
        words = (
            words_of(status, pausing, stopping) if status.total else "Checking existing runs ..."
        )
        self.words.set_text(words)

    def _show_bar(self, n_done: int, total: int) -> None:
        self.bar.setRange(0, max(total, 1))
        self.bar.setValue(n_done)

    def _show_buttons(self, running: bool) -> None:
        self.cancel.setEnabled(running)
        self.pause.setEnabled(running)
        if not running and self.pause.isChecked():
            # Unchecking it with signals would request to continue a finished study.
            with QSignalBlocker(self.pause):
                self.pause.setChecked(False)
            self.pause.setText("Pause")
