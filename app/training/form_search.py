"""Search line of the form, and the switch that shows only changed settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.widgets.inputs import SearchLine, push_button
from app.widgets.layouts import add_all, space

HINT = "Search settings"
CHANGED_TIP = "Show only the settings that differ from the study's"


@final
@dataclass(frozen=True, slots=True)
class RowFilter:
    """Words that a row must contain, and True if it must be changed."""

    words: tuple[str, ...] = ()
    only_changed: bool = False

    @property
    def is_active(self) -> bool:
        return self.only_changed or bool(self.words)


NO_FILTER = RowFilter()


@final
class FormSearch(QWidget):
    """Line above the sections that filters their rows."""

    changed = Signal()
    """Another filter was chosen."""
    accepted = Signal()
    """Return was pressed in the line."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.line = SearchLine(HINT, self)
        self.line.setObjectName("formSearch")
        self.line.textChanged.connect(self.changed)
        self.line.accepted.connect(self._on_accepted)
        self.line.focus_left.connect(self.line.clear)
        self.only = push_button("Changed (99)", self, CHANGED_TIP)
        self.only.setCheckable(True)
        self.only.setProperty("toggle", True)
        self.only.ensurePolished()
        self.only.setMinimumWidth(self.only.sizeHint().width())  # a count moves nothing
        self.only.setText("Changed")
        self.only.setEnabled(False)
        self.only.toggled.connect(self.changed)
        add_all(space(QHBoxLayout(self), (16, 8, 12, 0), 8), (self.line, 1), self.only)

    @property
    def filter(self) -> RowFilter:
        words = tuple(self.line.text().lower().split())
        return RowFilter(words, self.only.isChecked())

    def clear(self) -> None:
        """Show all rows again."""
        with QSignalBlocker(self.line), QSignalBlocker(self.only):
            self.line.clear()
            self.only.setChecked(False)

    def show_count(self, count: int) -> None:
        """Show how many settings are changed."""
        self.only.setText(f"Changed ({count})" if count else "Changed")
        self.only.setEnabled(bool(count) or self.only.isChecked())

    def _on_accepted(self) -> None:
        self.accepted.emit()
