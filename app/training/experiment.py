"""Training from the form: run, pause, stop, restart, new seeds, continue further."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.places import Places
from app.state.edits import Edits
from app.state.headings import MOMENT, file_name, headings_of
from app.state.retraining import NOTHING_DRAWN, OF_MANY, from_a_file, why_not_trained
from app.state.session import MOST_CELLS, MOST_RUNS, OpenRun, Session
from app.state.studies import goes_on_to, has, seed_of, study_of
from app.state.watched import as_trained, watched
from app.training.experiment_form import ExperimentForm
from app.training.form_words import in_words
from app.training.recipes import FromExperiment, FromRun, Further, Recipe
from app.training.run_worker import RunWorker, TrainingJob
from app.training.training_roles import Aside, Child, Repeat, Scale
from core.errors import InputError, MarginscopeError
from core.problem.schedule import coordinate
from core.settings import MAX_SEED
from core.studies.changes import origin_of, retitled
from core.studies.code import check_code, check_experiments
from core.studies.study import Study, load_study
from core.studies.tables import Cell
from core.studies.watching import worth_seeing
from core.study_file.experiment import Experiment
from core.training.control import Control
from core.trust import UntrustedCodeError

if TYPE_CHECKING:
    from core.runs import Run

MEND_FIRST = "Mend the values marked in the experiment panel first."
QUEUED = "{title} is trained next, as soon as what is trained now has ended."
STILL_GOING = "The training is still going on; stop it first, or wait for its end."


@final
class ExperimentController(QObject):
    """Starts, holds and ends training.

    replaced: other runs are open, to be played from t = 0. message(sentence): for the bar, "" for
    none; told(sentence): for a while. loaded(study): what the form shows now. trained(study),
    went_on(path): training was begun, of a study and from the end of a run. asked(study): whether
    it takes the place of runs that are still being trained; `begin` and `queue` answer.
    code_refused(error, repeat): untrusted Python code, and the request to repeat on consent.
    """

    replaced = Signal()
    message = Signal(str)
    told = Signal(str)
    asked = Signal(object)
    started = Signal(str)
    loaded = Signal(object)
    trained = Signal(object)
    went_on = Signal(str)
    code_refused = Signal(object, object)

    def __init__(
        self,
        session: Session,
        worker: RunWorker,
        form: ExperimentForm,
        places: Places,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._worker = worker
        self._form = form
        self._places = places
        self._study: Study | None = None
        self.aside: Aside | None = None
        self.scale: Scale | None = None
        self._queued: Study | None = None
        self._repeat: Repeat = self.restart
        self._cells: tuple[str, frozenset[str]] = "", frozenset()

    # ------------------------------------------------------------------------------- studies

    def choose(self, name: str, repeat: Repeat | None = None) -> bool:
        """Load a shipped study or a study file and train it; whether it is one.

        `repeat` is the whole request, if choosing the study is only a part of it.
        """
        try:
            study = load_study(name)
            check_code(study, name)
        except MarginscopeError as error:
            self.message.emit(error.sentence)
            if isinstance(error, UntrustedCodeError):
                self.code_refused.emit(error, repeat or partial(self.choose, name))
            return False
        self.train(study)
        return True

    def offer(self, study: str | Study) -> None:
        """Put a study, or a shipped one by its name, into the form; Run trains it."""
        self._show(load_study(study) if isinstance(study, str) else study)

    def train(self, study: Study) -> None:
        """Put a study into the form and train it."""
        self._show(study)
        self._begin(study)

    def run(self) -> None:
        """Train what stands in the form."""
        study = self._edited()
        if study is not None and not (self.aside is not None and self.aside.take(study)):
            self._begin(study)

    def restart(self) -> None:
        """Train the same once more."""
        study = self._study or self._form.study()
        if study is not None:
            self._begin(study)

    def new_seed(self) -> None:
        """Train with the next seed: other data, other weights."""
        study = self._edited()
        if study is None:
            return
        for key in ("data.seed", "network.seed"):
            if has(study, key):
                # A seed of its own would keep the data, or the weights, as they are.
                study = study.with_value(key, None)
        self._train_seeded(study, "run.seed", seed_of(study, "run.seed", 0) + 1)

    def new_weights(self) -> None:
        """Train with the same data from other weights."""
        study = self._edited()
        if study is not None:
            before = seed_of(study, "network.seed", seed_of(study, "run.seed", 0))
            self._train_seeded(study, "network.seed", before + 1)

    def _train_seeded(self, study: Study, key: str, seed: int) -> None:
        if from_a_file(study):
            self.message.emit(NOTHING_DRAWN)
            return
        try:
            study = study.with_value(key, seed % MAX_SEED)  # after the largest seed comes 0
            study.check()
            study = retitled(study, origin_of(study))
        except InputError as error:
            self.message.emit(in_words(error.sentence))
            return
        self._show(study)
        self._begin(study)

    def _edited(self) -> Study | None:
        study = self._form.study()
        if study is None:
            self.message.emit(MEND_FIRST)
        return study

    def show_settings_of(self, run: Run, identifier: str) -> None:
        """Put the settings of a recorded run into the form."""
        self.show_study(study_of(run, identifier))

    def show_study(self, study: Study) -> None:
        """Put a study into the form, of a run that is trained already."""
        self._show(study)
        self._study = study

    def show_edits(self, edits: Edits) -> None:
        """Put a study into the form as it was edited."""
        before = self._form.edits
        self._form.set_edits(edits)
        if before is not None and before.base == edits.base:
            self._form.changed.emit()
            return
        self._study = None
        self.loaded.emit(edits.base)

    def _show(self, study: Study) -> None:
        self._form.set_study(study)
        self.loaded.emit(study)

    # ------------------------------------------------------------------------------ training

    def _begin(self, study: Study) -> None:
        """Train a study's cells, once the user trusts their code and agrees to their size."""
        experiments = self.watched(study)
        try:
            check_experiments(experiments, study.folder, study.title)
        except UntrustedCodeError as error:
            self._form.refuse(error.sentence)
            self.message.emit(in_words(error.sentence))
            self.code_refused.emit(error, partial(self._begin, study))
            return
        if self.scale is None or self.scale.lets(experiments, partial(self._agreed, study)):
            self._agreed(study)

    def watched(self, study: Study) -> Sequence[Experiment]:
        """What is trained here of a study; nothing of one whose values are not allowed."""
        with suppress(InputError):
            return [watched(cell.experiment) for cell in self.cells_of(study)]
        return ()

    def _agreed(self, study: Study) -> None:
        """Train a study's cells, once somebody agrees where runs are still being trained."""
        # Before it has begun a run has nothing to lose.
        if any(run.begun for run in self._session.live):
            self.asked.emit(study)
        else:
            self.begin(study)

    def choose_cells(self, study: Study, names: Collection[str]) -> None:
        """Train these cells of a study, now and whenever the study is trained."""
        self._cells = study.id, frozenset(names)
        self._begin(study)

    def cells_of(self, study: Study) -> Sequence[Cell]:
        """The cells of a study that are trained here: those that somebody has chosen, else two that
        are worth seeing. Raises InputError for values that are not allowed."""
        identifier, names = self._cells
        chosen = names if identifier == study.id else ()
        return worth_seeing(study, len(chosen) or MOST_CELLS, chosen)

    def queue(self, study: Study) -> None:
        """Train a study as soon as nothing is trained any more; only the latest one waits."""
        self._queued = study
        self.message.emit(QUEUED.format(title=study.title))
        self.go_on()

    def drop_queue(self) -> None:
        """Nothing waits to be trained."""
        self._queued = None

    def go_on(self) -> None:
        """Begin what waits, if it need not wait any more."""
        study = self._queued
        if study is not None and not self._session.live:
            self._queued = None
            self.begin(study)

    def on_code_refused(self, key: int, error: UntrustedCodeError) -> None:
        """Request the question about code that the training thread refused, as it changed."""
        if self._session.get(key) is not None:
            self.code_refused.emit(error, self._repeat)

    def begin(self, study: Study) -> None:
        """Train a study's cells in place of what is shown; what was recorded stays."""
        try:
            # Made one by one: a grid may have 100,000.
            cells = self.cells_of(study)
        except InputError as error:
            self.message.emit(in_words(error.sentence))
            return
        if words := next(filter(None, (why_not_trained(one.experiment) for one in cells)), ""):
            self.message.emit(words)  # and what is shown stays
            return
        if study.count > len(cells):
            words = OF_MANY.format(count=study.count, some=len(cells))
        # Before the runs are closed, since some may be made of what is in their files.
        planned = [(cell, self.recipe(study, watched(cell.experiment))) for cell in cells]
        self.stop()
        self._session.clear()
        self._study = study
        self._repeat = partial(self._agreed, study)
        self.started.emit("")
        self.trained.emit(as_trained(study, cells))
        headings = headings_of([cell.name for cell in cells])
        jobs = [
            self._planned(study, cell, heading, recipe)
            for (cell, recipe), heading in zip(planned, headings, strict=True)
        ]
        self.message.emit("")
        if words:
            self.told.emit(words)
        self.replaced.emit()
        self._worker.submit(*jobs)

    def _planned(self, study: Study, cell: Cell, heading: str, recipe: Recipe) -> TrainingJob:
        edits = self._form.edits
        base = edits.base if edits is not None and edits.base.id == study.id else study
        name = file_name(study, cell, base)
        heading = heading or study.title
        until = float(coordinate(cell.experiment.dynamics.until_log10_time))
        return self._opened(name, heading, until, recipe)

    def _opened(
        self, name: str, heading: str, until: float, recipe: Recipe, since: float = -math.inf
    ) -> TrainingJob:
        # The run is in the session, with its Control, before the thread hears of it: it may be
        # stopped.
        key, control = self._session.new_key(), Control()
        path = self._places.new_run(name)
        self._session.add(OpenRun(key, path, heading, until, control, since=since))
        return TrainingJob(key, path, control, recipe)

    def recipe(self, study: Study, experiment: Experiment) -> Recipe:
        """Anew from the seeds; a run whose data or start are only in its file gives them on."""
        for run in self._session:
            if run.data is None or run.live:
                continue
            mine = run.data.run.experiment
            started = mine.network.init == "file" and mine.network == experiment.network
            if mine.data == experiment.data and (mine.data.embedded or started):
                return FromRun(run.path, experiment)
        return FromExperiment(experiment, study.folder, study.title, study.source)

    def beside(self, key: int, child: Child, recipe: Recipe) -> None:
        """Train a run at the right of an open one, which moves to the left; the others are
        closed."""
        others = [run for run in self._session if run.key != key]
        for run in others:
            if run.live and run.control is not None:
                run.control.stop()
        self._worker.wake()
        self._session.keep(key)
        self._repeat = partial(self._beside_again, key, child, recipe)
        self.started.emit("")
        job = self._opened(child.name, child.heading, child.until, recipe, child.since)
        self._worker.submit(job)

    def _beside_again(self, key: int, child: Child, recipe: Recipe) -> None:
        self.beside(key, child, recipe)
        self.replaced.emit()

    def further(self) -> None:
        """Go on from the last frame of each run, into new files."""
        if self._session.live:
            self.message.emit(STILL_GOING)
            return
        runs = [run for run in self._session if run.data is not None]
        known = [run.data.run.experiment for run in runs if run.data is not None]
        if words := next(filter(None, map(why_not_trained, known)), ""):
            self.message.emit(words)
            return
        planned = []
        for run in runs:
            assert run.data is not None
            name = f"{MOMENT.sub('', run.path.stem)}__from={run.data.run.frames - 1}"
            planned.append((name, run.heading, goes_on_to(run.data.run), run.path))
        if planned:
            self._go_further(planned)

    def _go_further(self, planned: Sequence[tuple[str, str, float, Path]]) -> None:
        self._repeat = partial(self._go_further, planned)
        self._session.clear()
        jobs = [self._opened(n, heading, until, Further(p)) for n, heading, until, p in planned]
        self.message.emit("")
        for _, _, _, path in planned:
            self.went_on.emit(str(path))
        self.replaced.emit()
        self._worker.submit(*jobs)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files of the runs that are shown."""
        return tuple(run.path for run in self._session)

    def pause(self, held: bool) -> None:
        """Hold the training, or let it go on."""
        for run in self._session.live:
            assert run.control is not None
            if held:
                run.control.pause()
            else:
                run.control.resume()
        self._worker.wake()

    def stop(self) -> None:
        """End the training; what is recorded stays on the screen and on the disk."""
        for run in self._session.live:
            assert run.control is not None
            run.control.stop()
        self._worker.wake()

    def close_runs(self) -> None:
        """Stop and close everything that is shown; nothing waits to be trained."""
        self.clear_runs()
        self.replaced.emit()

    def clear_runs(self) -> None:
        """Close all runs; the caller opens others, and has the views rearranged once."""
        self.drop_queue()
        self.stop()
        self._session.clear()

    def make_room(self) -> None:
        """Stop the run that one more at the right would push out."""
        runs = list(self._session)
        if len(runs) == MOST_RUNS and runs[-1].live:
            control = runs[-1].control
            assert control is not None
            control.stop()
            self._worker.wake()
