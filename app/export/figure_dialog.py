"""The window that asks for a figure: what is on it, how large it is, and how it will look."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.export.export_dialog import ExportDialog, too_many
from app.state.exports import Exportable, ExportJob, FigureJob
from app.widgets.inputs import ChoiceBox, quiet_label
from app.widgets.layouts import filled, laid
from app.widgets.number_boxes import DecimalBox, WholeBox
from app.widgets.study_picture import StudyPicture
from core.errors import InputError
from core.figures.names import COLUMN, EVERY_PANEL, FAMILIES, PAGE, POINTS, Sheet, check_sheet
from core.figures.numbers import time_text
from core.figures.options import FigureOptions

FIGURE_FORMATS = {".pdf": "PDF", ".svg": "SVG", ".png": "PNG"}
SIZES: dict[str, float | None] = {
    "as the panels need": None,
    f"{COLUMN:g} mm, a column": COLUMN,
    f"{PAGE:g} mm, a page": PAGE,
    "own size": 0.0,
}
OWN = len(SIZES) - 1
LETTERS = {"sans": "sans serif", "serif": "serif"}
REST = "the rest of curves, faint"
DRAWING = "The preview is being drawn ..."
ROOM = 300  # pixels of the preview
WIDTH, HEIGHT = 960, 520  # within the smallest window


@final
class FigureDialog(ExportDialog):
    """A figure: panels, size, letters, what is drawn beside the runs, and a preview."""

    def __init__(self, shown: Exportable, folder: Path, parent: QWidget | None = None) -> None:
        self._drawn = shown
        super().__init__("Save a figure", FIGURE_FORMATS, shown.runs, folder, parent)
        palette = shown.palette
        # The page stands out from what it lies on.
        ground = replace(palette, background=palette.grid)
        self.preview = StudyPicture(ground, self)
        self.preview.setAccessibleName("Preview of the figure")
        self.preview.setMinimumSize(ROOM, ROOM)
        self.preview.show_words(DRAWING)
        self.measures = quiet_label("", self)
        self.measures.setAlignment(Qt.AlignmentFlag.AlignCenter)
        side = filled(laid(QVBoxLayout(), spacing=8), (self.preview, 1), self.measures)
        filled(self._sides, (side, 1))
        self.resize(WIDTH, max(self.sizeHint().height(), HEIGHT))

    def _add_options(self) -> None:
        shown = self._drawn
        self.panels = self._boxes("panels", EVERY_PANEL, 0, columns=4)
        for name, box in zip(EVERY_PANEL, self.panels, strict=True):
            box.setChecked(name in shown.panels)
        self._add_size()
        texts = [
            "title and caption",
            "theory's lines",
            "ranges of the screen",
            "moment shown",
            REST,
        ]
        if shown.moment is not None:
            texts[3] = f"only up to {time_text(shown.moment)}"
        boxes = self._boxes("with", texts, 2, columns=2)
        self.caption, self.lines, self.ranges, self.moment, self.rest = boxes
        self.moment.setChecked(shown.moment is not None)
        self.moment.setEnabled(shown.moment is not None)
        self.moment.setToolTip("Where time stands now; without it the whole run")
        self.rest.setChecked(shown.moment is not None)
        self.rest.setToolTip(
            "Curves to the end of the run, faint after the moment, as in the window"
        )
        self.ranges.setEnabled(bool(shown.ranges))
        self.ranges.setToolTip("The axes as they are zoomed in the window")
        self.dpi = WholeBox(self)
        self._spin("dots per inch", self.dpi, 20, 2400, 300)
        self._add_palette()
        self._together("colours", self.palette_choice, "dots per inch", self.dpi)

    def _add_size(self) -> None:
        self.size_choice = ChoiceBox(self, "size", 16)
        self.size_choice.addItems(list(SIZES))
        self.size_choice.currentIndexChanged.connect(self._on_changed)
        self.wide, self.high = (DecimalBox(self, decimals=1) for _ in range(2))
        self._spin("width in millimetres", self.wide, 0.0, 2000.0, 120.0)
        self._spin("height in millimetres", self.high, 0.0, 2000.0, 90.0)
        self._together("size", self.size_choice, self.wide, "\u00d7", self.high, "mm")
        self.points = DecimalBox(self, decimals=1)
        self._spin("letters in points", self.points, 1.0, 40.0, POINTS)
        self.family = ChoiceBox(self, "family of letters", 10)
        self.family.addItems([LETTERS[name] for name in FAMILIES])
        self.family.currentIndexChanged.connect(self._on_changed)
        self._together("letters", self.points, "points", self.family)

    # ------------------------------------------------------------------------------- reading

    def sheet(self) -> Sheet:
        """The paper that is asked for."""
        position = self.size_choice.currentIndex()
        width, height = list(SIZES.values())[position], None
        if position == OWN:
            width, height = self.wide.value(), self.high.value()
        family = FAMILIES[self.family.currentIndex()]
        return Sheet(width, height, self.points.value(), family, self.caption.isChecked())

    def _problem(self, runs: tuple[Path, ...]) -> str:
        # PDF and SVG are drawn as curves, whatever the resolution.
        self.dpi.setEnabled(self.suffix() == ".png")
        self.rest.setEnabled(self.moment.isChecked())
        for spin in (self.wide, self.high):
            spin.setEnabled(self.size_choice.currentIndex() == OWN)
        if not any(box.isChecked() for box in self.panels):
            return "Choose at least one panel."
        try:
            check_sheet(self.sheet())
        except InputError as error:
            return error.sentence
        return too_many(runs)

    def _job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        pairs = zip(EVERY_PANEL, self.panels, strict=True)
        panels = tuple(name for name, box in pairs if box.isChecked())
        drawn = self._drawn
        return FigureJob(
            runs,
            paths[0],
            panels,
            self.dpi.value(),
            FigureOptions(self._palette(), drawn.plane, look=drawn.look, sheet=self.sheet()),
            drawn.moment if self.moment.isChecked() else None,
            lines=self.lines.isChecked(),
            ranges=self.ranges.isChecked(),
            rest=self.moment.isChecked() and self.rest.isChecked(),
        )

    # ------------------------------------------------------------------------------- preview

    def pixels(self) -> int:
        """How many pixels the larger side of the preview may have."""
        side = max(self.preview.viewport().width(), self.preview.viewport().height())
        return max(round(side * self.devicePixelRatioF()), 100)

    def show_preview(self, png: bytes, width: float, height: float) -> None:
        """The figure as it will be, so many millimetres wide and high."""
        self.preview.show_png(png)
        self.measures.setText(f"{width:.4g} \u00d7 {height:.4g} mm")

    def refuse(self, sentence: str) -> None:
        """Why there is no such figure."""
        self.preview.show_words(sentence)
        self.measures.setText("")
