"""The windows that ask for a figure, a film or data, and the one that shows how far it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDoubleSpinBox,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.panels.export_dialog import MOST_RUNS, ExportDialog
from app.state.exports import DataJob, ExportJob, FigureJob, FilmJob
from app.widgets.layouts import filled, laid
from core.figures.names import PANELS
from core.figures.palette import PALETTES, Palette
from core.observables.planes import NodePlane

FIGURE_FORMATS = {".pdf": "PDF", ".svg": "SVG", ".png": "PNG"}
FILM_FORMATS = {".gif": "GIF", ".webp": "WebP"}
DATA_FORMATS = {".npz": "NPZ: all observables, also node by node", ".csv": "CSV: one row a frame"}
# As core.figures.film has them, which loads the numerical libraries: players slow down GIFs whose
# frames last less than 20 ms.
FASTEST = {".gif": 50, ".webp": 60}
MOST_FILM_FRAMES = 6000


def _too_many(runs: Sequence[Path]) -> str:
    if len(runs) > MOST_RUNS:
        return f"A picture shows at most {MOST_RUNS} runs, one a row: choose some of them."
    return ""


# Whether a film's range follows the nodes.
FILM_RANGES = {"the moment's": True, "the whole run's": False}


@final
class FigureDialog(ExportDialog):
    """A figure: format, panels, resolution and colours."""

    def __init__(
        self,
        runs: Sequence[Path],
        folder: Path,
        plane: NodePlane,
        parent: QWidget | None = None,
    ) -> None:
        self._plane = plane
        super().__init__("Save a figure", FIGURE_FORMATS, runs, folder, parent)

    def _add_options(self) -> None:
        self.panels = self._boxes("panels", PANELS, len(PANELS))
        self.dpi = QSpinBox(self)
        self._number("dots per inch", self.dpi, 20, 2400, 300)
        self.palette_choice = self._add_palette()

    def _problem(self, runs: tuple[Path, ...]) -> str:
        # PDF and SVG are drawn as curves, whatever the resolution.
        self.dpi.setEnabled(self.suffix() == ".png")
        if not any(box.isChecked() for box in self.panels):
            return "Choose at least one panel."
        return _too_many(runs)

    def _job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        panels = tuple(
            name for name, box in zip(PANELS, self.panels, strict=True) if box.isChecked()
        )
        palette = list(PALETTES)[self.palette_choice.currentIndex()]
        return FigureJob(runs, paths[0], panels, self.dpi.value(), palette, self._plane)


@final
class FilmDialog(ExportDialog):
    """A film: format, panel, length, speed and colours."""

    def __init__(
        self,
        runs: Sequence[Path],
        folder: Path,
        plane: NodePlane,
        palette: Palette,
        parent: QWidget | None = None,
    ) -> None:
        self._plane = plane
        super().__init__("Save a film", FILM_FORMATS, runs, folder, parent)
        self.palette_choice.setCurrentIndex(list(PALETTES).index(palette.name))

    def _add_options(self) -> None:
        self.panel = self._choice("panel", [*PANELS, "all"])
        self.range = self._choice("range of the nodes", list(FILM_RANGES))
        self.seconds = QDoubleSpinBox(self)
        self.seconds.setDecimals(1)
        self._number("seconds", self.seconds, 0.1, 600.0, 8.0)
        self.rate = QSpinBox(self)
        self._number("frames a second", self.rate, 1, 60, 20)
        self.palette_choice = self._add_palette()

    def _problem(self, runs: tuple[Path, ...]) -> str:
        fastest = FASTEST[self.suffix()]
        if self.rate.value() > fastest:
            return f"A {self.suffix()} film has at most {fastest} frames a second."
        count = round(self.seconds.value() * self.rate.value())
        if count > MOST_FILM_FRAMES:
            return f"{count} frames are too many; at most {MOST_FILM_FRAMES} are possible."
        return _too_many(runs)

    def _job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        return FilmJob(
            runs,
            paths[0],
            self.panel.currentText(),
            self.seconds.value(),
            self.rate.value(),
            list(PALETTES)[self.palette_choice.currentIndex()],
            self._plane,
            FILM_RANGES[self.range.currentText()],
        )


@final
class DataDialog(ExportDialog):
    """Data: format, and whether the parameters go with them; one file a run."""

    def __init__(self, runs: Sequence[Path], folder: Path, parent: QWidget | None = None) -> None:
        super().__init__("Save data", DATA_FORMATS, runs, folder, parent, one_file_each=True)

    def _add_options(self) -> None:
        self.parameters = QCheckBox("the data set and the parameters of every frame", self)
        self._row("with", self.parameters)

    def _problem(self, runs: tuple[Path, ...]) -> str:
        self.parameters.setEnabled(self.suffix() == ".npz")
        return ""

    def _job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        # The box may have been ticked before the format was changed: CSV has a row a frame, and no
        # room for arrays.
        parameters = self.parameters.isChecked() and self.suffix() == ".npz"
        return DataJob(runs, paths, parameters)


@final
class ProgressWindow(QDialog):
    """How far an export is. Closing it is asking to cancel; it goes when the work has ended."""

    cancel_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export")
        self.setMinimumWidth(400)
        self.label = QLabel(self, textFormat=Qt.TextFormat.PlainText)
        self.bar = QProgressBar(self, textVisible=False)
        self.cancel = QPushButton("Cancel", self)
        self.cancel.clicked.connect(self.cancel_requested)
        column = laid(QVBoxLayout(self), (24, 16, 24, 24), 16)
        filled(column, self.label, self.bar, filled(QHBoxLayout(), 1, self.cancel))

    def begin(self, title: str) -> None:
        """Get ready for a job."""
        self.label.setText(f"{title} ...")
        # Qt's way to show that something goes on whose length is not known yet.
        self.bar.setRange(0, 0)
        self.cancel.setEnabled(True)

    def show_progress(self, done: int, total: int) -> None:
        """So many parts of all are done."""
        self.bar.setRange(0, total)
        self.bar.setValue(done)

    def cancelling(self) -> None:
        """The work will stop at its next chance."""
        self.label.setText("Stopping ...")
        self.cancel.setEnabled(False)

    # QDialog's own would hide the window while the thread is still at work.
    def reject(self) -> None:  # Escape
        self.cancel_requested.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore()
        self.cancel_requested.emit()
