"""Panel of the library: the search line, the table of runs, and the actions on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QObject,
    QPoint,
    Qt,
    Signal,
)
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

EXAMPLE = "Search words or conditions, e.g. m >= 256 and hard_margin > .9 * gamma_gl / 2"
WIDEST = 28  # average characters
LEAST = {"name": 20, "study": 20}  # average characters; the first runs listed may have short names
ROOM = 8
# Key, text, shortcut, and where it applies: "in" the trash, "out" of it, or "" for both.
ACTIONS = (
    ("open", "&Open", "Return", ""),
    ("beside", "Open &beside", "Shift+Return", ""),
    ("compare", "&Compare", "", ""),
    ("rename", "&Rename ...", "F2", "out"),
    ("tags", "&Tags ...", "Ctrl+T", "out"),
    ("note", "&Note ...", "Ctrl+M", "out"),
    ("trash", "Move to the tras&h", "Del", "out"),
    ("restore", "Re&store", "Ctrl+Backspace", "in"),
    ("purge", "Delete permanentl&y ...", "Shift+Del", "in"),
    ("empty", "E&mpty the trash ...", "", "in"),
    ("again", "R&efresh", "F5", ""),
)
FOR_ONE, FOR_ALL = ("rename",), ("empty", "again")
MOVING = ("trash", "restore", "purge")  # actions after which runs leave the list
TIPS = {
    "open": "Open the selected runs",
    "beside": "Open the selected runs beside the others",
    "compare": "Show the selected runs in one picture",
    "tags": "Tag the selected runs",
    "trash": "Move the selected runs to the trash",
    "restore": "Take the selected runs out of the trash",
    "purge": "Delete the selected runs permanently",
}
ON_BUTTONS = {"tags": "Tag", "trash": "Delete"}  # short texts
# In this order; a menu has the others.
BUTTONS = ("open", "compare", "tags", "trash", "restore", "purge")


@final
class SearchEdit(QLineEdit):
    """Line of words or a condition; Escape empties it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, clearButtonEnabled=True, placeholderText=EXAMPLE)
        self.setFixedHeight(line_height(self))
        self.setAccessibleName("Search the library of runs")

    def event(self, event: QEvent) -> bool:
        # Otherwise the window's shortcut would handle Escape and unpin neurons.
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

    action_requested = Signal(str)  # the name of one of ACTIONS, for `selected_entries`

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.search = SearchEdit(self)
        self.trash = QCheckBox("&Trash", self)
        self.trash.setToolTip("Show the runs in the trash")
        self.columns = QToolButton(self)
        self.columns.setText("Columns")
        self.columns.setToolTip("Choose columns")
        self.columns.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.problem = problem_label(self)
        muted = QPalette.ColorRole.PlaceholderText
        self.total = ElidedLabel(self, Qt.TextElideMode.ElideRight, muted)
        self.model = LibraryModel(self)
        self.table = QTableView(self)
        self.empty = EmptyPage(self)
        self.empty.clear_requested.connect(self.search.clear)
        self.curves = CurveDelegate(self.model, self.table)
        self._fitted = self._started = self._moves_runs = False
        self.can_undo: Callable[[], bool] = bool  # of the latest change of runs
        self._set_table()
        self.run_actions = {name: self._action(name, text, key) for name, text, key, _ in ACTIONS}
        self._menu = self._column_menu()
        self.columns.setMenu(self._menu)
        head = space(QHBoxLayout(), (ROOM, 4, ROOM, 4), ROOM)
        add_all(head, (self.search, 1), self.trash, self.columns)
        self.buttons = {name: self._button(name) for name in BUTTONS}
        self.more = QToolButton(self)
        self.more.setText("More")
        self.more.setToolTip("All actions on the selected runs")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(self._action_menu())
        bar = space(QHBoxLayout(), (ROOM, 4, ROOM, 2), 2)
        add_all(bar, *self.buttons.values(), self.more, 1)
        foot = add_all(space(QHBoxLayout(), (ROOM, 2, ROOM, 4)), (self.total, 1))
        wrong = add_all(space(QHBoxLayout(), (ROOM, 0, ROOM, 2)), (self.problem, 1))
        self._pages = QStackedLayout()
        for page in (self.table, self.empty):
            self._pages.addWidget(page)
        # Below the table: a message above it would move the rows under the pointer.
        add_all(space(QVBoxLayout(self), spacing=0), head, (self._pages, 1), wrong, bar, foot)
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
        table.setTabKeyNavigation(False)  # Tab leaves the table, as any other control
        rows, header = table.verticalHeader(), table.horizontalHeader()
        rows.setVisible(False)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(max(table.fontMetrics().height() + 6, PICTURE_SIZE.height() + 4))
        # Set before sorting is enabled, which sorts by the indicator's column at once.
        date = next(place for place, column in enumerate(COLUMNS) if column.name == "date")
        header.setSortIndicator(date, Qt.SortOrder.DescendingOrder)
        header.setResizeContentsPrecision(50)
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        table.setSortingEnabled(True)
        table.installEventFilter(self)
        table.doubleClicked.connect(self._on_double_clicked)
        table.customContextMenuRequested.connect(self._show_menu)
        table.selectionModel().selectionChanged.connect(self._enable_actions)

    def _action(self, name: str, text: str, key: str) -> QAction:
        action = QAction(text, self.table)
        action.setObjectName(name)
        if name in ON_BUTTONS:
            action.setIconText(ON_BUTTONS[name])
        if key:
            action.setShortcut(QKeySequence(key))
            # Only in the table: Delete and Return mean something else in other fields of the
            # window.
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(self._on_action)
        self.table.addAction(action)
        return action

    def _button(self, name: str) -> QToolButton:
        button = QToolButton(self, autoRaise=True)
        button.setDefaultAction(self.run_actions[name])
        return button

    def _action_menu(self) -> QMenu:
        menu = QMenu(self, toolTipsVisible=True)
        menu.addActions(list(self.run_actions.values()))
        return menu

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
        """Show runs; keep the selection and the scroll position.

        Columns get their widths from the first runs, and again from the first ones to `fit`.
        """
        selection = {entry.path for entry in self.selected_entries}
        current = self.table.currentIndex()
        current_path = self.model.entry(current.row()).path if current.isValid() else None
        place = self.table.verticalScrollBar().value()
        row = current.row()
        self.model.set_entries(entries)
        if self._moves_runs and entries and not selection & {entry.path for entry in entries}:
            # The selected runs have left the list: the next one takes their place.
            current_path = self.model.entry(min(row, len(entries) - 1)).path
            selection = {current_path}
        self._moves_runs = False
        self._select(selection, current_path)
        self.table.verticalScrollBar().setValue(place)
        # Fit twice: while the runs are read, so that no heading is cut, and once all have been.
        self._pages.setCurrentWidget(self.table)
        if entries and not self._fitted and (fit or not self._started):
            self._fitted, self._started = fit, True
            self._fit_columns()

    def _select(self, selected_paths: set[Path], current_path: Path | None) -> None:
        if (
            not selected_paths and current_path is None
        ):  # skip the search: the table may have ten thousand rows
            self._enable_actions()
            return
        selection = QItemSelection()
        for row, entry in enumerate(self.model.entries):
            index = self.model.index(row, 1)
            if entry.path in selected_paths:
                selection.select(index, index)
            if entry.path == current_path:
                flag = QItemSelectionModel.SelectionFlag.NoUpdate
                self.table.selectionModel().setCurrentIndex(index, flag)
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
        rows = QItemSelectionModel.SelectionFlag.Rows
        self.table.selectionModel().select(selection, flags | rows)
        self._enable_actions()

    def _fit_columns(self) -> None:
        """Fit the columns to their contents, within their least and greatest widths."""
        letter = self.table.fontMetrics().averageCharWidth()
        self.table.resizeColumnsToContents()
        for place in range(len(COLUMNS)):
            least = LEAST.get(COLUMNS[place].name, 0) * letter
            width = max(least, min(self.table.columnWidth(place), WIDEST * letter))
            self.table.setColumnWidth(place, width)
        self.table.setColumnWidth(0, PICTURE_SIZE.width())

    def show_empty(self, searching: bool) -> None:
        """Explain why there are no rows."""
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
        columns = [column.name for column in COLUMNS if column.name in names] or FIRST
        for place, column in enumerate(COLUMNS):
            self.table.setColumnHidden(place, column.name not in columns)
        for action in self._menu.actions():
            action.setChecked(action.data() in columns)

    def _toggle_column(self, action: QAction) -> None:
        names = set(self.shown_columns)
        self.set_columns(tuple(names ^ {action.data()}))
        self._fit_columns()

    # -------------------------------------------------------------------------------- actions

    @property
    def selected_entries(self) -> tuple[Entry, ...]:
        """Selected runs in the order of the rows."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows(1))
        return tuple(self.model.entry(row) for row in rows)

    def _enable_actions(self, *_: object) -> None:
        """Enable the actions that apply to the selected runs."""
        count = len(self.table.selectionModel().selectedRows(1))
        where = "in" if self.trash.isChecked() else "out"
        for name, _text, _key, place in ACTIONS:
            action = self.run_actions[name]
            applies = place in ("", where)
            reason = _disabled_reason(name, count)
            action.setVisible(applies)
            action.setEnabled(applies and not reason)
            action.setToolTip(plain_tip(reason or TIPS.get(name, action.iconText().rstrip(". "))))
            if name in self.buttons:
                self.buttons[name].setVisible(applies)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # With the focus in the table, Ctrl+Z reverts the change of runs, not one of the views.
        if isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Undo):
            if event.type() == QEvent.Type.ShortcutOverride and self.can_undo():
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress and self.can_undo():
                self.action_requested.emit("undo")
                return True
        return super().eventFilter(watched, event)

    def _show_menu(self, position: QPoint) -> None:
        menu = self._action_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.table.viewport().mapToGlobal(position))

    def _on_double_clicked(self) -> None:
        self.action_requested.emit("open")

    def _on_action(self) -> None:
        sender = self.sender()
        assert isinstance(sender, QAction)
        self._moves_runs = sender.objectName() in MOVING
        self.action_requested.emit(sender.objectName())


def _disabled_reason(name: str, count: int) -> str:
    """Return why an action is not available with so many selected runs, "" if it is.

    >>> _disabled_reason("rename", 3), _disabled_reason("open", 1), _disabled_reason("again", 0)
    ('Select a single run.', '', '')
    """
    if name in FOR_ALL:
        return ""
    if name == "compare":
        return "" if 2 <= count <= MOST_COMPARED else f"Select 2 to {MOST_COMPARED} runs."
    if count == 0:
        return "Select a run in the table."
    return "Select a single run." if name in FOR_ONE and count > 1 else ""
