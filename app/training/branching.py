"""Branches in the window: from the moment that is shown, with the settings in the form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.flag import Flag
from app.playback.display import DisplayController
from app.state.edits import Edits
from app.state.headings import MOMENT
from app.state.intent import START
from app.state.retraining import why_not_trained
from app.state.session import OpenRun
from app.state.studies import study_of
from app.training.experiment import ExperimentController
from app.training.experiment_form import ExperimentForm
from app.training.form_words import in_words
from app.training.recipes import Branch
from app.training.training_roles import Child, Repeat
from core.errors import InputError, MarginscopeError
from core.problem.schedule import coordinate
from core.studies.study import Study
from core.studies.tables import setting_text
from core.trust import UntrustedCodeError

if TYPE_CHECKING:
    from app.training.step_dialog import StepDialog
    from core.runs import Run

NOTHING_SHOWN = "There is no run to branch from; open one, or press Run."
STANDS_IN = (
    "What is shown is a recording that stands in for the run until its kernels are compiled; "
    "branch when it is trained."
)
ONE_RUN = "{key} has several values, and a branch is one run; leave one value there."
NO_STEP = "A run of {words} has no step to choose; Branch here ... begins with other settings."
GONE = "{name} is no longer there, so that nothing can be branched from it; open another run."


@final
@dataclass(frozen=True, slots=True)
class Moment:
    """A frame of an open run, and the moment of it in the schedule's coordinate."""

    key: int
    path: Path
    heading: str
    frame: int
    words: str
    cursor: float


@final
class BranchController(QObject):
    """Offers a branch in the form, and takes what Run is pressed for then.

    message(sentence): for the bar, by way of the experiment's. branched(path, frame, changes): a
    child is trained, with changes as `key=value`.
    """

    message = Signal(str)
    branched = Signal(str, int, object)

    def __init__(
        self,
        display: DisplayController,
        experiment: ExperimentController,
        form: ExperimentForm,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._display, self._experiment, self._form = display, experiment, form
        self._moment: Moment | None = None
        self._before: Edits | None = None
        self._offering = Flag()
        self.dialog: StepDialog | None = None
        self._asked: Moment | None = None  # for which the dialog asks
        experiment.aside = self
        self.message.connect(experiment.message)
        experiment.loaded.connect(self._loaded)
        form.branch_given_up.connect(self.give_up)

    # ------------------------------------------------------------------------------- in the form

    def begin(self) -> None:
        """Offer a branch of the run that is looked at, at the moment shown."""
        found = self._looked_at()
        if found is None:
            return
        run, moment = found
        if self._moment is None:  # else the form is that of a branch, and not to be returned to
            self._before = self._form.edits
        with self._offering:
            self._experiment.show_settings_of(run, moment.path.stem)
        self._moment = moment
        when = moment.words.replace(" ", "\u00a0")  # not to be broken into two lines
        self._form.branch.show_words(f"Branch of {moment.heading} at {when}")
        self.message.emit("")
        self._hold(moment)

    def give_up(self) -> None:
        """No branch: the form is as it was before."""
        before, self._before, self._moment = self._before, None, None
        self._form.branch.show_words("")
        if before is not None:
            self._experiment.show_edits(before)
        self.message.emit("")

    def _loaded(self, _study: Study) -> None:
        """Another study is in the form, which is no branch."""
        if not self._offering:
            self._moment = self._before = None
            self._form.branch.show_words("")

    def take(self, study: Study) -> bool:
        """Train the branch that is offered; False where none is."""
        moment = self._moment
        if moment is None:
            return False
        if study.count != 1:
            key = next(iter(study.axes))  # a run is put into the form as one
            sentence = ONE_RUN.format(key=key)
            self._form.refuse(sentence)
            self.message.emit(in_words(sentence))
            return True
        experiments = [next(study.each()).experiment]
        scale, go_on = self._experiment.scale, partial(self._begun, moment, study)
        if scale is None or scale.lets(experiments, go_on):
            go_on()
        return True

    def _begun(self, moment: Moment, study: Study) -> None:
        if self._train(moment, study, partial(self._begun, moment, study)):
            self._moment = self._before = None
            self._form.branch.show_words("")

    # ------------------------------------------------------------------------------- at one click

    def rewind(self) -> None:
        """Ask for another step, and train with it from the moment shown."""
        from app.training.step_dialog import StepDialog

        found = self._looked_at()
        if found is None:
            return
        run, moment = found
        dynamics = run.experiment.dynamics
        step = getattr(dynamics, "step", None)
        if step is None:
            self.message.emit(NO_STEP.format(words=dynamics.words))
            return
        self.message.emit("")
        where = f"{moment.heading} at {moment.words}"
        self.dialog = StepDialog(where, float(step), self._form.window())
        self._asked = moment
        self.dialog.accepted.connect(self._rewound)
        self.dialog.open()
        self._hold(moment)

    def _rewound(self) -> None:
        """A step was chosen."""
        dialog, moment = self.dialog, self._asked
        self.dialog = self._asked = None
        if dialog is None or moment is None or dialog.step is None:
            return
        self._train_rewound(moment, dialog.step)

    def _train_rewound(self, moment: Moment, step: float) -> None:
        repeat = partial(self._train_rewound, moment, step)
        study = self._settings_of(moment, repeat)
        if study is None:
            return
        try:
            study = study.with_value("dynamics.step", step)
            study.check()
        except InputError as error:
            self.message.emit(in_words(error.sentence))
            return
        if self._train(moment, study, repeat):
            self._experiment.show_study(study)

    def _hold(self, moment: Moment) -> None:
        """Stay at the moment while somebody decides what is to happen from there."""
        self._display.ask(cursor=moment.cursor, playing=False, follow=False)

    # ------------------------------------------------------------------------------------ the run

    def _looked_at(self) -> tuple[Run, Moment] | None:
        """The run of the node that is looked at, else the leftmost, and the moment shown; None and
        a sentence where there is none."""
        session, view = self._display.session, self._display.view
        shown = {one.key: one.frame for one in view.runs if one.frame >= 0}
        chosen = [view.inspected[0]] if view.inspected is not None else []
        runs = [session.get(key) for key in (*chosen, *shown) if key in shown]
        found = next((one for one in runs if one is not None and one.data is not None), None)
        if found is None or found.data is None:
            self.message.emit(NOTHING_SHOWN)
            return None
        if found.stands_in:
            self.message.emit(STANDS_IN)
            return None
        return found.data.run, _moment(found, shown[found.key])

    def _settings_of(self, moment: Moment, repeat: Repeat) -> Study | None:
        """The settings of the run of a moment, as a study; None, and a sentence, without it."""
        from core.runs import open_run

        try:
            with open_run(moment.path) as run:
                return study_of(run, moment.path.stem)
        except (MarginscopeError, OSError) as error:
            self.message.emit(_words(error, moment))
            self._ask_about_code(error, repeat)
            return None

    def _ask_about_code(self, error: Exception, repeat: Repeat) -> None:
        if isinstance(error, UntrustedCodeError):
            self._experiment.code_refused.emit(error, repeat)

    def _train(self, moment: Moment, study: Study, repeat: Repeat) -> bool:
        """Train a branch beside its parent; False, and a sentence, where there can be none."""
        from core.runs import open_run
        from core.runs.meta import lineage_of
        from core.training.branching import file_stem, planned

        if words := why_not_trained(next(study.each()).experiment):
            self.message.emit(words)
            return False
        try:
            with open_run(moment.path) as run:
                experiment, changes = planned(run, moment.frame, next(study.each()).experiment)
                time = float(run.log10_time[moment.frame])
        except (MarginscopeError, OSError) as error:
            sentence = _words(error, moment)
            self._form.refuse(sentence)
            self.message.emit(in_words(sentence))
            self._ask_about_code(error, repeat)
            return False
        said = {
            "log10_time": time if math.isfinite(time) else None,
            "changes": {key: list(pair) for key, pair in changes.items()},
        }
        lineage = lineage_of(said)
        assert lineage is not None
        name = file_stem(MOMENT.sub("", moment.path.stem), moment.frame, changes)
        until = float(coordinate(experiment.dynamics.until_log10_time))
        recipe = Branch(moment.path, moment.frame, experiment)
        child = Child(name, lineage.heading, moment.cursor, until)
        self._experiment.beside(moment.key, child, recipe)
        # What is taken back to its default has no text of its own.
        said = {key: now for key, (_, now) in changes.items() if now is not None}
        news = [setting_text(key, now) for key, now in said.items()]
        self.branched.emit(str(moment.path), moment.frame, news)
        self._display.rearrange()
        self._display.ask(cursor=moment.cursor, playing=True, follow=False)
        self.message.emit("")
        return True


def _words(error: MarginscopeError | OSError, moment: Moment) -> str:
    if not moment.path.exists():
        return GONE.format(name=moment.path.name)
    return error.sentence if isinstance(error, MarginscopeError) else f"{moment.path}: {error}."


def _moment(run: OpenRun, frame: int) -> Moment:
    from core.problem.schedule import time_text

    assert run.data is not None
    data = run.data
    time = float(data.log10_time[frame])
    words = f"step {data.steps[frame]}" if data.run.counts_steps else f"t = {time_text(time)}"
    cursor = float(data.coordinate[frame]) if math.isfinite(time) else START
    return Moment(run.key, run.path, run.heading, frame, words, cursor)
