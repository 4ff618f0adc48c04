"""Table of compared runs, the legend of their plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QIcon,
    QKeySequence,
    QPixmap,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from app.style import icon
from app.training.fields import labels
from app.widgets.labels import plain_tip
from core.figures.palette import Palette
from core.study_file.words import label_of

SWATCH = 12
NAME, REMOVE, VALUE = 0, 1, 2  # columns; further values and settings follow
WIDEST_VALUE = "\u22120.0000 \u00d7 10\u207b\u00b9\u2070\u2070"
NAME_SHARE, LEAST_NAME = 0.45, 140  # share of the table's width, and pixels
BELOW = 18  # pixels below the last row for the horizontal scroll bar
LEAST = 72
FLAGS = (
    Qt.ItemFlag.ItemIsEnabled
    | Qt.ItemFlag.ItemIsSelectable
    | Qt.ItemFlag.ItemIsDragEnabled
    | Qt.ItemFlag.ItemIsDropEnabled
)
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
AT_CURSOR = "Value at the cursor"
REMOVE_TIP = "Remove the run from the comparison (Del)"
TICK_TIP = "Show or hide the run. Drag the row, or press Alt+Up or Alt+Down, to move it."


@final
@dataclass(frozen=True, slots=True)
class LegendRow:
    """Row of the legend: `tip` names the file, `settings` are the differing ones."""

    name: str
    tip: str
    shown: bool
    settings: tuple[str, ...]


def _titles(keys: Sequence[str]) -> list[str]:
    """Return the names of settings as the form has them, with their sections where they repeat.

    >>> _titles(["network.m", "data.seed", "run.seed", "loss.kind"])
    ['m', 'data seed', 'run seed', 'loss']
    """
    names = [labels().get(key, label_of(key)) for key in keys]
    return [
        f"{key.partition('.')[0]} {name}" if names.count(name) > 1 else name
        for key, name in zip(keys, names, strict=True)
    ]


@final
class LegendTable(QTableWidget):
    """Compared runs with colours, values and settings, which users tick, move and remove."""

    shown_changed = Signal(int, bool)
    """Row, and whether its run is drawn."""
    removal_requested = Signal(object)
    """Rows of the runs to remove, as a tuple."""
    row_moved = Signal(int, int)
    """Row, and its new place."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(0, VALUE + 1, parent)
        self._palette = palette
        self._rows: tuple[LegendRow, ...] = ()
        self._n_values = 1
        self.setAccessibleName("Compared runs and the settings in which they differ")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setTabKeyNavigation(False)
        self.setDragEnabled(True)
        self.setAcceptDrops(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDragDropOverwriteMode(False)
        self.verticalHeader().setVisible(False)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setDefaultAlignment(LEFT)
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.itemChanged.connect(self._on_item_changed)
        self.cellClicked.connect(self._on_cell_clicked)
        self._add_action("Remove from the comparison", "Del", self._remove_selected)
        self._add_action("Move up", "Alt+Up", self._move_up)
        self._add_action("Move down", "Alt+Down", self._move_down)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def _add_action(self, text: str, key: str, slot: object) -> None:
        action = QAction(text, self, shortcut=QKeySequence(key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(slot)
        self.addAction(action)

    # --------------------------------------------------------------------------------- showing

    @property
    def selected_rows(self) -> tuple[int, ...]:
        """Selected rows from the top."""
        return tuple(sorted({index.row() for index in self.selectedIndexes()}))

    def show_rows(
        self, values: Sequence[str], keys: Sequence[str], rows: Sequence[LegendRow]
    ) -> None:
        """Show runs; `values` head the columns of values, `keys` those of settings."""
        self._rows, self._n_values = tuple(rows), len(values)
        with QSignalBlocker(self):
            self.setColumnCount(VALUE + len(values) + len(keys))
            self.setHorizontalHeaderLabels(["run", "", *values, *_titles(keys)])
            for column, tip in enumerate((*[AT_CURSOR] * len(values), *keys), VALUE):
                if (heading := self.horizontalHeaderItem(column)) is not None:
                    heading.setToolTip(plain_tip(tip))
            self.setRowCount(len(rows))
            for place, row in enumerate(rows):
                self._fill(place, row)
        self._fit_rows_and_columns()

    def _fill(self, place: int, row: LegendRow) -> None:
        before = [self.item(place, VALUE + k) for k in range(self._n_values)]
        values = [QTableWidgetItem(one.text() if one is not None else "") for one in before]
        name, cross = QTableWidgetItem(row.name), QTableWidgetItem(icon("close", self._palette), "")
        settings = map(QTableWidgetItem, row.settings)
        for column, item in enumerate((name, cross, *values, *settings)):
            item.setFlags(FLAGS)
            item.setToolTip(plain_tip(item.text()))
            self.setItem(place, column, item)
        name.setFlags(FLAGS | Qt.ItemFlag.ItemIsUserCheckable)
        name.setCheckState(Qt.CheckState.Checked if row.shown else Qt.CheckState.Unchecked)
        name.setToolTip(plain_tip(f"{row.name}\n{row.tip}\n{TICK_TIP}"))
        cross.setToolTip(plain_tip(REMOVE_TIP))
        cross.setData(Qt.ItemDataRole.AccessibleTextRole, f"Remove {row.name}")

    def show_colours(self, colours: Sequence[str], palette: Palette) -> None:
        """Show the colour of each run's line."""
        self._palette = palette
        with QSignalBlocker(self):
            for place, colour in enumerate(colours):
                swatch = QPixmap(SWATCH, SWATCH)
                swatch.fill(QColor(colour))
                for column, picture in ((NAME, QIcon(swatch)), (REMOVE, icon("close", palette))):
                    if (item := self.item(place, column)) is not None:
                        item.setIcon(picture)
        self._fit_rows_and_columns()

    def show_values(self, column: int, values: Sequence[str]) -> None:
        """Show the value of each run at the cursor, in one of the columns of values."""
        with QSignalBlocker(self):
            for place, text in enumerate(values):
                item = self.item(place, VALUE + column)
                if item is not None and item.text() != text:
                    item.setText(text)
        self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit_rows_and_columns()

    def _fit_rows_and_columns(self) -> None:
        """Fit rows and columns: names are shortened, so that values are always fully visible."""
        widest = self.fontMetrics().horizontalAdvance(WIDEST_VALUE)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 6)
        self.resizeColumnsToContents()
        max_width = max(round(NAME_SHARE * self.viewport().width()), LEAST_NAME)
        self.setColumnWidth(NAME, min(self.columnWidth(NAME), max_width))
        for column in range(VALUE, VALUE + self._n_values):
            self.setColumnWidth(column, max(self.columnWidth(column), widest))

    def fitted_height(self, max_height: int) -> int:
        """Return the height of all rows, at most `max_height`, and that of a few rows at least."""
        height = self.verticalHeader().defaultSectionSize() * self.rowCount()
        height += self.horizontalHeader().sizeHint().height() + BELOW
        return max(min(height, max_height), LEAST)

    # ------------------------------------------------------------------------------------ requests

    def _on_item_changed(self, item: QTableWidgetItem) -> None:
        row = item.row()
        is_shown = item.checkState() == Qt.CheckState.Checked
        if item.column() == NAME and row < len(self._rows) and self._rows[row].shown != is_shown:
            self.shown_changed.emit(row, is_shown)

    def _on_cell_clicked(self, row: int, column: int) -> None:
        """Request the removal of a run whose cross was clicked."""
        if column == REMOVE:
            self.removal_requested.emit((row,))

    def _remove_selected(self) -> None:
        if self.selected_rows:
            self.removal_requested.emit(self.selected_rows)

    def _move_up(self) -> None:
        self._move(-1)

    def _move_down(self) -> None:
        self._move(1)

    def _move(self, step: int) -> None:
        row = self.currentRow()
        if row >= 0 and 0 <= row + step < self.rowCount():
            self.row_moved.emit(row, row + step)

    # ------------------------------------------------------------------------------- drag and drop

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self._accept_own(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        super().dragMoveEvent(event)  # scrolls and marks the drop position
        self._accept_own(event)

    def _accept_own(self, event: QDragMoveEvent) -> None:
        """Accept rows dragged within the table; the page around it handles files."""
        if event.source() is self:
            event.acceptProposedAction()
        else:
            event.ignore()

    def dropEvent(self, event: QDropEvent) -> None:
        if event.source() is not self:
            event.ignore()
            return
        # The page moves the row. Qt would copy the cells and delete the row after a move.
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()
        self.setState(QAbstractItemView.State.NoState)
        self.move_to(self.currentRow(), event.position().toPoint())

    def move_to(self, row: int, point: QPoint) -> None:
        """Request that a row is moved to a point of the table."""
        index: QModelIndex = self.indexAt(point)
        place = index.row() if index.isValid() else self.rowCount() - 1
        if row >= 0 and place != row:
            self.row_moved.emit(row, place)
