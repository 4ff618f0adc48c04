"""The way to the window of a whole study, which is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.places import Places
from app.training.controller import MEND_FIRST
from core.figures.palette import PALETTES, Palette
from core.studies.study import Study

if TYPE_CHECKING:
    from app.study.runner import StudyRunner


@final
class WholeStudyController(QObject):
    """Owns the runner of a whole study, None before its window was opened.

    run_requested(names, beside): a run is to be opened. message(sentence): for the main window's
    bar. status(words): how far a study is whose window is hidden, or "".
    """

    run_requested = Signal(list, bool)
    message = Signal(str)
    status = Signal(str)

    def __init__(
        self,
        window: QWidget,
        places: Places,
        cluster: str,
        jobs: int,
        study_now: Callable[[], Study | None],
    ) -> None:
        super().__init__(window)
        self._main, self._places, self._study_now = window, places, study_now
        self._remembered = cluster, jobs
        self._palette = PALETTES["light"]
        self.runner: StudyRunner | None = None

    @property
    def busy(self) -> bool:
        """Whether a study is being run."""
        return self.runner is not None and self.runner.busy

    @property
    def remembered(self) -> tuple[str, int]:
        """The cluster's address ("" for none) and the processes (0: never chosen), for settings."""
        return self._remembered if self.runner is None else self.runner.window.options.remembered

    def show(self) -> None:
        """Open the window on the study in the experiment panel, or bring it to the front."""
        study, runner = self._study_now(), self.runner
        if runner is None:
            if study is None:
                self.message.emit(MEND_FIRST)
                return
            runner = self._made(study)
            runner.adopt(study)
        elif study is not None and not runner.busy and (study.count > 1 or study.sizes):
            runner.adopt(study)  # not the settings of a run that was opened from a study shown here
        runner.window.show()
        runner.window.raise_()
        runner.window.activateWindow()
        runner.window.progress.run.setFocus()
        self.status.emit("")

    def _made(self, study: Study) -> StudyRunner:
        from app.study.runner import StudyRunner  # the plots are slow to load

        self.runner = runner = StudyRunner(self._palette, self._places, study, self)
        runner.window.setWindowIcon(self._main.windowIcon())
        runner.window.options.set_remembered(*self._remembered)
        runner.run_requested.connect(self._request_run)
        runner.status.connect(self.status)
        return runner

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        if self.runner is not None:
            self.runner.display.set_colours(palette)

    def close(self) -> None:
        """Stop everything, wait for it, and put the window away."""
        # While its window still is: afterwards nobody can say what was chosen in it.
        self._remembered = self.remembered
        if self.runner is not None:
            self.runner.close()
            self.runner = None

    def _request_run(self, path: Path, beside: bool) -> None:
        """Open a run in the main window, which comes to the front."""
        self.run_requested.emit([str(path)], beside)
        self._main.raise_()
        self._main.activateWindow()
