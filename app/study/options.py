"""The head of a whole study's window: which size and settings to run, where, with how many jobs."""

from __future__ import annotations

from pathlib import Path
from typing import final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from app.study.chooser import StudyChooser
from app.widgets.elided import ElidedLabel
from app.widgets.inputs import (
    ChoiceBox,
    ValueEdit,
    line_height,
    problem_label,
    push_button,
    quiet_label,
)
from app.widgets.layouts import filled, laid
from app.widgets.number_boxes import WholeBox
from app.widgets.plain_text import plain_tip
from core.studies.study import Study

SIZES = {"quick": "quick", "paper": "the paper's size"}
AS_IT_STANDS = "as it stands"
SIZE_TIPS = {
    "quick": "Under a minute on two cores; some claims need the paper's size",
    "paper": "The settings of the paper: minutes to hours",
    AS_IT_STANDS: "The settings as they stand in the study or in the experiment panel",
}
HERE, CLUSTER = "this computer", "a cluster"
ADDRESS = "tcp://host:8786"
ADDRESS_TIP = (
    "The address of a Dask scheduler with workers, as `dask scheduler` prints it; the folder of "
    "the runs must be one that the workers see too"
)
# As many as app.settings takes back at the next start.
MOST_JOBS = 512


@final
class StudyOptions(QWidget):
    """Rows of choices; `changed` where the user made another one."""

    changed = Signal()
    cost_requested = Signal()

    def __init__(self, cores: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder_typed = False
        self.chooser = StudyChooser(self, labelled=False)
        self.size_choice = ChoiceBox(self, "Size", letters=12)
        self.place = ChoiceBox(self, "Where it runs", letters=12)
        self.place.addItems([HERE, CLUSTER])
        self.jobs = WholeBox(self)
        self.jobs.setAccessibleName("Processes")
        self.jobs.setToolTip("How many cells are run at a time, each on one core")
        self.jobs.setRange(1, MOST_JOBS)
        # A process a core: the kernels of a cell are of one thread each.
        self.jobs.setValue(min(cores, MOST_JOBS))
        self.jobs.lineEdit().setTextMargins(6, 0, 6, 0)  # the style sheet cannot
        self.cluster = ValueEdit(self)
        self.cluster.setAccessibleName("Address of the cluster")
        self.cluster.setPlaceholderText(ADDRESS)
        self.cluster.setToolTip(ADDRESS_TIP)
        self.cluster.setMinimumWidth(180)
        self.folder = ValueEdit(self)
        self.folder.setAccessibleName("Folder of the runs")
        self.browse = push_button("Browse ...", self)
        self.count = ElidedLabel(
            self, Qt.TextElideMode.ElideRight, QPalette.ColorRole.PlaceholderText
        )
        self.estimate = push_button(
            "Estimate the time", self, "Measure a few cells here, for at most twenty seconds or so"
        )
        self.problem = problem_label(self)
        self._arrange()
        self._connect()
        self._show_place()

    def _arrange(self) -> None:
        grid = laid(QGridLayout(), spacing=(8, 8))
        grid.setColumnStretch(1, 1)
        first = filled(laid(QHBoxLayout(), spacing=8), (self.chooser, 1))
        for text, choice in (("Size", self.size_choice), ("On", self.place)):
            first.addSpacing(8)
            filled(first, self._label(text, choice), choice)
        self.jobs_label = self._label("Processes", self.jobs)
        filled(first, self.jobs_label, self.jobs, self.cluster)
        second = filled(laid(QHBoxLayout(), spacing=8), (self.folder, 1), self.browse)
        third = filled(laid(QHBoxLayout(), spacing=8), (self.count, 1), self.estimate)
        rows = (
            ("Study", self.chooser.box, first),
            ("Runs in", self.folder, second),
            ("", None, third),
        )
        for row, (text, named, line) in enumerate(rows):
            if named is not None:
                grid.addWidget(self._label(text, named), row, 0)
            grid.addLayout(line, row, 1)
        self.jobs.setFixedHeight(line_height(self))
        filled(laid(QVBoxLayout(self), spacing=8), grid, self.problem)

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
        self.estimate.clicked.connect(self.cost_requested)

    # --------------------------------------------------------------------------------- showing

    def show_study(self, study: Study, edited: bool) -> None:
        """Another study, at its quick size unless it was edited."""
        self.chooser.set_study(study)
        with QSignalBlocker(self.size_choice):
            self.size_choice.clear()
            for name, title in SIZES.items():
                if study.sizes:  # without a table of its own, the paper's size is the study itself
                    self.size_choice.addItem(title, name)
            if edited or not study.sizes or "paper" in study.sizes:
                self.size_choice.addItem(AS_IT_STANDS, None)
            last = self.size_choice.count() - 1
            for row in range(last + 1):
                tip = SIZE_TIPS[self.size_choice.itemData(row) or AS_IT_STANDS]
                self.size_choice.setItemData(row, plain_tip(tip), Qt.ItemDataRole.ToolTipRole)
            self.size_choice.setCurrentIndex(last if edited else 0)
        self._folder_typed = False

    def offer_folder(self, folder: Path) -> None:
        """Where runs go unless somebody types another place."""
        if not self._folder_typed:
            self.folder.setText(str(folder))
            self.folder.setCursorPosition(0)
            self.folder.setToolTip(plain_tip(str(folder)))

    def show_count(self, words: str) -> None:
        """What is known of the cells and of their cost."""
        self.count.set_text(words)

    def show_problem(self, sentence: str) -> None:
        """What is wrong with the choices; "" for nothing."""
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))

    def set_locked(self, locked: bool) -> None:
        """While a study is run its choices stay as they are."""
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
        """`quick`, `paper`, or None for the settings as they stand."""
        data = self.size_choice.currentData()
        return None if data is None else str(data)

    @property
    def address(self) -> str | None:
        """The address of the cluster; None for this computer."""
        return self.cluster.text().strip() if self.on_cluster else None

    @property
    def on_cluster(self) -> bool:
        """Whether a cluster is chosen."""
        return self.place.currentText() == CLUSTER

    @property
    def path(self) -> Path | None:
        """The folder of the runs; None where nothing is typed."""
        text = self.folder.text().strip()
        return Path(text).expanduser() if text else None

    @property
    def remembered(self) -> tuple[str, int]:
        """The cluster's address ("" for none) and the processes, for the settings."""
        return self.cluster.text().strip(), self.jobs.value()

    def set_remembered(self, cluster: str, jobs: int) -> None:
        """What the settings say; no address is this computer, no jobs its cores."""
        # What is remembered is no choice that would be looked up at once.
        with QSignalBlocker(self.jobs):
            self.cluster.setText(cluster)
            if jobs:
                self.jobs.setValue(jobs)

    # --------------------------------------------------------------------------------- editing

    def _size_chosen(self, _: int) -> None:
        self._folder_typed = False  # each size has a folder of its own
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
        place = QFileDialog.getExistingDirectory(self, "Folder of the runs", self.folder.text())
        if place:
            self._folder_typed = True
            self.folder.setText(place)
            self.changed.emit()
