"""Picker of curves: a line to search with, and observables in groups to tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.state.text_search import SearchEntry, find
from app.widgets.inputs import SearchLine, push_button, row_after
from app.widgets.labels import plain_tip, quiet_label
from app.widgets.layouts import add_all, space

SIZE = QSize(340, 460)
EDGE = 8  # pixels between picker and window edge
HINT = "Search curves"
NOTHING = "No curve matches."
NO_RUN = "Curves appear here once a run is open."
KEYS = "Enter: tick \u00b7 Esc: close"
Checked = Qt.CheckState
USER = Qt.ItemDataRole.UserRole


@final
class CurvePicker(QFrame):
    """Popup that stays open while curves are ticked, until Escape or a click elsewhere."""

    toggled = Signal(str, bool)
    """Name of an observable, and whether it was ticked."""
    study_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)  # a click elsewhere closes it
        self.setObjectName("curvePicker")
        self.setAccessibleName("Choose curves")
        self.setFrameShape(QFrame.Shape.Box)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.setAutoFillBackground(True)
        self.line = SearchLine(HINT, self)
        self.line.selection_moved.connect(self._on_moved)
        self.line.accepted.connect(self._on_accepted)
        self.line.focus_left.connect(self.close)
        self.line.textChanged.connect(self._fill)
        self.list = QListWidget(self)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setAccessibleName("Curves")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the line edit moves the selection
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.clicked.connect(self._on_clicked)
        self.study = push_button("Study's curves", self, "Show the study's default curves")
        self.study.clicked.connect(self.study_requested)
        self.note = quiet_label("", self)
        foot = add_all(space(QHBoxLayout(), spacing=8), (self.note, 1), self.study)
        add_all(space(QVBoxLayout(self), (8, 8, 8, 8), 8), self.line, (self.list, 1), foot)
        self._groups: Mapping[str, Sequence[SearchEntry]] = {}
        self._chosen: Sequence[str] = ()
        self._most = 0

    def open(
        self,
        groups: Mapping[str, Sequence[SearchEntry]],
        chosen: Sequence[str],
        place: QPoint,
        max_curves: int,
    ) -> None:
        """Show observables by their groups at a place on the screen, within the window.

        The entries' keys are the observables' names, of which `max_curves` can be chosen.
        """
        self._groups, self._chosen, self._most = groups, chosen, max_curves
        self.line.clear()
        self._fill()
        self.study.setEnabled(bool(groups))
        window = self.parentWidget()
        assert window is not None
        size = SIZE.expandedTo(self.minimumSizeHint()).boundedTo(
            window.size() - QSize(2 * EDGE, 2 * EDGE)
        )
        corner = window.mapToGlobal(QPoint(EDGE, EDGE))
        last = corner + QPoint(
            window.width() - 2 * EDGE - size.width(), window.height() - 2 * EDGE - size.height()
        )
        x, y = max(min(place.x(), last.x()), corner.x()), max(min(place.y(), last.y()), corner.y())
        self.resize(size)
        self.move(x, y)
        self.show()
        self.line.setFocus()

    def set_chosen(self, chosen: Sequence[str]) -> None:
        """Tick the shown curves."""
        self._chosen = chosen
        for item in self._items():
            item.setCheckState(self._state(item.data(USER)))
        self._show_count()

    def _state(self, name: str) -> Qt.CheckState:
        return Checked.Checked if name in self._chosen else Checked.Unchecked

    def _items(self) -> list[QListWidgetItem]:
        """Return the items of curves, without the headings of groups."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return [item for item in items if item.data(USER)]

    def _fill(self) -> None:
        """List the matches in their groups, and choose the best one."""
        entries = [entry for group in self._groups.values() for entry in group]
        matches = [entry.key for entry in find(self.line.text(), entries, ())]
        self.list.clear()
        for group, some in self._groups.items():
            entries_ = [entry for entry in some if entry.key in matches]
            if entries_:
                self._add_heading(group)
            for entry in entries_:
                self._add(entry)
        best = next(
            (one for one in self._items() if matches and one.data(USER) == matches[0]), None
        )
        if best is not None:
            self.list.setCurrentItem(best)
        if not self.line.text():
            self.list.scrollToTop()
        self._show_count()

    def _add_heading(self, group: str) -> None:
        item = QListWidgetItem(group)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        font = self.list.font()
        font.setWeight(QFont.Weight.DemiBold)
        item.setFont(font)
        self.list.addItem(item)

    def _add(self, entry: SearchEntry) -> None:
        item = QListWidgetItem(entry.title)
        # Not Qt's check boxes: here a click anywhere in the row toggles it.
        item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
        item.setData(USER, entry.key)
        item.setToolTip(plain_tip(entry.detail or entry.title))
        item.setCheckState(self._state(entry.key))
        self.list.addItem(item)

    def _show_count(self) -> None:
        if not self._groups:
            self.note.setText(NO_RUN)
        elif not self._items():
            self.note.setText(NOTHING)
        else:
            self.note.setText(f"{len(self._chosen)} of at most {self._most}. {KEYS}.")

    # ----------------------------------------------------------------------------------- input

    def _on_moved(self, step: int) -> None:
        items = self._items()
        if items:
            present = self.list.currentItem()
            row = next((k for k, one in enumerate(items) if one is present), -1)
            self.list.setCurrentItem(items[row_after(row, step, len(items))])

    def _on_accepted(self, _add: bool) -> None:
        """Toggle the current entry, with Shift or without."""
        self._toggle(self.list.currentItem())

    def _on_clicked(self, index: Any) -> None:
        self._toggle(self.list.item(index.row()))

    def _toggle(self, item: QListWidgetItem | None) -> None:
        """Request the other state of an entry; headings have none."""
        if item is not None and (name := item.data(USER)):
            self.toggled.emit(name, item.checkState() is Checked.Unchecked)
