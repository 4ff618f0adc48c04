"""Base of the tabs of the export dialog, with their rows of options."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QWidget

from app.export.jobs import ExportJob
from app.export.pictures import Exportable
from app.widgets.inputs import ChoiceBox
from app.widgets.labels import menu_text, quiet_label
from app.widgets.layouts import add_all, space
from core.figures.names import MOST_ROWS
from core.figures.palette import PALETTES, Palette

PREPARING = "Still preparing ..."  # not a problem: the tab shows this text elsewhere
PALETTE_TITLES = {"light": "light, for paper", "dark": "dark, for a screen"}
LABELS = ("save as", "runs", "format", "include", "colours", "custom")


def label_width(widget: QWidget) -> int:
    """Return the width of the column of labels in a widget's type."""
    return max(map(widget.fontMetrics().horizontalAdvance, LABELS)) + 12


def too_many(runs: Sequence[Path]) -> str:
    """Return why a picture cannot show so many runs; "" if it can."""
    if len(runs) > MOST_ROWS:
        return f"A figure can show at most {MOST_ROWS} runs. Choose fewer."
    return ""


class ExportForm(QWidget):
    """Format and options of one kind of export."""

    changed = Signal()
    """An option changed."""

    formats: ClassVar[Mapping[str, str]] = {}
    """Titles of the formats by the endings of their files."""
    one_file_each: ClassVar[bool] = False
    """Several runs are saved into a folder, not into one file."""

    def __init__(self, exportable: Exportable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown = exportable
        self.side: QWidget | None = None  # replaces the preview
        self._grid = space(QGridLayout(self), spacing=(12, 8))
        self._grid.setColumnMinimumWidth(0, label_width(self))
        self._grid.setColumnStretch(1, 1)
        self.format = self._choice_box("format", self.formats.values(), 10)
        self.row("format", self.format)
        self._add_rows()

    # ------------------------------------------------------------------------------ building

    @abstractmethod
    def _add_rows(self) -> None:
        """Add the rows of this kind of export."""

    def row(self, label: str, widget: QWidget) -> tuple[QWidget, QWidget]:
        """Add a row: a label and its control, which are returned."""
        row = self._grid.rowCount()
        name = quiet_label(label, self)
        name.setBuddy(widget)
        # Several boxes: align the name with the first line.
        several = widget.findChild(QCheckBox) is not None
        place = Qt.AlignmentFlag.AlignTop if several else Qt.AlignmentFlag.AlignVCenter
        self._grid.addWidget(name, row, 0, place)
        name.setMinimumHeight(24)
        self._grid.addWidget(widget, row, 1)
        return name, widget

    def _choice_box(self, label: str, items: Iterable[str], letters: int) -> ChoiceBox:
        box = ChoiceBox(self, label, letters)
        box.addItems(list(items))
        box.currentIndexChanged.connect(self._on_changed)
        return box

    def _add_row(self, label: str, *parts: QWidget | str) -> tuple[QWidget, QWidget]:
        """Add a row of several controls, with words between them, and return it."""
        holder = QWidget(self)
        line = space(QHBoxLayout(holder), spacing=8)
        for part in parts:
            add_all(line, quiet_label(part, holder) if isinstance(part, str) else part)
        add_all(line, 1)
        return self.row(label, holder)

    def _spin(self, label: str, spin: Any, low: float, high: float, value: float) -> None:
        spin.lineEdit().setTextMargins(6, 0, 6, 0)  # the style sheet cannot set these
        spin.setRange(low, high)
        spin.setValue(value)
        spin.setAccessibleName(label)
        spin.valueChanged.connect(self._on_changed)

    def boxes(
        self, label: str, texts: Sequence[str], checked: int, columns: int = 1
    ) -> list[QCheckBox]:
        """Add a row of boxes in columns, the first so many checked."""
        holder = QWidget(self)
        grid = space(QGridLayout(holder), (0, 4, 0, 0), (12, 6))
        boxes = []
        for position, text in enumerate(texts):
            box = QCheckBox(menu_text(text), holder)
            box.setChecked(position < checked)
            box.toggled.connect(self._on_changed)
            grid.addWidget(box, position // columns, position % columns)
            boxes.append(box)
        self.row(label, holder)
        return boxes

    def _view_boxes(self, names: Sequence[str], view_names: Iterable[str]) -> dict[str, QCheckBox]:
        """Add a box for each view, checked if the view is shown."""
        boxes = dict(zip(names, self.boxes("views", names, 0, columns=3), strict=True))
        for name in view_names:
            boxes[name].setChecked(True)
        return boxes

    def _palette_box(self, first: Palette | None = None) -> ChoiceBox:
        titles = [PALETTE_TITLES.get(name, name) for name in PALETTES]
        self.palette_choice = self._choice_box("colours", titles, 14)
        if first is not None:
            self.palette_choice.setCurrentIndex(list(PALETTES).index(first.name))
        return self.palette_choice

    def _on_changed(self) -> None:
        self.changed.emit()

    # ------------------------------------------------------------------------------- reading

    def suffix(self) -> str:
        """Return the ending of the chosen format."""
        return list(self.formats)[self.format.currentIndex()]

    def chosen_palette(self) -> Palette:
        return list(PALETTES.values())[self.palette_choice.currentIndex()]

    @abstractmethod
    def problem(self, runs: tuple[Path, ...]) -> str:
        """Enable what is possible; return why the export is impossible, "" if it is possible."""

    @abstractmethod
    def job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        """Return the job that the rows describe."""


def checked_names(boxes: Mapping[str, QCheckBox]) -> tuple[str, ...]:
    """Return the names whose boxes are checked."""
    return tuple(name for name, box in boxes.items() if box.isChecked())
