"""Menu of a plot, filling the window with it, and the order of views."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QAction, QCursor, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from app.export.controller import ExportController
from app.library.compare import CompareController
from app.playback.display import DisplayController
from app.shell.curve_choice import CurveChoiceController
from app.shell.help import HelpController
from app.shell.main_window import MainWindow

if TYPE_CHECKING:  # loads pyqtgraph, which must not delay the window
    from app.views.compare import CompareView
    from app.views.run_panel import RunPanel
    from app.views.view import Numbers, RunView
    from core.library.entry import MomentNote

WITH_CURVES = ("margins", "curves", "spectrum")  # views with notes at points
PICTURE_SCALE = 3.0  # pixels of a copied picture per pixel of the screen
PICTURE_COPIED = "Picture copied."
NUMBERS_COPIED = "Numbers copied."


@final
class ViewMenuController(QObject):
    """Menus of plots and headers, and the effects of clicks and drags of a header."""

    status = Signal(str)
    """Sentence about a copy."""
    note_requested = Signal(object)
    """`MomentNote` without text at a point of a curve of the current run."""

    def __init__(
        self,
        window: MainWindow,
        display: DisplayController,
        export: ExportController,
        help_controller: HelpController,
        curves: CurveChoiceController,
        compare: CompareController,
    ) -> None:
        super().__init__(window)
        self._window, self._display, self._compare = window, display, compare
        compare.page_created.connect(self._on_page_created)
        self._export, self._help, self._curves = export, help_controller, curves
        self._choices = {
            "curves": (window.margin_axes,),
            "margins": (window.margin_choice, window.margin_axes),
            "neurons": (window.neuron_choice,),
        }

    def add(self, panel: RunPanel) -> None:
        """Connect the views of a panel."""
        panel.menu_requested.connect(self._on_menu_requested)
        panel.fill_requested.connect(self.toggle_fill)
        panel.view_moved.connect(self._on_view_moved)

    def fill_pointed(self) -> None:
        """Fill the window with the plot at the pointer, else the first, or show all again."""
        wishes, page = self._display.view.wishes, self._compare.page
        if wishes.compared is not None and page is not None:
            name = page.grid.plot_at(QCursor.pos()) or wishes.plots[0]
        else:
            places = (panel.view_at(QCursor.pos()) for panel in self._display.panels)
            name = next(filter(None, places), wishes.plots[0])
        self.toggle_fill(name)

    def toggle_fill(self, name: str) -> None:
        """Fill the window with a view or a comparison; show all if one fills it."""
        wishes = self._display.view.wishes
        if len(wishes.plots) > 1:
            self._display.update_intent(filled="" if wishes.filled else name)

    def _on_view_moved(self, name: str, target: str) -> None:
        views = list(self._display.view.wishes.views)
        place = views.index(target)
        views.remove(name)
        views.insert(place, name)
        self._display.update_intent(views=tuple(views))

    def _on_menu_requested(self, name: str, place: QPoint) -> None:
        panel = next((one for one in self._display.panels if one is self.sender()), None)
        if panel is not None:
            menu = ViewMenu(panel.view(name), name, self._window)
            menu.key = panel.run.key if panel.run is not None else -1
            menu.draft = panel.view(name).draft_note(place)
            self._open(menu, place)

    def _on_page_created(self) -> None:
        """Connect the plots of a comparison."""
        page = self._compare.page
        assert page is not None
        page.grid.menu_requested.connect(self._on_comparison_menu_requested)
        page.grid.fill_requested.connect(self.toggle_fill)
        page.picker_requested.connect(self._curves.show_picker_at)

    def _on_comparison_menu_requested(self, name: str, place: QPoint) -> None:
        page = self._compare.page
        assert page is not None
        self._open(ViewMenu(page.grid.plots[name], name, self._window), place)

    def _open(self, menu: ViewMenu, place: QPoint) -> None:
        menu.aboutToHide.connect(menu.deleteLater)  # after the chosen action, which runs at once
        self._fill(menu)
        menu.popup(place)

    def _fill(self, menu: ViewMenu) -> None:
        wishes = self._display.view.wishes
        several, compared = len(wishes.plots) > 1, wishes.compared is not None
        subject = "plot" if compared else "view"
        text = f"Show &all {subject}s" if wishes.filled else f"&Only this {subject}"
        menu.add(text, self._on_fill).setEnabled(several)
        menu.add(f"&Export this {subject} ...", self._on_export)
        menu.add("Copy &picture", self._on_copy_picture)
        menu.add("Copy &numbers", self._on_copy_numbers).setEnabled(bool(menu.view.numbers()))
        if not compared and menu.name in WITH_CURVES:
            menu.add("Add no&te here ...", self._on_note).setEnabled(menu.draft is not None)
        menu.addSeparator()
        if compared:
            menu.add("&Choose observables ...", self._on_choose_curves)
        if menu.name == "curves":
            menu.add("Choose &curves ...", self._on_choose_curves)
            log = menu.add("&Logarithmic axis", self._on_log)
            log.setCheckable(True)
            log.setChecked(wishes.log_curves)
        for choice in self._choices.get(menu.name, ()):
            menu.addMenu(choice)
        menu.addSeparator()
        menu.add(f"&Hide this {subject}", self._on_hide).setEnabled(several)
        menu.add("&What is this?", self._on_explain)

    def _menu(self) -> ViewMenu:
        """Return the menu of the entry whose signal is being handled."""
        menu = self.sender().parent()
        assert isinstance(menu, ViewMenu)
        return menu

    def _on_fill(self) -> None:
        self.toggle_fill(self._menu().name)

    def _on_export(self) -> None:
        self._export.figure_of(self._menu().name)

    def _on_note(self) -> None:
        menu = self._menu()
        self._display.set_current(menu.key)
        self.note_requested.emit(menu.draft)

    def _on_copy_picture(self) -> None:
        picture = self._menu().view.render_picture(PICTURE_SCALE)
        QGuiApplication.clipboard().setPixmap(picture)
        self.status.emit(PICTURE_COPIED)

    def _on_copy_numbers(self) -> None:
        numbers = self._menu().view.numbers()
        if numbers:  # otherwise the run was closed while the menu was open
            QGuiApplication.clipboard().setText(numbers_text(numbers))
            self.status.emit(NUMBERS_COPIED)

    def _on_choose_curves(self) -> None:
        self._curves.show_picker_at(self._menu().pos())

    def _on_log(self, log: bool) -> None:
        self._display.update_intent(log_curves=log)

    def _on_hide(self) -> None:
        view_name, wishes = self._menu().name, self._display.view.wishes
        plots = tuple(name for name in wishes.plots if name != view_name)
        if wishes.compared is not None:
            self._compare.set_observables(plots)
        else:
            self._display.update_intent(views=plots, filled="")

    def _on_explain(self) -> None:
        self._help.explain(self._menu().view.help_topics())


@final
class ViewMenu(QMenu):
    """Menu of a view, which is deleted when it is hidden."""

    def __init__(self, view: RunView | CompareView, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.view, self.name = view, name
        self.key = -1  # of the run
        self.draft: MomentNote | None = None  # note at the point of a curve near the pointer

    def add(self, text: str, slot: Callable[..., None]) -> QAction:
        """Add an entry, and call `slot` when it is chosen."""
        action = self.addAction(text)
        action.triggered.connect(slot)
        return action


def numbers_text(numbers: Numbers) -> str:
    r"""Return columns as text with tabs; a missing number is empty.

    >>> import numpy as np
    >>> numbers_text([("t", np.array([0.5, 1])), ("hard", np.array([np.nan, 2e-7]))])
    't\thard\n0.5\t\n1\t2e-07\n'
    """
    rows = zip(*(values.tolist() for _, values in numbers), strict=True)
    lines = ["\t".join(name for name, _ in numbers)]
    lines += ["\t".join("" if math.isnan(x) else f"{x:.10g}" for x in row) for row in rows]
    return "\n".join(lines) + "\n"
