"""All keys on one page, menu by menu, to be looked at, searched and changed."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QObject, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QPalette
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.actions import MENUS, TIPS, ActionRow, name_of
from app.panels.fixed_keys import FixedKeys, fixed_keys
from app.panels.inputs import heading_label, push_button, quiet_label
from app.panels.scrolled import fill_scrolled
from app.state.finding import Entry, entry, find
from app.state.shortcuts import DEFAULTS, PORTABLE, Keys, native, portable
from app.style import small
from app.widgets.elided import ElidedLabel
from app.widgets.layouts import filled, laid
from app.widgets.plain_text import plain_label, plain_tip

HINT = "Find an action or its keys"
EXPLANATION = (
    "Click into a field, or go there with Tab, and press the keys that are to do it; None takes "
    "them away, Reset gives the usual ones."
)
NOTHING = "No action is called so, or has such keys."
KEYS_WIDTH = 180
DOTS = Qt.TextElideMode.ElideRight


@final
class ShortcutRow(QObject):
    """One action: its name and tip, its keys, and a button for those of the table.

    changed(key, sequence): other keys were pressed.
    """

    changed = Signal(str, str)

    def __init__(self, row: ActionRow, parent: QWidget) -> None:
        super().__init__(parent)
        self.key, self.name, self._shown = row.key, name_of(row), ""
        self.label = QLabel(self.name, parent, textFormat=Qt.TextFormat.PlainText)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.tip = ElidedLabel(parent, DOTS, QPalette.ColorRole.PlaceholderText)
        self.tip.setFont(small(parent.font()))
        self.tip.set_text(TIPS.get(row.key, ""))
        self.tip.setMinimumHeight(self.tip.sizeHint().height() + 6)
        self.edit = QKeySequenceEdit(parent)
        self.edit.setMaximumSequenceLength(1)
        self.edit.setFixedWidth(KEYS_WIDTH)
        self.edit.setAccessibleName(f"Keys of {self.name}")
        self.edit.editingFinished.connect(self._on_keys)  # the sequence is emptied before it
        self.clear = QToolButton(parent)
        self.clear.setText("None")
        self.clear.setToolTip("No keys do it")
        self.clear.setAccessibleName(f"No keys for {self.name}")
        self.clear.clicked.connect(self._on_clear)
        self.reset = QToolButton(parent)
        self.reset.setText("Reset")
        usual = native(DEFAULTS[row.key])
        self.reset.setToolTip(
            plain_tip(f"The usual keys: {usual}" if usual else "It has no keys usually")
        )
        self.reset.setAccessibleName(f"Reset the keys of {self.name}")
        self.reset.clicked.connect(self._on_reset)

    def widgets(self) -> tuple[QWidget, ...]:
        """All of them: the name, and the tip below it; then from left to right."""
        return self.label, self.tip, self.edit, self.clear, self.reset

    def put_into(self, grid: QGridLayout, place: int) -> None:
        """Stand in two rows of a grid."""
        grid.addWidget(self.label, place, 0)
        grid.addWidget(self.tip, place + 1, 0)
        for column, widget in enumerate((self.edit, self.clear, self.reset), start=1):
            grid.addWidget(widget, place, column, 2, 1)

    def show_keys(self, text: str) -> None:
        """Show a sequence, without telling anybody."""
        self._shown = text
        with QSignalBlocker(self.edit):
            self.edit.setKeySequence(QKeySequence(text, PORTABLE))
        self.clear.setEnabled(text != "")
        self.reset.setEnabled(text != DEFAULTS[self.key])

    def _on_keys(self) -> None:
        text = self.edit.keySequence().toString(PORTABLE)
        if text != self._shown:
            self.changed.emit(self.key, text)

    def _on_clear(self) -> None:
        self.changed.emit(self.key, "")

    def _on_reset(self) -> None:
        self.changed.emit(self.key, DEFAULTS[self.key])


@final
class ShortcutDialog(QDialog):
    """changed(key, sequence), moved(key, sequence) from another action, and all_reset() ask for
    other keys; `show_keys` and `refuse` answer.
    """

    changed = Signal(str, str)
    moved = Signal(str, str)
    all_reset = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        self._keys: Keys = {}
        self._wanted = ("", "")
        self.search = QLineEdit(self, placeholderText=HINT, clearButtonEnabled=True)
        self.search.setAccessibleName(HINT)
        self.search.textChanged.connect(self._show_found)
        self.rows: dict[str, ShortcutRow] = {}
        self.headings: dict[str, QLabel] = {}
        self.fixed: dict[tuple[str, FixedKeys], tuple[QLabel, QLabel]] = {}
        self.area = self._listed()
        self.told = QLabel(EXPLANATION, self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.told.setMinimumHeight(2 * self.told.fontMetrics().lineSpacing())
        self.told.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        self.move_button = push_button("Move it here", self, "Take the keys away from there")
        self.move_button.clicked.connect(self._on_move)
        self.reset_all = push_button("Reset all", self, "The usual keys of all actions")
        self.reset_all.clicked.connect(self.all_reset)
        done = push_button("Close", self)
        done.clicked.connect(self.accept)
        answer = filled(laid(QHBoxLayout(), spacing=8), (self.told, 1), self.move_button)
        buttons = filled(laid(QHBoxLayout(), spacing=8), self.reset_all, 1, done)
        column = laid(QVBoxLayout(self), (16, 16, 16, 16), 12)
        filled(column, self.search, (self.area, 1), answer, buttons)
        self.say("")
        self.resize(self.sizeHint())
        self.search.setFocus()

    def sizeHint(self) -> QSize:
        window = self.parentWidget()
        room = window.size() - QSize(48, 96) if window is not None else QSize(720, 560)
        return QSize(720, 560).boundedTo(room)

    def _listed(self) -> QWidget:
        content = QWidget(self)
        grid = laid(QGridLayout(content), (0, 0, 8, 0), (8, 2))
        grid.setColumnStretch(0, 1)
        place = 0
        for menu, rows in MENUS.items():
            title = menu.replace("&", "")
            self.headings[title] = heading_label(title, content)
            grid.addWidget(self.headings[title], place, 0, 1, 4)
            for row in rows:
                if row is None:
                    continue
                place += 2
                one = self.rows[row.key] = ShortcutRow(row, content)
                one.changed.connect(self._on_changed)
                one.put_into(grid, place)
            place += 2
        for title, keys in fixed_keys().items():
            self.headings[title] = heading_label(title, content)
            grid.addWidget(self.headings[title], place, 0, 1, 4)
            for fixed in keys:
                place += 1
                pair = plain_label(fixed.name, content), quiet_label(fixed.keys, content)
                grid.addWidget(pair[0], place, 0)
                grid.addWidget(pair[1], place, 1, 1, 3)
                self.fixed[title, fixed] = pair
            place += 2
        self.nothing = quiet_label(NOTHING, content)
        grid.addWidget(self.nothing, place, 0, 1, 4)
        grid.setRowStretch(place + 1, 1)
        holder = QWidget(self)
        area: QScrollArea = fill_scrolled(holder, content)
        area.setObjectName("shortcuts")
        return holder

    # --------------------------------------------------------------------------------- shown

    def show_keys(self, keys: Keys) -> None:
        """The keys of all actions as they are now."""
        self._keys = dict(keys)
        for key, row in self.rows.items():
            row.show_keys(keys[key])
        self.reset_all.setEnabled(any(keys[key] != DEFAULTS[key] for key in self.rows))
        self._show_found()

    def say(self, words: str) -> None:
        """Say what was done, or nothing."""
        self.told.setText(words or EXPLANATION)
        self.move_button.hide()
        self._wanted = ("", "")

    def refuse(self, key: str, text: str, words: str) -> None:
        """Another action has these keys: say so, and offer them all the same."""
        self.refuse_fixed(key, words)
        self._wanted = (key, text)
        self.move_button.show()

    def refuse_fixed(self, key: str, words: str) -> None:
        """Report keys that a part of the window has, and show the action's own again."""
        self.say(words)
        self.rows[key].show_keys(self._keys[key])

    def _show_found(self) -> None:
        found = {one.key for one in find(self.search.text(), self._entries())}
        for menu, rows in MENUS.items():
            here = [row.key for row in rows if row is not None]
            self.headings[menu.replace("&", "")].setVisible(bool(found & set(here)))
            for key in here:
                for widget in self.rows[key].widgets():
                    widget.setVisible(key in found)
        for (title, one), pair in self.fixed.items():
            for label in pair:
                label.setVisible(_fixed_key(title, one) in found)
        for title in {title for title, _ in self.fixed}:
            inside = {_fixed_key(of, one) for of, one in self.fixed if of == title}
            self.headings[title].setVisible(bool(found & inside))
        self.nothing.setVisible(not found)

    def _entries(self) -> list[Entry]:
        fixed = [
            entry(_fixed_key(title, one), "", one.name, title, words=one.keys)
            for title, one in self.fixed
        ]
        return fixed + [
            entry(row.key, "", name_of(row), TIPS.get(row.key, ""), words=native(keys))
            for rows in MENUS.values()
            for row in rows
            if row is not None
            for keys in (self._keys.get(row.key, ""),)
        ]

    # --------------------------------------------------------------------------------- asked

    def _on_changed(self, key: str, text: str) -> None:
        self.changed.emit(key, portable(text))

    def _on_move(self) -> None:
        key, text = self._wanted
        self.moved.emit(key, text)
        self.rows[key].edit.setFocus()


def _fixed_key(title: str, one: FixedKeys) -> str:
    return f"{title}: {one.name}"
