"""Choice of a study's cells: those that Run trains, and single ones beside open runs."""

from __future__ import annotations

from functools import partial
from typing import final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.places import Places
from app.state.headings import file_name
from app.state.session import MOST_RUNS, Session
from app.training.cells_dialog import CellsDialog
from app.training.controller import TrainingController
from app.training.fields import in_words
from app.training.files import FileController
from app.training.recipes import plans_of
from app.training.run_choice import RunChoiceController
from core.comparison.names import MOMENT
from core.errors import InputError
from core.studies.study import Study
from core.studies.tables import SIZES, Cell, name_of

NO_CELL = "The current study has no such run."
ONE_RUN = "The current study has a single run. Give a setting several values, such as 16, 256."


@final
class CellRunController(QObject):
    """Opens and trains cells of a study."""

    message = Signal(str)

    def __init__(
        self,
        session: Session,
        training: TrainingController,
        choice: RunChoiceController,
        files: FileController,
        places: Places,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._session, self._training, self._choice = session, training, choice
        self._files, self._places = files, places
        self.dialog: CellsDialog | None = None

    def choose_cells(self) -> None:
        """Ask which cells of the study in the form are trained from now on."""
        study = self._training.require_study()
        if study is None:
            return
        if study.count < 2:
            self.message.emit(ONE_RUN)
            return
        try:
            cells = self._training.cells_of(study)
        except InputError as error:
            self.message.emit(in_words(error.sentence))
            return
        self.message.emit("")
        self.dialog = CellsDialog(study, [cell.name for cell in cells], MOST_RUNS, self._window)
        self.dialog.cells_chosen.connect(self._training.train_cells)
        self.dialog.destroyed.connect(self._on_dialog_destroyed)
        self.dialog.open()

    def _on_dialog_destroyed(self) -> None:
        self.dialog = None

    def open_cell(self, study: Study, name: str) -> None:
        """Show a cell beside the open runs; train it if it is neither open nor recorded."""
        try:
            cell = _find_cell(study, name)
        except InputError as error:
            self.message.emit(in_words(error.sentence))
            return
        if cell is None:
            self.message.emit(NO_CELL)
            return
        stem = file_name(study, cell, study)
        for run in self._session:
            if MOMENT.sub("", run.path.stem) == stem:
                self._choice.choose(run.key)
                return
        for size in (None, *(one for one in SIZES if one in study.sizes)):
            path = self._places.study_folder(study.id, size) / f"{stem}.msrun"
            if path.is_file():
                self._files.open_files([str(path)], add=True)
                return
        self._train(study, cell)

    def _train(self, study: Study, cell: Cell) -> None:
        train = partial(self._train_confirmed, study, cell)
        if self._training.confirm_size([cell.experiment], train):
            train()

    def _train_confirmed(self, study: Study, cell: Cell) -> None:
        (plan,) = plans_of(study, [cell], study, self._session)
        self._training.add_run(plan)


def _find_cell(study: Study, name: str) -> Cell | None:
    """Return the cell of a name, if needed at the size of the shipped result."""
    from core.studies.shipped_result import at_result_size

    for sized in (study, at_result_size(study)):
        for place in sized.places():
            if name_of(place) == name:
                return sized.cell(place)
    return None
