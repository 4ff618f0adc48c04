"""Table of a study's cells: their differences, results, and reasons of failure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from app.widgets.labels import plain_tip
from app.widgets.screen_text import shown_number
from app.widgets.tables import RunTable, preserved_selection, sorted_places
from core.studies.tables import Cell, value_text

if TYPE_CHECKING:
    from core.studies.cell_table import Row

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
Role = Qt.ItemDataRole
WAITING, RUNNING = "waiting", "running"
MEASURED_ROWS = 50  # rows measured for a column's width
LAST = "why"


def short_key(key: str) -> str:
    """Return an axis as a heading: the last part of its key, with the section of a seed.

    >>> short_key("data.n"), short_key("run.seed"), short_key("variant")
    ('n', 'run seed', 'variant')
    """
    section, _, name = key.partition(".")
    return f"{section} seed" if name == "seed" else (name or section).replace("_", " ")


@final
class CellModel(QAbstractTableModel):
    """Model with a row per cell, in grid order, and a column per axis and number."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cells: Sequence[Cell] = ()
        self._rows: Mapping[str, Row] = {}
        self._axes: tuple[str, ...] = ()
        self._columns: tuple[str, ...] = ()
        self._at_work: dict[str, Row | None] = {}  # running cells -> their rows before this run
        self._danger = QColor()
        self._order: list[int] = []  # displayed row -> cell
        self._sorted_by: tuple[int, Qt.SortOrder] | None = None

    def set_cells(self, cells: Sequence[Cell], columns: Sequence[str]) -> None:
        self.beginResetModel()
        self._cells, self._rows, self._at_work = cells, {}, {}
        self._order, self._sorted_by = list(range(len(cells))), None
        self._axes = tuple(cells[0].values) if cells else ()
        self._columns = ("state", *columns, "seconds", LAST)
        self.endResetModel()

    def set_rows(self, rows: Mapping[str, Row]) -> None:
        """Set the results of the cells."""
        self._rows = rows
        if self._sorted_by is not None:
            self.sort(*self._sorted_by)
        elif self._cells:
            last = self.index(len(self._cells) - 1, self.columnCount() - 1)
            # Not a reset of the model: the view would lose its selection and scroll position.
            self.dataChanged.emit(self.index(0, len(self._axes)), last)

    def set_at_work(self, names: frozenset[str]) -> None:
        """Set the running cells. A finished cell remains among them until its row arrives."""
        pending = {n for n, row in self._at_work.items() if self._rows.get(n) is row}
        running = names | pending
        self._show_at_work({n: self._at_work.get(n, self._rows.get(n)) for n in running})

    def set_resting(self) -> None:
        """Clear the running cells, cancelled ones without a row included."""
        self._show_at_work({})

    def _show_at_work(self, at_work: dict[str, Row | None]) -> None:
        if at_work.keys() == self._at_work.keys():
            return
        self._at_work = at_work
        if self._sorted_by is not None:
            self.sort(*self._sorted_by)
        elif self._cells:
            state = len(self._axes)
            self.dataChanged.emit(self.index(0, state), self.index(len(self._cells) - 1, state))

    def set_danger(self, colour: str) -> None:
        """Set the colour of cells that failed."""
        self._danger = QColor(colour)

    def name(self, row: int) -> str:
        """Return the cell of a row."""
        return self._cells[self._order[row]].name

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 is the order of the grid."""
        with preserved_selection(self, self._visible_rows):
            self._order, self._sorted_by = list(range(len(self._cells))), None
            if 0 <= column < self.columnCount():
                rows = ((cell, self._rows.get(cell.name)) for cell in self._cells)
                values = (self._value(column, cell, row) for cell, row in rows)
                self._order, self._sorted_by = sorted_places(values, order), (column, order)

    def _visible_rows(self) -> list[int]:
        return self._order

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._cells)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._axes) + len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole
    ) -> Any:
        if role != Role.DisplayRole:
            return None
        if orientation == Qt.Orientation.Vertical:
            return str(section + 1)
        if section < len(self._axes):
            return short_key(self._axes[section])
        return self._columns[section - len(self._axes)].replace("_", " ")

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        cell = self._cells[self._order[index.row()]]
        row = self._rows.get(cell.name)
        if role == Role.ForegroundRole and row is not None and row.state == "failed":
            return self._danger
        if role == Role.TextAlignmentRole:
            value = self._value(index.column(), cell, row)
            if isinstance(value, int | float):
                return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Role.DisplayRole:
            return self._text(index.column(), cell, row)
        if role == Role.ToolTipRole and row is not None and row.state == "failed":
            return plain_tip(row.reason)
        return None

    def _value(self, column: int, cell: Cell, row: Row | None) -> Any:
        """Return the value that a column shows or sorts by."""
        if column < len(self._axes):
            return cell.values[self._axes[column]]
        name = self._columns[column - len(self._axes)]
        if name == "state":
            if cell.name in self._at_work and (row is None or row.state != "done"):
                return RUNNING
            return WAITING if row is None else _state(row)
        if row is None:
            return "" if name == LAST else math.nan
        if name == LAST:
            return row.reason if row.state == "failed" else ""
        return row.seconds if name == "seconds" else row.values.get(name, math.nan)

    def _text(self, column: int, cell: Cell, row: Row | None) -> str:
        value = self._value(column, cell, row)
        if column < len(self._axes):
            return shown_number(value, 4) if isinstance(value, float) else value_text(value)
        if isinstance(value, str):
            return value
        return "" if row is None else shown_number(float(value), 4)


def _state(row: Row) -> str:
    """Return the state of a row as the table shows it."""
    # Divergence is a result: the cell is done and not run again.
    return "diverged" if row.state == "done" and row.reason == "diverged" else row.state


@final
class CellTable(RunTable):
    """Table of the cells of a study, sorted by any column."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.model_ = CellModel()  # `model` is a method of QTableView
        super().__init__(self.model_, "Runs of the study", parent)
        self._paths: Mapping[str, Path] = {}
        # Set before sorting is enabled, which sorts by the indicator's column at once. -1 is the
        # grid's order.
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        # Qt measures a thousand rows per column by default.
        self.horizontalHeader().setResizeContentsPrecision(MEASURED_ROWS)
        self.setSortingEnabled(True)
        self.model_.layoutChanged.connect(self._widen)
        self.verticalScrollBar().valueChanged.connect(self._widen)
        self.setToolTip(
            "Double-click a run to open it, or Shift-double-click to open it beside the open runs"
        )

    def show_cells(
        self, cells: Sequence[Cell], paths: Mapping[str, Path], columns: Sequence[str]
    ) -> None:
        self._paths = paths
        self.model_.set_cells(cells, columns)
        self.resizeColumnsToContents()
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)

    def show_rows(self, rows: Mapping[str, Row]) -> None:
        """Show the results of the cells."""
        self.model_.set_rows(rows)
        self._widen()

    def _widen(self) -> None:
        """Widen the columns whose numbers would be cut; none becomes narrower under the pointer."""
        for column in range(self.model_.columnCount() - 1):  # the last column holds sentences
            width = self.sizeHintForColumn(column)
            if width > self.columnWidth(column):
                self.setColumnWidth(column, width)

    def set_danger(self, colour: str) -> None:
        """Set the colour of cells that failed."""
        self.model_.set_danger(colour)
        self.viewport().update()

    def path(self, row: int) -> Path | None:
        return self._paths.get(self.model_.name(row))
