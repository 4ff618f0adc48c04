"""Training with the next seed, for everything or for the weights only."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject

from app.training import studies
from app.training.controller import TrainingController
from app.training.fields import in_words
from core.errors import InputError

CHANGES = {"seed": studies.with_next_seed, "weights": studies.with_next_weights}


@final
class SeedController(QObject):
    """Actions that train the study in the form with other random numbers."""

    def __init__(self, training: TrainingController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._training = training

    def train_next(self) -> None:
        """Train with the next seed: of data and weights, or of weights only, by the action."""
        study = self._training.require_study()
        if study is None:
            return
        if studies.is_from_recording(study):
            self._training.message.emit(studies.NOTHING_DRAWN)
            return
        try:
            study = CHANGES[self.sender().objectName()](study)
        except InputError as error:
            self._training.message.emit(in_words(error.sentence))
            return
        self._training.train(study)
