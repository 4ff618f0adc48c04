"""The window: where everything stands. It knows no rules; controllers do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QIcon,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QMainWindow,
    QMenu,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QToolBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.actions import SEPARATOR, TOOL_BAR, TOOL_BAR_RIGHT, WITH_TEXT, fill_menus
from app.playback.inspector import Inspector
from app.playback.status import StatusLine
from app.playback.transport import TransportBar
from app.qt_workarounds import ActionButtonSync, extension_button
from app.settings import MOST_RECENT
from app.shell.run_grid import RunGrid
from app.shell.welcome_page import WelcomePage
from app.study.chooser import StudyChooser
from app.style import panel_width
from app.theory.panel import TheoryPanel
from app.theory.theorem_times import TheoremTimes
from app.training.experiment_form import ExperimentForm
from app.widgets.keyboard import ButtonKeyActivation
from app.widgets.labels import menu_text, plain_label, plain_tip
from app.widgets.layouts import PageStack, add_all, space
from app.widgets.message_bar import MessageBar
from app.widgets.screen_room import resize_on_screen
from core.figures.palette import Palette

MORE = "More tools"
ICON_AIR = 8  # pixels between an icon and its text, with some to spare
BESIDE = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
ICON_ONLY = Qt.ToolButtonStyle.ToolButtonIconOnly


@final
class ToolBar(QToolBar):
    """Buttons with `drop_text` have their texts where there is room for all of them."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(title, parent, movable=False, iconSize=QSize(16, 16))
        self._texts: list[QToolButton] = []
        self._dropped = False

    def drop_text(self, button: QToolButton) -> None:
        """Show only the icon of a button where the bar is too narrow for the texts."""
        self._texts.append(button)

    @property
    def extension(self) -> QToolButton | None:
        """Button that shows the tools without room, if Qt has made it."""
        return extension_button(self)

    def set_extension_icon(self, icon: QIcon) -> None:
        """Replace Qt's icon of that button, which is dark on dark."""
        if self.extension is not None:
            self.extension.setIcon(icon)
            self.extension.setToolTip(MORE)
            self.extension.setAccessibleName(MORE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        """Drop the texts, or show them again."""
        wanted, dropped = self.sizeHint().width(), self._dropped
        if dropped:
            wanted += sum(map(_text_width, self._texts))
        drop = wanted > self.width()
        if drop != dropped:
            self._dropped = drop
            for button in self._texts:
                button.setToolButtonStyle(ICON_ONLY if drop else BESIDE)


def _text_width(button: QToolButton) -> int:
    return button.fontMetrics().horizontalAdvance(button.text()) + ICON_AIR


TABS = (
    ("Theory", "Reference margins, and what the theorems say of the run"),
    ("Numbers", "The node that is looked at, the scalars at the cursor, and the run's settings"),
)

LOADING = "Loading the numerical libraries ..."


@final
class MainWindow(QMainWindow):
    """Tool bar, form | views | theory and inspector, transport, theorem time line, status line,
    over which lies what there is to be said.

    painted: it can be seen for the first time. dropped(names, beside): files. closing: it was
    closed, which `may_close` decides.
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
        self._button_keys = ButtonKeyActivation(self)
        self._was_painted = False
        self._after_paint = QTimer(self, singleShot=True)
        self._after_paint.timeout.connect(self.painted)
        self.chooser = StudyChooser(self)
        self.bar = MessageBar(self)
        self.form = ExperimentForm(self)
        self.side = SidePanel(palette, self)
        self.inspector, self.theory = self.side.inspector, self.side.theory
        self.transport = TransportBar(palette, self)
        self.times = TheoremTimes(palette, self.transport.slider, self)
        self.status = StatusLine(self)
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
        self.view_choice = QMenu("&Views", self, toolTipsVisible=True)
        self.bookmarks = QMenu("&Go to a bookmark", self)
        self.layouts = QMenu("La&youts", self)
        self.selections = QMenu("Se&lections", self)
        self.neuron_choice = QMenu("&Neurons", self)
        self.curve_choice = QMenu("C&urves", self, toolTipsVisible=True)
        self.margin_choice = QMenu("Reference &margins", self, toolTipsVisible=True)
        self.setCentralWidget(self._arranged())

    def _arranged(self) -> QWidget:
        self.columns = QSplitter(Qt.Orientation.Horizontal, self, childrenCollapsible=False)
        for place, part in enumerate((self.form, self.pages, self.side)):
            self.columns.addWidget(part)
            self.columns.setStretchFactor(place, 1 if part is self.pages else 0)
        panel = panel_width(self.font())
        self.columns.setSizes([panel, max(self.width() - 2 * panel, 0), panel])
        whole = QWidget(self)
        column = space(QVBoxLayout(whole), spacing=0)
        add_all(column, (self.columns, 1), self.transport, self.times, self.status)
        self.bar.setParent(whole)
        self.bar.float_over(whole, at_foot=True)  # over the status: views and titles stay seen
        self.bar.keep_off(self.transport, self.pages)
        return whole

    def set_actions(self, actions: Mapping[str, QAction]) -> None:
        """Menus, tool bar and transport from the table's actions."""
        menus = fill_menus(self, actions)
        menus["&File"].insertMenu(actions["save_study"], self.recent)
        menus["&Play"].insertMenu(actions["slower"], self.bookmarks)
        menus["&Edit"].insertMenu(actions["selection_back"], self.selections)
        for menu in (
            self.view_choice,
            self.layouts,
            self.neuron_choice,
            self.curve_choice,
            self.margin_choice,
            self.margin_axes,
        ):
            menus["&View"].insertMenu(actions["coordinates"], menu)
        self.tools = bar = ToolBar("Tools", self)
        bar.setObjectName("tools")
        self.chooser.setMaximumWidth(400)
        bar.addWidget(self.chooser)
        self._fill(bar, actions, TOOL_BAR)
        stretch = QWidget(bar)
        stretch.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        bar.addWidget(stretch)
        layout = QToolButton(bar)
        layout.setText("Views")
        layout.setToolTip("Which views of a run are shown")
        layout.setMenu(self.view_choice)
        layout.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        bar.addWidget(layout)
        self._fill(bar, actions, TOOL_BAR_RIGHT)
        self.addToolBar(bar)
        self.transport.add_buttons(actions)
        self.welcome.set_actions(actions)

    def _fill(self, bar: ToolBar, actions: Mapping[str, QAction], keys: Sequence[str]) -> None:
        for key in keys:
            if key == SEPARATOR:
                bar.addSeparator()
                continue
            bar.addAction(actions[key])
            button = bar.widgetForAction(actions[key])
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # Qt gives those of tool bars none
            self._button_keys.add(button)
            self.form.comes_after(button)
            if not isinstance(button, QToolButton):
                continue
            ActionButtonSync(button)
            if key in WITH_TEXT:
                button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
                if key != "run":
                    bar.drop_text(button)

    def show_page(self, runs: bool) -> None:
        """Show the runs, or the page without any."""
        self.pages.set_page(self.views if runs else self.welcome)

    def set_recent(self, paths: Sequence[str]) -> None:
        """Set the files that were opened last."""
        self._opened = paths
        self._fill_recent()
        self.welcome.set_recent(paths)

    def set_recorded(self, runs: Sequence[tuple[str, str]]) -> None:
        """Set the runs recorded last, (path, name), which fill up a short menu of recent files."""
        self._recorded = runs
        self._fill_recent()

    def _fill_recent(self) -> None:
        known = dict(self._recorded)
        files = [(path, known.get(path) or Path(path).name) for path in self._opened]
        files += [one for one in self._recorded if one[0] not in self._opened]
        self.recent.clear()
        for path, name in files[:MOST_RECENT]:
            action = self.recent.addAction(menu_text(name))
            action.setData(path)
            action.setToolTip(plain_tip(path))
        self.recent.setEnabled(bool(files))

    def set_colours(self, palette: Palette) -> None:
        """Another palette for the parts that paint themselves."""
        self.transport.set_colours(palette)
        self.times.set_colours(palette)
        self.side.set_colours(palette)

    # ------------------------------------------------------------------------------- events

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            # Not from here: what follows takes long, and the picture is shown when this returns.
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
            beside = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            event.acceptProposedAction()
            self.dropped.emit(names, beside)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.may_close = True
        self.closing.emit()
        # Answered by now: a signal within a thread calls its slots before it returns.
        event.setAccepted(self.may_close)


@final
class SidePanel(QWidget):
    """Side panel at the right: theory or the inspector, by tabs that the arrow keys reach."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tabs = QTabBar(self)
        self.tabs.setObjectName("side")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus where it is
        for place, (text, tip) in enumerate(TABS):
            self.tabs.addTab(text)
            self.tabs.setTabToolTip(place, plain_tip(tip))
        self.theory = TheoryPanel(palette, self)
        self.inspector = Inspector(self)
        self.pages = QStackedWidget(self)
        for page in (self.theory, self.inspector):
            self.pages.addWidget(page)
        self.tabs.currentChanged.connect(self.pages.setCurrentIndex)
        add_all(space(QVBoxLayout(self), spacing=0), self.tabs, (self.pages, 1))

    def sizeHint(self) -> QSize:
        return QSize(panel_width(self.font()), 640)

    def set_colours(self, palette: Palette) -> None:
        self.theory.set_colours(palette)
