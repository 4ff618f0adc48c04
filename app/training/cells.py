"""Lets the user choose which cells of the study in the form are trained in the window."""

from __future__ import annotations

from itertools import islice
from typing import final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.state.headings import heading_of
from app.state.session import MOST_RUNS
from app.training.cells_dialog import CellsDialog
from app.training.experiment import MEND_FIRST, ExperimentController
from app.training.experiment_form import ExperimentForm
from app.training.form_words import in_words
from core.errors import InputError
from core.studies.study import Study
from core.studies.tables import name_of
from core.studies.watching import MOST_LOOKED_AT

ONE_RUN = "The study in the form has one run; give a setting several values, such as 16, 256."


@final
class CellsController(QObject):
    """`message` carries a sentence."""

    message = Signal(str)

    def __init__(
        self, window: QWidget, form: ExperimentForm, experiment: ExperimentController
    ) -> None:
        super().__init__(window)
        self._window, self._form, self._experiment = window, form, experiment
        self._study: Study | None = None
        self.dialog: CellsDialog | None = None

    def choose(self) -> None:
        """Ask which cells are to be trained."""
        study = self._form.study()
        if study is None or study.count < 2:
            self.message.emit(MEND_FIRST if study is None else ONE_RUN)
            return
        try:
            cells = self._experiment.cells_of(study)
        except InputError as error:
            self.message.emit(in_words(error.sentence))
            return
        names = [name_of(place) for place in islice(study.places(), MOST_LOOKED_AT)]
        rows = [(name, heading_of(name)) for name in names]
        chosen = [cell.name for cell in cells]
        self._study = study
        self.dialog = CellsDialog(study.title, rows, chosen, MOST_RUNS, self._window)
        self.dialog.accepted.connect(self._train)
        self.dialog.destroyed.connect(self._forget)
        self.message.emit("")
        self.dialog.open()

    def _train(self) -> None:
        if self.dialog is not None and self._study is not None:
            self._experiment.choose_cells(self._study, self.dialog.chosen)

    def _forget(self) -> None:
        self.dialog = self._study = None
