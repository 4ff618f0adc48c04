"""Appearance of the window: palette, theme of the system, and lecture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QIcon, QKeySequence
from PySide6.QtWidgets import QApplication, QMessageBox

from app import style
from app.actions import set_icons
from app.playback.display import DisplayController
from app.scenes.controller import SceneController
from app.shell.drawers import DrawerController
from app.shell.main_window import MainWindow
from app.shell.top_bar import ICONS
from core import __version__
from core.figures.palette import PALETTES, Palette

LECTURE_SCALE, LECTURE_LINES = 1.4, 1.6  # factors of the font size, and of lines and markers
LECTURE = "Lecture mode. Press {keys} to leave it."
ABOUT = (
    "Marginscope {version}: watch shallow networks learn and compare them with theory.\n\nMIT "
    "licence. Each study names the papers behind its figure."
)


def system_palette() -> str:
    """Return the palette that matches the system's colours; light if the system has none."""
    dark = QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark
    return "dark" if dark else "light"


@final
class AppearanceController(QObject):
    """Appearance of the window, and of the whole application.

    `follows_system` ends with any other choice of a palette, also one that undo or a link restores.
    """

    palette_changed = Signal(object)  # Palette

    def __init__(
        self,
        window: MainWindow,
        display: DisplayController,
        scenes: SceneController,
        drawers: DrawerController,
    ) -> None:
        super().__init__(window)
        self._window, self._display, self._scenes = window, display, scenes
        self._drawers = drawers
        self._actions: Mapping[str, QAction] = {}
        # Stored once: scaling the current size up and down would accumulate rounding errors.
        self._base_size = QApplication.font().pointSizeF()
        self._before_lecture = "", False  # open drawer, and True if the timeline was open
        self.follows_system = False
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_theme_changed)
        display.intent_changed.connect(self._on_intent_changed)

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Use the table's actions."""
        self._actions = actions

    # ------------------------------------------------------------------------------ palette

    @property
    def palette_now(self) -> Palette:
        """Palette in use."""
        return PALETTES[self._display.intent.palette]

    def icon(self, name: str) -> QIcon:
        """Return an icon in the colours of the palette."""
        return style.icon(name, self.palette_now)

    def apply(self) -> None:
        """Apply the palette's colours to everything."""
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        style.apply(application, self.palette_now)
        if self._actions:
            set_icons(self._actions, self.icon)
            self._window.top.set_icons({name: self.icon(one) for name, one in ICONS.items()})
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

    # ------------------------------------------------------------------------------ lecture

    def set_times(self, is_shown: bool) -> None:
        """Show or hide the theorem timeline."""
        self._window.times.setVisible(is_shown)

    def set_lecture(self, lecture: bool) -> None:
        """Show only plots and time slider in large type, or everything again."""
        window, times = self._window, self._actions["times"]
        if lecture:
            self._before_lecture = self._drawers.open, times.isChecked()
            self._drawers.show("")
            times.setChecked(False)
        for part in (window.menuBar(), window.top, window.rail):
            part.setVisible(not lecture)
        style.set_line_scale(LECTURE_LINES if lecture else 1.0)
        font = QApplication.font()
        font.setPointSizeF(self._base_size * (LECTURE_SCALE if lecture else 1.0))
        QApplication.setFont(font)
        self.apply()
        if lecture:
            keys = (
                self._actions["lecture"].shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            )
            self._window.bar.show_notice(LECTURE.format(keys=keys))
        else:
            self._window.bar.withdraw_notice()
            drawer, was_shown = self._before_lecture
            self._drawers.show(drawer)
            times.setChecked(was_shown)

    def about(self) -> None:
        """Show version and licence."""
        QMessageBox.about(self._window, "Marginscope", ABOUT.format(version=__version__))
