"""Drawers of the window: settings, theory, numbers, study and library, by the rail's actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from app.flag import Flag
from app.shell.main_window import MainWindow

DRAWERS = ("form", "inspector", "numbers", "result", "library")  # action keys


@final
class DrawerController(QObject):
    """Opens the drawer whose action is checked, and closes the one before.

    `automatic`: the program moves a drawer, which is no choice of the user.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._columns = window.columns
        self._actions: Mapping[str, QAction] = {}
        self.automatic = Flag()

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Use the actions of the drawers."""
        self._actions = {key: actions[key] for key in DRAWERS}
        self._actions["library"].toggled.connect(self.on_toggled)  # after the library is created

    @property
    def open(self) -> str:
        """Key of the open drawer, "" if all are closed."""
        return self._columns.open_drawer

    def show(self, key: str) -> None:
        """Open a drawer, or close it for ""."""
        if key:
            self._actions[key].setChecked(True)
        elif self.open:
            self._actions[self.open].setChecked(False)

    def show_form(self) -> None:
        """Open the settings if they need attention."""
        with self.automatic:
            self.show("form")

    def show_result(self) -> None:
        """Open the study's result, unless another drawer is open."""
        if not self.open:
            with self.automatic:
                self.show("result")

    def on_toggled(self, checked: bool) -> None:
        """Open or close the drawer of the action that was toggled."""
        key = self.sender().objectName()
        before = self.open
        if checked:
            self._columns.show_drawer(key)
            if before not in ("", key):
                self._actions[before].setChecked(False)
        elif key == before:
            self._columns.show_drawer("")
