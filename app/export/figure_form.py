"""Tabs of figures: of runs, of a comparison, and of a whole study."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, final

from PySide6.QtWidgets import QCheckBox

from app.export.form import ExportForm, checked_names, too_many
from app.export.jobs import TABLE, USUAL_WIDTH, CompareJob, ExportJob
from app.export.pictures import Exportable, FigureJob
from app.widgets.inputs import DecimalBox, WholeBox
from core.errors import InputError
from core.figures.names import (
    EVERY_PANEL,
    FAMILIES,
    POINTS,
    PRESETS,
    PageSize,
    check_sheet,
)
from core.figures.options import FigureOptions
from core.figures.palette import LIGHT
from core.numbers import time_text

FIGURE_FORMATS = {".pdf": "PDF", ".svg": "SVG", ".png": "PNG"}
FAMILY_TITLES = {"sans": "sans serif", "serif": "serif"}
CUSTOM = "custom size"
AUTO = "auto"


def preset_text(name: str, sheet: PageSize) -> str:
    """Return the title of a preset with its size.

    >>> preset_text("automatic", PageSize()), preset_text("one column", PageSize(85.0))
    ('Automatic', 'One column: 85 mm')
    """
    title = name[:1].upper() + name[1:]
    sizes = (f"{size:g}" for size in (sheet.width, sheet.height) if size is not None)
    size = " \u00d7 ".join(sizes)
    return f"{title}: {size} mm" if size else title


@final
class FigureForm(ExportForm):
    """Paper and colours of a figure; for a figure of runs also its views and contents."""

    formats = FIGURE_FORMATS

    def _add_rows(self) -> None:
        exportable = self.shown
        # A comparison sets its own height and font size.
        self._has_type = exportable.compared is None
        plain = {
            name: one for name, one in PRESETS.items() if one in (PageSize(), PageSize(one.width))
        }
        self._presets = PRESETS if self._has_type else plain
        self._add_size()
        self.panels: dict[str, QCheckBox] = {}
        if self._of_runs:
            self.panels = self._view_boxes(EVERY_PANEL, exportable.panels)
            self._add_included()
        elif self._has_type:
            (self.caption,) = self.boxes("include", ["title and caption"], 1)
        self.dpi = WholeBox(self)
        self._spin("dots per inch", self.dpi, 20, 2400, 300)
        self._add_row("colours", self._palette_box(), self.dpi, "dpi")

    @property
    def _of_runs(self) -> bool:
        return self.shown.compared is None and self.shown.study is None

    def _add_size(self) -> None:
        self._chosen = PageSize()  # preset chosen last
        titles = [preset_text(name, sheet) for name, sheet in self._presets.items()]
        self.size_choice = self._choice_box("size", [*titles, CUSTOM.capitalize()], 22)
        self.size_choice.currentIndexChanged.connect(self._on_size_chosen)
        self.row("size", self.size_choice)
        self.wide, self.high = (DecimalBox(self, decimals=1) for _ in range(2))
        self._spin("width in millimetres", self.wide, 0.0, 2000.0, USUAL_WIDTH)
        self._spin("height in millimetres", self.high, 0.0, 2000.0, 0.0)
        self.high.setSpecialValueText(AUTO)
        high = ("\u00d7", self.high) if self._has_type else ()
        self.high.setVisible(self._has_type)
        self._own_size = self._add_row("custom", self.wide, *high, "mm")
        if self._has_type:
            self.points = DecimalBox(self, decimals=1)
            self._spin("font size in points", self.points, 1.0, 40.0, POINTS)
            families = [FAMILY_TITLES[name] for name in FAMILIES]
            self.family = self._choice_box("font", families, 10)
            self._add_row("font", self.points, "pt", self.family)

    def _add_included(self) -> None:
        exportable = self.shown
        texts = [
            "title and caption",
            "reference lines",
            "current zoom",
            "stop at the moment shown",
            "future part of curves (faint)",
            "notes",
        ]
        if exportable.moment is not None:
            texts[3] = f"stop at {time_text(exportable.moment)}"
        boxes = self.boxes("include", texts, 2)
        self.caption, self.lines, self.ranges, self.moment, self.rest, self.notes = boxes
        self.moment.setChecked(exportable.moment is not None)
        self.moment.setEnabled(exportable.moment is not None)
        self.moment.setToolTip("Stop at the time shown in the window")
        self.rest.setChecked(exportable.moment is not None)
        self.rest.setToolTip("Draw curves to the end of the run, faint after the time shown")
        self.ranges.setEnabled(bool(exportable.ranges))
        self.ranges.setToolTip("Use the axis ranges shown in the window")
        self.notes.setToolTip("Mark the notes at moments on curves, and list them below")

    # ------------------------------------------------------------------------------- presets

    @property
    def preset(self) -> str:
        """Name of the chosen preset, "" for a custom size."""
        return [*self._presets, ""][self.size_choice.currentIndex()]

    def choose_preset(self, name: str) -> None:
        """Choose a preset, if this figure can have it."""
        if name in self._presets:
            self.size_choice.setCurrentIndex(list(self._presets).index(name))

    def _on_size_chosen(self) -> None:
        sheet = self._presets.get(self.preset)
        if sheet is None:  # a custom size starts from the preset chosen before
            self.wide.setValue(self._chosen.width or self.wide.value())
            self.high.setValue(self._chosen.height or 0.0)
            return
        self._chosen = sheet
        if self._has_type:
            self.points.setValue(sheet.points)
            self.caption.setChecked(sheet.caption)

    def sheet(self) -> PageSize:
        """Return the paper that the options describe."""
        sheet = self._presets.get(self.preset) or PageSize(
            self.wide.value(), self.high.value() or None
        )
        if not self._has_type:
            return sheet
        family = FAMILIES[self.family.currentIndex()]
        points, caption = self.points.value(), self.caption.isChecked()
        return PageSize(sheet.width, sheet.height, points, family, caption)

    # ------------------------------------------------------------------------------- reading

    def problem(self, runs: tuple[Path, ...]) -> str:
        # PDF and SVG are vector graphics, independent of the resolution.
        self.dpi.setEnabled(self.suffix() == ".png")
        for part in self._own_size:
            part.setVisible(not self.preset)
        if self._of_runs:
            self.rest.setEnabled(self.moment.isChecked())
            if not checked_names(self.panels):
                return "Choose at least one view."
        try:
            check_sheet(self.sheet())
            if not self._has_type:
                from core.figures.comparison import check_width

                check_width(self.sheet().width or USUAL_WIDTH)
        except InputError as error:
            return error.sentence
        return too_many(runs) if self._of_runs else ""

    def job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        exportable, sheet, palette = self.shown, self.sheet(), self.chosen_palette()
        if exportable.study is not None:
            return exportable.study.make_job(paths[0], self.dpi.value(), palette, sheet)
        if exportable.compared is not None:
            width = sheet.width or USUAL_WIDTH
            return comparison_job(exportable, runs, paths, self.dpi.value(), palette.name, width)
        return FigureJob(
            runs,
            paths[0],
            checked_names(self.panels),
            self.dpi.value(),
            FigureOptions(palette, exportable.plane, view=exportable.view, sheet=sheet),
            exportable.moment if self.moment.isChecked() else None,
            lines=self.lines.isChecked(),
            ranges=self.ranges.isChecked(),
            rest=self.moment.isChecked() and self.rest.isChecked(),
            notes=self.notes.isChecked(),
        )


@final
class ComparisonTableForm(ExportForm):
    """Tab for the table of a comparison, which has no options."""

    formats: ClassVar[Mapping[str, str]] = {TABLE: "CSV"}

    def _add_rows(self) -> None:
        """Nothing can be chosen."""

    def problem(self, runs: tuple[Path, ...]) -> str:
        return ""

    def job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        return comparison_job(self.shown, runs, paths)


def comparison_job(
    exportable: Exportable,
    runs: tuple[Path, ...],
    paths: tuple[Path, ...],
    dpi: float = 300.0,
    palette: str = LIGHT.name,
    width: float = USUAL_WIDTH,
) -> CompareJob:
    """Return the job of the shown comparison."""
    assert exportable.compared is not None
    moment = math.inf if exportable.moment is None else exportable.moment
    compared = exportable.compared
    return CompareJob(
        runs,
        paths[0],
        compared.questions,
        moment,
        dpi,
        palette,
        width,
        shown=compared.shown_runs,
        slots=compared.slots,
    )
