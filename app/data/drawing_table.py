"""Editable table of the drawn points."""

from __future__ import annotations

from typing import Any, final

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QSignalBlocker,
    Qt,
    Signal,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QWidget

from app.data.sketch import Row, Sketch
from core.data.numbers import may_have_groups, number_of
from core.data.points import LARGEST, label_of
from core.numbers import dropped_zero, number_text, raise_powers

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
Role = Qt.ItemDataRole
NO_NUMBER = "{text!r} is not a coordinate. Enter a number between -{most:g} and {most:g}."
EITHER = (
    "{text!r} is ambiguous: is the comma a decimal or a thousands separator? Enter {point} or "
    "{plain}."
)
NO_LABEL = "{text!r} is not a label. Enter +1 or \u22121."
SHOWN_DIGITS = 5
SHOWN = 20  # characters quoted from what was typed


@final
class PointModel(QAbstractTableModel):
    """Model with a row per point. edited(number, row): a number was typed; refused(sentence)."""

    points_edited = Signal(int, object)
    edit_refused = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sketch = Sketch()

    def show_sketch(self, sketch: Sketch) -> bool:
        """Set the points; return True if their number changed, which clears the selection."""
        before, self.sketch = self.sketch, sketch
        if (len(before.points), before.d) == (len(sketch.points), sketch.d):
            if before.points != sketch.points:
                last = self.index(len(sketch.points) - 1, sketch.d)
                self.dataChanged.emit(self.index(0, 0), last)
            return False
        self.beginResetModel()
        self.endResetModel()
        return True

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.sketch.points)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self.sketch.d + 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if role != Role.DisplayRole:
            return None
        if orientation == Qt.Orientation.Vertical:
            return section + 1
        names = ("x", "label") if self.sketch.d == 1 else ("x1", "x2", "label")
        return names[section]

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.sketch.points):
            return None
        if role == Role.TextAlignmentRole and index.column() == self.sketch.d:
            return Qt.AlignmentFlag.AlignCenter
        if role == Role.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        value = self.sketch.points[index.row()][index.column()]
        if index.column() == self.sketch.d and role in (Role.DisplayRole, Role.EditRole):
            return "+1" if value > 0 else "\u22121"
        if role == Role.DisplayRole:
            return raise_powers(number_text(value, SHOWN_DIGITS))
        # All digits, so that an unchanged number keeps its value.
        return dropped_zero(repr(value).removesuffix(".0")) if role == Role.EditRole else None

    def setData(self, index: Index, value: Any, role: int = Role.EditRole) -> bool:
        if role != Role.EditRole or index.row() >= len(self.sketch.points):
            return False
        text, is_label = str(value).strip(), index.column() == self.sketch.d
        if not is_label and may_have_groups(text):
            # Accept a decimal comma only where it is unambiguous.
            self.edit_refused.emit(
                EITHER.format(text=text, point=text.replace(",", "."), plain=text.replace(",", ""))
            )
            return False
        number = label_of(text) if is_label else number_of(text)
        if number is None or not abs(number) <= LARGEST:
            words = NO_LABEL if is_label else NO_NUMBER
            self.edit_refused.emit(words.format(text=text[:SHOWN], most=LARGEST))
            return False
        row: Row = self.sketch.points[index.row()]
        changed = (*row[: index.column()], number, *row[index.column() + 1 :])
        self.points_edited.emit(index.row(), changed)
        return True


@final
class PointTable(QTableView):
    """Table of the points. points_picked(points): the selected rows changed."""

    points_picked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.points = PointModel(self)
        self.setModel(self.points)
        self._chosen: frozenset[int] = frozenset()  # cached: Qt takes 0.1 s for 2,000 rows
        self.setAccessibleName("Points as numbers")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)  # Tab leaves the table; arrow keys move in it
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setHighlightSections(False)
        self.verticalHeader().setDefaultSectionSize(24)
        self.verticalHeader().setHighlightSections(False)
        self.selectionModel().selectionChanged.connect(self._on_selected)

    def show_sketch(self, sketch: Sketch) -> None:
        """Show other points, or another selection."""
        model = self.selectionModel()
        with QSignalBlocker(model):
            if self.points.show_sketch(sketch):
                self._chosen = frozenset()
        if self._chosen == sketch.selected:
            return
        self._chosen = sketch.selected
        selection = QItemSelection()
        for first, last in _stretches(sketch.chosen):
            selection.select(self.points.index(first, 0), self.points.index(last, sketch.d))
        # Block the model's signal, which reports selections of the user; repaint the view here.
        with QSignalBlocker(model):
            model.select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if sketch.chosen:
            self.scrollTo(self.points.index(sketch.chosen[-1], 0))
        self.viewport().update()

    def _on_selected(self) -> None:
        """Emit the numbers of the selected points."""
        rows = self.selectionModel().selectedRows()
        self._chosen = frozenset(index.row() for index in rows)
        self.points_picked.emit(self._chosen)


def _stretches(numbers: tuple[int, ...]) -> list[tuple[int, int]]:
    """Group rising numbers into ranges without gaps.

    >>> _stretches((1, 2, 3, 7))
    [(1, 3), (7, 7)]
    """
    stretches: list[tuple[int, int]] = []
    for number in numbers:
        if stretches and stretches[-1][1] == number - 1:
            stretches[-1] = (stretches[-1][0], number)
        else:
            stretches.append((number, number))
    return stretches
