"""Page of compared runs: the question, its plots, and a legend with the settings that differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import final

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.library.compare_grid import CompareGrid
from app.library.legend_table import LegendTable
from app.widgets.labels import plain_label, plain_tip, quiet_label
from app.widgets.layouts import add_all, space
from app.widgets.screen_text import greek
from app.widgets.segments import SegmentedChoice
from core.comparison.question import AGAINST, BANDS, KINDS, RANK, CompareQuestion
from core.figures.palette import Palette

ROOM = 8
RUN = ".msrun"
SHORT = {"log10_time": "log t", "norm_squared": "|W|\u00b2", "share": "share"}
KIND_WORDS = {"lines": "Lines", "differences": "Differences", "bands": "Bands over seeds"}
BAND_WORDS = {"range": "median, min..max", "deviation": "mean \u00b1 sd"}


@final
class ComparePanel(QWidget):
    """Page of compared runs around the plots of their lines."""

    question_changed = Signal(object)
    """CompareQuestion that the user chose."""
    picker_requested = Signal(QPoint)
    """Place on the screen for the picker of observables."""
    runs_dropped = Signal(object)
    """Names of run files to compare as well, as a list."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._question = CompareQuestion()
        self.observables = QToolButton(self)
        self.observables.setText("Observables ...")
        self.observables.setToolTip("Choose what is compared: a plot for each observable")
        self.observables.clicked.connect(self._on_observables_clicked)
        self.against = SegmentedChoice("Against", self)
        self.against.chosen.connect(self._on_chosen)
        self.kind = self._choice("Kind of comparison", KIND_WORDS, KINDS)
        self.band = self._choice("Bands", BAND_WORDS, BANDS)
        self.close_button = QToolButton(self)
        self.close_button.setText("Close")
        self.close_button.setToolTip("Close the comparison and show the open runs")
        self.grid = CompareGrid(palette, self)
        self.table = LegendTable(palette, self)
        self.setAcceptDrops(True)
        self.notes = quiet_label("", self, wrap=True)
        self.notes.hide()
        head = space(QHBoxLayout(), (ROOM, 4, ROOM, 4), 6)
        against = plain_label("against", self)
        add_all(head, self.observables, against, self.against, self.kind, self.band, 1)
        add_all(head, self.close_button)
        note_row = add_all(space(QHBoxLayout(), (ROOM, 2, ROOM, 2)), (self.notes, 1))
        add_all(space(QVBoxLayout(self), spacing=0), head, (self.grid, 1), note_row, self.table)

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

    # --------------------------------------------------------------------------------- showing

    def show_question(self, question: CompareQuestion) -> None:
        """Show a question."""
        self._question = question
        self._offer_axes(question.is_by_rank)
        for box, value in ((self.kind, question.kind), (self.band, question.band)):
            box.setCurrentIndex(box.findData(value))
        self.against.set_key(question.against)
        self.band.setVisible(question.kind == "bands")

    def _offer_axes(self, ranked: bool) -> None:
        """Offer ranks for neurons, and all other axes for values over time."""
        keys = [key for key in AGAINST if (key == RANK) == ranked]
        texts = {key: SHORT.get(key) or greek(AGAINST[key]) for key in keys}
        self.against.offer(texts, {key: f"Against {greek(AGAINST[key])}" for key in keys})

    def show_notes(self, notes: Iterable[str]) -> None:
        """Show notes on the comparison."""
        self.notes.setText(greek(" ".join(notes)))
        self.notes.setVisible(bool(self.notes.text()))

    def fit(self) -> None:
        """Make the legend as high as its rows, up to a third of the page."""
        self.table.setFixedHeight(self.table.fitted_height(self.height() // 3))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    # ------------------------------------------------------------------------------------ requests

    def _on_chosen(self, _key: str) -> None:
        self._on_activated()

    def _on_activated(self) -> None:
        kind, band = self.kind.currentData(), self.band.currentData()
        question = replace(self._question, against=self.against.key, kind=kind, band=band)
        self.question_changed.emit(question)

    def _on_observables_clicked(self) -> None:
        button = self.observables
        self.picker_requested.emit(button.mapToGlobal(button.rect().bottomLeft()))

    # ------------------------------------------------------------------------------- drag and drop

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_runs(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if names := dropped_runs(event):
            event.acceptProposedAction()
            self.runs_dropped.emit(names)


def dropped_runs(event: QDropEvent) -> list[str]:
    """Return the dragged run files; none if other files are among them."""
    names = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
    return names if all(name.endswith(RUN) for name in names) else []
