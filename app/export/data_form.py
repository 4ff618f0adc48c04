"""Tab of the numbers of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import ClassVar, final

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.export.form import PREPARING, ExportForm
from app.export.jobs import DataColumn, DataJob, ExportJob
from app.widgets.labels import quiet_label
from app.widgets.layouts import add_all, space
from app.widgets.screen_text import greek
from core.numbers import duration_text

NAME = Qt.ItemDataRole.UserRole


@final
class DataForm(ExportForm):
    """Options of the columns, listed in place of the preview, and of the parameters."""

    formats: ClassVar[Mapping[str, str]] = {
        ".npz": "NPZ (includes per-neuron arrays)",
        ".csv": "CSV (one row per frame)",
    }
    one_file_each = True

    def _add_rows(self) -> None:
        self._columns: tuple[DataColumn, ...] = ()
        self.parameters = QCheckBox("data set and parameters of every frame", self)
        self.parameters.toggled.connect(self._on_changed)
        self.row("include", self.parameters)
        self.side = QWidget(self)
        self.columns = QListWidget(self.side)
        self.columns.setAccessibleName("columns")
        self.columns.addItem(QListWidgetItem(PREPARING))
        self.columns.itemChanged.connect(self._on_changed)
        self.sum = quiet_label("", self.side, wrap=True)
        add_all(space(QVBoxLayout(self.side), spacing=8), (self.columns, 1), self.sum)

    @property
    def needs_columns(self) -> bool:
        """True until the columns are known."""
        return not self._columns

    def show_columns(self, columns: Sequence[DataColumn]) -> None:
        """List the columns of the runs; costly ones are unchecked, with the time they take."""
        self._columns = tuple(columns)
        with QSignalBlocker(self.columns):
            self.columns.clear()
            for column in sorted(columns, key=attrgetter("costly")):
                words = "" if column.scalar else ", per neuron"
                cost = f" \u2013 {cost_text(column.seconds)}" if column.costly else ""
                item = QListWidgetItem(f"{greek(column.title)} ({column.name}){words}{cost}")
                item.setData(NAME, column.name)
                ticked = Qt.CheckState.Unchecked if column.costly else Qt.CheckState.Checked
                item.setCheckState(ticked)
                self.columns.addItem(item)
        self._on_changed()

    def show_error(self, sentence: str) -> None:
        """Show why the columns are not known."""
        self.columns.clear()
        self.columns.addItem(QListWidgetItem(sentence))

    def chosen(self) -> tuple[DataColumn, ...]:
        """Return the checked columns that the format can hold."""
        items = [self.columns.item(row) for row in range(self.columns.count())]
        names = {item.data(NAME) for item in items if item.checkState() is Qt.CheckState.Checked}
        nodes = self.suffix() == ".npz"
        return tuple(c for c in self._columns if c.name in names and (c.scalar or nodes))

    def problem(self, runs: tuple[Path, ...]) -> str:
        self.parameters.setEnabled(self.suffix() == ".npz")
        if not self._columns:
            self.sum.setText("")
            return PREPARING
        for row in range(self.columns.count()):
            item = self.columns.item(row)
            column = next(one for one in self._columns if one.name == item.data(NAME))
            self.columns.setRowHidden(row, not (column.scalar or self.suffix() == ".npz"))
        chosen = self.chosen()
        cost = cost_text(sum(column.seconds for column in chosen))
        self.sum.setText(f"{len(chosen)} columns plus frame, step and time; {cost}.")
        return ""

    def job(self, runs: tuple[Path, ...], paths: tuple[Path, ...]) -> ExportJob:
        # The box may have been checked before the format changed. CSV has one row per frame and no
        # room for arrays.
        parameters = self.parameters.isChecked() and self.suffix() == ".npz"
        return DataJob(runs, paths, parameters, tuple(column.name for column in self.chosen()))


def cost_text(seconds: float) -> str:
    """Return an estimated time in words.

    >>> cost_text(0.2), cost_text(24.0)
    ('less than 1 s', 'about 24 s')
    """
    return "less than 1 s" if seconds < 1.0 else f"about {duration_text(seconds)}"
