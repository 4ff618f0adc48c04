"""The points that are drawn as a table of numbers, which can be edited."""

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

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
Role = Qt.ItemDataRole
NO_NUMBER = "{text!r} is not a coordinate. Enter a number between -{most:g} and {most:g}."
EITHER = (
    "{text!r} is ambiguous: is the comma a decimal or a thousands separator? Enter {point} or "
    "{plain}."
)
NO_LABEL = "{text!r} is not a label. Enter +1 or \u22121."
SHOWN = 20  # letters of what was typed, in a sentence


@final
class PointModel(QAbstractTableModel):
    """A row a point. edited(number, row): somebody typed another number; refused(sentence)."""

    points_edited = Signal(int, object)
    edit_refused = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sketch = Sketch()

    def show_sketch(self, sketch: Sketch) -> bool:
        """Other points; whether there are more or fewer, so that no row is selected any more."""
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
            return f"{value:.5g}".replace("-", "\u2212")
        # All digits: what is not changed stays as it is.
        return repr(value).removesuffix(".0") if role == Role.EditRole else None

    def setData(self, index: Index, value: Any, role: int = Role.EditRole) -> bool:
        if role != Role.EditRole or index.row() >= len(self.sketch.points):
            return False
        text, is_label = str(value).strip(), index.column() == self.sketch.d
        if not is_label and may_have_groups(text):
            # A decimal comma is taken where it can be nothing else.
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
    """picked(points): other rows were selected."""

    points_picked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.points = PointModel(self)
        self.setModel(self.points)
        self._chosen: frozenset[int] = frozenset()  # asking Qt takes 0.1 s for 2,000 rows
        self.setAccessibleName("Points as numbers")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)  # Tab leaves it, arrows go through it
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setHighlightSections(False)
        self.verticalHeader().setDefaultSectionSize(24)
        self.verticalHeader().setHighlightSections(False)
        self.selectionModel().selectionChanged.connect(self._on_selected)

    def show_sketch(self, sketch: Sketch) -> None:
        """Other points, or others of them selected."""
        model = self.selectionModel()
        with QSignalBlocker(model):
            if self.points.show_sketch(sketch):
                self._chosen = frozenset()
        if self._chosen == sketch.selected:
            return
        self._chosen = sketch.selected
        wanted = QItemSelection()
        for first, last in _stretches(sketch.chosen):
            wanted.select(self.points.index(first, 0), self.points.index(last, sketch.d))
        # Without its signal, which says what the user selects; the view has to be painted anew.
        with QSignalBlocker(model):
            model.select(wanted, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if sketch.chosen:
            self.scrollTo(self.points.index(sketch.chosen[-1], 0))
        self.viewport().update()

    def _on_selected(self) -> None:
        rows = self.selectionModel().selectedRows()
        self._chosen = frozenset(index.row() for index in rows)
        self.points_picked.emit(self._chosen)


def _stretches(numbers: tuple[int, ...]) -> list[tuple[int, int]]:
    """Rising numbers as stretches without gaps.

    >>> _stretches((1, 2, 3, 7))
    [(1, 3), (7, 7)]
    """
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
