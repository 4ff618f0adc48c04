"""Asks what is to become of runs that are still being trained where others are to be trained."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.state.session import Session
from app.training.experiment import ExperimentController
from app.widgets.question import Question, Role
from core.studies.study import Study

STOP, QUEUE, CANCEL = "Stop and train", "Train afterwards", "Cancel"
ANSWERS = {STOP: Role.DestructiveRole, QUEUE: Role.AcceptRole, CANCEL: Role.RejectRole}


@final
class RunQuestion(QObject):
    """The window goes on while it is asked, and so does the training."""

    def __init__(self, window: QWidget, session: Session, experiment: ExperimentController) -> None:
        super().__init__(window)
        self._session, self._experiment = session, experiment
        self._study: Study | None = None
        self._question = Question(window, "running")
        self._question.answered.connect(self._on_answer)
        experiment.asked.connect(self.ask)

    def ask(self, study: Study) -> None:
        """Ask about a study that is to be trained."""
        self._study = study
        count = len(self._session.live)
        runs = "A run is" if count == 1 else f"{count} runs are"
        self._question.ask(
            f"{runs} still being trained.",
            f"Train {study.title} in their place? What is recorded so far stays in the run files, "
            "and can be continued later.",
            ANSWERS,
            default=QUEUE,  # Return and Escape lose nothing
        )

    def _on_answer(self, answer: str) -> None:
        study, self._study = self._study, None
        if study is not None and answer == STOP:
            self._experiment.begin(study)
        elif study is not None and answer == QUEUE:
            self._experiment.queue(study)

    def close(self) -> None:
        """The window is closed: nobody answers any more, and nothing is trained."""
        self._experiment.drop_queue()
        self._question.withdraw()
