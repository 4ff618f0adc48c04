"""The window that asks for a page: its views, how many moments, and how large the file will be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.export.export_dialog import ExportDialog, too_many
from app.state.exports import Exportable, ExportJob, PageJob
from app.widgets.inputs import ChoiceBox, ValueEdit, quiet_label
from app.widgets.layouts import filled, laid
from app.widgets.number_boxes import WholeBox
from app.widgets.study_picture import StudyPicture
from core.figures.names import (
    FEWEST_FRAMES,
    MOST_FRAMES,
    PAGE_COLOURS,
    PAGE_FRAMES,
    PAGE_PANELS,
    PANELS,
)
from core.figures.options import FigureOptions

PAGE_FORMATS = {".html": "HTML, for any browser"}
COLOUR_TITLES = {"system": "as the reader's system", "light": "light", "dark": "dark"}
MAKING = "The page is being made ..."
LAST = "It shows this at the end, and plays from t = 0."
ROOM = 300  # pixels of the preview
WIDTH, HEIGHT = 960, 460  # within the smallest window


def size_text(size: int) -> str:
    """The size of a file.

    >>> size_text(886_938), size_text(12_300), size_text(24_000_000)
    ('.89 MB', '.01 MB', '24 MB')
    """
    megabytes = size / 1e6
    text = f"{megabytes:.2f}" if megabytes < 0.995 else f"{megabytes:.3g}"
    return f"{text.removeprefix('0')} MB"


@final
class PageDialog(ExportDialog):
    """A page: views, moments, title, what is drawn beside the runs, and what will come of it."""

    def __init__(self, shown: Exportable, folder: Path, parent: QWidget | None = None) -> None:
        self._drawn = shown
        super().__init__("Save a page that plays", PAGE_FORMATS, shown.runs, folder, parent)
        # The picture stands out from what it lies on.
        ground = replace(shown.palette, background=shown.palette.grid)
        self.preview = StudyPicture(ground, self)
        self.preview.setAccessibleName("The end of the page")
        self.preview.setMinimumSize(ROOM, ROOM)
        self.preview.show_words(MAKING)
        self.measures = quiet_label("", self, wrap=True)
        self.measures.setAlignment(Qt.AlignmentFlag.AlignCenter)
        side = filled(laid(QVBoxLayout(), spacing=8), (self.preview, 1), self.measures)
        filled(self._sides, (side, 1))
        self.resize(WIDTH, max(self.sizeHint().height(), HEIGHT))

    def _add_options(self) -> None:
        shown = self._drawn
        views = [name for name in shown.panels if name in PAGE_PANELS] or list(PANELS)
        self.panels = self._boxes("views", PAGE_PANELS, 0, columns=3)
        for name, box in zip(PAGE_PANELS, self.panels, strict=True):
            box.setChecked(name in views)
        self.frames = WholeBox(self)
        self._spin("moments", self.frames, FEWEST_FRAMES, MOST_FRAMES, PAGE_FRAMES)
        self.frames.setToolTip("Of runs with more frames some are left out, evenly")
        self._together("at most", self.frames, "moments")
        self.name = ValueEdit(self)
        self.name.setAccessibleName("title")
        self.name.setPlaceholderText("that of the runs")
        self.name.textEdited.connect(self._on_changed)
        self._row("title", self.name)
        boxes = self._boxes("with", ["theory's lines", "ranges of the screen"], 1, columns=2)
        self.lines, self.ranges = boxes
        self.ranges.setEnabled(bool(shown.ranges))
        self.ranges.setToolTip("The axes as they are zoomed in the window")
        self.colours = ChoiceBox(self, "colours", 18)
        self.colours.addItems([COLOUR_TITLES[name] for name in PAGE_COLOURS])
        self.colours.setToolTip("What it begins with; whoever reads it may turn it")
        self.colours.currentIndexChanged.connect(self._on_changed)
        self._row("colours", self.colours)

    # ------------------------------------------------------------------------------- reading

    def _problem(self, runs: tuple[Path, ...]) -> str:
        if not any(box.isChecked() for box in self.panels):
            return "Choose at least one view."
        return too_many(runs)

    def _job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        pairs = zip(PAGE_PANELS, self.panels, strict=True)
        return PageJob(
            runs,
            paths[0],
            tuple(name for name, box in pairs if box.isChecked()),
            self.frames.value(),
            self.name.text().strip(),
            PAGE_COLOURS[self.colours.currentIndex()],
            FigureOptions(plane=self._drawn.plane, look=self._drawn.look),
            lines=self.lines.isChecked(),
            ranges=self.ranges.isChecked(),
        )

    # ------------------------------------------------------------------------------- preview

    def pixels(self) -> int:
        """How many pixels the larger side of the preview may have."""
        side = max(self.preview.viewport().width(), self.preview.viewport().height())
        return max(round(side * self.devicePixelRatioF()), 100)

    def show_preview(self, png: bytes, size: int) -> None:
        """The end of the page, and how many bytes it has."""
        self.preview.show_png(png)
        self.measures.setText(f"{size_text(size)}. {LAST}")

    def refuse(self, sentence: str) -> None:
        """Why there is no such page."""
        self.preview.show_words(sentence)
        self.measures.setText("")
