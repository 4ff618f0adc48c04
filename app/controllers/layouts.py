"""The menu of layouts: those of the program, and the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.controllers.scenes import SceneController
from app.main_window import MainWindow
from app.panels.line_dialog import line_dialog
from app.state.layouts import LAYOUTS, Layout, checked_name, laid_out, layout_of
from app.widgets.plain_text import menu_text
from core.errors import InputError

SAVE, REMOVE = "&Save layout ...", "&Remove layout"


@final
class LayoutController(QObject):
    """`own`: the user's layouts by name. `message` carries a sentence, `status` what was done."""

    message = Signal(str)
    status = Signal(str)

    def __init__(
        self, window: MainWindow, scenes: SceneController, own: Mapping[str, Layout]
    ) -> None:
        super().__init__(window)
        self._window, self._scenes = window, scenes
        self.own: dict[str, Layout] = dict(own)
        self._removals = QMenu(REMOVE, window)
        window.layouts.triggered.connect(self._chosen)
        self._fill()

    def _fill(self) -> None:
        menu = self._window.layouts
        menu.clear()
        self._removals.clear()
        for name in (*LAYOUTS, "", *self.own):
            if not name:
                menu.addSeparator()
                continue
            menu.addAction(menu_text(name)).setData(("show", name))
        for name in self.own:
            self._removals.addAction(menu_text(name)).setData(("remove", name))
        menu.addSeparator()
        menu.addAction(SAVE).setData(("save", ""))
        menu.addMenu(self._removals)
        self._removals.setEnabled(bool(self.own))

    def _chosen(self, action: QAction) -> None:
        if action.data() is None:
            return
        deed, name = action.data()
        if deed == "show":
            self.show(name)
        elif deed == "save":
            self.ask()
        else:
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
