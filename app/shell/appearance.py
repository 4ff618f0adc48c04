"""Appearance of the window: palette, theme of the system, panels that fold, and lecture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from app import style
from app.actions import set_icons
from app.flag import Flag
from app.playback.display import DisplayController
from app.scenes.controller import SceneController
from app.shell.main_window import MainWindow
from app.style import PANEL, panel_width
from core import __version__
from core.figures.palette import PALETTES, Palette

LECTURE_SCALE = 1.4
FOLDED = ("form", "inspector", "library", "times")  # in a lecture
# Pixels of the window's width below which a panel folds by itself, in type of the usual size.
FOLDS = {"inspector": 1100, "times": 1100, "form": 900}
Choice = tuple[str, bool]  # a panel, and whether the window is too small for it
ABOUT = (
    "Marginscope {version}: watch shallow networks learn, against what theory promises.\n\n"
    "MIT licence. The papers behind a figure are named in its study."
)


def system_palette() -> str:
    """Return the palette that matches the system's colours; light if the system has none."""
    dark = QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark
    return "dark" if dark else "light"


def fold_width(panel: str, wider: int = 0) -> int:
    """Return the least width of the window at which a panel is open by itself.

    Large type makes each panel so much wider; the views keep their width.

    >>> fold_width("form"), fold_width("form", 140), fold_width("inspector", 140)
    (900, 1040, 1380)
    """
    return FOLDS[panel] + (wider if panel == "form" else 2 * wider)


def is_open(panel: str, width: int, chosen: Mapping[Choice, bool], wider: int = 0) -> bool:
    """Return True if a panel is open at a width: as the user left it there, else if it has room.

    >>> is_open("form", 800, {}), is_open("form", 800, {("form", True): True})
    (False, True)
    """
    small = width < fold_width(panel, wider)
    return chosen.get((panel, small), not small)


@final
class AppearanceController(QObject):
    """Appearance of the window, and of the whole application.

    `follows_system` ends with any other choice of a palette, also one that undo or a link restores.
    `chosen` has the panels as the user left them, for windows with room and for small ones.
    """

    palette_changed = Signal(object)  # Palette

    def __init__(
        self, window: MainWindow, display: DisplayController, scenes: SceneController
    ) -> None:
        super().__init__(window)
        self._window, self._display, self._scenes = window, display, scenes
        self._actions: Mapping[str, QAction] = {}
        # Noted once: made larger and smaller in turn a size would drift by its rounding.
        self._base_size = QApplication.font().pointSizeF()
        self._library_before = False
        self.follows_system = False
        self.chosen: dict[Choice, bool] = {}
        self.auto_folding = Flag()  # while the program folds and opens panels
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_theme_changed)
        display.intent_changed.connect(self._on_intent_changed)

    def set_actions(self, actions: Mapping[str, QAction], chosen: Mapping[Choice, bool]) -> None:
        """Use the table's actions, and fold the panels as they were left."""
        self._actions = actions
        self.chosen = dict(chosen)
        self.fit_panels()
        # An action that keeps its mark emits nothing.
        self._window.form.setVisible(actions["form"].isChecked())
        self._window.side.setVisible(actions["inspector"].isChecked())
        self._window.times.setVisible(actions["times"].isChecked())
        self._window.resized.connect(self.fit_panels)

    # ------------------------------------------------------------------------------ palette

    @property
    def palette_now(self) -> Palette:
        """Palette in use."""
        return PALETTES[self._display.intent.palette]

    def icon(self, name: str) -> QIcon:
        """Return an icon in the colours of the palette."""
        return style.icon(name, self.palette_now)

    def apply(self) -> None:
        """Give everything the palette's colours."""
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        style.apply(application, self.palette_now)
        if self._actions:
            set_icons(self._actions, self.icon)
            self._window.tools.set_extension_icon(self.icon("overflow"))
        self._window.set_colours(self.palette_now)
        self.palette_changed.emit(self.palette_now)

    def set_dark(self, dark: bool) -> None:
        """Use the dark palette, or the light one."""
        self._display.update_intent(palette="dark" if dark else "light")
        self.apply()

    def set_follows_system(self, follows: bool) -> None:
        """Follow the theme of the system from now on, or no longer."""
        self.follows_system = follows
        self._follow_system()

    def _on_theme_changed(self) -> None:
        if self.follows_system:
            self._scenes.recolour(system_palette())
            self._follow_system()

    def _follow_system(self) -> None:
        palette = system_palette()
        if self.follows_system and self._display.intent.palette != palette:
            self._display.update_intent(palette=palette)
            self.apply()

    def _on_intent_changed(self) -> None:
        if self.follows_system and self._display.intent.palette != system_palette():
            self.follows_system = False
            if self._actions:
                self._actions["system"].setChecked(False)

    # ------------------------------------------------------------------------------- panels

    def set_form(self, shown: bool) -> None:
        """Show or fold the settings."""
        self._set_panel("form", self._window.form, shown)

    def set_inspector(self, shown: bool) -> None:
        """Show or fold theory and numbers."""
        self._set_panel("inspector", self._window.side, shown)

    def set_times(self, shown: bool) -> None:
        """Show or fold the theorem time line."""
        self._set_panel("times", self._window.times, shown)

    def _set_panel(self, name: str, panel: QWidget, shown: bool) -> None:
        panel.setVisible(shown)
        if not self.auto_folding and not self._actions["lecture"].isChecked():
            self.chosen[name, self.is_small(name)] = shown

    def fit_panels(self) -> None:
        """Fold and open the panels for the window's width; a lecture has none."""
        if self._actions["lecture"].isChecked():
            return
        with self.auto_folding:
            for panel in FOLDS:
                width = self._window.width()
                self._actions[panel].setChecked(is_open(panel, width, self.chosen, self._wider))

    def is_small(self, panel: str = "inspector") -> bool:
        """Return True if the window is too small for a panel to be open by itself."""
        return self._window.width() < fold_width(panel, self._wider)

    @property
    def _wider(self) -> int:
        return panel_width(self._window.font()) - PANEL

    def set_lecture(self, lecture: bool) -> None:
        """Show only the views, in large type, or the panels again."""
        library = self._actions["library"]
        if lecture:
            self._library_before = library.isChecked()
            for panel in FOLDED:
                self._actions[panel].setChecked(False)
        else:
            library.setChecked(self._library_before)
        self._window.status.setVisible(not lecture)
        font = QApplication.font()
        font.setPointSizeF(self._base_size * (LECTURE_SCALE if lecture else 1.0))
        QApplication.setFont(font)
        self.apply()
        self.fit_panels()

    def about(self) -> None:
        """Show version and licence."""
        QMessageBox.about(self._window, "Marginscope", ABOUT.format(version=__version__))
