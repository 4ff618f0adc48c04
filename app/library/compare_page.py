"""Page of compared runs: the question, the picture, and the settings that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.widgets.labels import plain_label, plain_tip, quiet_label
from app.widgets.layouts import add_all, space
from app.widgets.screen_text import greek
from core.comparison.question import AGAINST, BANDS, KINDS, RANK, SORTED, CompareQuestion

ROOM = 8
SWATCH = 12
KIND_WORDS = {"lines": "Lines", "differences": "Differences", "bands": "Bands over seeds"}
BAND_WORDS = {"range": "median, min..max", "deviation": "mean \u00b1 sd"}
BELOW = 18  # pixels below the last row, for a bar to scroll sideways
LEAST = 72


@final
class ComparePanel(QWidget):
    """Page of compared runs around a view of their lines."""

    question_changed = Signal(object)  # CompareQuestion

    def __init__(self, view: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.observable = self._choice("Observable", {})
        self.against = self._choice("Against", {})
        self.kind = self._choice("Kind of comparison", KIND_WORDS, KINDS)
        self.band = self._choice("Bands", BAND_WORDS, BANDS)
        self.observable.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.close_button = QToolButton(self)
        self.close_button.setText("Close")
        self.close_button.setToolTip("Show the open runs again")
        self.table = QTableWidget(0, 0, self)
        self._set_table()
        self.notes = quiet_label("", self, wrap=True)
        self.notes.hide()
        head = space(QHBoxLayout(), (ROOM, 4, ROOM, 4), 6)
        against = plain_label("against", self)
        add_all(head, (self.observable, 1), against, self.against, self.kind, self.band)
        add_all(head, self.close_button)
        said = add_all(space(QHBoxLayout(), (ROOM, 2, ROOM, 2)), (self.notes, 1))
        add_all(space(QVBoxLayout(self), spacing=0), head, (view, 1), said, self.table)

    def _choice(
        self, name: str, texts: Mapping[str, str], tips: Mapping[str, str] | None = None
    ) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(name)
        box.setToolTip(plain_tip(name))
        box.setMinimumContentsLength(6)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for key, text in texts.items():
            box.addItem(text, key)
            if tips is not None:
                box.setItemData(box.count() - 1, plain_tip(tips[key]), Qt.ItemDataRole.ToolTipRole)
        box.activated.connect(self._on_activated)
        return box

    def _set_table(self) -> None:
        table = self.table
        self._widest = table.fontMetrics().horizontalAdvance(
            "\u22120.0000 \u00d7 10\u207b\u00b9\u2070\u2070"
        )
        table.setAccessibleName("The settings in which the compared runs differ")
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.setShowGrid(False)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        table.verticalHeader().setVisible(False)
        table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + 6)
        table.horizontalHeader().setHighlightSections(False)
        table.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    # --------------------------------------------------------------------------------- showing

    def offer(self, observables: Mapping[str, str]) -> None:
        """Offer observables, given by their titles by name."""
        with QSignalBlocker(self.observable):
            self.observable.clear()
            for name, title in observables.items():
                self.observable.addItem(title, name)

    def show_question(self, question: CompareQuestion) -> None:
        """Show a question."""
        self._offer_axes(question.ranked)
        for box, value in (
            (self.observable, question.observable),
            (self.against, question.against),
            (self.kind, question.kind),
            (self.band, question.band),
        ):
            box.setCurrentIndex(box.findData(value))
        self.band.setVisible(question.kind == "bands")

    def _offer_axes(self, ranked: bool) -> None:
        """Offer ranks for nodes, and all other axes for values over time."""
        keys = [key for key in AGAINST if (key == RANK) == ranked]
        if [self.against.itemData(place) for place in range(self.against.count())] != keys:
            self.against.clear()
            for key in keys:
                self.against.addItem(greek(AGAINST[key]), key)

    def show_notes(self, notes: Sequence[str]) -> None:
        """Show notes on the comparison."""
        self.notes.setText(greek(" ".join(notes)))
        self.notes.setVisible(bool(notes))

    def show_table(self, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Show a row for each run: name, value at the cursor, and the settings that differ."""
        table = self.table
        table.setColumnCount(len(titles))
        table.setHorizontalHeaderLabels(list(titles))
        table.setRowCount(len(rows))
        for place, row in enumerate(rows):
            for column, text in enumerate(row):
                item = QTableWidgetItem(text)
                item.setToolTip(plain_tip(text))
                table.setItem(place, column, item)
        self._fit()

    def _fit(self) -> None:
        """Make the table as high as its rows, but a third of the page at most."""
        table = self.table
        wanted = table.verticalHeader().defaultSectionSize() * table.rowCount()
        wanted += table.horizontalHeader().sizeHint().height() + BELOW
        table.setFixedHeight(max(min(wanted, self.height() // 3), LEAST))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def show_colours(self, colours: Sequence[str]) -> None:
        """Show the colour of each run's line; "" for none."""
        for place, colour in enumerate(colours):
            if (item := self.table.item(place, 0)) is not None:
                swatch = QPixmap(SWATCH, SWATCH)
                swatch.fill(QColor(colour) if colour else Qt.GlobalColor.transparent)
                item.setIcon(QIcon(swatch))
        self.table.resizeColumnsToContents()
        self.table.setColumnWidth(1, max(self.table.columnWidth(1), self._widest))

    def show_values(self, values: Sequence[str]) -> None:
        """Show the value of each run at the cursor."""
        for place, text in enumerate(values):
            item = self.table.item(place, 1)
            if item is not None and item.text() != text:
                item.setText(text)

    # ---------------------------------------------------------------------------------- asking

    def _on_activated(self) -> None:
        name = self.observable.currentData()
        if name is None:
            return
        against = self.against.currentData()
        if name in SORTED:
            against = RANK
        elif against == RANK:
            against = next(iter(AGAINST))
        kind, band = self.kind.currentData(), self.band.currentData()
        self.question_changed.emit(CompareQuestion(name, against, kind, band))
