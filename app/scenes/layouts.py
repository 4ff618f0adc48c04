"""The menu of layouts: those of the program, and the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.scenes.controller import SceneController
from app.scenes.named_menu import NamedMenu
from app.state.layouts import LAYOUTS, Layout, checked_name, laid_out, layout_of
from app.widgets.line_dialog import line_dialog
from core.errors import InputError

SAVE, REMOVE = "&Save layout ...", "&Remove layout"


@final
class LayoutController(QObject):
    """`own`: the user's layouts by name. `message` carries a sentence, `status` what was done."""

    message = Signal(str)
    status = Signal(str)

    def __init__(
        self, window: QWidget, menu: QMenu, scenes: SceneController, own: Mapping[str, Layout]
    ) -> None:
        super().__init__(window)
        self._window, self._scenes = window, scenes
        self.own: dict[str, Layout] = dict(own)
        self._save = QAction(SAVE, self)
        self._save.setData("save")  # listed in the command palette
        self._save.triggered.connect(self.ask)
        self._menu = NamedMenu(menu, REMOVE)
        self._menu.chosen.connect(self.show)
        self._menu.removal_requested.connect(self.remove)
        self._fill()

    def _fill(self) -> None:
        self._menu.clear()
        for name in LAYOUTS:
            self._menu.add(name, removable=False)
        self._menu.add_separator()
        for name in self.own:
            self._menu.add(name)
        self._menu.finish(above=self._save)

    def remove(self, name: str) -> None:
        """Forget a layout of the user's own."""
        del self.own[name]
        self._fill()
        self.status.emit(f"The layout {name} is removed.")

    def show(self, name: str) -> None:
        """Show what is open in a layout."""
        layout = LAYOUTS.get(name) or self.own[name]
        try:
            scene = laid_out(self._scenes.scene, layout)
        except InputError as error:
            self.message.emit(error.sentence)
            return
        self._scenes.restore(scene, f"Layout {name}")

    def ask(self) -> None:
        """Ask for the name under which the present layout is kept."""
        label = "A name for the views and panels as they are now"
        dialog = line_dialog(self._window, "layout", "Save layout", label)
        dialog.textValueSelected.connect(self.keep)
        dialog.open()

    def keep(self, name: str) -> None:
        """Keep the present layout under a name."""
        try:
            name = checked_name(name, self.own)
        except InputError as error:
            self.message.emit(error.sentence)
            return
        self.own[name] = layout_of(self._scenes.picture())
        self._fill()
        self.status.emit(f"The layout {name} is in the menu View, Layouts.")
