"""Folds the panels at the sides where the window is small, unless they were opened by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from app.flag import Flag
from app.style import PANEL, panel_width

# Pixels of the window's width below which a panel folds by itself, in type of the usual size.
FOLDS = {"inspector": 1100, "times": 1100, "form": 900}
Choice = tuple[str, bool]  # a panel, and whether the window is too small for it


def fold_width(panel: str, wider: int = 0) -> int:
    """The least width of the window at which a panel is open by itself, where large type makes each
    panel so much wider: the views are to keep what they have.

    >>> fold_width("form"), fold_width("form", 140), fold_width("inspector", 140)
    (900, 1040, 1380)
    """
    return FOLDS[panel] + (wider if panel == "form" else 2 * wider)


def is_open(panel: str, width: int, chosen: Mapping[Choice, bool], wider: int = 0) -> bool:
    """Whether a panel is open at a width of the window: as it was left by hand at such a width,
    else where there is room.

    >>> is_open("form", 800, {}), is_open("form", 800, {("form", True): True})
    (False, True)
    """
    small = width < fold_width(panel, wider)
    return chosen.get((panel, small), not small)


@final
class Folding(QObject):
    """Remembers what was chosen by hand apart for windows with room and for small ones."""

    def __init__(
        self, window: QWidget, actions: Mapping[str, QAction], chosen: Mapping[Choice, bool]
    ) -> None:
        super().__init__(window)
        self._window, self._actions = window, actions
        self.chosen = dict(chosen)
        self.fitting = Flag()  # while it moves panels itself
        for panel in FOLDS:
            actions[panel].toggled.connect(self._note)
        actions["lecture"].toggled.connect(self.fit)
        self.fit()

    def fit(self) -> None:
        """Fold and open the panels for the window's width; a lecture has none."""
        if self._actions["lecture"].isChecked():
            return
        with self.fitting:
            for panel in FOLDS:
                width = self._window.width()
                self._actions[panel].setChecked(is_open(panel, width, self.chosen, self._wider))

    def is_small(self, panel: str = "inspector") -> bool:
        """Whether the window is too small for a panel to be open by itself."""
        return self._window.width() < fold_width(panel, self._wider)

    @property
    def _wider(self) -> int:
        return panel_width(self._window.font()) - PANEL

    def _note(self, shown: bool) -> None:
        """A panel was opened or folded: by hand, unless it was here or by a lecture."""
        panel = self.sender().objectName()
        if not self.fitting and not self._actions["lecture"].isChecked():
            self.chosen[panel, self.is_small(panel)] = shown
