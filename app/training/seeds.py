"""Training with the next seed, of all or of the weights alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from PySide6.QtCore import QObject

from app.training import studies
from app.training.controller import TrainingController
from app.training.fields import in_words
from core.errors import InputError
from core.studies.study import Study


@final
class SeedController(QObject):
    """Actions that train the study in the form with other random numbers."""

    def __init__(self, training: TrainingController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._training = training

    def new_seed(self) -> None:
        """Train with the next seed: other data, other weights."""
        self._train_changed(studies.with_next_seed)

    def new_weights(self) -> None:
        """Train with the same data from other weights."""
        self._train_changed(studies.with_next_weights)

    def _train_changed(self, change: Callable[[Study], Study]) -> None:
        study = self._training.require_study()
        if study is None:
            return
        if studies.is_from_recording(study):
            self._training.message.emit(studies.NOTHING_DRAWN)
            return
        try:
            study = change(study)
        except InputError as error:
            self._training.message.emit(in_words(error.sentence))
            return
        self._training.train(study)
