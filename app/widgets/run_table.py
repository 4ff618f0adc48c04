"""Tables with a run in each row, which they open."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QWidget


class RunTable(QTableView):
    """Table whose runs a double click or Return opens."""

    run_requested = Signal(object, bool)  # path, whether beside what is shown

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
        """Return the run file of a row, if it was kept."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._open(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        path = self.path(index.row())
        if path is not None and path.is_file():  # it may have been moved since
            beside = QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier
            self.run_requested.emit(path, bool(beside))
