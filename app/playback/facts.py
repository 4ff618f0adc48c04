"""A list of named values under a heading: names left, values right, no frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from app.widgets.elided import ElidedLabel
from app.widgets.inputs import heading_label, line_height, quiet_label
from app.widgets.layouts import laid

ROW_HEIGHT = 24
DIGITS = "\u22120.000000"  # of a number at the cursor, of which none may be missing


@final
@dataclass(frozen=True, slots=True)
class Fact:
    """A line: `name` and `value` are shown, `explanation` is the tooltip of both."""

    name: str
    value: str
    explanation: str = ""


@final
class FactList(QWidget):
    """Facts under a heading. Rows are reused, so that changing values cost no layout; they are let
    go when there are no facts."""

    def __init__(self, heading: str, hint: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._grid = laid(QGridLayout(self), spacing=(8, 4))
        self._grid.setColumnStretch(1, 1)
        self._heading = heading_label(heading, self)
        self._heading.setFixedHeight(line_height(self))
        self._hint = quiet_label(hint, self, wrap=True)
        self._grid.addWidget(self._heading, 0, 0, 1, 2)
        self._grid.addWidget(self._hint, 1, 0, 1, 2)
        self._rows: list[tuple[ElidedLabel, ElidedLabel]] = []
        self._facts: tuple[Fact, ...] = ()

    def set_heading(self, text: str) -> None:
        """What the list is about."""
        self._heading.setText(text)

    def heading(self) -> str:
        """What the list says it is about."""
        return self._heading.text()

    def facts(self) -> tuple[Fact, ...]:
        return self._facts

    def value_labels(self) -> list[ElidedLabel]:
        """The labels of the values shown, in order."""
        return [value for _, value in self._rows[: len(self._facts)]]

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show these lines; without any, the hint says how to get some."""
        self._hint.setVisible(not facts)
        if not facts:
            self._remove_rows()
        while len(self._rows) < len(facts):
            self._add_row()
        for position, (name, value) in enumerate(self._rows):
            there = position < len(facts)
            name.setVisible(there)
            value.setVisible(there)
            if there:
                fact = facts[position]
                name.set_text(fact.name, fact.explanation)
                value.set_text(fact.value, fact.explanation)
        self._facts = tuple(facts)

    def _remove_rows(self) -> None:
        for row in self._rows:
            for label in row:
                self._grid.removeWidget(label)
                label.setParent(None)  # nobody's: deleted with the last reference, which is here
        self._rows.clear()

    def _add_row(self) -> None:
        # The name gives way to the value's digits where there is no room for both.
        name = ElidedLabel(self, Qt.TextElideMode.ElideRight, QPalette.ColorRole.PlaceholderText)
        name.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        value = ElidedLabel(self, Qt.TextElideMode.ElideRight)
        value.set_alignment(Qt.AlignmentFlag.AlignRight)
        value.setMinimumWidth(value.fontMetrics().horizontalAdvance(DIGITS) + 2)
        # Of one height with and without digits, so that what stands below does not move.
        value.setFixedHeight(line_height(self, ROW_HEIGHT) - 4)
        row = 2 + len(self._rows)
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(value, row, 1)
        self._rows.append((name, value))
