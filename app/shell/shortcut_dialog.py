"""Page of all keys, menu by menu, which can be searched and changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QKeySequence, QPalette, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QStyledItemDelegate,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.actions import MENUS, TIPS, name_of
from app.data.drawing_window import SKETCH_ACTIONS as OF_DRAWING
from app.library.panel import ACTIONS as OF_LIBRARY
from app.shell.shortcut_keys import DEFAULTS, PORTABLE, Keys, native_text, portable_text
from app.state.text_search import find, make_entry
from app.widgets.inputs import line_height, push_button
from app.widgets.labels import plain_tip, quiet_label
from app.widgets.layouts import add_all, space

HINT = "Search actions and keys"
EXPLANATION = (
    "Click the keys of an action, or select it and press Enter; then press the new keys. None "
    "removes the shortcut, Reset restores the default."
)
NOTHING = "No matching action."
COLUMNS = ("Action", "Keys", "Description")
NAME, KEYS, TIP = range(3)
KEYS_LETTERS = 26
TAB, BACKTAB = Qt.Key.Key_Tab, Qt.Key.Key_Backtab
SPOKEN = int(Qt.ItemDataRole.AccessibleTextRole)
ACTION = int(Qt.ItemDataRole.UserRole)  # action of a row; None if its keys are fixed


class FixedKeys(NamedTuple):
    """Fixed keys of a part of the window, as shown."""

    name: str
    keys: str


IN_PLOTS = (
    FixedKeys("Highlight the next neuron of the focused plot", "Arrows"),
    FixedKeys("Pin or unpin the highlighted neuron", "Space, Enter"),
    FixedKeys("Select the neurons in a box", "Drag in the neuron view"),
    FixedKeys("Zoom, and zoom out", "Wheel, double-click"),
    FixedKeys("Loop over an interval", "Shift-drag on the time slider"),
)


def library_holder(text: str) -> str:
    """Return the action of keys in the library; "" if they have none there.

    The library is a part of the main window: Qt carries out neither of two equal shortcuts in it.
    Data are drawn in a window of their own.

    >>> library_holder("f2"), library_holder("Ctrl+Alt+F2")
    ('Rename', '')
    """
    key_text = portable_text(text)
    names = (
        name for _, name, keys, _ in OF_LIBRARY if key_text and portable_text(keys) == key_text
    )
    return _plain(next(names, ""))


def fixed_keys() -> dict[str, tuple[FixedKeys, ...]]:
    """Return the fixed keys of each part of the window, by its heading."""
    library = [(text, (keys,)) for _, text, keys, _ in OF_LIBRARY if keys]
    drawing = [(action.text, action.keys) for action in OF_DRAWING if action.keys]
    return {
        "In plots": IN_PLOTS,
        "In the library of runs": _list_fixed_keys(library),
        "In the Draw data window": _list_fixed_keys(drawing),
    }


def _list_fixed_keys(actions: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[FixedKeys, ...]:
    return tuple(
        FixedKeys(_plain(text), ", ".join(native_text(one) for one in keys))
        for text, keys in actions
    )


def _plain(text: str) -> str:
    """Return the text of a menu entry without mnemonic marks and ellipsis."""
    return text.replace("&", "").removesuffix(" ...")


@final
class KeysDelegate(QStyledItemDelegate):
    """Editor of a row's keys. changed(action, sequence): other keys were pressed."""

    changed = Signal(str, str)

    def createEditor(self, parent: QWidget, option: Any, index: Any) -> QWidget:
        edit = QKeySequenceEdit(parent)
        edit.setMaximumSequenceLength(1)
        edit.setAccessibleName(f"Shortcut of {index.siblingAtColumn(NAME).data()}")
        edit.editingFinished.connect(self._on_finished)
        return edit

    def setEditorData(self, editor: QWidget, index: Any) -> None:
        editor.setProperty("keySequence", QKeySequence(index.data()))

    def setModelData(self, editor: QWidget, model: Any, index: Any) -> None:
        text = editor.property("keySequence").toString(PORTABLE)
        if native_text(text) != index.data():
            self.changed.emit(index.siblingAtColumn(NAME).data(ACTION), text)

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        # Qt's filter stops at Return and Escape, which an action may use.
        leaves = isinstance(event, QKeyEvent) and event.key() in (TAB, BACKTAB)
        if leaves and event.type() == QEvent.Type.KeyPress:
            self._finish(editor)
        return leaves

    def sizeHint(self, option: Any, index: Any) -> QSize:
        return QSize(super().sizeHint(option, index).width(), line_height(option.widget))

    def initStyleOption(self, option: Any, index: Any) -> None:
        super().initStyleOption(option, index)
        name = index.siblingAtColumn(NAME)
        if index.column() == TIP or (index.column() == KEYS and not name.data(ACTION)):
            quiet = option.palette.color(QPalette.ColorRole.PlaceholderText)
            option.palette.setColor(QPalette.ColorRole.Text, quiet)

    def _on_finished(self) -> None:
        self._finish(self.sender())

    def _finish(self, editor: Any) -> None:
        editor.editingFinished.disconnect(self._on_finished)  # losing the focus would emit it again
        self.commitData.emit(editor)
        self.closeEditor.emit(editor)


@final
class ShortcutDialog(QDialog):
    """Dialog for the keys of all actions.

    changed(key, sequence), moved(key, sequence) from another action, and all_reset() request other
    keys; `show_keys` and `refuse` answer.
    """

    changed = Signal(str, str)
    key_moved = Signal(str, str)
    all_reset = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        self._keys: Keys = {}
        self._wanted = ("", "")
        self.search = QLineEdit(self, placeholderText=HINT, clearButtonEnabled=True)
        self.search.setAccessibleName(HINT)
        self.search.textChanged.connect(self._show_found)
        self.tree = QTreeWidget(self)
        self.headings: dict[str, QTreeWidgetItem] = {}
        self.rows: dict[str, QTreeWidgetItem] = {}  # by action, or by number for fixed keys
        self._titles: dict[str, str] = {}  # titles of the headings
        self._fill_tree()
        self.nothing = quiet_label(NOTHING, self)
        self.hint = QLabel(EXPLANATION, self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.hint.setMinimumHeight(2 * self.hint.fontMetrics().lineSpacing())
        self.hint.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        self.move_button = push_button(
            "Reassign", self, "Remove the keys from the other action and assign them here"
        )
        self.move_button.clicked.connect(self._on_move)
        self.clear = push_button("None", self, "Remove the shortcut of the action")
        self.clear.clicked.connect(self._on_clear)
        self.reset = push_button("Reset", self)
        self.reset.clicked.connect(self._on_reset)
        self.reset_all = push_button(
            "Reset all", self, "Restore the default shortcuts of all actions"
        )
        self.reset_all.clicked.connect(self.all_reset)
        close_button = push_button("Close", self)
        close_button.clicked.connect(self.accept)
        answer = add_all(space(QHBoxLayout(), spacing=8), (self.hint, 1), self.move_button)
        buttons = space(QHBoxLayout(), spacing=8)
        add_all(buttons, self.clear, self.reset, self.reset_all, 1, close_button)
        column = space(QVBoxLayout(self), (16, 16, 16, 16), 12)
        add_all(column, self.search, self.nothing, (self.tree, 1), answer, buttons)
        self.show_message("")
        self.resize(self.sizeHint())
        self.search.setFocus()

    def sizeHint(self) -> QSize:
        window = self.parentWidget()
        room = window.size() - QSize(48, 96) if window is not None else QSize(860, 560)
        return QSize(860, 560).boundedTo(room)

    def _fill_tree(self) -> None:
        tree = self.tree
        for menu, rows in MENUS.items():
            title = menu.replace("&", "")
            self._add_heading(title)
            for row in filter(None, rows):
                self._add_row(title, row.key, name_of(row), "", TIPS.get(row.key, ""))
                self.rows[row.key].setData(NAME, ACTION, row.key)
        for title, fixed in fixed_keys().items():
            self._add_heading(title)
            for one in fixed:
                self._add_row(title, str(len(self.rows)), one.name, one.keys)
        tree.setRootIsDecorated(False)
        tree.setItemsExpandable(False)
        tree.setIndentation(0)
        tree.setAccessibleName("Actions and their keys")
        tree.setHeaderLabels(COLUMNS)
        tree.setUniformRowHeights(True)
        tree.setFrameShape(QTreeWidget.Shape.NoFrame)
        tree.setEditTriggers(QTreeWidget.EditTrigger.NoEditTriggers)
        delegate = KeysDelegate(tree)
        delegate.changed.connect(self._on_changed)
        tree.setItemDelegate(delegate)
        tree.itemClicked.connect(self._on_clicked)
        for key in ("Return", "Enter", "F2"):  # macOS edits the first column with Return
            shortcut = QShortcut(QKeySequence(key), tree, context=Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(self._edit)
        tree.currentItemChanged.connect(self._show_buttons)
        tree.expandAll()
        tree.resizeColumnToContents(NAME)
        tree.setColumnWidth(KEYS, KEYS_LETTERS * self.fontMetrics().averageCharWidth())

    def _add_heading(self, title: str) -> None:
        heading = self.headings[title] = QTreeWidgetItem(self.tree, [title])
        heading.setFirstColumnSpanned(True)
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        heading.setFont(NAME, font)
        heading.setFlags(Qt.ItemFlag.ItemIsEnabled)

    def _add_row(self, title: str, key: str, *texts: str) -> None:
        self._titles[key] = title
        row = self.rows[key] = QTreeWidgetItem(self.headings[title], texts)
        row.setFlags(row.flags() | Qt.ItemFlag.ItemIsEditable)
        row.setToolTip(TIP, plain_tip(row.text(TIP)))

    # ------------------------------------------------------------------------------------- display

    def show_keys(self, keys: Keys) -> None:
        """Show the present keys of all actions."""
        self._keys = dict(keys)
        for key, text in keys.items():
            row, words = self.rows[key], native_text(text)
            row.setText(KEYS, words)
            row.setData(KEYS, SPOKEN, f"Shortcut of {row.text(NAME)}: {words or 'none'}")
        self.reset_all.setEnabled(self._keys != DEFAULTS)
        self._show_found()

    def show_message(self, words: str) -> None:
        """Show a confirmation, or nothing."""
        self.hint.setText(words or EXPLANATION)
        self.move_button.hide()
        self._wanted = ("", "")

    def refuse(self, key: str, text: str, words: str) -> None:
        """Report that another action has these keys, and offer to take them."""
        self.show_message(words)
        self._wanted = (key, text)
        self.move_button.show()

    def _show_found(self) -> None:
        entries = [
            make_entry(
                key, "", row.text(NAME), row.text(TIP) or self._titles[key], words=row.text(KEYS)
            )
            for key, row in self.rows.items()
        ]
        keys = {one.key for one in find(self.search.text(), entries)}
        titles = {self._titles[key] for key in keys}
        for key, row in self.rows.items():
            row.setHidden(key not in keys)
        for title, heading in self.headings.items():
            heading.setHidden(title not in titles)
        self.nothing.setVisible(not keys)
        self._show_buttons()

    # ------------------------------------------------------------------------------------ requests

    @property
    def _current(self) -> str:
        """Return the action of the current row; "" for a heading, fixed keys, and a hidden row."""
        row = self.tree.currentItem()
        if row is None or row.isHidden():
            return ""
        return row.data(NAME, ACTION) or ""

    def _show_buttons(self) -> None:
        key = self._current
        name = self.rows[key].text(NAME) if key else "an action"
        usual = native_text(DEFAULTS.get(key, ""))
        self.clear.setEnabled(self._keys.get(key, "") != "")
        self.clear.setAccessibleName(f"Remove the shortcut of {name}")
        self.reset.setEnabled(self._keys.get(key) != DEFAULTS.get(key))
        self.reset.setAccessibleName(f"Reset the shortcut of {name}")
        self.reset.setToolTip(plain_tip(f"Default: {usual}" if usual else "Default: no shortcut"))

    def _on_clicked(self, row: QTreeWidgetItem, column: int) -> None:
        if column == KEYS:
            self._edit()

    def _edit(self) -> None:
        if self._current:
            self.tree.editItem(self.rows[self._current], KEYS)

    def _on_changed(self, key: str, text: str) -> None:
        self.changed.emit(key, portable_text(text))

    def _on_clear(self) -> None:
        self.changed.emit(self._current, "")

    def _on_reset(self) -> None:
        self.changed.emit(self._current, DEFAULTS[self._current])

    def _on_move(self) -> None:
        key, text = self._wanted
        self.key_moved.emit(key, text)
        self.tree.setCurrentItem(self.rows[key])
        self.tree.setFocus()
