"""Dialogs for figures, pages and figures of a comparison, with a preview of what they will be."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from app.export.export_dialog import ExportDialog, too_many
from app.export.jobs import TABLE, USUAL_WIDTH, CompareJob, ExportJob
from app.export.pictures import Exportable, FigureJob, PageJob
from app.widgets.inputs import DecimalBox, ValueEdit, WholeBox
from app.widgets.labels import quiet_label
from app.widgets.layouts import add_all, space
from app.widgets.study_picture import StudyPicture
from core.errors import InputError
from core.figures.names import (
    COLUMN,
    EVERY_PANEL,
    FAMILIES,
    FEWEST_FRAMES,
    MOST_FRAMES,
    PAGE,
    PAGE_COLOURS,
    PAGE_FRAMES,
    PAGE_PANELS,
    PANELS,
    POINTS,
    Sheet,
    check_sheet,
)
from core.figures.options import FigureOptions
from core.numbers import time_text

FIGURE_FORMATS = {".pdf": "PDF", ".svg": "SVG", ".png": "PNG"}
PAGE_FORMATS = {".html": "HTML, for any browser"}
COLUMN_WIDTHS = {f"{COLUMN:g} mm, a column": COLUMN, f"{PAGE:g} mm, a page": PAGE}
SIZES: Mapping[str, float | None] = {"as the panels need": None, **COLUMN_WIDTHS, "own size": 0.0}
WIDTHS = {f"{USUAL_WIDTH:g} mm": USUAL_WIDTH, **COLUMN_WIDTHS, "own width": 0.0}
LETTERS = {"sans": "sans serif", "serif": "serif"}
COLOUR_TITLES = {"system": "as the reader's system", "light": "light", "dark": "dark"}
REST = "the rest of curves, faint"
DRAWING = "The preview is being drawn ..."
MAKING = "The page is being made ..."
LAST = "It shows this at the end, and plays from t = 0."
ROOM = 300  # pixels of the preview
WIDTH = 960  # within the smallest window


class FigurePreviewDialog(ExportDialog):
    """Dialog for what is shown, with a preview at the right of the options."""

    least_height = 0  # pixels, within the smallest window

    def __init__(
        self,
        title: str,
        formats: dict[str, str],
        shown: Exportable,
        folder: Path,
        parent: QWidget | None,
        *,
        preview: tuple[str, str],
    ) -> None:
        """`preview`: its name, and the words until it is drawn."""
        self._drawn = shown
        super().__init__(title, formats, shown.runs, folder, parent, names=shown.names)
        # The page stands out from what it lies on.
        ground = replace(shown.palette, background=shown.palette.grid)
        name, words = preview
        self.preview = StudyPicture(ground, self)
        self.preview.setAccessibleName(name)
        self.preview.setMinimumSize(ROOM, ROOM)
        self.preview.show_words(words)
        self.measures = quiet_label("", self)
        self.measures.setAlignment(Qt.AlignmentFlag.AlignCenter)
        side = add_all(space(QVBoxLayout(), spacing=8), (self.preview, 1), self.measures)
        add_all(self._sides, (side, 1))
        self.resize(WIDTH, max(self.sizeHint().height(), self.least_height))

    @abstractmethod
    def show_preview(self, made: Any) -> None:
        """Show the picture that was drawn, and its size."""

    def pixels(self) -> int:
        """Return how many pixels the larger side of the preview may have."""
        side = max(self.preview.viewport().width(), self.preview.viewport().height())
        return max(round(side * self.devicePixelRatioF()), 100)

    def refuse(self, sentence: str) -> None:
        self.preview.show_words(sentence)
        self.measures.setText("")


@final
class FigureDialog(FigurePreviewDialog):
    """A figure: panels, size, letters, and what is drawn beside the runs."""

    least_height = 520

    def __init__(self, shown: Exportable, folder: Path, parent: QWidget | None = None) -> None:
        words = ("Preview of the figure", DRAWING)
        super().__init__("Save a figure", FIGURE_FORMATS, shown, folder, parent, preview=words)

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
        self._add_colours_and_dpi()

    def _add_size(self) -> None:
        self.size_choice = self._choice_box("size", SIZES, 16)
        self.wide, self.high = (DecimalBox(self, decimals=1) for _ in range(2))
        self._spin("width in millimetres", self.wide, 0.0, 2000.0, 120.0)
        self._spin("height in millimetres", self.high, 0.0, 2000.0, 90.0)
        self._together("size", self.size_choice, self.wide, "\u00d7", self.high, "mm")
        self.points = DecimalBox(self, decimals=1)
        self._spin("letters in points", self.points, 1.0, 40.0, POINTS)
        letters = [LETTERS[name] for name in FAMILIES]
        self.family = self._choice_box("family of letters", letters, 10)
        self._together("letters", self.points, "points", self.family)

    def sheet(self) -> Sheet:
        """Return the paper as the options have it."""
        position = self.size_choice.currentIndex()
        width, height = list(SIZES.values())[position], None
        if position == len(SIZES) - 1:
            width, height = self.wide.value(), self.high.value()
        family = FAMILIES[self.family.currentIndex()]
        return Sheet(width, height, self.points.value(), family, self.caption.isChecked())

    def _problem(self, runs: tuple[Path, ...]) -> str:
        # PDF and SVG are drawn as curves, whatever the resolution.
        self.dpi.setEnabled(self.suffix() == ".png")
        self.rest.setEnabled(self.moment.isChecked())
        for spin in (self.wide, self.high):
            spin.setEnabled(self.size_choice.currentIndex() == len(SIZES) - 1)
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

    def show_preview(self, made: tuple[bytes, float, float]) -> None:
        png, width, height = made
        self.preview.show_png(png)
        self.measures.setText(f"{width:.4g} \u00d7 {height:.4g} mm")


@final
class PageDialog(FigurePreviewDialog):
    """A page: views, moments, title, and what is drawn beside the runs."""

    least_height = 460

    def __init__(self, shown: Exportable, folder: Path, parent: QWidget | None = None) -> None:
        words = ("The end of the page", MAKING)
        title = "Save a page that plays"
        super().__init__(title, PAGE_FORMATS, shown, folder, parent, preview=words)
        self.measures.setWordWrap(True)

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
        titles = [COLOUR_TITLES[name] for name in PAGE_COLOURS]
        self.colours = self._choice_box("colours", titles, 18)
        self.colours.setToolTip("The page starts with these colours; its readers can switch them")
        self._row("colours", self.colours)

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

    def show_preview(self, made: tuple[bytes, int]) -> None:
        png, size = made
        self.preview.show_png(png)
        self.measures.setText(f"{size_text(size)}. {LAST}")


def size_text(size: int) -> str:
    """Return the size of a file in megabytes.

    >>> size_text(886_938), size_text(12_300), size_text(24_000_000)
    ('.89 MB', '.01 MB', '24 MB')
    """
    megabytes = size / 1e6
    text = f"{megabytes:.2f}" if megabytes < 0.995 else f"{megabytes:.3g}"
    return f"{text.removeprefix('0')} MB"


@final
class CompareDialog(ExportDialog):
    """A figure of the runs that are compared, as the question stands; with `table` their values."""

    def __init__(
        self,
        shown: Exportable,
        folder: Path,
        parent: QWidget | None = None,
        table: bool = False,
    ) -> None:
        assert shown.compared is not None
        self._compared, self._table = shown.compared, table
        self._moment = math.inf if shown.moment is None else shown.moment
        title = "Save the table of a comparison" if table else "Save a figure of a comparison"
        formats = {TABLE: "CSV"} if table else FIGURE_FORMATS
        runs = [Path(name).absolute() for name in self._compared.runs]
        super().__init__(title, formats, runs, folder, parent)

    def _add_runs(self) -> list[QCheckBox]:
        return []  # those that are compared, all of them

    def _add_options(self) -> None:
        if self._table:
            return
        self.size_choice = self._choice_box("size", WIDTHS, 16)
        self.wide = DecimalBox(self, decimals=1)
        self._spin("width in millimetres", self.wide, 0.0, 2000.0, USUAL_WIDTH)
        self._together("width", self.size_choice, self.wide, "mm")
        self._add_colours_and_dpi()

    def default_path(self) -> Path:
        return self._folder / f"comparison-{self._compared.question.observable}{self.suffix()}"

    def _width(self) -> float:
        position = self.size_choice.currentIndex()
        return self.wide.value() if position == len(WIDTHS) - 1 else list(WIDTHS.values())[position]

    def _problem(self, runs: tuple[Path, ...]) -> str:
        if self._table:
            return ""
        from core.figures.comparison import check_width

        # PDF and SVG are drawn as curves, whatever the resolution.
        self.dpi.setEnabled(self.suffix() == ".png")
        self.wide.setEnabled(self.size_choice.currentIndex() == len(WIDTHS) - 1)
        try:
            check_width(self._width())
        except InputError as error:
            return error.sentence
        return ""

    def _job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        of = self._compared
        job = CompareJob(runs, paths[0], of.question, self._moment, shown=of.shown, slots=of.slots)
        if self._table:
            return job
        palette = self._palette().name
        return replace(job, dpi=self.dpi.value(), palette=palette, width=self._width())
