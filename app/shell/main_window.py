"""Main window: the arrangement of its parts. Controllers decide their content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QMenu, QVBoxLayout, QWidget

from app.actions import RAIL, fill_menus
from app.playback.inspector import Inspector
from app.playback.status import StatusLine
from app.playback.transport import TransportBar
from app.settings import MOST_RECENT
from app.shell.run_grid import RunGrid
from app.shell.top_bar import TopBar
from app.shell.welcome_page import WelcomePage
from app.state.headings import file_words
from app.stories.caption import StoryCaption
from app.study.result_drawer import WIDTH, ResultDrawer
from app.style import panel_width
from app.theory.panel import TheoryPanel
from app.theory.theorem_times import TheoremTimes
from app.training.experiment_form import ExperimentForm
from app.widgets.drawers import DrawerSplitter, Rail
from app.widgets.keyboard import order_before
from app.widgets.labels import menu_text, plain_label, plain_tip
from app.widgets.layouts import PageStack, add_all, space
from app.widgets.menus import TickMenu
from app.widgets.message_bar import MessageBar
from app.widgets.screen_room import resize_on_screen
from core.figures.palette import Palette

LOADING = "Loading the numerical libraries ..."


@final
class MainWindow(QMainWindow):
    """Top bar, rail with drawers, plots, theorem timeline, and transport with the status.

    painted: the window is visible for the first time. dropped(names, add): files. closing: the
    user closes it; `may_close` decides.
    """

    painted = Signal()
    dropped = Signal(list, bool)
    closing = Signal()
    resized = Signal()

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.setWindowTitle("Marginscope")
        self.setAcceptDrops(True)
        resize_on_screen(self, QSize(1280, 800))
        self.may_close = True
        self._was_painted = False
        self._after_paint = QTimer(self, singleShot=True)
        self._after_paint.timeout.connect(self.painted)
        self.top = TopBar(self)
        self.chooser, self.chips = self.top.chooser, self.top.chips
        self.rail = Rail(self)
        self.form = ExperimentForm(self)
        self.theory = TheoryPanel(palette, self)
        self.inspector = Inspector(self)
        self.result = ResultDrawer(palette, self)
        self.status = StatusLine(self)
        self.transport = TransportBar(palette, self.status, self)
        self.times = TheoremTimes(palette, self.transport.slider, self)
        self.caption = StoryCaption(self)
        self.bar = MessageBar(self)
        self.welcome = WelcomePage(self)
        self.loading = plain_label(LOADING, self)
        self.loading.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.views = RunGrid(self)
        self.pages = PageStack(self.loading, self)
        for page in (self.welcome, self.views):
            self.pages.addWidget(page)
        self.recent = QMenu("Open &recent", self, toolTipsVisible=True)
        self._opened: Sequence[str] = ()
        self._recorded: Sequence[tuple[str, str]] = ()
        self.margin_axes = QMenu("Curves a&gainst", self)
        self.view_choice = TickMenu("&Views", self, toolTipsVisible=True)
        self.bookmarks = QMenu("&Go to bookmark", self)
        self.notes = QMenu("Notes of t&he run", self, toolTipsVisible=True)
        self.stories = QMenu("Stories of st&udies", self)
        self.layouts = QMenu("La&youts", self)
        self.selections = QMenu("Se&lections", self)
        self.neuron_choice = QMenu("Neu&rons", self)
        self.margin_choice = TickMenu("Reference &margins", self, toolTipsVisible=True)
        self.setCentralWidget(self._arrange())

    def _arrange(self) -> QWidget:
        self.columns = DrawerSplitter(self.pages, panel_width(self.font()), self)
        drawers = (("form", self.form), ("inspector", self.theory), ("numbers", self.inspector))
        for key, page in drawers:
            self.columns.add(key, page)
        self.columns.add("result", self.result, WIDTH)
        self.times.hide()
        body = QWidget(self)
        content = space(QVBoxLayout(), spacing=0)
        add_all(content, (self.columns, 1), self.caption, self.times, self.transport)
        row = add_all(space(QHBoxLayout(), spacing=0), self.rail, (content, 1))
        add_all(space(QVBoxLayout(body), spacing=0), self.top, (row, 1))
        self.bar.setParent(body)
        self.bar.float_in_corner(self.pages)
        return body

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Fill menus, top bar, rail and transport with the table's actions."""
        menus = fill_menus(self, actions)
        menus["&File"].insertMenu(actions["save_study"], self.recent)
        menus["&Play"].insertMenu(actions["story"], self.bookmarks)
        menus["&Play"].insertMenu(actions["story"], self.notes)
        menus["&Play"].insertMenu(actions["slower"], self.stories)
        menus["&Edit"].insertMenu(actions["selection_back"], self.selections)
        for menu in (
            self.view_choice,
            self.layouts,
            self.neuron_choice,
            self.margin_choice,
            self.margin_axes,
        ):
            menus["&View"].insertMenu(actions["coordinates"], menu)
        self.top.set_actions(actions, self.view_choice)
        for key in RAIL:
            self.rail.add(actions[key])
        stops = [self.chooser.box, self.chips, *self.top.buttons, *self.rail.buttons.values()]
        order_before(stops, self.form)
        self.form.set_tab_predecessor(stops[-1])
        self.transport.add_buttons(actions)
        self.welcome.set_actions(actions)

    def show_page(self, runs: bool) -> None:
        """Show the runs, or the page for no runs."""
        self.pages.set_page(self.views if runs else self.welcome)

    def set_recent(self, paths: Sequence[str]) -> None:
        """Set the files that were opened last."""
        self._opened = paths
        self._fill_recent()
        self.welcome.set_recent(paths)

    def set_recorded(self, runs: Sequence[tuple[str, str]]) -> None:
        """Set the runs recorded last, (path, name), which complete a short recent menu."""
        self._recorded = runs
        self._fill_recent()

    def _fill_recent(self) -> None:
        recorded = dict(self._recorded)
        files = [(path, recorded.get(path) or _name_of(Path(path))) for path in self._opened]
        files += [one for one in self._recorded if one[0] not in self._opened]
        self.recent.clear()
        for path, name in files[:MOST_RECENT]:
            action = self.recent.addAction(menu_text(name))
            action.setData(path)
            action.setToolTip(plain_tip(path))
        self.recent.setEnabled(bool(files))

    def set_colours(self, palette: Palette) -> None:
        """Set the palette of the parts that paint themselves."""
        self.transport.set_colours(palette)
        self.times.set_colours(palette)
        self.theory.set_colours(palette)

    # ------------------------------------------------------------------------------- events

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            # Deferred: the work takes long, and the window appears only once this method returns.
            self._after_paint.start(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        names = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if names:
            add = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            event.acceptProposedAction()
            self.dropped.emit(names, add)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.may_close = True
        self.closing.emit()
        # The slots have set `may_close` by now: within one thread a signal calls them directly.
        event.setAccepted(self.may_close)


def _name_of(path: Path) -> str:
    """Return the words for a run file, the name of any other."""
    words = file_words(path)
    return path.name if words == path.stem else words
