"""Tables of runs: sorting of rows by a column's values, and rows that open a run."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QWidget

MISSING = 2, 0


def sorted_places(values: Iterable[Any], order: Qt.SortOrder) -> list[int]:
    """Return the sorted places of values: numbers before words, missing values last.

    >>> sorted_places([2.0, math.nan, "b", 10, None, "A"], Qt.SortOrder.DescendingOrder)
    [2, 5, 3, 0, 1, 4]
    """
    keys = [_key(value) for value in values]
    reverse = order == Qt.SortOrder.DescendingOrder
    places = sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
    return sorted(places, key=lambda place: keys[place] == MISSING)  # stable


def _key(value: Any) -> tuple[int, Any]:
    """Return the sort key of a value: numbers, then texts without case, then missing values."""
    if isinstance(value, int | float):
        return MISSING if math.isnan(value) else (0, value)
    return (1, str(value).casefold()) if value not in ("", None) else MISSING


@contextmanager
def preserved_selection(
    model: QAbstractItemModel, rows: Callable[[], Sequence[Hashable]]
) -> Iterator[None]:
    """Keep the selection of rows while a model reorders its `rows`."""
    model.layoutAboutToBeChanged.emit()
    before, old_rows = model.persistentIndexList(), rows()
    yield
    new = {row: place for place, row in enumerate(rows())}
    after = [model.index(new[old_rows[index.row()]], index.column()) for index in before]
    model.changePersistentIndexList(before, after)
    model.layoutChanged.emit()


class RunTable(QTableView):
    """Table in which a double click or Return opens a run."""

    run_requested = Signal(object, bool)  # path, True to open it beside the shown runs

    def __init__(self, model: QAbstractItemModel, name: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.verticalHeader().setVisible(False)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 6)
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setHighlightSections(False)
        self.doubleClicked.connect(self._open)

    @abstractmethod
    def path(self, row: int) -> Path | None:
        """Return the run file of a row; None if it was not kept."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._open(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        path = self.path(index.row())
        if path is not None and path.is_file():  # it may have been moved since
            add = QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier
            self.run_requested.emit(path, bool(add))
