"""The form by which every export is asked for: runs, options in rows, and where to save.

It is opened without a loop of its own and ends with `accepted`; `job()` is what was asked for.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.export.jobs import ExportJob, data_paths
from app.widgets.inputs import ChoiceBox, ValueEdit, WholeBox, push_button
from app.widgets.labels import heading_label, menu_text, plain_tip, problem_label, quiet_label
from app.widgets.layouts import add_all, space
from core.figures.palette import PALETTES, Palette

COPY_TIP = "The line for a terminal that writes the same file"
WAITING = "Something is still being looked at."  # no problem, and said elsewhere
MIDDLE = Qt.AlignmentFlag.AlignVCenter
# As core.figures.scene has it, which loads the numerical libraries.
MOST_RUNS = 6
PALETTE_TITLES = {"light": "light, for paper", "dark": "dark, for a screen"}


def too_many(runs: Sequence[Path]) -> str:
    """Why a picture cannot show so many runs; empty where it can."""
    if len(runs) > MOST_RUNS:
        return f"A picture shows at most {MOST_RUNS} runs, one a row: choose some of them."
    return ""


class ExportDialog(QDialog):
    """Runs, options in rows, and the path; the subclass says which options and which job.

    With `one_file_each` several runs are saved into a folder, otherwise all into one file.
    """

    command_requested = Signal()
    changed = Signal()  # any option

    def __init__(
        self,
        title: str,
        formats: dict[str, str],
        runs: Sequence[Path],
        folder: Path,
        parent: QWidget | None = None,
        one_file_each: bool = False,
        names: Sequence[str] = (),
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._all = tuple(runs)
        self._names = tuple(names)
        self._folder = folder
        self._one_file_each = one_file_each
        self._path_edited = self._built = False
        self.wrong = ""  # why it cannot be saved
        self._grid = space(QGridLayout(), spacing=(16, 8))
        self._grid.setColumnMinimumWidth(0, 104)
        self._grid.setColumnMinimumWidth(1, 392)
        self._grid.setColumnStretch(1, 1)
        column = space(QVBoxLayout(), spacing=12)
        self._sides = space(QHBoxLayout(self), (24, 16, 24, 16), 24)
        add_all(self._sides, (column, 1))
        add_all(column, heading_label(title, self), self._grid, 1)
        self.format = self._choice("format", list(formats.values()))
        self._suffixes = list(formats)
        self.run_boxes = self._add_runs()
        self._add_options()
        self._add_path()
        self._add_buttons(column)
        self.format.currentIndexChanged.connect(self._on_changed)
        self._built = True
        self._on_changed()
        self.format.setFocus()

    # ------------------------------------------------------------------------------ building

    @abstractmethod
    def _add_options(self) -> None:
        """Put the rows of this kind of export into the grid."""

    @abstractmethod
    def _job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        """Return the job that the rows describe."""

    @abstractmethod
    def _problem(self, runs: tuple[Path, ...]) -> str:
        """Return why the job is impossible; "" if it is possible."""

    def _row(self, label: str, widget: QWidget) -> None:
        row = self._grid.rowCount()
        name = quiet_label(label, self)
        name.setBuddy(widget)
        several = widget.findChild(QCheckBox) is not None  # lines: the name is beside the first
        self._grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop if several else MIDDLE)
        name.setMinimumHeight(24)
        self._grid.addWidget(widget, row, 1)

    def _choice(self, label: str, items: Sequence[str]) -> ChoiceBox:
        choice = ChoiceBox(self, label)
        choice.addItems(list(items))
        self._row(label, choice)
        return choice

    def _choice_box(self, label: str, items: Iterable[str], letters: int) -> ChoiceBox:
        """Return a choice with room for so many letters, for a row of several controls."""
        box = ChoiceBox(self, label, letters)
        box.addItems(list(items))
        box.currentIndexChanged.connect(self._on_changed)
        return box

    def _together(self, label: str, *parts: QWidget | str) -> None:
        """A row of several controls, with words between them."""
        holder = QWidget(self)
        line = space(QHBoxLayout(holder), spacing=8)
        for part in parts:
            add_all(line, quiet_label(part, holder) if isinstance(part, str) else part)
        add_all(line, 1)
        self._row(label, holder)

    def _number(self, label: str, spin: Any, low: float, high: float, value: float) -> None:
        self._spin(label, spin, low, high, value)
        self._row(label, spin)

    def _spin(self, label: str, spin: Any, low: float, high: float, value: float) -> None:
        spin.lineEdit().setTextMargins(6, 0, 6, 0)  # the style sheet cannot
        spin.setRange(low, high)
        spin.setValue(value)
        spin.setAccessibleName(label)
        spin.valueChanged.connect(self._on_changed)

    def _boxes(
        self, label: str, texts: Sequence[str], checked: int, columns: int = 1
    ) -> list[QCheckBox]:
        """Boxes with the first so many ticked, in columns."""
        holder = QWidget(self)
        grid = space(QGridLayout(holder), (0, 4, 0, 0), (16, 6))
        boxes = []
        for position, text in enumerate(texts):
            box = QCheckBox(menu_text(text), holder)
            box.setChecked(position < checked)
            box.toggled.connect(self._on_changed)
            grid.addWidget(box, position // columns, position % columns)
            boxes.append(box)
        self._row(label, holder)
        return boxes

    def _add_runs(self) -> list[QCheckBox]:
        names = self._names or [path.stem for path in self._all]
        boxes = self._boxes("runs", names, MOST_RUNS) if len(names) > 1 else []
        # Not strict: of a single run there are no boxes.
        for box, path in zip(boxes, self._all, strict=False):
            box.setToolTip(plain_tip(str(path)))
        return boxes

    def _add_palette(self) -> ChoiceBox:
        titles = [PALETTE_TITLES.get(name, name) for name in PALETTES]
        self.palette_choice = self._choice_box("colours", titles, 14)
        return self.palette_choice

    def _add_colours_and_dpi(self) -> None:
        self.dpi = WholeBox(self)
        self._spin("dots per inch", self.dpi, 20, 2400, 300)
        self._together("colours", self._add_palette(), "dots per inch", self.dpi)

    def _palette(self) -> Palette:
        return list(PALETTES.values())[self.palette_choice.currentIndex()]

    def _add_path(self) -> None:
        holder = QWidget(self)
        self.path = ValueEdit(holder)
        self.path.setAccessibleName("Where to save")
        self.path.textEdited.connect(self._on_path_edited)
        self.browse = push_button("Browse ...", holder)
        self.browse.clicked.connect(self._on_browse)
        add_all(space(QHBoxLayout(holder), spacing=8), (self.path, 1), self.browse)
        self._row("save as", holder)
        self.note = quiet_label("", self, wrap=True)
        self.problem = problem_label(self)
        row = self._grid.rowCount()
        self._grid.addWidget(self.note, row, 1)
        self._grid.addWidget(self.problem, row + 1, 1)

    def _add_buttons(self, column: QVBoxLayout) -> None:
        cancel = push_button("Cancel", self)
        cancel.clicked.connect(self.reject)
        self.save = QPushButton("Save", self, default=True)
        self.save.setProperty("primary", True)
        self.save.clicked.connect(self.accept)
        self.copy = push_button("Copy as command", self, COPY_TIP)
        self.copy.clicked.connect(self.command_requested)
        line = space(QHBoxLayout(), spacing=8)
        column.addLayout(add_all(line, self.copy, 1, cancel, self.save))

    # ------------------------------------------------------------------------------- reading

    def suffix(self) -> str:
        """The ending of the chosen format."""
        return self._suffixes[self.format.currentIndex()]

    def chosen_runs(self) -> tuple[Path, ...]:
        """The runs that are ticked; the only one where there is nothing to tick."""
        if not self.run_boxes:
            return self._all
        pairs = zip(self._all, self.run_boxes, strict=True)
        return tuple(path for path, box in pairs if box.isChecked())

    def job(self) -> ExportJob:
        """What was asked for."""
        return self._job(self.chosen_runs(), self.targets())

    def targets(self) -> tuple[Path, ...]:
        """The files that will be written."""
        place = Path(self.path.text().strip())
        if self._into_folder():
            return data_paths(self.chosen_runs(), place, self.suffix())
        return (place,)

    def _into_folder(self) -> bool:
        return self._one_file_each and len(self.chosen_runs()) > 1

    def default_path(self) -> Path:
        """Where to save unless something else is typed: named like the run, or the runs' study."""
        if self._into_folder():
            return self._folder
        runs = self.chosen_runs() or self._all
        stem = runs[0].stem if len(runs) == 1 else runs[0].stem.partition("__")[0]
        return self._folder / f"{stem}{self.suffix()}"

    # ------------------------------------------------------------------------------- editing

    def _on_path_edited(self, text: str) -> None:
        self._path_edited = True
        self._check()

    def _on_changed(self) -> None:
        if not self._built:
            return
        if not self._path_edited:
            self.path.setText(str(self.default_path()))
            self.path.setCursorPosition(len(self.path.text()))
        elif Path(self.path.text()).suffix.lower() in self._suffixes:  # typed, for another format
            self.path.setText(str(Path(self.path.text()).with_suffix(self.suffix())))
        self._check()

    def _check(self) -> None:
        runs = self.chosen_runs()
        wrong = "" if runs else "Choose at least one run."
        wrong = wrong or self._problem(runs) or self._path_problem()
        self.problem.setText(wrong)
        self.problem.setVisible(bool(wrong) and wrong != WAITING)
        self.wrong = wrong
        self.save.setEnabled(not wrong)
        self.copy.setEnabled(not wrong)
        # Said here instead of asked later: Save is the only answer that is needed.
        there = [] if wrong else [path for path in self.targets() if path.exists()]
        names = ", ".join(path.name for path in there[:3])
        more = f" and {len(there) - 3} more" if len(there) > 3 else ""
        self.note.setText(f"{names}{more} will be replaced." if there else "")
        self.note.setVisible(bool(there))
        self._fit()
        self.changed.emit()

    def _fit(self) -> None:
        """High enough for sentences of several lines, which Qt does not count."""
        least = self._sides.totalMinimumSize()
        wrapped = self._sides.totalHeightForWidth(max(self.width(), least.width()))
        self.setMinimumHeight(max(least.height(), wrapped))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def show_preview(self, made: Any) -> None:
        """Show what the preview thread has made for this dialog."""

    def refuse(self, sentence: str) -> None:
        """Show why nothing was made."""

    def show_note(self, words: str) -> None:
        """Show what was done, below the path."""
        self.note.setText(words)
        self.note.show()
        self._fit()

    def _path_problem(self) -> str:
        path = Path(self.path.text().strip())
        folder = path if self._into_folder() else path.parent
        if folder == path.parent and path.suffix.lower() != self.suffix():
            return f"The name must end in {self.suffix()}, as the format does."
        # A relative path counts from where the program was started, which a window does not show.
        if not path.is_absolute():
            return "Give the whole path, or choose the place with Browse."
        if not folder.is_dir():
            return f"There is no folder {folder}."
        if not os.access(folder, os.W_OK):
            return f"The folder {folder} cannot be written to; choose another place."
        return ""

    def _on_browse(self) -> None:
        title, before, suffix = self.windowTitle(), self.path.text(), self.suffix()
        if self._into_folder():
            path = QFileDialog.getExistingDirectory(self, title, before)
        else:
            # The note below the path says what will be replaced, also of a path that was typed.
            quietly = QFileDialog.Option.DontConfirmOverwrite
            path, _ = QFileDialog.getSaveFileName(
                self, title, before, f"*{suffix}", options=quietly
            )
            if path and Path(path).suffix.lower() != suffix:
                path += suffix
        if path:
            self.path.setText(path)
            self._on_path_edited(path)
