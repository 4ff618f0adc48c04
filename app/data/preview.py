"""Preview of the data in the form: opened by an action, and updated while it is open."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from app.training.controller import TrainingController
from app.training.experiment_form import ExperimentForm
from app.training.files import FileController
from app.worker import Request, Worker
from core.figures.palette import PALETTES, Palette

if TYPE_CHECKING:
    from app.data.preview_dialog import PreviewDialog
    from core.data.preview import Preview

# Milliseconds without a keystroke before the data are sampled.
PAUSE = 250
MOST_COMPARED = 32  # runs of a study compared for equal data
WRONG = "Fix the highlighted settings to see the data."
NOT_YET = "Choose a study to see its data."
NO_MEMORY = "Not enough memory for these data. Choose a smaller n or d."
OUR_ERROR = "The data could not be shown (internal error). Details are in the log."


@final
class PreviewController(QObject):
    """Shows the data on which Run would train; of several runs those of the first."""

    def __init__(
        self,
        window: QWidget,
        form: ExperimentForm,
        training: TrainingController,
        files: FileController,
    ) -> None:
        super().__init__(window)
        self._window, self._form = window, form
        self._palette = PALETTES["light"]
        self.dialog: PreviewDialog | None = None
        self.worker = Worker(
            "preview", make_preview, self, no_memory=NO_MEMORY, our_error=OUR_ERROR
        )
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self._request_data)
        form.changed.connect(self.refresh)
        form.preview_requested.connect(self.show)
        training.study_loaded.connect(self.refresh)
        files.data_offered.connect(self.show)

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        if self.dialog is not None:
            self.dialog.set_colours(palette)

    def show(self) -> None:
        """Open the preview, or bring it to the front."""
        if self.dialog is None:
            # Imports the plots, which are slow to load.
            from app.data.preview_dialog import PreviewDialog

            self.dialog = PreviewDialog(self._palette, self._window)
            self.worker.result.connect(self.dialog.show_preview)
            self.worker.error.connect(self.dialog.show_problem)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()
        self._request_data()

    def refresh(self) -> None:
        """Sample the data again a moment after the form changed."""
        if self.dialog is not None and self.dialog.isVisible():
            self._pause.start()

    def close(self) -> None:
        """Close the window and stop the thread."""
        self._pause.stop()
        self.worker.close()
        if self.dialog is not None:
            self.dialog.close()

    def _request_data(self) -> None:
        """Request the data of the study in the form."""
        if self.dialog is None:
            return
        study = self._form.study()
        if study is None:
            self.dialog.show_problem(WRONG if self._form.problems() else NOT_YET)
            return
        cells = tuple(islice(study.iter_cells(), MOST_COMPARED))
        experiment = cells[0].experiment
        is_single = all(
            (cell.experiment.data, cell.experiment.run.seed)
            == (experiment.data, experiment.run.seed)
            for cell in cells
        )
        self.dialog.show_waiting("" if is_single else f"Data of the first of {study.count} runs.")
        self.worker.request(experiment.data, experiment.run.seed, study.folder)


def make_preview(request: Request, section: Any, seed: int, folder: Path | None) -> Preview:
    """Sample and describe the data of a section and of run.seed, in the thread."""
    # Imports readers of files, which the window need not load.
    from core.data.preview import preview

    return preview(section, seed, folder)
