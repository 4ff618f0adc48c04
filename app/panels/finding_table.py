"""What a hunt has found, in a table: the best first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QHeaderView, QWidget

from app.state.hunted import Finding
from app.widgets.plain_text import plain_tip
from app.widgets.run_table import RunTable
from app.widgets.screen_text import shown_number

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
Role = Qt.ItemDataRole
RIGHT = 2  # so many columns of numbers come first
VERDICT = 5  # of a statement, where one is asked about
COLUMNS: tuple[tuple[str, Callable[[Finding], str]], ...] = (
    ("rank", lambda one: str(one.rank) if one.rank else ""),
    ("value", lambda one: shown_number(one.value, 6) if one.rank else ""),
    ("run", lambda one: one.where),
    ("found", lambda one: one.how),
    ("state", lambda one: one.state),
    ("verdict", lambda one: one.verdict),
)


@final
class FindingModel(QAbstractTableModel):
    """A row a run."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.findings: Sequence[Finding] = ()

    def set_findings(self, findings: Sequence[Finding]) -> None:
        """Others; the view keeps its place and its selection, which are of a rank."""
        before, after = len(self.findings), len(findings)
        if after > before:
            self.beginInsertRows(NOWHERE, before, after - 1)
            self.findings = findings
            self.endInsertRows()
        elif after < before:
            self.beginRemoveRows(NOWHERE, after, before - 1)
            self.findings = findings
            self.endRemoveRows()
        self.findings = findings
        if findings:
            self.dataChanged.emit(self.index(0, 0), self.index(after - 1, len(COLUMNS) - 1))

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.findings)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return None
        if role == Role.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section < RIGHT else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return COLUMNS[section][0] if role == Role.DisplayRole else None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if role == Role.TextAlignmentRole and index.column() < RIGHT:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role not in (Role.DisplayRole, Role.ToolTipRole):
            return None
        text = COLUMNS[index.column()][1](self.findings[index.row()])
        return plain_tip(text) if role == Role.ToolTipRole else text


@final
class FindingTable(RunTable):
    """What a hunt has found."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.model_ = FindingModel()  # model() is QTableView's
        super().__init__(self.model_, "What was found", parent)
        self.setToolTip("Double click a run to open it; with Shift beside what is shown")
        # There are few rows, and what they say gets longer once runs are refined.
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)

    def show_findings(self, findings: Sequence[Finding]) -> None:
        """Others, in the place of those before."""
        self.model_.set_findings(findings)
        self.setColumnHidden(VERDICT, not any(one.verdict for one in findings))

    def path(self, row: int) -> Path | None:
        return self.model_.findings[row].path
