"""How the window looks: palette, folded panels, lecture, coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox

from app import style
from app.actions import set_icons
from app.controllers.display import DisplayController
from app.main_window import MainWindow
from app.panels.coordinates import CoordinatesDialog
from app.state.intent import MARGIN_AXES
from core import __version__
from core.figures.palette import PALETTES, Palette

LECTURE_SCALE = 1.4
ABOUT = (
    "Marginscope {version}: watch shallow networks learn, against what theory promises.\n\n"
    "MIT licence. The papers behind a figure are named in its study."
)


@final
class Looks(QObject):
    """Changes nothing but the appearance, which applies to the whole application."""

    def __init__(self, window: MainWindow, display: DisplayController) -> None:
        super().__init__(window)
        self._window = window
        self._display = display
        self._actions: Mapping[str, QAction] = {}
        self._base_size = QApplication.font().pointSizeF()
        self._folded_before: tuple[bool, bool] | None = None

    @property
    def palette_now(self) -> Palette:
        """The palette in use."""
        return PALETTES[self._display.intent.palette]

    def icon(self, name: str) -> QIcon:
        """An icon in its colours."""
        return style.icon(name, self.palette_now)

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """The actions whose icons follow the palette and whose marks follow the panels."""
        self._actions = actions

    def apply(self) -> None:
        """Give everything the palette's colours."""
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        style.apply(application, self.palette_now)
        if self._actions:
            set_icons(self._actions, self.icon)
        self._window.set_colours(self.palette_now)

    def set_dark(self, dark: bool) -> None:
        """Dark or light."""
        self._display.ask(palette="dark" if dark else "light")
        self.apply()

    def set_form(self, shown: bool) -> None:
        """Show or fold away the settings."""
        self._window.form_area.setVisible(shown)

    def set_inspector(self, shown: bool) -> None:
        """Show or fold away the numbers."""
        self._window.inspector.setVisible(shown)

    def set_lecture(self, lecture: bool) -> None:
        """Only the views, in large type; afterwards everything is as before."""
        form, inspector = self._actions["form"], self._actions["inspector"]
        if lecture:
            self._folded_before = (form.isChecked(), inspector.isChecked())
            form.setChecked(False)
            inspector.setChecked(False)
        elif self._folded_before is not None:
            form.setChecked(self._folded_before[0])
            inspector.setChecked(self._folded_before[1])
        self._window.status_area.setVisible(not lecture)
        font = QApplication.font()
        font.setPointSizeF(self._base_size * (LECTURE_SCALE if lecture else 1.0))
        QApplication.setFont(font)
        self.apply()

    def choose_coordinates(self) -> None:
        """Let the user choose the two coordinates that the neurons are drawn on."""
        dialog = CoordinatesDialog(
            self._display.intent.coordinates, self._dimension(), self._window
        )
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self._display.ask(coordinates=dialog.chosen())
        dialog.deleteLater()

    def _dimension(self) -> int:
        sizes = [run.data.run.dataset.d for run in self._display.session if run.data is not None]
        return min(sizes, default=2)

    def choose_margin_axis(self, action: QAction) -> None:
        """Draw the margins against what an action of the menu stands for."""
        if action.data() in MARGIN_AXES:
            self._display.ask(margin_axis=action.data())

    def about(self) -> None:
        """Say what this is."""
        QMessageBox.about(self._window, "Marginscope", ABOUT.format(version=__version__))
