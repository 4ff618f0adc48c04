"""Dialog that chooses the cells of a study to train in the window."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.state.headings import heading_of
from app.widgets.labels import quiet_label
from app.widgets.layouts import add_all, space, widen_for_title
from core.numbers import whole_text
from core.studies.cell_selection import MOST_EXAMINED
from core.studies.study import Study
from core.studies.tables import name_of

WIDTH, HEIGHT = 460, 480
MOST_LISTED = 2000


@final
class CellsDialog(QDialog):
    """Searchable list of a study's cells, of which at most `max_cells` are marked."""

    cells_chosen = Signal(object, object)
    """Train was pressed: the `Study`, and the names of the marked cells."""

    def __init__(
        self, study: Study, chosen: Collection[str], max_cells: int, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Choose runs")
        widen_for_title(self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._study, self._most = study, max_cells
        names = [name_of(place) for place in islice(study.places(), MOST_EXAMINED)]
        self._rows = [(name, heading_of(name)) for name in names]
        self._chosen = [name for name in names if name in chosen]
        count = whole_text(len(names))
        words = f"{study.title}: {count} runs. Select up to {max_cells} to train side by side."
        label = QLabel(words, self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.search = QLineEdit(
            self, clearButtonEnabled=True, placeholderText="Filter, e.g. m = 64 seed = 0"
        )
        self.search.setAccessibleName("Search runs")
        self.search.textChanged.connect(self._fill)
        self.list = QListWidget(self)
        self.list.setUniformItemSizes(True)
        self.list.setAccessibleName("Runs of the study")
        self.list.itemChanged.connect(self._on_mark)
        self.note = quiet_label("", self, wrap=True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.train = self.buttons.addButton("Train", QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.accepted.connect(self._on_accepted)
        column = space(QVBoxLayout(self), (16, 16, 16, 16), 8)
        add_all(column, label, self.search, (self.list, 1), self.note, self.buttons)
        self.resize(WIDTH, HEIGHT)
        self._fill()
        self.search.setFocus()

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the marked cells."""
        return tuple(self._chosen)

    def _on_accepted(self) -> None:
        self.cells_chosen.emit(self._study, self.chosen)

    def _fill(self) -> None:
        """List the cells whose headings contain all words."""
        words = self.search.text().lower().replace(" = ", "=").split()
        # Headings of some settings have no equals sign: "seed 2".
        words = [word.replace("=", " ") for word in words]
        rows = [
            row for row in self._rows if all(w in row[1].lower().replace(" = ", " ") for w in words)
        ]
        with QSignalBlocker(self.list):
            self.list.clear()
            for name, heading in rows[:MOST_LISTED]:
                item = QListWidgetItem(heading, self.list)
                item.setData(Qt.ItemDataRole.UserRole, name)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        self._show_marks()
        n_unlisted = len(rows) - MOST_LISTED
        self.note.setText(
            f"{whole_text(n_unlisted)} more. Refine the search to see them."
            if n_unlisted > 0
            else ""
        )
        self.note.setVisible(n_unlisted > 0)

    def _on_mark(self, item: QListWidgetItem) -> None:
        name = item.data(Qt.ItemDataRole.UserRole)
        self._chosen = [one for one in self._chosen if one != name]
        if item.checkState() is Qt.CheckState.Checked:
            # Beyond the limit, unmark the one marked first.
            self._chosen = [*self._chosen, name][-self._most :]
        self._show_marks()

    def _show_marks(self) -> None:
        with QSignalBlocker(self.list):
            for row in range(self.list.count()):
                item = self.list.item(row)
                marked = item.data(Qt.ItemDataRole.UserRole) in self._chosen
                item.setCheckState(Qt.CheckState.Checked if marked else Qt.CheckState.Unchecked)
        self.train.setEnabled(bool(self._chosen))
