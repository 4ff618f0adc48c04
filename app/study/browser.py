"""The page of all studies: opened at the one that is loaded, and trained from."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.training.controller import TrainingController
from core.studies.study import Study

if TYPE_CHECKING:
    from app.study.list import StudyDialog


@final
class StudyController(QObject):
    """The page and its pictures are made when they are first asked for."""

    def __init__(self, window: QWidget, training: TrainingController) -> None:
        super().__init__(window)
        self._window, self._training = window, training
        self.dialog: StudyDialog | None = None
        self._present = ""
        training.study_loaded.connect(self._on_loaded)

    def _on_loaded(self, study: Study) -> None:
        self._present = study.id if study.folder is None else ""

    def show(self) -> None:
        """Open the page."""
        self.show_paper("")

    def show_paper(self, paper: str) -> None:
        """Open the page at a paper, by its name; without one, at the study that is loaded."""
        if self.dialog is None:
            from app.study.list import StudyDialog

            self.dialog = StudyDialog(self._window)
            self.dialog.chosen.connect(self._choose)
        self.dialog.show_studies(self._present, paper)

    def _choose(self, identifier: str) -> None:
        self._training.choose(identifier)
