"""The table of actions holds together."""

from __future__ import annotations

from collections import Counter

from PySide6.QtGui import QKeySequence

from app.actions import ROWS, TIPS


def test_keys_names_and_shortcuts_are_had_once() -> None:
    keys = Counter(row.key for row in ROWS)
    # As Qt compares them: "Ctrl+Shift+1" and "Ctrl+!" may be told apart, and "Ctrl+a" is "Ctrl+A".
    shortcuts = Counter(QKeySequence(row.shortcut).toString() for row in ROWS if row.shortcut)
    assert [key for key, count in keys.items() if count > 1] == []
    assert [keys for keys, count in shortcuts.items() if count > 1] == []
    assert all(shortcuts)  # every one is a key that there is


def test_tips_are_those_of_actions() -> None:
    assert set(TIPS) <= {row.key for row in ROWS}
