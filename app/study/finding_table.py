"""What a hunt has found, in a table: the best first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QHeaderView, QWidget

from app.state.hunted import Finding
from app.widgets.plain_text import plain_tip
from app.widgets.run_table import RunTable
from app.widgets.screen_text import shown_number

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
class FindingTable(RunTable):
    """Table of the runs that a hunt has found, a few hundred at most."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.model_ = QStandardItemModel()  # model() is QTableView's
        self.model_.setHorizontalHeaderLabels([title for title, _ in COLUMNS])
        super().__init__(self.model_, "What was found", parent)
        self.findings: Sequence[Finding] = ()
        self.setToolTip("Double click a run to open it; with Shift beside what is shown")
        # There are few rows, and what they say gets longer once runs are refined.
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for column in range(len(COLUMNS)):
            self.model_.horizontalHeaderItem(column).setTextAlignment(_alignment(column))

    def show_findings(self, findings: Sequence[Finding]) -> None:
        """Show other findings. The view keeps its place, and its selection by rank."""
        self.findings = findings
        self.model_.setRowCount(len(findings))
        for row, one in enumerate(findings):
            for column, (_, text) in enumerate(COLUMNS):
                item = QStandardItem(text(one))
                item.setToolTip(plain_tip(item.text()))
                item.setTextAlignment(_alignment(column))
                self.model_.setItem(row, column, item)
        self.setColumnHidden(VERDICT, not any(one.verdict for one in findings))

    def path(self, row: int) -> Path | None:
        return self.findings[row].path


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column < RIGHT else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
