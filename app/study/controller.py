"""Page of all studies and window of a whole study, made at their first use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.places import Places
from app.training.controller import TrainingController
from app.training.experiment_form import ExperimentForm
from app.training.files import FileController
from app.training.studies import FIX_FIRST
from core.figures.palette import PALETTES, Palette
from core.studies.study import Study

if TYPE_CHECKING:
    from app.study.browser import StudyBrowser
    from app.study.runner import StudyRunner


@final
class StudyController(QObject):
    """Opens the page and the window, and runs of a study in the main window."""

    message = Signal(str)  # sentence for the bar of the main window
    status = Signal(str)  # progress of a study whose window is hidden, or ""
    study_chosen = Signal(str)  # id of the study chosen on the page of all studies

    def __init__(
        self,
        window: QWidget,
        form: ExperimentForm,
        experiment: TrainingController,
        files: FileController,
        places: Places,
        cluster: str,
        jobs: int,
    ) -> None:
        super().__init__(window)
        self._main, self._form, self._places = window, form, places
        self._training, self._files = experiment, files
        self._remembered = cluster, jobs
        self._palette = PALETTES["light"]
        self.browser: StudyBrowser | None = None
        self.runner: StudyRunner | None = None

    # -------------------------------------------------------------------------- all studies

    def browse(self) -> None:
        """Open the page of all studies at the loaded one."""
        self.browse_paper("")

    def browse_paper(self, paper: str) -> None:
        """Open the page of all studies at a paper; for "" at the loaded study."""
        if self.browser is None:
            from app.study.browser import StudyBrowser

            self.browser = StudyBrowser(self._main)
            self.browser.chosen.connect(self.study_chosen)
        edits = self._form.edits
        loaded = edits.base.id if edits is not None and edits.base.folder is None else ""
        self.browser.show_studies(loaded, paper)

    # ------------------------------------------------------------------------- a whole study

    @property
    def busy(self) -> bool:
        """True while a study or a hunt is running."""
        return self.runner is not None and self.runner.busy

    @property
    def stored_options(self) -> tuple[str, int]:
        """Address of the cluster ("" for none) and processes (0: never chosen), for settings."""
        return (
            self._remembered if self.runner is None else self.runner.window.options.stored_options
        )

    def show_window(self) -> None:
        """Open the window on the study in the settings, or bring it to the front."""
        study, runner = self._form.study(), self.runner
        if runner is None:
            if study is None:
                self._form.attention_needed.emit()
                self.message.emit(FIX_FIRST)
                return
            runner = self._make_runner(study)
            runner.adopt(study)
        elif study is not None and not runner.busy and (study.count > 1 or study.sizes):
            runner.adopt(study)  # not the settings of a run opened from the study's window
        runner.window.show()
        runner.window.raise_()
        runner.window.activateWindow()
        runner.window.progress.run.setFocus()
        self.status.emit("")

    def _make_runner(self, study: Study) -> StudyRunner:
        from app.study.runner import StudyRunner  # imports the plots, which are slow to load

        self.runner = runner = StudyRunner(
            self._palette, self._places, study, self._open_run, self.status.emit, self
        )
        runner.window.setWindowIcon(self._main.windowIcon())
        runner.window.options.set_remembered(*self._remembered)
        return runner

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        if self.runner is not None:
            self.runner.display.set_colours(palette)

    def close(self) -> None:
        """Stop all work, wait for it, and delete the window."""
        self._remembered = self.stored_options  # before the window is deleted
        if self.runner is not None:
            self.runner.close()
            self.runner = None

    def _open_run(self, path: Path | str, add: bool) -> None:
        """Open a run in the main window, and raise that window."""
        self._files.open_files([str(path)], add)
        self._main.raise_()
        self._main.activateWindow()
