"""Exports: figures, films, pages and data of runs, and a figure to the clipboard."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
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

from app.export.commands import command_of
from app.export.data_form import DataForm
from app.export.export_dialog import ExportDialog
from app.export.export_progress import ProgressWindow
from app.export.jobs import CompareCopyJob, DataColumn, ExportJob, Preview, PreviewedJob, columns_of
from app.export.pictures import CopyJob, Exportable, PictureJob, complete_job
from app.worker import Request, Worker
from core.errors import InputError
from core.figures.export import FigureProcess
from core.figures.options import FigureOptions
from core.reference.cancel_token import CancelledError

BUSY = "Another export is running. Wait, or cancel it."
NO_RUNS = "No run to export yet. Run a study or open a run file."
CANCELLED = "The export was cancelled; nothing was written."
NO_MEMORY = "Not enough memory. Choose fewer runs or a smaller size."
OUR_ERROR = "Export failed (internal error); nothing was written. Details are in the log."
CITED = "BibTeX of Marginscope{} copied."
COPIED = "Command copied."
PREVIEW_MS = 250  # ms from the last change in a dialog to its preview
PROGRESS_MS = 400  # ms; shorter work would only flash a progress window


@final
class ExportController(QObject):
    """Dialogs of exports, the thread that runs them one at a time, and its progress window."""

    finished = Signal(str)  # confirmation
    error = Signal(str)  # sentence about an error
    export_refused = Signal(str)  # reason why an export cannot start now

    def __init__(
        self,
        window: QWidget | None = None,
        snapshot: Callable[[], Exportable] = Exportable,
        tab: str = "",
        preset: str = "",
    ) -> None:
        """`snapshot` returns what exports are of; `tab` and `preset` were chosen last."""
        super().__init__(window)
        self._window, self._snapshot = window, snapshot
        self._folder: Path | None = None
        self.tab, self.preset = tab, preset
        self._job: ExportJob | None = None
        self.dialog: ExportDialog | None = None
        self._stop = threading.Event()
        self.figure_process = FigureProcess()
        self.worker = Worker("export", _done, self, no_memory=NO_MEMORY, our_error=OUR_ERROR)
        self.worker.progress.connect(self._on_progress)
        self.worker.result.connect(self._on_result)
        self.worker.error.connect(self._on_error)
        self.progress: ProgressWindow | None = None
        # A second worker: a newer preview replaces an older one while a file is written.
        self.previewer = Worker(
            "preview of a figure", _preview, self, no_memory=NO_MEMORY, our_error=OUR_ERROR
        )
        self.previewer.result.connect(self._on_preview)
        self.previewer.error.connect(self._on_preview_error)
        self._preview_timer = QTimer(self, singleShot=True, interval=PREVIEW_MS)
        self._preview_timer.timeout.connect(self._request_preview)
        self._progress_timer = QTimer(self, singleShot=True, interval=PROGRESS_MS)
        self._progress_timer.timeout.connect(self._show_progress)

    @property
    def busy(self) -> bool:
        return self.worker.busy

    def waited_for(self) -> bool:
        """Return True while the user waits for a file or a preview. Thread-safe."""
        return self.worker.busy or self.previewer.busy

    # ------------------------------------------------------------------------------ requests

    def show(self) -> None:
        """Open the dialog at the tab that was used last."""
        self._open(self.tab)

    def figure(self) -> None:
        """Open the dialog for a figure of the runs."""
        self._open("figure")

    def figure_of(self, view: str) -> None:
        """Open the dialog for a figure of one view of the runs, or of one compared observable."""
        self._open("figure", (view,))

    def film(self) -> None:
        """Open the dialog for a film of the runs."""
        self._open("film")

    def page(self) -> None:
        """Open the dialog for a page that plays the runs."""
        self._open("page")

    def data(self) -> None:
        """Open the dialog for the observables of the runs, one file each, or for a comparison."""
        self._open("data")

    def copy_figure(self) -> None:
        """Put a figure of the runs on the clipboard, as pixels and as vectors."""
        if not (exportable := self._exportable()):
            return
        if (compared := exportable.compared) is not None:
            runs = tuple(Path(name) for name in compared.runs)
            moment = math.inf if exportable.moment is None else exportable.moment
            job = CompareCopyJob(
                runs, compared.questions, moment, compared.shown_runs, compared.slots
            )
            self.start(job)
        else:
            options = FigureOptions(plane=exportable.plane)
            self.start(
                CopyJob(
                    exportable.runs, exportable.panels, options, until=exportable.moment, rest=True
                )
            )

    def cite(self) -> None:
        """Put BibTeX of the program and of the shown papers on the clipboard."""
        from core.studies.papers import bibtex, papers_in

        exportable = self._snapshot()
        if not exportable.runs:
            self.error.emit(NO_RUNS)
            return
        QGuiApplication.clipboard().setText(bibtex(exportable.sources))
        names = ", ".join(paper.short for paper in papers_in(exportable.sources))
        self.finished.emit(CITED.format(f" and {names}" if names else ""))

    def start(self, job: ExportJob) -> None:
        """Start a job on the present view; report if another job is running."""
        if self.worker.busy:
            self.export_refused.emit(BUSY)
            return
        if isinstance(job, PictureJob):  # the dialog may be older than what the window shows
            job = complete_job(job, self._snapshot())
        self._job = job
        self.progress = ProgressWindow(job.title, self._window)
        self.progress.cancel_requested.connect(self.cancel)
        self._progress_timer.start()
        self._stop = threading.Event()  # the event of the last job may be set
        self.worker.request(job, self._stop, self.figure_process)

    def cancel(self) -> None:
        """Stop the job at its next chance; nothing half written stays."""
        if self.worker.busy:
            if self.progress is not None:
                self.progress.show_cancelling()
            # Not the worker's: its result reports what was written before the stop.
            self._stop.set()

    def close(self) -> None:
        """Cancel, wait for the thread, and close every window of this controller."""
        self._stop.set()
        self._preview_timer.stop()
        self.previewer.close()
        self.worker.close()
        self.figure_process.stop()
        self._finish()
        if self.dialog is not None:
            self.dialog.reject()

    # ------------------------------------------------------------------------------- dialogs

    def _exportable(self) -> Exportable | None:
        """Return the runs shown; or report why no dialog can be opened, and return None."""
        exportable = self._snapshot()
        if self.worker.busy:
            self.export_refused.emit(BUSY)
        elif not (exportable.runs or exportable.compared or exportable.study):
            self.error.emit(NO_RUNS)
        elif self.dialog is not None:
            self.dialog.raise_()
        else:
            return exportable
        return None

    def _open(self, tab: str, views: tuple[str, ...] = ()) -> None:
        """Open the dialog at a tab; `views` or observables replace the shown ones."""
        if not (exportable := self._exportable()):
            return
        if self._folder is None or not self._folder.is_dir():
            # The folder of the runs is the user's data folder, which most systems hide.
            place = QStandardPaths.StandardLocation.DocumentsLocation
            documents = Path(QStandardPaths.writableLocation(place))
            self._folder = documents if documents.is_dir() else Path.home()
        if views and exportable.compared is not None:
            exportable = replace(exportable, compared=exportable.compared.with_observables(views))
        elif views:
            exportable = replace(exportable, panels=views)
        self.dialog = dialog = ExportDialog(
            exportable, self._folder, tab, self.preset, self._window
        )
        dialog.finished.connect(self._on_dialog_finished)
        dialog.command_requested.connect(self._copy_command)
        dialog.changed.connect(self._preview_timer.start)
        dialog.preview.resized.connect(self._on_preview_resized)
        # Not `exec`, whose own event loop would block the display's ticks.
        dialog.open()
        self.figure_process.prestart()
        self._preview_timer.start()

    def _copy_command(self) -> None:
        """Put the command that writes the same files on the clipboard."""
        if self.dialog is not None:
            job, exportable = self.dialog.job(), self._snapshot()
            if isinstance(job, PictureJob):
                job = complete_job(job, exportable)
            try:
                command = command_of(job, exportable)
            except InputError as error:
                self.dialog.show_note(error.sentence)
                return
            QGuiApplication.clipboard().setText(command)
            self.dialog.show_note(COPIED)

    def _request_preview(self) -> None:
        dialog = self.dialog
        if dialog is None:
            return
        self.previewer.cancel()  # a preview of another tab
        if isinstance(dialog.form, DataForm):
            if dialog.form.needs_columns:
                self.previewer.request(dialog.form.shown.runs, self.figure_process)
        elif dialog.wrong:
            dialog.show_error(dialog.wrong)
        else:
            job = dialog.job()
            if isinstance(job, PictureJob):
                job = complete_job(job, self._snapshot())
            dialog.drawn_pixels = dialog.pixels()
            self.previewer.request(job, self.figure_process, dialog.drawn_pixels)

    def _on_preview_resized(self) -> None:
        """Draw the preview for another size; a scroll bar changes little."""
        dialog = self.dialog
        if dialog is not None and not 0.9 < dialog.pixels() / dialog.drawn_pixels < 1.1:
            self._preview_timer.start()

    def _on_preview(self, preview: Preview | list[DataColumn]) -> None:
        if self.dialog is not None:
            self.dialog.show_preview(preview)

    def _on_preview_error(self, sentence: str) -> None:
        if self.dialog is not None:
            self.dialog.show_error(sentence)

    def _on_dialog_finished(self, result: int) -> None:
        dialog, self.dialog = self.dialog, None
        self._preview_timer.stop()
        self.previewer.cancel()
        if dialog is None:
            return
        dialog.deleteLater()
        self.tab, self.preset = dialog.tab, dialog.preset or self.preset
        if result == QDialog.DialogCode.Accepted:
            self._folder = dialog.targets()[0].parent
            self.start(dialog.job())

    # ------------------------------------------------------------------------------- working

    def _show_progress(self) -> None:
        if self.progress is not None:
            self.progress.show()

    def _on_progress(self, share: tuple[int, int]) -> None:
        if self.progress is not None:
            self.progress.show_progress(*share)

    def _on_result(self, result: tuple[str, QImage]) -> None:
        text, image = result
        job = self._job
        self._finish()
        if text and isinstance(job, CopyJob | CompareCopyJob):
            _to_clipboard(job.contents, image)
        self.finished.emit(text or CANCELLED)

    def _on_error(self, sentence: str) -> None:
        self._finish()
        self.error.emit(sentence)

    def _finish(self) -> None:
        self._progress_timer.stop()
        self._job = None
        if self.progress is not None:
            self.progress.hide()
            self.progress.deleteLater()
            self.progress = None


def _done(
    request: Request, job: ExportJob, stop: threading.Event, process: FigureProcess
) -> tuple[str, QImage]:
    """Run a job in the thread; return its sentence, and the copied picture."""

    def report(n_done: int, total: int) -> None:
        request.progress((n_done, total))

    image = QImage()
    try:
        text = job.work(report, stop.is_set, partial(process.draw, cancelled=stop.is_set))
    except CancelledError:
        text = ""
    if text and isinstance(job, CopyJob | CompareCopyJob):
        image = _decode(job.contents["image/png"])
    return text, image


def _decode(png: bytes) -> QImage:
    """Decode a picture by a reader, which frees the interpreter; `QImage.fromData` does not.

    Millions of pixels take a twentieth of a second.
    """
    content = QByteArray(png)
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    return QImageReader(buffer).read()


def _preview(
    request: Request, job: PreviewedJob | Sequence[Path], process: FigureProcess, pixels: int = 0
) -> Preview | list[DataColumn]:
    """Draw what a job would export, or find the columns of some runs, in the thread."""
    if not isinstance(job, PreviewedJob):
        return list(columns_of(job, request.is_cancelled))
    draw = partial(process.draw, cancelled=request.is_cancelled)
    return job.preview(pixels, request.is_cancelled, draw)


def _to_clipboard(contents: dict[str, bytes], image: QImage) -> None:
    data = QMimeData()
    for media, content in contents.items():
        data.setData(media, content)
    # Besides the bytes: some programs know no media types and take only the system's image.
    data.setImageData(image)
    QGuiApplication.clipboard().setMimeData(data)
