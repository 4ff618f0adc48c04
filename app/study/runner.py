"""Controller of a whole study's window: adopts a study, runs, pauses, cancels and continues it.

StudyRuns (what exists) <-- the reader, or the worker while it runs
  |-> table, points, progress; figure; claims once it rests (app.study.display)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog

from app.places import Places
from app.study.display import StudyDisplay
from app.study.hunt_page import HuntController
from app.study.options import cells_text, words_of
from app.study.whole_study import StudyRuns, WholeStudy, make_whole_study
from app.study.window import StudyWindow
from app.study.workers import (
    StudyWorker,
    SweepOrder,
    SweepUpdate,
    cost_estimated,
    run_sweep,
    study_runs,
)
from app.training.files import show_folder
from app.training.run_questions import Repeat, RunQuestions
from app.worker import Worker
from core.errors import MarginscopeError
from core.figures.palette import Palette
from core.studies.code import check_cells
from core.studies.study import Study, load_study, shipped_ids
from core.sweep.cost import summary
from core.sweep.pools import cores
from core.trust import UntrustedCodeError

if TYPE_CHECKING:
    from core.sweep.cost import Cost

NO_ADDRESS = "Enter the address of a Dask scheduler, such as tcp://host:8786."
POLL_MS = 300  # ms; a cell may take hours without a report of the worker
NOT_READ = "The folder could not be read (internal error). Details are in the log."
NO_COST = "The cost could not be estimated (internal error). Details are in the log."


@final
class StudyRunner(QObject):
    """Controller of the window of a whole study; owns the window and its workers."""

    def __init__(
        self,
        palette: Palette,
        places: Places,
        study: Study,
        open_run: Callable[[Path | str, bool], None],
        show_status: Callable[[str], None],
        parent: QObject,
    ) -> None:
        """Call `open_run(path, add)`, and `show_status` while the window is hidden."""
        super().__init__(parent)
        self._places, self._show_hidden_status = places, show_status
        self.window = window = StudyWindow(palette, cores())
        self.display = StudyDisplay(window, palette, self)
        self.questions = RunQuestions(window)
        self.questions.message.connect(window.bar.show_message)
        self.hunting = HuntController(window.hunt, window.options, self.questions, self)
        self.worker = StudyWorker("study", run_sweep, self)
        self.reader = Worker("study", study_runs, self, our_error=NOT_READ)
        self.cost = Worker("cost", cost_estimated, self, our_error=NO_COST)
        self.shown: WholeStudy = make_whole_study(study)
        self._poll = QTimer(self, interval=POLL_MS)
        self._poll.timeout.connect(self._show_status)
        for source in (window.plot, window.table, window.hunt.table):
            source.run_requested.connect(open_run)
        self.hunting.busy_changed.connect(self._show_idle)
        self.worker.progress.connect(self._on_progress)
        self.worker.finished.connect(self._on_finished)
        self.reader.result.connect(self._on_runs)
        self.reader.error.connect(self._refuse)
        self.cost.result.connect(self._on_cost)
        self.cost.error.connect(self._show_cost)
        window.options.chooser.chosen.connect(self._choose)
        window.options.chooser.open_requested.connect(self._open)
        window.options.changed.connect(self._read_runs)
        window.options.estimate.clicked.connect(self._estimate)
        window.progress.run.clicked.connect(self.run)
        window.progress.pause.toggled.connect(self.pause)
        window.progress.cancel.clicked.connect(self.cancel)
        window.place.clicked.connect(self._show_folder)

    @property
    def busy(self) -> bool:
        """True while a study or a hunt is running."""
        return self.worker.busy or self.hunting.busy

    def close(self) -> None:
        """Stop all work, wait for it, and delete the window."""
        self._poll.stop()
        self.questions.close()
        for worker in (self.worker, self.reader, self.cost):
            worker.close()
        self.display.close()
        self.hunting.close()
        self.window.close()
        self.window.deleteLater()

    # ----------------------------------------------------------------------------- the study

    def adopt(self, study: Study) -> None:
        """Show another study."""
        self.shown = whole_study = make_whole_study(study)
        # A user's file has its own sizes. A shipped study with edited settings is shown as these.
        self.window.options.show_study(
            study, edited=study.id in shipped_ids() and whole_study.edited
        )
        self.window.bar.show_message("")
        self._read_runs()

    def _choose(self, name: str) -> None:
        try:
            self.adopt(load_study(name))
        except MarginscopeError as error:
            self.window.bar.show_message(error.sentence)

    def _open(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self.window, "Open", "", "Studies (*.toml)")
        if name:
            self._choose(name)

    def _read_runs(self) -> None:
        """Find the runs of the chosen study, size and folder."""
        if self.busy:
            return
        self.cost.cancel()  # estimate of the last choice
        options, study, edited = self.window.options, self.shown.study, self.shown.edited
        size = options.size_name
        try:
            sized = study.at_size(size)
        except MarginscopeError as error:
            self._refuse(error.sentence)
            return
        options.offer_folder(
            self._places.study_folder(study.id, size, sized.to_toml() if edited else "")
        )
        if options.path is None:
            self._refuse("Choose a folder for the runs.")
            return
        options.show_count(cells_text(sized.count))
        # In a thread: the folder may hold thousands of files on a network drive.
        self.reader.request(sized, size, options.path)

    def _refuse(self, sentence: str) -> None:
        """Report why nothing can be run, and forget the runs of earlier choices."""
        self.reader.cancel()
        self.shown = replace(self.shown, runs=StudyRuns(self.shown.study))
        self.window.options.show_problem(sentence)
        self._show_idle()

    def _on_runs(self, runs: StudyRuns) -> None:
        if self.busy:
            return
        self.shown = replace(self.shown, runs=runs)
        options = self.window.options
        # The address is None on this computer, and "" if none is entered for a cluster.
        options.show_problem(NO_ADDRESS if options.address == "" else "")
        options.show_count(cells_text(len(runs.cells)))
        self.display.show_runs(runs, resting=True)
        self._show_idle(possible=options.address != "")

    def _show_idle(self, possible: bool = True) -> None:
        """Show the state while nothing runs, or a hunt."""
        runs, hunts = self.shown.runs, self.hunting.busy
        n_done, failed, total = len(runs.done), len(runs.failed_rows), len(runs.cells)
        possible = possible and total > 0 and not hunts
        self.window.options.set_locked(hunts)
        self.window.progress.show_idle(n_done, failed, total, possible)
        self.hunting.show_runs(runs, possible)

    # --------------------------------------------------------------------------------- running

    def run(self) -> None:
        """Run the missing cells of the study."""
        runs, options = self.shown.runs, self.window.options
        if self.busy or not runs.cells:
            return
        if options.address == "":
            options.show_problem(NO_ADDRESS)
            return
        if not self._is_trusted(runs.study, self.run):
            return
        self.cost.cancel()
        self.window.bar.show_message("")
        options.set_locked(True)
        jobs = None if options.on_cluster else options.jobs.value()  # a cluster has its own workers
        self.worker.start(SweepOrder(runs.study, runs.folder, runs.size, jobs, options.address))
        self._poll.start()
        self.hunting.show_runs(runs, possible=False)
        self._show_status()

    def _is_trusted(self, study: Study, repeat: Repeat) -> bool:
        """Return True if the user trusts the code of a study. Otherwise ask, and call `repeat`."""
        try:
            check_cells(study)
        except UntrustedCodeError as error:
            self.window.bar.show_message(error.sentence)
            self.questions.confirm_trust(error, repeat)
            return False
        return True

    def pause(self, paused: bool) -> None:
        """Pause after the running cells, or resume."""
        control = self.worker.control
        (control.pause if paused else control.resume)()
        self._show_status()

    def cancel(self) -> None:
        """Stop the study; finished cells remain."""
        self.worker.control.stop()
        self._show_status()

    def _on_progress(self) -> None:
        self._refresh(resting=False)
        self._show_status()

    def _refresh(self, resting: bool) -> None:
        """Show the cells' rows; the worker has no report if a plan could not be made."""
        update: SweepUpdate | None = self.worker.latest
        if update is not None:
            runs = replace(self.shown.runs, paths=update.paths, rows=update.rows)
            self.shown = replace(self.shown, runs=runs)
            self.display.show_runs(runs, resting)

    def _show_status(self) -> None:
        if not self.worker.busy:
            return
        control = self.worker.control
        how = control.status, control.pause_requested, control.stop_requested
        self.window.progress.show_status(*how)
        self.window.table.model_.set_at_work(control.status.at_work)
        if control.status.total:
            self._show_if_hidden(words_of(*how))

    def _show_if_hidden(self, words: str) -> None:
        if not self.window.isVisible():
            self._show_hidden_status(f"{self.shown.study.title}: {words}")

    def _on_finished(self, wrong: str) -> None:
        """Show the state of a finished, cancelled or failed study."""
        self._poll.stop()
        self._refresh(resting=True)
        self.window.table.model_.set_resting()
        self._show_idle()
        self.window.bar.show_message(wrong or self.shown.runs.failures)
        status = self.worker.control.status
        self._show_if_hidden(wrong or f"{status.done} of {status.total} runs finished")

    # -------------------------------------------------------------------------------- the rest

    def _estimate(self) -> None:
        """Measure the cost of the study."""
        runs, options = self.shown.runs, self.window.options
        if runs.cells and self._is_trusted(runs.study, self._estimate):
            self.window.bar.show_message("")
            options.show_count(f"{cells_text(len(runs.cells))}. Timing a few of them ...")
            options.estimate.setEnabled(False)
            self.cost.request(runs.study, options.jobs.value(), dict(runs.rows))

    def _on_cost(self, cost: Cost) -> None:
        self._show_cost(summary(cost))

    def _show_cost(self, words: str) -> None:
        self.window.options.estimate.setEnabled(True)
        self.window.options.show_count(f"{cells_text(len(self.shown.runs.cells))}. {words}")

    def _show_folder(self) -> None:
        if self.shown.runs.cells:
            self.window.bar.show_message(show_folder(self.shown.runs.folder))
