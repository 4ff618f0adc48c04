"""A whole study, run beside the window: shown, started, paused, cancelled, gone on with.

Shelf (what is there) <-- ShelfReader, or the SweepWorker while it runs
  |-> table, points, progress; figure (FigurePainter); claims (ClaimJudge) once it rests
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.main_window import MainWindow
from app.panels.sweep_progress import words_of
from app.places import Places
from app.workers.study_readers import CostReader, Shelf, ShelfReader
from app.workers.sweep_worker import Order, SweepWorker
from core.errors import MarginscopeError
from core.figures.palette import PALETTES, Palette
from core.studies.study import Study, load_study, shipped_ids

if TYPE_CHECKING:
    from app.controllers.study_display import StudyDisplay
    from app.panels.study_window import StudyWindow

MEND_FIRST = "Mend the values marked in the experiment panel first."
BUSY = "A study is being run; cancel it, or wait for its end, before another one is chosen."
NO_FOLDER = "Say in which folder the runs are to be recorded."
NO_ADDRESS = "Type the address of a Dask scheduler, such as tcp://host:8786."
MEASURING = "Measuring a few cells ..."


@final
class WholeStudyController(QObject):
    """Owns the window of a whole study and what works for it.

    run_asked(names, beside): a run is to be opened. told(sentence): for the main window's bar.
    said(words): how far a study is whose window is hidden, or "".
    """

    run_asked = Signal(list, bool)
    told = Signal(str)
    said = Signal(str)

    def __init__(
        self,
        window: MainWindow,
        places: Places,
        cluster: str,
        jobs: int,
        study_now: Callable[[], Study | None],
    ) -> None:
        super().__init__(window)
        self._main, self._places, self._study_now = window, places, study_now
        self._remembered = cluster, jobs
        self._palette = PALETTES["light"]
        self._study: Study | None = None
        self._size: str | None = None
        self._edited = False
        self._shelf: Shelf | None = None
        self.window: StudyWindow | None = None
        self.display: StudyDisplay | None = None
        self.worker = SweepWorker(self)
        self.reader = ShelfReader(self)
        self.cost = CostReader(self)
        self.worker.planned.connect(self._on_planned)
        self.worker.moved.connect(self._on_moved)
        self.worker.ended.connect(self._on_ended)
        self.reader.made.connect(self._on_shelf)
        self.reader.refused.connect(self._on_refused)
        self.cost.made.connect(self._on_cost)
        self.cost.refused.connect(self._on_no_cost)

    @property
    def busy(self) -> bool:
        """Whether a study is being run."""
        return self.worker.busy

    @property
    def remembered(self) -> tuple[str, int]:
        """The cluster's address ("" for none) and the processes (0: never chosen), for settings."""
        if self.window is None:
            return self._remembered
        return self.window.options.cluster.text().strip(), self.window.options.jobs.value()

    # ---------------------------------------------------------------------------- the window

    def show(self) -> None:
        """Open the window on the study in the experiment panel, or bring it to the front."""
        study = self._study_now()
        if study is None and self.window is None:
            self.told.emit(MEND_FIRST)
            return
        window = self.window or self._make()
        if study is not None and not self.busy and self._is_study(study):
            self.adopt(study)
        window.show()
        window.raise_()
        window.activateWindow()
        window.progress.run.setFocus()
        self.said.emit("")

    def _is_study(self, study: Study) -> bool:
        """Whether it is more than the settings of a run that was opened from a study shown here."""
        return self._study is None or bool(study.count > 1 or study.sizes)

    def _make(self) -> StudyWindow:
        from app.controllers.study_display import StudyDisplay  # the plots are slow to load
        from app.panels.study_window import StudyWindow
        from core.sweep.pools import cores

        self.window = window = StudyWindow(self._palette, cores())
        window.setWindowIcon(self._main.windowIcon())
        window.options.set_remembered(*self._remembered)
        self.display = StudyDisplay(window, self._palette, self)
        self.display.run_asked.connect(self._ask_run)
        window.options.chooser.chosen.connect(self._choose)
        window.options.chooser.open_requested.connect(self._open)
        window.options.changed.connect(self._look)
        window.options.cost_asked.connect(self._estimate)
        window.progress.run_asked.connect(self.run)
        window.progress.pause_asked.connect(self.pause)
        window.progress.cancel_asked.connect(self.cancel)
        window.place.clicked.connect(self._show_folder)
        return window

    def set_colours(self, palette: Palette) -> None:
        """Another palette."""
        self._palette = palette
        if self.display is not None:
            self.display.set_colours(palette)

    def close(self) -> None:
        """Stop everything, wait for it, and put the window away."""
        self._remembered = self.remembered
        for worker in (self.worker, self.reader, self.cost):
            worker.close()
        if self.display is not None:
            self.display.close()
        if self.window is not None:
            window, self.window = self.window, None
            window.close()
            window.deleteLater()

    # ----------------------------------------------------------------------------- the study

    def adopt(self, study: Study) -> None:
        """Show another study."""
        assert self.window is not None
        self._study, self._edited = study, _is_edited(study)
        self.window.options.show_study(study, edited=study.id in shipped_ids() and self._edited)
        self.window.bar.say("")
        self._look()

    def _choose(self, name: str) -> None:
        try:
            self.adopt(load_study(name))
        except MarginscopeError as error:
            self._say(error.sentence)

    def _open(self) -> None:
        from PySide6.QtWidgets import QFileDialog

        name, _ = QFileDialog.getOpenFileName(self.window, "Open", "", "Studies (*.toml)")
        if name:
            self._choose(name)

    def _look(self) -> None:
        """The study, its size or its folder are others: see what is there."""
        window, study = self.window, self._study
        if window is None or study is None or self.busy:
            return
        self.cost.cancel()
        self._size = size = window.options.size_name
        try:
            sized = study.at_size(size)
        except MarginscopeError as error:
            self._shelf = None
            self._refuse(error.sentence)
            return
        window.options.offer_folder(
            self._places.study_folder(study.id, size, sized.to_toml() if self._edited else "")
        )
        folder = window.options.path
        if folder is None:
            self._refuse(NO_FOLDER)
            return
        window.options.show_count(f"{sized.count} cells")
        self.reader.ask(sized, size, folder)

    def _refuse(self, sentence: str) -> None:
        """Nothing can be run as it stands, nor as it stood before."""
        assert self.window is not None
        self.reader.cancel()
        self.window.options.show_problem(sentence)
        self.window.progress.show_idle(0, 0, 0, possible=False)

    def _on_refused(self, sentence: str) -> None:
        self._shelf = None
        self._refuse(sentence)

    def _on_shelf(self, shelf: Shelf) -> None:
        """What is there is known."""
        if self.window is None or self.display is None or self.busy:
            return
        self._shelf = shelf
        if shelf.has_gpu:
            self.window.options.offer_gpu()
        wrong = NO_ADDRESS if self.window.options.address == "" else ""
        self.window.options.show_problem(wrong)
        self.window.options.show_count(f"{len(shelf.cells)} cells")
        self.display.show_shelf(shelf, resting=True)
        self._show_idle(possible=not wrong)

    def _show_idle(self, possible: bool = True) -> None:
        assert self.window is not None
        self.window.options.set_locked(False)
        shelf = self._shelf
        if shelf is None:
            self.window.progress.show_idle(0, 0, 0, possible=False)
            return
        states = [row.state for row in shelf.rows.values()]
        done, failed = states.count("done"), states.count("failed")
        self.window.progress.show_idle(done, failed, len(shelf.cells), possible)

    # --------------------------------------------------------------------------------- running

    def run(self) -> None:
        """Run what is left of the study."""
        window, shelf = self.window, self._shelf
        if window is None or shelf is None or self.busy:
            return
        options = window.options
        if options.address == "":
            options.show_problem(NO_ADDRESS)
            return
        self.cost.cancel()
        window.bar.say("")
        options.set_locked(True)
        jobs = None if options.on_cluster else options.jobs.value()
        place = options.address, options.on_gpu
        self.worker.start(Order(shelf.study, shelf.folder, shelf.size, jobs, *place))
        self._show_status()

    def pause(self, held: bool) -> None:
        """Start no more cells, or go on."""
        self.worker.pause(held)
        self._show_status()

    def cancel(self) -> None:
        """End the study; what is done stays."""
        self.worker.stop()
        self._show_status()

    def _on_planned(self) -> None:
        self._refresh(resting=False)

    def _on_moved(self) -> None:
        self._refresh(resting=False)
        self._show_status()

    def _refresh(self, resting: bool) -> None:
        shelf, paths = self._shelf, self.worker.paths()
        if shelf is None or self.display is None or not paths:
            return
        rows = self.worker.rows()
        self._shelf = Shelf(shelf.study, shelf.size, shelf.folder, shelf.cells, paths, rows)
        self.display.show_shelf(self._shelf, resting)

    def _show_status(self) -> None:
        status, window = self.worker.status, self.window
        if status is None or window is None or not self.busy:
            return
        window.progress.show_status(status, self.worker.paused, self.worker.stopping)
        if not window.isVisible() and status.total and self._study is not None:
            words = words_of(status, self.worker.paused, self.worker.stopping)
            self.said.emit(f"{self._study.title}: {words}")

    def _on_ended(self, wrong: str) -> None:
        """It is done, or was cancelled, or could not go on."""
        if self.window is None:
            return
        self._refresh(resting=True)
        self._show_idle()
        status = self.worker.status
        self._say(wrong or self._failures())
        if not self.window.isVisible() and self._study is not None and status is not None:
            words = wrong or f"{status.done} of {status.total} cells are there"
            self.said.emit(f"{self._study.title}: {words}")

    def _failures(self) -> str:
        """What to say of cells that failed: how many, and the sentence of the first."""
        shelf = self._shelf
        rows = [] if shelf is None else [r for r in shelf.rows.values() if r.state == "failed"]
        if not rows:
            return ""
        count = "1 cell failed" if len(rows) == 1 else f"{len(rows)} cells failed, the first"
        return f"{count}: {rows[0].reason} The table of cells has them all."

    def _say(self, sentence: str) -> None:
        if self.window is not None:
            self.window.bar.say(sentence)

    # -------------------------------------------------------------------------------- the rest

    def _estimate(self) -> None:
        """Measure what the study costs."""
        if self.window is None or self._shelf is None:
            return
        shelf = self._shelf
        self.window.options.show_count(f"{len(shelf.cells)} cells. {MEASURING}")
        self.window.options.estimate.setEnabled(False)
        self.cost.ask(shelf.study, self.window.options.jobs.value(), dict(shelf.rows))

    def _on_cost(self, cost: object) -> None:
        from core.sweep.cost import Cost, summary

        self._show_cost(summary(cost) if isinstance(cost, Cost) else "")

    def _on_no_cost(self, sentence: str) -> None:
        self._show_cost(sentence)

    def _show_cost(self, words: str) -> None:
        if self.window is not None and self._shelf is not None:
            self.window.options.estimate.setEnabled(True)
            self.window.options.show_count(f"{len(self._shelf.cells)} cells. {words}")

    def _ask_run(self, path: object, beside: bool) -> None:
        """Open a run in the main window, which comes to the front."""
        self.run_asked.emit([str(path)], beside)
        self._main.raise_()
        self._main.activateWindow()

    def _show_folder(self) -> None:
        from app.controllers.files import show_folder

        if self._shelf is not None:
            self._say(show_folder(self._shelf.folder))


def _is_edited(study: Study) -> bool:
    """Whether a study is not one of those that are shipped, as it is shipped."""
    return study.id not in shipped_ids() or load_study(study.id).to_toml() != study.to_toml()
