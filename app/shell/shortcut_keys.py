"""Keys of actions: those of the table, or the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from PySide6.QtGui import QKeySequence

from app.actions import ROWS

Keys = Mapping[str, str]  # action key -> shortcut, "" for none
PORTABLE = QKeySequence.SequenceFormat.PortableText


def portable_text(text: str) -> str:
    """Return keys as settings have them; "" if they are not one valid key press.

    >>> portable_text("ctrl+shift+m"), portable_text("Ctrl+K, Ctrl+C"), portable_text("no key")
    ('Ctrl+Shift+M', '', '')
    """
    sequence = QKeySequence(text)
    return sequence.toString(PORTABLE) if sequence.count() == 1 else ""


DEFAULTS: Keys = {row.key: portable_text(row.shortcut) for row in ROWS}


@final
@dataclass(frozen=True, slots=True)
class Clash:
    """Keys that two actions want: `winner` has them, `other` has `left`; "" means no keys."""

    keys: str
    winner: str
    other: str
    left: str


def resolve_keys(own: Keys) -> tuple[dict[str, str], tuple[Clash, ...]]:
    """Return the keys of all actions, and the clashes between them.

    The user's own keys win over usual ones, and the first of equal ones over later ones. The other
    action then has its usual keys, if they are free. Names of no action and keys that do not exist
    are ignored: a settings file may be of another version, or written by hand.
    """
    keys = {key: "" for key, text in own.items() if key in DEFAULTS and not text}
    replaced_keys: dict[str, str] = {}
    for key, text in own.items():
        key_text = portable_text(text)
        if key not in DEFAULTS or not key_text:
            continue
        if find_holder(keys, key_text, key):
            replaced_keys[key] = key_text
        else:
            keys[key] = key_text
    for key, usual in DEFAULTS.items():
        if key in keys:
            continue
        keys[key] = usual_if_free(keys, key)
        if keys[key] != usual:
            replaced_keys.setdefault(key, usual)
    clashes = [
        Clash(text, find_holder(keys, text, key), key, keys[key])
        for key, text in replaced_keys.items()
    ]
    return {key: keys[key] for key in DEFAULTS}, tuple(clashes)


def usual_if_free(keys: Keys, key: str) -> str:
    """Return the usual keys of an action, or none if another action has them."""
    return "" if find_holder(keys, DEFAULTS[key], key) else DEFAULTS[key]


def custom_keys(keys: Keys) -> dict[str, str]:
    """Return the keys that differ from the table, as settings store them."""
    return {key: text for key, text in keys.items() if text != DEFAULTS[key]}


def find_holder(keys: Keys, text: str, but: str) -> str:
    """Return another action with the same keys, or ""."""
    key_text = portable_text(text)
    return next(
        (key for key, one in keys.items() if key_text and one == key_text and key != but), ""
    )


def native_text(text: str) -> str:
    """Return keys as this system writes them."""
    return QKeySequence(text, PORTABLE).toString(QKeySequence.SequenceFormat.NativeText)
