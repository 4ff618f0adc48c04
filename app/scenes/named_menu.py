"""Menus of what the user has named, and changes of such names in the notes beside a run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal, final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.widgets.plain_text import menu_text
from core.library.entry import About, Bookmark
from core.observables.node_sets import NodeSet

Change = partial[About]  # of notes
Part = Literal["bookmarks", "sets"]


@final
class NamedMenu(QObject):
    """A menu of names, with a menu in it that removes them."""

    chosen = Signal(str)  # a name
    removal_requested = Signal(str)  # a name

    def __init__(self, menu: QMenu, removal: str) -> None:
        super().__init__(menu)
        self._menu, self._removals = menu, QMenu(removal, menu.parentWidget())
        menu.triggered.connect(self._on_triggered)

    def clear(self) -> None:
        self._menu.clear()
        self._removals.clear()

    def add(self, name: str, detail: str = "", removable: bool = True) -> QAction:
        """Add a name, with a detail at its right, and return its action."""
        text = menu_text(name)
        action = self._menu.addAction(f"{text}\t{detail}" if detail else text)
        action.setData(("show", name))
        if removable:
            self._removals.addAction(text).setData(("remove", name))
        return action

    def add_separator(self) -> None:
        self._menu.addSeparator()

    def finish(self, none: str = "", above: QAction | None = None) -> None:
        """Add `above` and the menu that removes names, or the sentence `none` if there are none."""
        if self._menu.isEmpty():
            self._menu.addAction(none).setEnabled(False)
            return
        self._menu.addSeparator()
        if above is not None:
            self._menu.addAction(above)
        self._menu.addMenu(self._removals).setEnabled(not self._removals.isEmpty())

    def _on_triggered(self, action: QAction) -> None:
        match action.data():
            case "show", str(name):
                self.chosen.emit(name)
            case "remove", str(name):
                self.removal_requested.emit(name)


def make_addition(part: Part, item: Bookmark | NodeSet) -> Change:
    """Return the change that adds an item to a part of the notes."""
    return partial(_with, part, item)


def make_removal(part: Part, name: str) -> Change:
    """Return the change that removes the items of a name from a part of the notes."""
    return partial(_without, part, name)


def _with(part: Part, item: Bookmark | NodeSet, about: About) -> About:
    changed: dict[str, Any] = {part: (*getattr(about, part), item)}
    return replace(about, **changed)


def _without(part: Part, name: str, about: About) -> About:
    kept = tuple(item for item in getattr(about, part) if item.name != name)
    changed: dict[str, Any] = {part: kept}
    return replace(about, **changed)
