"""Exports: figures, films and data of runs, and a figure to the clipboard."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QMimeData, QObject, QStandardPaths, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QDialog, QWidget

from app.panels.export_dialog import ExportDialog
from app.panels.export_dialogs import DataDialog, FigureDialog, FilmDialog, ProgressWindow
from app.state.exports import CopyJob, ExportJob, FigureJob
from app.workers.worker import Request, Worker
from core.figures.palette import LIGHT, Palette

if TYPE_CHECKING:
    from core.reference.margin import ReferenceMargin

BUSY = "An export is under way; wait for it, or cancel it first."
NO_RUNS = "There is no run to export yet: run a study or open a run file."
CANCELLED = "The export was cancelled; nothing was written."
NO_MEMORY = "There is not enough memory for this; choose fewer runs or a smaller picture."
OUR_ERROR = (
    "The export stopped because of an error in the program, and nothing was written; the log says "
    "more."
)
# What is done sooner than this shows no window, since one that only flashes up is a nuisance.
PATIENCE = 400


@final
class ExportController(QObject):
    """Asks what to export where, and has it done in one thread. All runs are given as paths.

    `finished` and `error` end each job with a sentence.
    """

    finished = Signal(str)
    error = Signal(str)
    busy_changed = Signal(bool)

    def __init__(self, window: QWidget | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._window = window
        self._coordinates = (0, 1)
        self._references: dict[Path, tuple[ReferenceMargin, ...]] = {}
        self._palette = LIGHT
        self._folder: Path | None = None
        self._job: ExportJob | None = None
        self.dialog: ExportDialog | None = None
        self._stop = threading.Event()
        self.worker = Worker("export", _done, self, no_memory=NO_MEMORY, our_error=OUR_ERROR)
        self.worker.progress.connect(self._on_progress)
        self.worker.result.connect(self._on_result)
        self.worker.error.connect(self._on_error)
        self.progress: ProgressWindow | None = None
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE)
        self._patience.timeout.connect(self._show_progress)

    @property
    def busy(self) -> bool:
        return self.worker.busy

    def set_coordinates(self, first: int, second: int) -> None:
        """The two coordinates that the views show, for figures and films of the same."""
        self._coordinates = (first, second)

    def set_references(self, references: Mapping[Path, tuple[ReferenceMargin, ...]]) -> None:
        """The reference margins whose lines the views show, for figures of the same runs."""
        self._references = dict(references)

    def _with_lines(self, job: ExportJob) -> ExportJob:
        """Figures get the lines of their runs."""
        if not isinstance(job, FigureJob | CopyJob):
            return job
        return replace(job, references=tuple(self._references.get(run, ()) for run in job.runs))

    def set_colours(self, palette: Palette) -> None:
        """The palette of the window, which films are offered in first."""
        self._palette = palette

    # ------------------------------------------------------------------------------ requests

    def figure(self, runs: Sequence[Path]) -> None:
        """Ask how to save a figure of some runs."""
        if self._ready(runs):
            self._ask(FigureDialog(runs, self._save_folder(), self._coordinates, self._window))

    def film(self, runs: Sequence[Path]) -> None:
        """Ask how to save a film of some runs."""
        if self._ready(runs):
            folder = self._save_folder()
            self._ask(FilmDialog(runs, folder, self._coordinates, self._palette, self._window))

    def data(self, runs: Sequence[Path]) -> None:
        """Ask how to save the observables of some runs, one file each."""
        if self._ready(runs):
            self._ask(DataDialog(runs, self._save_folder(), self._window))

    def copy_figure(self, runs: Sequence[Path]) -> None:
        """Put a figure of some runs on the clipboard, as pixels and as vectors."""
        if self._ready(runs):
            self._start(CopyJob(tuple(runs), coordinates=self._coordinates))

    def start(self, job: ExportJob) -> None:
        """Begin a job that somebody else has asked for; says so where one is at work."""
        if self.worker.busy:
            self.error.emit(BUSY)
        else:
            self._start(job)

    def cancel(self) -> None:
        """Stop the job at its next chance; nothing half written stays."""
        if self.worker.busy:
            if self.progress is not None:
                self.progress.cancelling()
            self._stop.set()  # not the worker: it says what was done all the same, if it was

    def close(self) -> None:
        """Cancel, wait for the thread, and close every window of this controller."""
        self._stop.set()
        self.worker.close()
        self._end()
        if self.dialog is not None:
            self.dialog.reject()

    # ------------------------------------------------------------------------------- asking

    def _ready(self, runs: Sequence[Path]) -> bool:
        if self.worker.busy:
            self.error.emit(BUSY)
        elif not runs:
            self.error.emit(NO_RUNS)
        elif self.dialog is not None:
            self.dialog.raise_()
        else:
            return True
        return False

    def _save_folder(self) -> Path:
        if self._folder is None or not self._folder.is_dir():
            place = QStandardPaths.StandardLocation.DocumentsLocation
            documents = Path(QStandardPaths.writableLocation(place))
            self._folder = documents if documents.is_dir() else Path.home()
        return self._folder

    def _ask(self, dialog: ExportDialog) -> None:
        self.dialog = dialog
        dialog.finished.connect(self._on_answer)
        dialog.open()

    def _on_answer(self, result: int) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is None:
            return
        job = dialog.job() if result == QDialog.DialogCode.Accepted else None
        if job is not None:
            self._folder = dialog.targets()[0].parent
        dialog.deleteLater()
        if job is not None:
            self._start(job)

    # ------------------------------------------------------------------------------- working

    def _start(self, job: ExportJob) -> None:
        self._job = job = self._with_lines(job)
        self.progress = ProgressWindow(self._window)
        self.progress.begin(job.title)
        self.progress.cancel_requested.connect(self.cancel)
        self._patience.start()
        self._stop = threading.Event()
        self.worker.ask(job, self._stop)
        self.busy_changed.emit(True)

    def _show_progress(self) -> None:
        if self.progress is not None:
            self.progress.show()

    def _on_progress(self, share: tuple[int, int]) -> None:
        if self.progress is not None:
            self.progress.show_progress(*share)

    def _on_result(self, done: str) -> None:
        job = self._job
        self._end()
        if done and isinstance(job, CopyJob):
            _to_clipboard(job.contents)
        self.finished.emit(done or CANCELLED)

    def _on_error(self, sentence: str) -> None:
        self._end()
        self.error.emit(sentence)

    def _end(self) -> None:
        self._patience.stop()
        if self._job is None:
            return
        self._job = None
        if self.progress is not None:
            self.progress.hide()
            self.progress.deleteLater()
            self.progress = None
        self.busy_changed.emit(False)


def _done(request: Request, job: ExportJob, stop: threading.Event) -> str:
    """Do a job and say what was done, in the thread."""

    def report(done: int, total: int) -> None:
        request.progress((done, total))

    return job.work(report, stop.is_set)


def _to_clipboard(contents: dict[str, bytes]) -> None:
    data = QMimeData()
    for media, content in contents.items():
        data.setData(media, content)
    data.setImageData(QImage.fromData(contents["image/png"]))
    QGuiApplication.clipboard().setMimeData(data)
