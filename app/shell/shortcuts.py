"""Keys of actions: shown on one page, changed there, and given to the actions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QComboBox

from app.actions import ROWS, name_of, set_keys
from app.shell.main_window import MainWindow
from app.shell.shortcut_keys import (
    DEFAULTS,
    Clash,
    Keys,
    custom_keys,
    find_holder,
    native_text,
    resolve_keys,
    usual_if_free,
)

if TYPE_CHECKING:
    from app.shell.shortcut_dialog import ShortcutDialog

NAMES = {row.key: name_of(row) for row in ROWS}
TAKEN = "{keys} is the shortcut of {other}, so {name} keeps {before}."
FIXED = "In the library of runs {keys} is the shortcut of {use}, so {name} keeps {before}."
MOVED = "{keys} is now the shortcut of {name}; {other} has {left}."
NO_KEYS = "no shortcut"
CLASH = "{keys} was assigned more than once and now belongs to {winner}: {others}."
CHOOSE = "Change shortcuts in Help, Keyboard shortcuts."
MOST_SENTENCES = 2
BARE = re.compile(r"(Shift\+)?[A-Z]")  # a letter without Ctrl or Alt
# Typing selects an item in these widgets. Text fields keep their keys by themselves.
SEARCHED_BY_TYPING = (QComboBox, QAbstractItemView)
TYPING = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
ON_OFF = "{name} is {state}. Press {keys} to change it back."
FILLED = "{name} ({keys}). Press {keys} or Esc to show all views."
DONE = "{name} ({keys}). Press {undo} to undo."


@final
class ShortcutController(QObject):
    """Keys of the actions.

    `own`: keys that differ from the table's, for settings. `warning`: a sentence about keys that
    the settings give to two actions.
    """

    def __init__(self, window: MainWindow, own: Keys) -> None:
        super().__init__(window)
        self._window = window
        self._keys, clashes = resolve_keys(own)
        self.warning = warning_about(clashes)
        self._actions: Mapping[str, QAction] = {}
        self.dialog: ShortcutDialog | None = None
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave signs that are typed to the widget with the focus if they select an item there."""
        # Qt asks here whether a key is a shortcut if the focused widget has not answered.
        if event.type() is not QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        typed = event.text().strip().isprintable() and bool(event.text().strip())
        if typed and not event.modifiers() & ~TYPING:
            event.setAccepted(isinstance(QApplication.focusWidget(), SEARCHED_BY_TYPING))
        return event.isAccepted()

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Give the actions of the table their keys."""
        self._actions = actions
        for key in custom_keys(self._keys):
            set_keys(actions[key], self._keys[key])
        for row in ROWS:
            if not row.text.endswith("..."):  # a dialog is its own response
                actions[row.key].triggered.connect(self._on_triggered)

    def _on_triggered(self) -> None:
        """Announce the effect of a bare letter, which may have been meant for a text."""
        action = self.sender()
        if not isinstance(action, QAction) or not BARE.fullmatch(action.shortcut().toString()):
            return
        name, keys = NAMES[action.objectName()], native_text(self._keys[action.objectName()])
        offered: tuple[QAction, ...] = ()
        if action.isCheckable():
            words = ON_OFF.format(name=name, state="on" if action.isChecked() else "off", keys=keys)
        else:
            leads_back = FILLED if action.objectName() == "fill" else DONE
            words = leads_back.format(name=name, keys=keys, undo=native_text(self._keys["undo"]))
            offered = () if action.objectName() == "fill" else (self._actions["undo"],)
        self._window.bar.show_notice(words, offered)

    @property
    def own(self) -> dict[str, str]:
        return custom_keys(self._keys)

    def show(self) -> None:
        """Open the page of all keys."""
        if self.dialog is None:
            from app.shell.shortcut_dialog import ShortcutDialog

            self.dialog = ShortcutDialog(self._window)
            self.dialog.changed.connect(self._change)
            self.dialog.key_moved.connect(self._move)
            self.dialog.all_reset.connect(self._reset)
        self.dialog.search.clear()
        self.dialog.show_message("")
        self.dialog.show_keys(self._keys)
        self.dialog.search.setFocus()
        self.dialog.open()

    def _change(self, key: str, text: str) -> None:
        """Give an action other keys, unless another action has them."""
        from app.shell.shortcut_dialog import library_holder

        assert self.dialog is not None
        holder, before = find_holder(self._keys, text, key), native_text(self._keys[key]) or "none"
        if library_use := library_holder(text):
            name = NAMES[key]
            words = FIXED.format(keys=native_text(text), use=library_use, name=name, before=before)
            self.dialog.show_message(words)
            return
        if holder:
            words = TAKEN.format(
                keys=native_text(text), other=NAMES[holder], name=NAMES[key], before=before
            )
            self.dialog.refuse(key, text, words)
            return
        self._take({key: text})
        keys = native_text(text)
        words = (
            f"{keys} is the shortcut of {NAMES[key]}." if keys else f"{NAMES[key]} has no shortcut."
        )
        self.dialog.show_message(words)

    def _move(self, key: str, text: str) -> None:
        """Take keys away from the action that has them."""
        assert self.dialog is not None
        holder = find_holder(self._keys, text, key)
        default = usual_if_free({**self._keys, key: text}, holder) if holder else ""
        self._take({holder: default, key: text} if holder else {key: text})
        words = MOVED.format(
            keys=native_text(text),
            name=NAMES[key],
            other=NAMES.get(holder, "nothing"),
            left=native_text(default) or NO_KEYS,
        )
        self.dialog.show_message(words)

    def _reset(self) -> None:
        """Restore the keys of the table for all actions."""
        assert self.dialog is not None
        self._take(DEFAULTS)
        self.dialog.show_message("All actions have their default shortcuts.")

    def _take(self, changes: Keys) -> None:
        assert self.dialog is not None
        changed = {key: text for key, text in changes.items() if text != self._keys[key]}
        self._keys |= changed
        for key in changed:  # so that no two actions ever share keys
            set_keys(self._actions[key], "")
        for key, text in changed.items():
            set_keys(self._actions[key], text)
        self.dialog.show_keys(self._keys)


def warning_about(clashes: Sequence[Clash]) -> str:
    """Return sentences about clashes in the settings, one for each winner; empty for none."""
    conflicts: dict[tuple[str, str], list[str]] = {}
    for one in clashes:
        words = f"{NAMES[one.other]} has {native_text(one.left) or NO_KEYS}"
        conflicts.setdefault((one.keys, one.winner), []).append(words)
    sentences = [
        CLASH.format(keys=native_text(keys), winner=NAMES[winner], others=", ".join(words))
        for (keys, winner), words in conflicts.items()
    ]
    n_unlisted = len(sentences) - MOST_SENTENCES
    listed = [*sentences[:MOST_SENTENCES], *([f"({n_unlisted} more.)"] if n_unlisted > 0 else ())]
    return " ".join((*listed, CHOOSE)) if listed else ""
