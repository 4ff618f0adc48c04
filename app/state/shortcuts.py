"""Which keys do what: those of the table of actions, and the user's own in their place."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtGui import QKeySequence

from app.actions import ROWS

Keys = Mapping[str, str]  # of actions by their keys; empty for none
PORTABLE = QKeySequence.SequenceFormat.PortableText


def portable(text: str) -> str:
    """A sequence as settings have it; empty where it is not one press of keys that there are.

    >>> portable("ctrl+shift+m"), portable("Ctrl+K, Ctrl+C"), portable("no key")
    ('Ctrl+Shift+M', '', '')
    """
    sequence = QKeySequence(text)
    return sequence.toString(PORTABLE) if sequence.count() == 1 else ""


DEFAULTS: Keys = {row.key: portable(row.shortcut) for row in ROWS}


def resolved(own: Keys) -> dict[str, str]:
    """The keys of all actions. Of the user's own what is no action's, no key, or another action's
    already is passed over: a settings file may be of another version, or written by hand.
    """
    keys = dict(DEFAULTS)
    # Those taken away first, so that their keys can be given to others.
    for key, text in own.items():
        if key in keys and (not text or portable(text)):
            keys[key] = ""
    for key, text in own.items():
        wanted = portable(text)
        if key in keys and wanted:
            keys[key] = wanted if wanted not in keys.values() else ""
    return keys


def differing(keys: Keys) -> dict[str, str]:
    """Those that are not the table's, as settings keep them."""
    return {key: text for key, text in keys.items() if text != DEFAULTS[key]}


def holder(keys: Keys, text: str, but: str) -> str:
    """The other action that has a sequence; empty where none has."""
    wanted = portable(text)
    return next((key for key, one in keys.items() if wanted and one == wanted and key != but), "")


def native(text: str) -> str:
    """A sequence as this system writes it."""
    return QKeySequence(text, PORTABLE).toString(QKeySequence.SequenceFormat.NativeText)
