"""Runs from recorded runs: branches from the shown moment, and continued runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.flag import Flag
from app.playback.display import DisplayController
from app.state.intent import START
from app.state.session import OpenRun
from app.training.controller import TrainingController
from app.training.experiment_form import ExperimentForm
from app.training.fields import in_words
from app.training.recipes import Branch, ContinuedRun, PlannedRun, describe
from app.training.run_questions import Repeat, RunQuestions
from app.training.studies import choose_horizon, study_of, why_not_trained
from app.training.study_edits import Edits
from core.comparison.names import MOMENT
from core.errors import InputError, MarginscopeError
from core.problem.schedule import coordinate
from core.studies.study import Study
from core.studies.tables import setting_text
from core.trust import UntrustedCodeError

if TYPE_CHECKING:
    from app.training.step_dialog import StepDialog
    from core.runs import Run

STILL_GOING = "The run is still training. Stop it first, or wait until it finishes."
NOTHING_SHOWN = "No run to branch from. Open a run, or press Run."
SHIPPED_RECORDING = (
    "You are watching a shipped recording. Branch once Marginscope has compiled its numerical "
    "code and trains the run itself."
)
ONE_RUN = "A branch is a single run. Give {key} one value."
NO_STEP = "Runs of {words} have no step size. To change other settings, choose Branch here ..."
EARLIER = (
    "This moment belongs to {name}, which this run continues. Open {name} to branch here, or "
    "choose a later moment."
)
GONE = "{heading}: its file {name} no longer exists. Open another run to branch from."


@final
@dataclass(frozen=True, slots=True)
class Moment:
    """Frame of an open run's file, and its time in the schedule's coordinate."""

    key: int
    path: Path
    heading: str
    frame: int
    words: str
    cursor: float


@final
class BranchController(QObject):
    """Trains from frames of recorded runs; Run starts a branch offered in the form."""

    message = Signal(str)
    """Sentence for the message bar, "" for none."""
    branch_started = Signal(str, int, object)
    """Branch in training: path and frame of its parent, and changes as `key=value`."""
    run_continued = Signal(str)
    """Path of a run that is continued."""

    def __init__(
        self,
        display: DisplayController,
        training: TrainingController,
        form: ExperimentForm,
        questions: RunQuestions,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._display, self._training = display, training
        self._form, self._questions = form, questions
        self._moment: Moment | None = None
        self._before: Edits | None = None
        self._offering = Flag()
        self.dialog: StepDialog | None = None
        self._rewind_from: Moment | None = None  # set while the dialog is open
        training.before_training.append(self.train_offered)
        training.study_loaded.connect(self._on_study_loaded)
        form.branch.cancelled.connect(self.cancel)

    # -------------------------------------------------------------------------- branch in the form

    def offer(self) -> None:
        """Offer a branch of the current run, at the shown moment, in the form."""
        run_and_frame = self._shown_moment()
        if run_and_frame is None:
            return
        run, moment = run_and_frame
        # Otherwise the form holds an earlier branch, which is not restored.
        if self._moment is None:
            self._before = self._form.edits
        with self._offering:
            self._training.show_study(study_of(run, moment.path.stem))
        self._moment = moment
        when = moment.words.replace(" ", "\u00a0")  # keep the moment on one line
        self._form.show_branch(f"Branch of {moment.heading} at {when}")
        self.message.emit("")
        self._hold(moment)

    def cancel(self) -> None:
        """Withdraw the offer, and restore the earlier form."""
        before = self._before
        self._forget()
        if before is not None:
            self._training.show_edits(before)
        self.message.emit("")

    def _forget(self) -> None:
        self._moment = self._before = None
        self._form.show_branch("")

    def _on_study_loaded(self, _study: Study) -> None:
        if not self._offering:
            self._forget()

    def train_offered(self, study: Study) -> bool:
        """Train the offered branch, with a study of one run; return False without one."""
        moment = self._moment
        if moment is None:
            return False
        if study.count != 1:
            key = next(iter(study.axes))  # a single run is put into the form
            self._training.refuse(ONE_RUN.format(key=key))
            return True
        experiments, train = (
            [next(study.iter_cells()).experiment],
            partial(self._start, moment, study),
        )
        if self._training.confirm_size(experiments, train):
            train()
        return True

    def _start(self, moment: Moment, study: Study) -> None:
        if self._train(moment, study, partial(self._start, moment, study)):
            self._forget()

    # ----------------------------------------------------------------------- branch with one click

    def rewind(self) -> None:
        """Ask for another step size, and train with it from the shown moment."""
        from app.training.step_dialog import StepDialog

        run_and_frame = self._shown_moment()
        if run_and_frame is None:
            return
        run, moment = run_and_frame
        dynamics = run.experiment.dynamics
        step = getattr(dynamics, "step", None)
        if step is None:
            self.message.emit(NO_STEP.format(words=dynamics.words))
            return
        self.message.emit("")
        where = f"{moment.heading} at {moment.words}"
        self.dialog = StepDialog(where, float(step), self._form.window())
        self._rewind_from = moment
        self.dialog.accepted.connect(self._on_step_chosen)
        self.dialog.open()
        self._hold(moment)

    def _on_step_chosen(self) -> None:
        dialog, moment = self.dialog, self._rewind_from
        self.dialog = self._rewind_from = None
        if dialog is None or moment is None or dialog.step is None:
            return
        self._train_rewound(moment, dialog.step)

    def _train_rewound(self, moment: Moment, step: float) -> None:
        """Train from a moment with a new step size, and show the study in the form."""
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
            self._training.show_study(study)

    def _hold(self, moment: Moment) -> None:
        """Hold the moment while the user decides what starts there."""
        self._display.update_intent(cursor=moment.cursor, playing=False, follow=False)

    # ----------------------------------------------------------------------------------------- run

    def _shown_moment(self) -> tuple[Run, Moment] | None:
        """Return the current run, and the shown moment.

        Report why and return None if the run cannot be branched.
        """
        frames = {one.key: one.frame for one in self._display.view.runs if one.frame >= 0}
        current = self._display.current
        if current is None or current.data is None or current.key not in frames:
            self.message.emit(NOTHING_SHOWN)
            return None
        if current.stands_in:
            self.message.emit(SHIPPED_RECORDING)
            return None
        frame, run = frames[current.key], current.data.run
        if frame < run.frames_before:
            parent = run.lineage.file if run.lineage is not None else ""
            self.message.emit(EARLIER.format(name=Path(parent).stem))
            return None
        return run, _moment(current, frame)

    def _settings_of(self, moment: Moment, repeat: Repeat) -> Study | None:
        """Return a run's settings as a study; report and return None if it is gone."""
        from core.runs import open_run

        try:
            with open_run(moment.path) as run:
                return study_of(run, moment.path.stem)
        except (MarginscopeError, OSError) as error:
            self.message.emit(_words(error, moment))
            self._confirm_code(error, repeat)
            return None

    def _confirm_code(self, error: Exception, repeat: Repeat) -> None:
        if isinstance(error, UntrustedCodeError):
            self._questions.confirm_trust(error, repeat)

    def _train(self, moment: Moment, study: Study, repeat: Repeat) -> bool:
        """Train a branch beside its parent; report and return False if that is impossible."""
        from core.runs import open_run
        from core.runs.meta import lineage_of
        from core.training.branching import file_stem, plan_branch

        if words := why_not_trained(next(study.iter_cells()).experiment):
            self.message.emit(words)
            return False
        try:
            with open_run(moment.path) as run:
                experiment, changes = plan_branch(
                    run, moment.frame, next(study.iter_cells()).experiment
                )
                time = float(run.log10_time[moment.frame])
        except (MarginscopeError, OSError) as error:
            self._training.refuse(_words(error, moment))
            self._confirm_code(error, repeat)
            return False
        new_values = {
            "log10_time": time if math.isfinite(time) else None,
            "changes": {key: list(pair) for key, pair in changes.items()},
        }
        lineage = lineage_of(new_values)
        assert lineage is not None
        name = file_stem(MOMENT.sub("", moment.path.stem), moment.frame, changes)
        until = float(coordinate(experiment.dynamics.until_log10_time))
        recipe = Branch(moment.path, moment.frame, experiment)
        described = describe(experiment, study.title, name, lineage.heading)
        plan = PlannedRun(name, described, until, recipe, moment.cursor)
        self._training.train_beside(moment.key, plan)
        # A setting reset to its default has no text.
        new_values = {key: now for key, (_, now) in changes.items() if now is not None}
        texts = [setting_text(key, now) for key, now in new_values.items()]
        self.branch_started.emit(str(moment.path), moment.frame, texts)
        self._display.rearrange()
        self._display.update_intent(cursor=moment.cursor, playing=True, follow=False)
        self.message.emit("")
        return True

    # ------------------------------------------------------------------------------ continued runs

    def continue_runs(self) -> None:
        """Continue every open run from its last frame, into new files."""
        if self._display.session.live:
            self.message.emit(STILL_GOING)
            return
        planned = []
        for one in self._display.session:
            if one.data is None:
                continue
            run = one.data.run
            if words := why_not_trained(run.experiment):
                self.message.emit(words)
                return
            last = run.frames - run.frames_before - 1
            name = f"{MOMENT.sub('', one.path.stem)}__from={last}"
            plan = PlannedRun(name, one.description, choose_horizon(run), ContinuedRun(one.path))
            planned.append((one.path, plan))
        if planned:
            self._continue(planned)

    def _continue(self, planned: Sequence[tuple[Path, PlannedRun]]) -> None:
        """Continue some runs in place of the open ones, once the user agrees if asked."""
        self.message.emit("")
        for path, _ in planned:
            self.run_continued.emit(str(path))
        self._training.replace_runs([plan for _, plan in planned], partial(self._continue, planned))


def _words(error: MarginscopeError | OSError, moment: Moment) -> str:
    """Return why a run cannot be branched, with its heading in place of its path."""
    if not moment.path.exists():
        return GONE.format(heading=moment.heading, name=moment.path.name)
    if not isinstance(error, MarginscopeError):
        return f"{moment.heading}: {error}."
    return error.sentence.replace(f"{moment.path}: ", f"{moment.heading}: ")


def _moment(run: OpenRun, frame: int) -> Moment:
    """Return a frame of an open run as a moment; it counts frames of the run's own file."""
    from core.numbers import time_text

    assert run.data is not None
    data = run.data
    time = float(data.log10_time[frame])
    words = f"step {data.steps[frame]}" if data.run.counts_steps else time_text(time)
    cursor = float(data.coordinate[frame]) if math.isfinite(time) else START
    return Moment(run.key, run.path, run.heading, frame - data.run.frames_before, words, cursor)
