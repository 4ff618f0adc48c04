"""How the window looks: palette, folded panels, lecture, coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QMessageBox

from app import style
from app.actions import set_icons
from app.playback.display import DisplayController
from app.playback.inspector import definition
from app.shell.coordinates import CoordinatesDialog
from app.shell.main_window import OF_STUDY, MainWindow
from app.state.intent import MOST_CURVES, VIEW_OPTIONS
from app.widgets.plain_text import menu_text, plain_tip
from core import __version__
from core.figures.palette import PALETTES, Palette
from core.observables.planes import COORDINATES, NodePlane

LECTURE_SCALE = 1.4
FOLDED = ("form", "inspector", "library", "times")  # in a lecture
PIN_TWO = "Pin two nodes of a run, by a click on each: they span the plane."
FROM_LOOP = "From the &loop"
NO_RUN = "Run a study, or open a run, to choose its curves."
ABOUT = (
    "Marginscope {version}: watch shallow networks learn, against what theory promises.\n\n"
    "MIT licence. The papers behind a figure are named in its study."
)


@final
class Looks(QObject):
    """Changes nothing but the appearance, which applies to the whole application.

    recoloured(palette): for windows of their own.
    """

    recoloured = Signal(object)

    def __init__(self, window: MainWindow, display: DisplayController) -> None:
        super().__init__(window)
        self._window = window
        self._display = display
        self._actions: Mapping[str, QAction] = {}
        # Noted once: made larger and smaller in turn a size would drift by its rounding.
        self._base_size = QApplication.font().pointSizeF()
        self._library_before = False
        # One for all times: `clear` of a menu deletes its actions, and no menus within it.
        self._of_loop = QMenu(FROM_LOOP, window.curve_choice, toolTipsVisible=True)

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
            self._window.tools.set_extension_icon(self.icon("overflow"))
        self._window.set_colours(self.palette_now)
        self.recoloured.emit(self.palette_now)

    def set_dark(self, dark: bool) -> None:
        """Dark or light."""
        self._display.ask(palette="dark" if dark else "light")
        self.apply()

    def set_form(self, shown: bool) -> None:
        """Show or fold away the settings."""
        self._window.form.setVisible(shown)

    def set_inspector(self, shown: bool) -> None:
        """Show or fold away theory and numbers."""
        self._window.side.setVisible(shown)

    def set_times(self, shown: bool) -> None:
        """Show or fold away the theorem time line."""
        self._window.times.setVisible(shown)

    def set_lecture(self, lecture: bool) -> None:
        """Only the views, in large type; the panels come back by app.scenes.folding."""
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

    def choose_coordinates(self) -> None:
        """Let the user choose the two coordinates that the neurons are drawn on."""
        runs = [run.data.run for run in self._display.session if run.data is not None]
        dimension = min((run.dataset.d for run in runs), default=2)
        plane = self._display.intent.shown_plane
        present = plane if plane.kind == COORDINATES.kind else COORDINATES
        dialog = CoordinatesDialog(present.numbers, dimension, self._window)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self._display.ask(plane=NodePlane(COORDINATES.kind, dialog.chosen()))
            self._window.show_wishes(self._display.view.wishes)
        dialog.deleteLater()  # else the window, its parent, would keep it

    def choose(self, action: QAction) -> None:
        """Show what an entry of a menu of one choice stands for."""
        wish, value = action.data()
        if wish == "plane":
            self._choose_plane(value)
        else:
            self._display.ask(**{wish: value})
        # A plane that cannot be had is not the one that is marked.
        self._window.show_wishes(self._display.view.wishes)

    def _choose_plane(self, kind: str) -> None:
        numbers: tuple[int, ...] = COORDINATES.numbers if kind == COORDINATES.kind else ()
        if kind == "nodes":
            numbers = self._two_nodes()
            if not numbers:
                self._window.bar.say(PIN_TWO)
                return
        self._display.ask(plane=NodePlane(kind, numbers))

    def _two_nodes(self) -> tuple[int, ...]:
        """The two nodes that are pinned in the first run with two, and its frame; else none."""
        for run in self._display.view.runs:
            if len(run.pinned) == 2 and run.frame >= 0:
                return (*sorted(run.pinned), run.frame)
        return ()

    def set_option(self, on: bool) -> None:
        """Set the option of the action that was toggled."""
        key = self.sender().objectName()
        name = next(option.name for option in VIEW_OPTIONS.values() if option.action == key)
        self._display.ask(**{name: on})

    def choose_view(self, action: QAction) -> None:
        """Show or hide the view that an action of the menu stands for; one always stays."""
        before = self._display.view.wishes.views
        if action.data() == OF_STUDY:
            self._show(())
        elif action.isChecked():
            self._show((*before, action.data()))
        else:
            self._show(tuple(name for name in before if name != action.data()) or before)

    def _show(self, views: tuple[str, ...]) -> None:
        self._display.ask(views=views)
        self._window.show_views(self._display.view.wishes.views)

    def offer_curves(self) -> None:
        """Fill the menu of curves with the observables that any of the shown runs has."""
        menu = self._window.curve_choice
        menu.clear()
        chosen = self._display.intent.shown_curves
        observables = self.observables()
        if observables:
            menu.addAction("The &study's curves").setData(OF_STUDY)
            menu.addSeparator()
        self._of_loop.clear()
        group = menu
        for name, (title, explanation, of_loop) in observables.items():
            if of_loop and group is menu:
                menu.addSeparator()
                group = self._of_loop
                menu.addMenu(group)
            action = group.addAction(menu_text(title))
            action.setData(name)
            action.setToolTip(plain_tip(explanation or title))  # else Qt shows its text
            action.setCheckable(True)
            action.setChecked(name in chosen)
        if not observables:
            menu.addAction(NO_RUN).setEnabled(False)

    @property
    def any_run(self) -> bool:
        """Whether a run is shown whose observables are known."""
        return any(run.data is not None for run in self._display.session)

    def observables(self) -> dict[str, tuple[str, str, bool]]:
        """Title and explanation of the observables that any of the shown runs has, by name, and
        whether they are numbers that a recorded loop passed, which come last."""
        runs = [run.data.run for run in self._display.session if run.data is not None]
        if not runs:
            return {}
        from core.observables.registry import OBSERVABLES, scalars_of

        items = [item for run in runs for item in scalars_of(run)]
        items.sort(key=lambda item: item.name not in OBSERVABLES)
        return {item.name: (*definition(item), item.name not in OBSERVABLES) for item in items}

    def choose_curve(self, action: QAction) -> None:
        """Show or hide a curve, and with the first one the view of curves itself; or show those of
        the study."""
        if action.data() == OF_STUDY:
            self._display.ask(curves=None)
        elif action.isChecked():
            self.show_curve(action.data())
        else:
            self._display.ask(curves=self._curves_but(action.data()))

    def _curves_but(self, name: str) -> tuple[str, ...]:
        return tuple(one for one in self._display.intent.shown_curves if one != name)

    def show_curve(self, name: str) -> None:
        """Show a curve of an observable; the one chosen first makes room."""
        curves = (*self._curves_but(name), name)[-MOST_CURVES:]
        shown = self._display.view.wishes.views
        if "curves" not in shown:
            self._show((*shown, "curves"))
        self._display.ask(curves=curves)

    def about(self) -> None:
        """Say what this is."""
        QMessageBox.about(self._window, "Marginscope", ABOUT.format(version=__version__))
