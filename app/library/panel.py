"""Panel of the library: the search line, the table of runs, and the actions on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QMenu,
    QStackedLayout,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.library.columns import COLUMNS, FIRST
from app.library.empty_page import EmptyPage
from app.library.model import PICTURE_SIZE, CurveDelegate, LibraryModel
from app.style import shades
from app.widgets.inputs import line_height, set_property
from app.widgets.labels import ElidedLabel, plain_tip, problem_label
from app.widgets.layouts import add_all, space
from core.comparison.question import MOST_COMPARED
from core.figures.palette import Palette
from core.library.entry import Entry

EXAMPLE = "Search: words, or a condition such as  m >= 256 and hard_margin > .9 * gamma_gl / 2"
WIDEST = 50  # letters of the middle size
LEAST = {"name": 36, "study": 20}  # the first runs may be called by little
ROOM = 8
# Name, text, key, and place (in the trash, outside of it, or "" for both).
ACTIONS = (
    ("open", "&Open", "Return", ""),
    ("beside", "Open &beside", "Shift+Return", ""),
    ("compare", "&Compare", "", ""),
    ("rename", "&Rename ...", "F2", "out"),
    ("tags", "&Tags ...", "Ctrl+T", "out"),
    ("note", "&Note ...", "Ctrl+M", "out"),
    ("trash", "Move to the tras&h", "Del", "out"),
    ("restore", "Re&store", "Ctrl+Backspace", "in"),
    ("purge", "Remove for &good ...", "Shift+Del", "in"),
    ("empty", "E&mpty the trash ...", "", "in"),
    ("again", "List an&ew", "F5", ""),
)
FOR_ONE, FOR_ALL = ("rename",), ("empty", "again")


@final
class SearchEdit(QLineEdit):
    """Line of words or a condition; Escape empties it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, clearButtonEnabled=True, placeholderText=EXAMPLE)
        self.setFixedHeight(line_height(self))
        self.setAccessibleName("Search the library of runs")

    def event(self, event: QEvent) -> bool:
        # Otherwise Escape unpins nodes, by the window's shortcut.
        if event.type() == QEvent.Type.ShortcutOverride and _empties(self, event):
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress and _empties(self, event):
            self.clear()
            return True
        return super().event(event)


def _empties(search: QLineEdit, event: QEvent) -> bool:
    escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
    return escape and bool(search.text())


@final
class LibraryPanel(QWidget):
    """Search line, table and actions of the library."""

    action_requested = Signal(str)  # the name of one of ACTIONS, for `selected`

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.search = SearchEdit(self)
        self.trash = QCheckBox("&Trash", self)
        self.trash.setToolTip("Show the runs in the trash instead of the others")
        self.columns = QToolButton(self)
        self.columns.setText("Columns")
        self.columns.setToolTip("Which columns are shown")
        self.columns.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.problem = problem_label(self)
        muted = QPalette.ColorRole.PlaceholderText
        self.total = ElidedLabel(self, Qt.TextElideMode.ElideRight, muted)
        self.model = LibraryModel(self)
        self.table = QTableView(self)
        self.empty = EmptyPage(self)
        self.empty.clear_requested.connect(self.search.clear)
        self.curves = CurveDelegate(self.model, self.table)
        self._fitted = self._started = False
        self._set_table()
        self.run_actions = {name: self._action(name, text, key) for name, text, key, _ in ACTIONS}
        self._menu = self._column_menu()
        self.columns.setMenu(self._menu)
        head = space(QHBoxLayout(), (ROOM, 4, ROOM, 4), ROOM)
        add_all(head, (self.search, 1), self.trash, self.columns)
        self.compare_button = QToolButton(self)
        self.compare_button.setDefaultAction(self.run_actions["compare"])
        foot = add_all(space(QHBoxLayout(), (ROOM, 2, ROOM, 4)), (self.total, 1))
        add_all(foot, self.compare_button)
        wrong = add_all(space(QHBoxLayout(), (ROOM, 0, ROOM, 2)), (self.problem, 1))
        self._pages = QStackedLayout()
        for page in (self.table, self.empty):
            self._pages.addWidget(page)
        add_all(space(QVBoxLayout(self), spacing=0), head, wrong, (self._pages, 1), foot)
        self.trash.toggled.connect(self._enable_actions)
        self.set_columns(FIRST)
        self.set_colours(palette)
        self._enable_actions()

    def _set_table(self) -> None:
        table = self.table
        table.setModel(self.model)
        table.setItemDelegateForColumn(0, self.curves)
        table.setAccessibleName("Runs")
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.setDragEnabled(True)
        table.setTabKeyNavigation(False)  # Tab leaves the table, as it does any other control
        rows, header = table.verticalHeader(), table.horizontalHeader()
        rows.setVisible(False)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(max(table.fontMetrics().height() + 6, PICTURE_SIZE.height() + 4))
        # Before sorting is enabled, which sorts by the column of the indicator at once.
        date = next(place for place, column in enumerate(COLUMNS) if column.name == "date")
        header.setSortIndicator(date, Qt.SortOrder.DescendingOrder)
        header.setResizeContentsPrecision(50)
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        table.setSortingEnabled(True)
        table.doubleClicked.connect(self._on_double_clicked)
        table.customContextMenuRequested.connect(self._show_menu)
        table.selectionModel().selectionChanged.connect(self._enable_actions)

    def _action(self, name: str, text: str, key: str) -> QAction:
        action = QAction(text, self.table)
        action.setObjectName(name)
        if key:
            action.setShortcut(QKeySequence(key))
            # Of the table alone: Delete and Return mean something else in the window's fields.
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(self._on_action)
        self.table.addAction(action)
        return action

    def _column_menu(self) -> QMenu:
        menu = QMenu(self, toolTipsVisible=True)
        for column in COLUMNS:
            action = menu.addAction(column.title or "Picture")
            action.setData(column.name)
            action.setToolTip(plain_tip(column.tip))
            action.setCheckable(True)
        menu.triggered.connect(self._toggle_column)
        return menu

    # ------------------------------------------------------------------------------- showing

    def set_colours(self, palette: Palette) -> None:
        shade = shades(palette)
        self.model.set_colours(shade["danger"], shade["muted"])
        self.curves.set_colour(palette.positive if palette.name == "light" else shade["accent"])
        self.table.viewport().update()

    def show_entries(self, entries: Sequence[Entry], fit: bool = True) -> None:
        """Show runs; the selection and the scroll position stay.

        Columns get their widths from the first runs, and again from the first ones to `fit`.
        """
        kept = {entry.path for entry in self.selected}
        current = self.table.currentIndex()
        here = self.model.entry(current.row()).path if current.isValid() else None
        place = self.table.verticalScrollBar().value()
        self.model.set_entries(entries)
        self._select(kept, here)
        self.table.verticalScrollBar().setValue(place)
        # Once while they are read, so that no heading is cut, and once when they have been.
        self._pages.setCurrentWidget(self.table)
        if entries and not self._fitted and (fit or not self._started):
            self._fitted, self._started = fit, True
            self._fit()

    def _select(self, kept: set[Path], here: Path | None) -> None:
        if not kept and here is None:  # there may be ten thousand rows to look at
            self._enable_actions()
            return
        selection = QItemSelection()
        for row, entry in enumerate(self.model.entries):
            index = self.model.index(row, 1)
            if entry.path in kept:
                selection.select(index, index)
            if entry.path == here:
                flag = QItemSelectionModel.SelectionFlag.NoUpdate
                self.table.selectionModel().setCurrentIndex(index, flag)
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
        rows = QItemSelectionModel.SelectionFlag.Rows
        self.table.selectionModel().select(selection, flags | rows)
        self._enable_actions()

    def _fit(self) -> None:
        letter = self.table.fontMetrics().averageCharWidth()
        self.table.resizeColumnsToContents()
        for place in range(len(COLUMNS)):
            least = LEAST.get(COLUMNS[place].name, 0) * letter
            width = max(least, min(self.table.columnWidth(place), WIDEST * letter))
            self.table.setColumnWidth(place, width)
        self.table.setColumnWidth(0, PICTURE_SIZE.width())

    def show_empty(self, searching: bool) -> None:
        """Say why there are no rows."""
        self.empty.explain(searching, self.trash.isChecked())
        self._pages.setCurrentWidget(self.empty)

    def show_total(self, words: str) -> None:
        """Show the number of runs and their size."""
        self.total.set_text(words)

    def show_problem(self, sentence: str) -> None:
        """Show what is wrong with the search; hide if it is ""."""
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
        set_property(self.search, "wrong", bool(sentence))

    # ------------------------------------------------------------------------------- columns

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """Names of the shown columns."""
        return tuple(
            column.name
            for place, column in enumerate(COLUMNS)
            if not self.table.isColumnHidden(place)
        )

    def set_columns(self, names: Sequence[str]) -> None:
        """Show these columns; FIRST if none of them exists."""
        known = [column.name for column in COLUMNS if column.name in names] or FIRST
        for place, column in enumerate(COLUMNS):
            self.table.setColumnHidden(place, column.name not in known)
        for action in self._menu.actions():
            action.setChecked(action.data() in known)

    def _toggle_column(self, action: QAction) -> None:
        names = set(self.shown_columns)
        self.set_columns(tuple(names ^ {action.data()}))
        self._fit()

    # -------------------------------------------------------------------------------- actions

    @property
    def selected(self) -> tuple[Entry, ...]:
        """Selected runs in the order of the rows."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows(1))
        return tuple(self.model.entry(row) for row in rows)

    def _enable_actions(self, *_: object) -> None:
        """Enable the actions that suit the selected runs."""
        count = len(self.table.selectionModel().selectedRows(1))
        where = "in" if self.trash.isChecked() else "out"
        for name, _text, _key, place in ACTIONS:
            action = self.run_actions[name]
            action.setVisible(place in ("", where))
            if name not in FOR_ALL:
                wanted = 2 <= count <= MOST_COMPARED if name == "compare" else count > 0
                wanted = count == 1 if name in FOR_ONE else wanted
                action.setEnabled(wanted and place in ("", where))

    def _show_menu(self, here: QPoint) -> None:
        menu = QMenu(self)
        menu.addActions(list(self.run_actions.values()))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.table.viewport().mapToGlobal(here))

    def _on_double_clicked(self) -> None:
        self.action_requested.emit("open")

    def _on_action(self) -> None:
        sender = self.sender()
        assert isinstance(sender, QAction)
        self.action_requested.emit(sender.objectName())
