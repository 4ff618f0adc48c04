"""Exports: figures, films, pages and data of runs, and a figure to the clipboard."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import final

from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QIODevice,
    QMimeData,
    QObject,
    QStandardPaths,
    QTimer,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QImage, QImageReader
from PySide6.QtWidgets import QDialog, QWidget

from app.export.compare_dialog import CompareDialog
from app.export.export_dialog import ExportDialog
from app.export.export_dialogs import DataDialog, FilmDialog
from app.export.export_progress import ProgressWindow
from app.export.figure_dialog import FigureDialog
from app.export.page_dialog import PageDialog
from app.state.commands import command_of
from app.state.compare_exports import CompareCopyJob
from app.state.data_exports import Column, columns_of
from app.state.exports import (
    CopyJob,
    Exportable,
    ExportJob,
    FigureJob,
    PageJob,
    PictureJob,
    completed,
    page_preview_of,
    preview_of,
)
from app.worker import Request, Worker
from core.errors import InputError
from core.figures.export import FigureProcess
from core.figures.options import FigureOptions
from core.reference.watch import CancelledError

BUSY = "An export is under way; wait for it, or cancel it first."
NO_RUNS = "There is no run to export yet: run a study or open a run file."
CANCELLED = "The export was cancelled; nothing was written."
NO_MEMORY = "There is not enough memory for this; choose fewer runs or a smaller picture."
OUR_ERROR = (
    "The export stopped because of an error in the program, and nothing was written; the log says "
    "more."
)
CITED = "BibTeX of Marginscope{} is in the clipboard."
COPIED = "The command is in the clipboard."
# After the last change in a dialog its preview is drawn.
PREVIEW_MS = 250
# What is done sooner than this shows no window, since one that only flashes up is a nuisance.
PATIENCE = 400


@final
class ExportController(QObject):
    """Asks what to export where, and has it done in one thread.

    `finished` and `error` end each job with a sentence.
    """

    finished = Signal(str)
    error = Signal(str)

    def __init__(
        self, window: QWidget | None = None, shown: Callable[[], Exportable] = Exportable
    ) -> None:
        """`shown` is what there is to export, where somebody may ask for it here."""
        super().__init__(window)
        self._window, self._shown = window, shown
        self._folder: Path | None = None
        self._job: ExportJob | None = None
        self.dialog: ExportDialog | None = None
        self._stop = threading.Event()
        self.figure_process = FigureProcess()
        self.worker = Worker("export", _done, self, no_memory=NO_MEMORY, our_error=OUR_ERROR)
        self.worker.progress.connect(self._on_progress)
        self.worker.result.connect(self._on_result)
        self.worker.error.connect(self._on_error)
        self.progress: ProgressWindow | None = None
        # Beside the one that writes: a preview is thrown away when another one is asked for.
        self.previewer = Worker(
            "preview of a figure", _preview, self, no_memory=NO_MEMORY, our_error=OUR_ERROR
        )
        self.previewer.result.connect(self._show_preview)
        self.previewer.error.connect(self._refuse_preview)
        self._soon = QTimer(self, singleShot=True, interval=PREVIEW_MS)
        self._soon.timeout.connect(self._ask_preview)
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE)
        self._patience.timeout.connect(self._show_progress)

    @property
    def busy(self) -> bool:
        return self.worker.busy

    def waited_for(self) -> bool:
        """Whether somebody waits for a file or a preview. For any thread."""
        return self.worker.busy or self.previewer.busy

    # ------------------------------------------------------------------------------ requests

    def figure(self) -> None:
        """Ask how to save a figure of the runs."""
        if not (shown := self._exportable()):
            return
        if shown.compared is not None:
            self._ask_comparison(shown, table=False)
        else:
            self._ask_with_preview(FigureDialog(shown, self._save_folder(), self._window))

    def film(self) -> None:
        """Ask how to save a film of the runs."""
        if shown := self._exportable():
            self._ask(FilmDialog(shown, self._save_folder(), self._window))

    def page(self) -> None:
        """Ask how to save a page that plays the runs."""
        if shown := self._exportable():
            self._ask_with_preview(PageDialog(shown, self._save_folder(), self._window))

    def data(self) -> None:
        """Ask how to save the observables of the runs, one file each."""
        if not (shown := self._exportable()):
            return
        if shown.compared is not None:
            self._ask_comparison(shown, table=True)
        else:
            self._ask(DataDialog(shown.runs, self._save_folder(), self._window))
            self.previewer.ask(shown.runs, self.figure_process)

    def copy_figure(self) -> None:
        """Put a figure of the runs on the clipboard, as pixels and as vectors."""
        if not (shown := self._exportable()):
            return
        if (compared := shown.compared) is not None:
            runs = tuple(Path(name) for name in compared.runs)
            moment = math.inf if shown.moment is None else shown.moment
            self._start(CompareCopyJob(runs, compared.question, moment))
        else:
            options = FigureOptions(plane=shown.plane)
            job = CopyJob(shown.runs, shown.panels, options, until=shown.moment, rest=True)
            self._start(job)

    def cite(self) -> None:
        """Put BibTeX of the program, and of the papers of what is shown, into the clipboard."""
        from core.studies.papers import bibtex, papers_in

        shown = self._shown()
        if not shown.runs:
            self.error.emit(NO_RUNS)
            return
        QGuiApplication.clipboard().setText(bibtex(shown.sources))
        names = ", ".join(paper.short for paper in papers_in(shown.sources))
        self.finished.emit(CITED.format(f" and {names}" if names else ""))

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
        self._soon.stop()
        self.previewer.close()
        self.worker.close()
        self.figure_process.stop()
        self._end()
        if self.dialog is not None:
            self.dialog.reject()

    # ------------------------------------------------------------------------------- asking

    def _exportable(self) -> Exportable | None:
        """What there is to export; None, and why, where nothing can be asked for now."""
        shown = self._shown()
        if self.worker.busy:
            self.error.emit(BUSY)
        elif not shown.runs and shown.compared is None:
            self.error.emit(NO_RUNS)
        elif self.dialog is not None:
            self.dialog.raise_()
        else:
            return shown
        return None

    def _save_folder(self) -> Path:
        if self._folder is None or not self._folder.is_dir():
            # Not where the runs are: the user's folder of data is hidden on most systems.
            place = QStandardPaths.StandardLocation.DocumentsLocation
            documents = Path(QStandardPaths.writableLocation(place))
            self._folder = documents if documents.is_dir() else Path.home()
        return self._folder

    def _ask_comparison(self, shown: Exportable, table: bool) -> None:
        assert shown.compared is not None
        folder = self._save_folder()
        self._ask(CompareDialog(shown.compared, shown.moment, folder, table, self._window))

    def _ask_with_preview(self, dialog: ExportDialog) -> None:
        dialog.changed.connect(self._soon.start)
        self._ask(dialog)
        self._soon.start()
        self.figure_process.prestart()

    def _ask(self, dialog: ExportDialog) -> None:
        self.dialog = dialog
        dialog.finished.connect(self._on_answer)
        dialog.command_requested.connect(self._copy_command)
        # Not exec: a loop of its own would keep the display from its ticks.
        dialog.open()

    def _copy_command(self) -> None:
        """Put what does the same at a command line into the clipboard."""
        if self.dialog is not None:
            job = self._as_drawn(self.dialog.job())
            try:
                command = command_of(job, self._shown())
            except InputError as error:
                self.dialog.say(error.sentence)
                return
            QGuiApplication.clipboard().setText(command)
            self.dialog.say(COPIED)

    # ------------------------------------------------------------------------------ preview

    def _ask_preview(self) -> None:
        dialog = self.dialog
        if isinstance(dialog, FigureDialog | PageDialog):
            job = self._as_drawn(dialog.job())
            if dialog.wrong:
                self.previewer.cancel()
                dialog.refuse(dialog.wrong)
            else:
                self.previewer.ask(job, self.figure_process, dialog.pixels())

    def _show_preview(self, made: object) -> None:
        dialog = self.dialog
        if isinstance(dialog, FigureDialog | PageDialog) and isinstance(made, tuple):
            dialog.show_preview(*made)
        elif isinstance(dialog, DataDialog) and isinstance(made, list):
            dialog.show_columns(made)

    def _refuse_preview(self, sentence: str) -> None:
        if isinstance(self.dialog, FigureDialog | PageDialog | DataDialog):
            self.dialog.refuse(sentence)

    def _on_answer(self, result: int) -> None:
        dialog, self.dialog = self.dialog, None
        self._soon.stop()
        self.previewer.cancel()
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
        job = self._as_drawn(job)
        self._job = job
        self.progress = ProgressWindow(self._window)
        self.progress.begin(job.title)
        self.progress.cancel_requested.connect(self.cancel)
        self._patience.start()
        self._stop = threading.Event()  # that of the job before may be set
        self.worker.ask(job, self._stop, self.figure_process)

    def _as_drawn(self, job: ExportJob) -> ExportJob:
        """A job about what is drawn now, and not when somebody opened the dialog."""
        return completed(job, self._shown()) if isinstance(job, PictureJob) else job

    def _show_progress(self) -> None:
        if self.progress is not None:
            self.progress.show()

    def _on_progress(self, share: tuple[int, int]) -> None:
        if self.progress is not None:
            self.progress.show_progress(*share)

    def _on_result(self, result: tuple[str, QImage]) -> None:
        done, image = result
        job = self._job
        self._end()
        if done and isinstance(job, CopyJob | CompareCopyJob):
            _to_clipboard(job.contents, image)
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


def _done(
    request: Request, job: ExportJob, stop: threading.Event, process: FigureProcess
) -> tuple[str, QImage]:
    """Do a job and say what was done, and show what was copied, in the thread."""

    def report(done: int, total: int) -> None:
        request.progress((done, total))

    image = QImage()
    try:
        done = job.work(report, stop.is_set, partial(process.draw, cancelled=stop.is_set))
    except CancelledError:
        done = ""
    if done and isinstance(job, CopyJob | CompareCopyJob):
        image = _decoded(job.contents["image/png"])
    return done, image


def _decoded(png: bytes) -> QImage:
    """A picture of millions of pixels, whose decoding takes a twentieth of a second: by a reader,
    which lets go of the interpreter meanwhile as QImage.fromData does not."""
    content = QByteArray(png)
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    return QImageReader(buffer).read()


def _preview(
    request: Request,
    asked: FigureJob | PageJob | Sequence[Path],
    process: FigureProcess,
    pixels: int = 0,
) -> tuple[bytes, float, float] | tuple[bytes, int] | list[Column] | None:
    """Draw a figure or a page as it will be, or find the columns of some runs, in the thread."""
    draw = partial(process.draw, cancelled=request.is_cancelled)
    if isinstance(asked, FigureJob):
        return preview_of(asked, pixels, draw)
    if isinstance(asked, PageJob):
        return page_preview_of(asked, pixels, request.is_cancelled, draw)
    return list(columns_of(asked, request.is_cancelled))


def _to_clipboard(contents: dict[str, bytes], image: QImage) -> None:
    data = QMimeData()
    for media, content in contents.items():
        data.setData(media, content)
    # Besides the bytes: programs that know no media types take what the system calls a picture.
    data.setImageData(image)
    QGuiApplication.clipboard().setMimeData(data)
