"""What is trained next, by its size: the form says it, what cannot be is refused, and what is very
large or long is asked about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.places import Places
from app.training.experiment import ExperimentController
from app.training.experiment_form import ExperimentForm
from app.training.form_words import in_words
from app.widgets.question import Question, Role
from core.study_file.experiment import Experiment
from core.study_file.weight import concerns, refusal, room_at, weigh

TRAIN, CANCEL = "Train anyway", "Cancel"
ANSWERS = {TRAIN: Role.AcceptRole, CANCEL: Role.RejectRole}
PAUSE = 200  # ms; while somebody types, nothing is said for every letter
TIP = (
    "What Run would take, as its settings say: about the size of the run files, what is held in "
    "memory at once, and the time on this kind of computer, which may be three times less or more."
)


@final
class ScaleController(QObject):
    """message(sentence): for the bar, why something is too large."""

    message = Signal(str)

    def __init__(
        self,
        window: QWidget,
        form: ExperimentForm,
        experiment: ExperimentController,
        places: Places,
    ) -> None:
        super().__init__(window)
        self._form, self._experiment, self._places = form, experiment, places
        self._go_on: Callable[[], None] | None = None
        self._question = Question(window, "scale")
        self._question.answered.connect(self._on_answer)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE)
        self._pause.timeout.connect(self.show)
        form.changed.connect(self._pause.start)
        experiment.loaded.connect(self._loaded)
        experiment.scale = self

    def _loaded(self, _study: object) -> None:
        self._pause.start()

    def show(self) -> None:
        """Say what the settings in the form take; nothing while they are wrong."""
        study = self._form.study()
        experiments = () if study is None else self._experiment.watched(study)
        if not experiments:
            self._form.show_scale("", "", False)
            return
        weight, room = weigh(experiments), room_at(self._places.runs)
        problem = refusal(weight, room)
        told = [problem] if problem else concerns(weight, room)
        tip = "\n".join(in_words(one) for one in (TIP, *told))
        self._form.show_scale(f"{weight.words}.", tip, bool(told))

    def lets(self, experiments: Sequence[Experiment], go_on: Callable[[], None]) -> bool:
        """Whether these may be trained side by side at once; else it is said why not, or asked, and
        gone on with when somebody agrees."""
        if not experiments:  # values that are not allowed are told of by whoever trains them
            return True
        weight, room = weigh(experiments), room_at(self._places.runs)
        problem = refusal(weight, room)
        if problem:
            self._form.refuse(problem)
            self.message.emit(in_words(problem))
            return False
        told = concerns(weight, room)
        if told:
            self._ask(told, go_on)
        return not told

    def _ask(self, told: Sequence[str], go_on: Callable[[], None]) -> None:
        self._go_on = go_on
        self._question.ask(
            "This is more than runs usually take. Train it anyway?",
            "\n\n".join(in_words(one) for one in told),
            ANSWERS,
            default=CANCEL,  # Return and Escape begin nothing
        )

    def _on_answer(self, answer: str) -> None:
        go_on, self._go_on = self._go_on, None
        if answer == TRAIN and go_on is not None:
            go_on()

    def stop(self) -> None:
        """The window is closed: nobody looks, and nobody answers any more."""
        self._pause.stop()
        self.close()

    def close(self) -> None:
        """Put a question away that was not answered."""
        self._go_on = None
        self._question.withdraw()
