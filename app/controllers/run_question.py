"""Asks what is to become of runs that are still being trained where others are to be trained."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMessageBox

from app.controllers.experiment import ExperimentController
from app.main_window import MainWindow
from app.state.session import Session
from app.widgets.plain_text import message_box
from core.studies.study import Study

STOP, QUEUE, CANCEL = "Stop and train", "Train afterwards", "Cancel"


@final
class RunQuestion(QObject):
    """The window goes on while it is asked, and so does the training."""

    def __init__(
        self, window: MainWindow, session: Session, experiment: ExperimentController
    ) -> None:
        super().__init__(window)
        self._window, self._session, self._experiment = window, session, experiment
        self._study: Study | None = None
        self._box: QMessageBox | None = None
        experiment.asked.connect(self.ask)

    def ask(self, study: Study) -> None:
        """Ask about a study that is to be trained."""
        self._study = study
        if self._box is not None:
            return
        count = len(self._session.live)
        runs = "A run is" if count == 1 else f"{count} runs are"
        box = self._box = message_box(
            self._window,
            "running",
            QMessageBox.Icon.Question,
            f"{runs} still being trained.",
            f"Train {study.title} in their place? What is recorded so far stays in the run files, "
            "and can be continued later.",
        )
        self._stop = box.addButton(STOP, QMessageBox.ButtonRole.DestructiveRole)
        self._queue = box.addButton(QUEUE, QMessageBox.ButtonRole.AcceptRole)
        cancel = box.addButton(CANCEL, QMessageBox.ButtonRole.RejectRole)
        # Return and Escape lose nothing.
        box.setDefaultButton(self._queue)
        box.setEscapeButton(cancel)
        box.finished.connect(self._on_answer)
        box.open()

    def _on_answer(self) -> None:
        box, self._box = self._box, None
        study, self._study = self._study, None
        if box is None or study is None:
            return
        clicked = box.clickedButton()
        box.deleteLater()
        if clicked is self._stop:
            self._experiment.begin(study)
        elif clicked is self._queue:
            self._experiment.queue(study)

    def close(self) -> None:
        """The window is closed: nobody answers any more, and nothing is trained."""
        self._experiment.drop_queue()
        box, self._box = self._box, None
        if box is not None:
            box.done(0)
            box.deleteLater()
