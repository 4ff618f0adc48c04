"""Study in the form and training of its runs: started, queued, paused, stopped, closed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import final

from PySide6.QtCore import QObject, QTimer, Signal

from app.places import Places
from app.playback.display import DisplayController
from app.state.session import MOST_CELLS, MOST_RUNS, OpenRun
from app.training import studies
from app.training.data_check import DataFileCheck, questions_of, stated_conflict
from app.training.experiment_form import ExperimentForm
from app.training.fields import in_words
from app.training.recipes import PlannedRun, plans_of
from app.training.run_questions import Repeat, RunQuestions
from app.training.run_worker import RunWorker, TrainingJob
from app.training.study_edits import Edits
from core.errors import InputError, MarginscopeError
from core.studies.cell_selection import worth_seeing
from core.studies.code import check_code, check_experiments
from core.studies.study import Study, load_study
from core.studies.tables import Cell
from core.study_file.experiment import Experiment
from core.study_file.weight import blocking_reason, estimate_resources, resource_warnings, room_at
from core.training.control import Control
from core.trust import UntrustedCodeError

MOST_BY_DEFAULT = 4  # runs of a study trained by default without a choice
TYPING_MS = 200  # ms after the last keystroke until the size is estimated


@final
class TrainingController(QObject):
    """Owner of the study in the form and of the runs trained from it."""

    runs_replaced = Signal()
    """Other runs are open, to be played from t = 0."""
    study_loaded = Signal(object)
    """`Study` that the form shows from now on."""
    training_started = Signal(object)
    """`Study` whose training started."""
    message = Signal(str)
    """Sentence for the message bar, "" for none."""
    notice = Signal(str)
    """Sentence that the message bar shows for a while."""
    status = Signal(str)
    """Text of the status line."""

    def __init__(
        self,
        display: DisplayController,
        worker: RunWorker,
        form: ExperimentForm,
        questions: RunQuestions,
        places: Places,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._display, self._session = display, display.session
        self._worker, self._form = worker, form
        self._questions, self._places = questions, places
        self.before_training: list[Callable[[Study], bool]] = []
        """Called with the edited study when Run is pressed; True if training is arranged."""
        self._study: Study | None = None
        self._queued: Study | None = None
        self._repeat: Repeat = self.restart
        self._cells: tuple[str, frozenset[str]] = "", frozenset()
        self._proposals = studies.Proposals()
        self._data_check = DataFileCheck(form, self._session, self)
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._typing.timeout.connect(self._show_size)
        form.changed.connect(self._typing.start)
        form.submitted.connect(self.run)
        display.runs_changed.connect(self.refresh_proposals)
        worker.finished.connect(self._on_finished)
        worker.code_refused.connect(self._on_code_refused)

    # ------------------------------------------------------------------------------- studies

    def choose(self, name: str, repeat: Repeat | None = None) -> bool:
        """Load and train a shipped study or a study file; return False for another file.

        `repeat` is the whole request, if choosing the study is only a part of it.
        """
        try:
            study = load_study(name)
            check_code(study, name)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            if isinstance(error, UntrustedCodeError):
                self._questions.confirm_trust(error, repeat or partial(self.choose, name))
            return False
        self.train(study)
        return True

    def offer(self, study: str | Study) -> None:
        """Put a study, or a shipped one by its name, into the form; Run trains it."""
        self._show(load_study(study) if isinstance(study, str) else study)

    def train(self, study: Study) -> None:
        """Put a study into the form and train it."""
        self._show(study)
        self.request_training(study)

    def run(self) -> None:
        """Train the study in the form."""
        study = self.require_study()
        if study is not None and not any(arranges(study) for arranges in self.before_training):
            self.request_training(study)

    def restart(self) -> None:
        """Train the same study again."""
        study = self._study or self._form.study()
        if study is not None:
            self.request_training(study)

    def require_study(self) -> Study | None:
        """Return the study in the form; report and return None if a value is wrong."""
        study = self._form.require_study()
        if study is None:
            self.message.emit(studies.FIX_FIRST)
        return study

    def show_study(self, study: Study) -> None:
        """Put the study of a recorded run into the form."""
        self._show(study)
        self._study = study

    def show_edits(self, edits: Edits) -> None:
        """Put a study and its edits into the form."""
        before = self._form.edits
        self._form.set_edits(edits)
        if before is not None and before.base == edits.base:
            self._form.changed.emit()
        else:
            self._study = None
            self._after_loading(edits.base)

    def _show(self, study: Study) -> None:
        self._form.set_study(study)
        self._after_loading(study)

    def _after_loading(self, study: Study) -> None:
        self._typing.start()
        self.set_proposals(study)
        self.study_loaded.emit(study)

    def set_proposals(self, study: Study) -> None:
        """Propose the views of a study for the runs that open next."""
        self._proposals = studies.Proposals.from_study(study)
        if problem := self._proposals.problem(study.id):
            self.message.emit(problem)

    def refresh_proposals(self) -> None:
        """Propose views that suit the open runs; keep those that the user chose."""
        if self._session.pending:  # the proposals are for the pending runs
            return
        wishes = self._proposals.for_runs([run.data for run in self._session if run.data])
        if any(getattr(self._display.intent, name) != value for name, value in wishes.items()):
            self._display.update_intent(**wishes)

    def train_cells(self, study: Study, names: Collection[str]) -> None:
        """Train these cells of a study, now and at its later runs."""
        self._cells = study.id, frozenset(names)
        self.request_training(study)

    # --------------------------------------------------------------------------- resource estimate

    def experiments_of(self, study: Study) -> Sequence[Experiment]:
        """Return a study's experiments to train, () if its values are not allowed."""
        with suppress(InputError):
            return [studies.with_playback_frames(cell.experiment) for cell in self.cells_of(study)]
        return ()

    def cells_of(self, study: Study) -> Sequence[Cell]:
        """Return the chosen cells, else all of a few, else two that differ visibly.

        Raises InputError for wrong values.
        """
        identifier, names = self._cells
        chosen = names if identifier == study.id else ()
        few = study.count <= MOST_BY_DEFAULT and not study.opens_with.cells
        return worth_seeing(study, len(chosen) or (study.count if few else MOST_CELLS), chosen)

    def _show_size(self) -> None:
        """Show in the form what Run would take; nothing if its values are wrong."""
        study = self._form.study()
        experiments = () if study is None else self.experiments_of(study)
        self._data_check.show(study, experiments)
        if not experiments:
            self._form.show_size("", ())
            return
        words, problem, warnings = self._judge_size(experiments)
        self._form.show_size(words, [problem] if problem else warnings)

    def confirm_size(
        self, experiments: Sequence[Experiment], train: Repeat, study: Study | None = None
    ) -> bool:
        """Return True if a study's runs fit. Otherwise report, or ask and `train` on consent."""
        if not experiments:  # `start_training` reports invalid values
            return True
        _, problem, warnings = self._judge_size(experiments)
        if problem:
            self.refuse(problem)
        elif warnings:
            small_size = None if study is None else self._small_size_of(study)
            self._questions.confirm_size([in_words(one) for one in warnings], train, small_size)
        return not (problem or warnings)

    def _small_size_of(self, study: Study) -> tuple[str, Repeat] | None:
        """Return the estimate at quick size, and the call that trains it; None without one."""
        small = study.at_size("quick")
        experiments = () if small == study else self.experiments_of(small)
        if not experiments:
            return None
        words, problem, _ = self._judge_size(experiments)
        return None if problem else (words, partial(self.train, small))

    def _judge_size(self, experiments: Sequence[Experiment]) -> tuple[str, str, Sequence[str]]:
        """Return the size of experiments in words, why they cannot be trained, and warnings."""
        weight, room = estimate_resources(experiments), room_at(self._places.runs)
        return weight.words, blocking_reason(weight, room), resource_warnings(weight, room)

    def refuse(self, sentence: str) -> None:
        """Report at the named field, and in the bar, why the form cannot be trained."""
        self._form.refuse(sentence)
        self.message.emit(in_words(sentence))

    # ------------------------------------------------------------------------------ training

    def request_training(self, study: Study) -> None:
        """Train a study after all questions: trusted code, size, other live runs."""
        experiments = self.experiments_of(study)
        try:
            check_experiments(experiments, study.folder, study.title)
        except UntrustedCodeError as error:
            self.refuse(error.sentence)
            self._questions.confirm_trust(error, partial(self.request_training, study))
            return
        if conflict := stated_conflict(experiments)[1]:
            self.message.emit(conflict)
            return
        train = partial(self._replace_if_confirmed, study)
        if questions := questions_of(study, experiments, self._session):
            train = partial(self._data_check.train_if_good, questions, train, self.refuse)
        if self.confirm_size(experiments, train, study):
            train()

    def _replace_if_confirmed(self, study: Study) -> None:
        live = self._session.live
        if any(run.has_started for run in live):  # the others have no frames to lose
            start, queue = partial(self.start_training, study), partial(self.queue, study)
            self._questions.confirm_replacement(study.title, len(live), start, queue)
        else:
            self.start_training(study)

    def queue(self, study: Study) -> None:
        """Train a study once no run is training; only the latest one waits."""
        self._queued = study
        self.message.emit(studies.QUEUED.format(title=study.title))
        self._on_finished()

    def drop_queue(self) -> None:
        """Discard the waiting study."""
        self._queued = None

    def _on_finished(self, _key: int = 0) -> None:
        if (study := self._queued) is not None and not self._session.live:
            self._queued = None
            self.start_training(study)

    def _on_code_refused(self, key: int, error: UntrustedCodeError) -> None:
        """Ask about code that changed before the training thread read it."""
        if self._session.get(key) is not None:
            self._questions.confirm_trust(error, self._repeat)

    def start_training(self, study: Study) -> None:
        """Train a study's cells in place of the open runs, whose files remain."""
        try:
            # Lazily, since a grid may have 100,000 cells.
            cells = self.cells_of(study)
        except InputError as error:
            self.message.emit(in_words(error.sentence))
            return
        reasons = filter(None, (studies.why_not_trained(one.experiment) for one in cells))
        if words := next(reasons, ""):
            self.message.emit(words)
            return
        edits = self._form.edits
        base = edits.base if edits is not None and edits.base.id == study.id else study
        # Before the runs are closed, since some plans read their files.
        plans = plans_of(study, cells, base, self._session)
        self._study = study
        self.status.emit("")
        self.training_started.emit(studies.study_of_cells(study, cells))
        self.message.emit("")
        if study.count > len(cells):
            self.notice.emit(studies.OF_MANY.format(count=study.count, some=len(cells)))
        self.replace_runs(plans, partial(self._replace_if_confirmed, study))

    def replace_runs(self, plans: Sequence[PlannedRun], repeat: Repeat) -> None:
        """Train runs, and show them in place of the open ones once each has a frame.

        `repeat` follows once refused code is trusted.
        """
        self.stop()
        self._repeat = repeat
        runs, jobs = zip(*map(self._plan_job, plans), strict=True)
        # Put the runs and their Controls into the session before the thread gets them: they may be
        # stopped.
        self._session.prepare(runs)
        changed = self._display.runs_changed if self._session.pending else self.runs_replaced
        changed.emit()
        self._worker.submit(*jobs)

    def _plan_job(self, plan: PlannedRun) -> tuple[OpenRun, TrainingJob]:
        """Return a new run of the window, and the job that records it into a new file."""
        key, control, path = self._session.new_key(), Control(), self._places.new_run(plan.name)
        run = OpenRun(key, path, plan.description, plan.until, control, since=plan.since)
        return run, TrainingJob(key, path, control, plan.recipe)

    def train_beside(self, key: int, plan: PlannedRun) -> None:
        """Train a run below an open one, and close the others; close none if it is not open."""
        self.stop_runs(self._session.other_live_runs(key))
        self._session.close_others(key)
        self._repeat = partial(self._repeat_beside, key, plan)
        self.status.emit("")
        run, job = self._plan_job(plan)
        self._session.add(run)
        self._worker.submit(job)

    def _repeat_beside(self, key: int, plan: PlannedRun) -> None:
        self.train_beside(key, plan)
        self.runs_replaced.emit()

    def add_run(self, plan: PlannedRun) -> None:
        """Train a run at the right of the open ones."""
        self.make_room()
        self._repeat = partial(self.add_run, plan)
        self.status.emit("")
        run, job = self._plan_job(plan)
        self._session.add(run)
        self._worker.submit(job)
        self.runs_replaced.emit()

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files of the runs started last, or of the open ones."""
        return tuple(run.path for run in self._session.pending or self._session)

    def pause(self, paused: bool) -> None:
        """Pause the training, or resume it."""
        for control in [run.control for run in self._session.live if run.control is not None]:
            (control.pause if paused else control.resume)()
        self._worker.wake()

    def stop(self) -> None:
        """Stop the training; recorded frames remain on the screen and on the disk."""
        self.stop_runs(self._session.live)

    def stop_runs(self, runs: Sequence[OpenRun]) -> None:
        """Stop the training of some runs."""
        for control in [run.control for run in runs if run.control is not None]:
            control.stop()
        self._worker.wake()

    def close_runs(self) -> None:
        """Stop and close all runs; drop the queue."""
        self.clear_runs()
        self.runs_replaced.emit()

    def clear_runs(self) -> None:
        """Close all runs; the caller opens others, and rearranges the views once."""
        self.drop_queue()
        self.stop()
        self._session.clear()

    def make_room(self) -> None:
        """Stop the run that another one at the right would displace."""
        runs = list(self._session)
        if len(runs) == MOST_RUNS and runs[-1].live:
            self.stop_runs(runs[-1:])

    def close(self) -> None:
        """Start nothing more, since the window is closed."""
        self.drop_queue()
        self._typing.stop()
        self._data_check.close()
