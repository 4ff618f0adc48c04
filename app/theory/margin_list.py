"""The reference margins of a run: value, how far it can be relied on, and what is on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.widgets.inputs import heading_label, line_height, quiet_label
from app.widgets.layouts import laid
from app.widgets.plain_text import plain_label, rich_tip
from app.widgets.symbols import certainty, margin_text, margin_tip, rich

if TYPE_CHECKING:
    from core.reference.margin import Reference, ReferenceMargin

COMPUTING, WAITING, NONE, STOPPED = "computing ...", "waiting", "none", "cancelled"


def reference_tip(reference: Reference) -> str:
    """What a margin that is not there yet is, as rich text."""
    lines = (f"<b>{rich(reference.title)}</b>", rich(reference.formula), rich(reference.source))
    return "".join(f"<p>{line}</p>" for line in lines)


def short_name(reference: Reference) -> str:
    """gamma_gl, or a word or two for margins that have no symbol of their own."""
    if reference.name.startswith("gamma"):
        return reference.name
    return reference.label.removesuffix(" / 2")


@final
class MarginList(QWidget):
    """A line a margin: name, value, certainty. Rows are reused."""

    def __init__(self, hint: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._grid = laid(QGridLayout(self), spacing=(8, 4))
        self._grid.setColumnStretch(1, 1)
        heading = heading_label("Reference margins", self)
        heading.setFixedHeight(line_height(self))
        self._grid.addWidget(heading, 0, 0, 1, 3)
        self.hint = quiet_label(hint, self, wrap=True)
        self._grid.addWidget(self.hint, 1, 0, 1, 3)
        self._rows: list[tuple[QLabel, QLabel, QLabel]] = []

    def texts(self) -> list[tuple[str, str, str]]:
        return [
            (name.accessibleName(), value.text(), sure.text())
            for name, value, sure in self._rows
            if not name.isHidden()
        ]

    def show_margins(
        self,
        references: Sequence[Reference],
        margins: Sequence[ReferenceMargin],
        current: frozenset[str],
        stopped: bool,
    ) -> None:
        """Margins in their order; `current` are the names of those that are being computed."""
        known = {margin.reference.name: margin for margin in margins}
        while len(self._rows) < len(references):
            self._add_row()
        self.hint.setVisible(not references)
        for place, row in enumerate(self._rows):
            for label in row:
                label.setVisible(place < len(references))
            if place < len(references):
                reference = references[place]
                waiting = COMPUTING if reference.name in current else WAITING
                margin = known.get(reference.name)
                self._show(row, reference, margin, STOPPED if stopped else waiting)

    def _show(
        self,
        row: tuple[QLabel, QLabel, QLabel],
        reference: Reference,
        margin: ReferenceMargin | None,
        absence: str,
    ) -> None:
        name, value, sure = row
        name.setText(rich(short_name(reference)))
        name.setAccessibleName(reference.name)
        if margin is not None:
            value.setText(margin_text(margin.bracket))
            sure.setText(certainty(margin) or NONE)
            tip = margin_tip(margin)
        else:
            value.setText("\u2013")
            sure.setText(absence)
            tip = reference_tip(reference)
        for label in row:
            label.setToolTip(rich_tip(tip))
        value.setAccessibleName(f"{reference.name} {value.text()} {sure.text()}")

    def _add_row(self) -> None:
        name = quiet_label("", self)
        name.setTextFormat(Qt.TextFormat.RichText)
        value = plain_label(parent=self)
        value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        sure = quiet_label("", self)
        # Of the widest word from the start, so that values do not move as certainties come.
        sure.setMinimumWidth(sure.fontMetrics().horizontalAdvance("heuristic") + 2)
        row = 2 + len(self._rows)
        for column, label in enumerate((name, value, sure)):
            label.setFixedHeight(line_height(self) - 4)
            self._grid.addWidget(label, row, column)
        self._rows.append((name, value, sure))
