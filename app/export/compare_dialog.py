"""The window that asks how to save a comparison: as a figure, or as a table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import final

from PySide6.QtWidgets import QCheckBox, QWidget

from app.export.export_dialog import ExportDialog
from app.export.figure_dialog import FIGURE_FORMATS
from app.state.compare_exports import TABLE, USUAL, CompareJob
from app.state.compared import Compared
from app.state.exports import ExportJob
from app.widgets.inputs import ChoiceBox
from app.widgets.number_boxes import DecimalBox, WholeBox
from core.errors import InputError
from core.figures.names import COLUMN, PAGE

WIDTHS: dict[str, float] = {
    f"{USUAL:g} mm": USUAL,
    f"{COLUMN:g} mm, a column": COLUMN,
    f"{PAGE:g} mm, a page": PAGE,
    "own width": 0.0,
}
OWN = len(WIDTHS) - 1


@final
class CompareDialog(ExportDialog):
    """A figure of the runs that are compared, as the question stands; with `table` their values."""

    def __init__(
        self,
        compared: Compared,
        moment: float | None,
        folder: Path,
        table: bool,
        parent: QWidget | None = None,
    ) -> None:
        self._compared, self._table = compared, table
        self._moment = math.inf if moment is None else moment
        title = "Save the table of a comparison" if table else "Save a figure of a comparison"
        formats = {TABLE: "CSV"} if table else FIGURE_FORMATS
        runs = [Path(name).absolute() for name in compared.runs]
        super().__init__(title, formats, runs, folder, parent)

    def _add_runs(self) -> list[QCheckBox]:
        return []  # those that are compared, all of them

    def _add_options(self) -> None:
        if self._table:
            return
        self.size_choice = ChoiceBox(self, "size", 16)
        self.size_choice.addItems(list(WIDTHS))
        self.size_choice.currentIndexChanged.connect(self._on_changed)
        self.wide = DecimalBox(self, decimals=1)
        self._spin("width in millimetres", self.wide, 0.0, 2000.0, USUAL)
        self._together("width", self.size_choice, self.wide, "mm")
        self.dpi = WholeBox(self)
        self._spin("dots per inch", self.dpi, 20, 2400, 300)
        self._add_palette()
        self._together("colours", self.palette_choice, "dots per inch", self.dpi)

    def default_path(self) -> Path:
        return self._folder / f"comparison-{self._compared.question.observable}{self.suffix()}"

    def _width(self) -> float:
        position = self.size_choice.currentIndex()
        return self.wide.value() if position == OWN else list(WIDTHS.values())[position]

    def _problem(self, runs: tuple[Path, ...]) -> str:
        if self._table:
            return ""
        from core.figures.comparison import check_width

        # PDF and SVG are drawn as curves, whatever the resolution.
        self.dpi.setEnabled(self.suffix() == ".png")
        self.wide.setEnabled(self.size_choice.currentIndex() == OWN)
        try:
            check_width(self._width())
        except InputError as error:
            return error.sentence
        return ""

    def _job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        question = self._compared.question
        if self._table:
            return CompareJob(runs, paths[0], question, self._moment)
        palette = self._palette().name
        dpi, width = self.dpi.value(), self._width()
        return CompareJob(runs, paths[0], question, self._moment, dpi, palette, width)
