"""Drawers at the left of the plots, one at a time, and the rail of buttons that opens them."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QSplitter, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from app.qt_workarounds import ActionButtonSync
from app.style import small
from app.widgets.keyboard import ButtonKeyActivation
from app.widgets.layouts import add_all, space

ICON = QSize(20, 20)
LEAST_PAGE = 320  # pixels kept for the plots beside a drawer


@final
class Rail(QWidget):
    """Narrow column of buttons with an icon above a word."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Panels")
        self.buttons: dict[str, QToolButton] = {}
        self._keys = ButtonKeyActivation(self)
        self._column = add_all(space(QVBoxLayout(self), (2, 6, 2, 6), 2), 1)

    def add(self, action: QAction) -> None:
        """Add the button of an action below the others."""
        button = QToolButton(self, autoRaise=True)
        button.setIconSize(ICON)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setDefaultAction(action)
        button.setAccessibleName(action.iconText())
        ActionButtonSync(button)
        self._keys.add(button)
        self._column.insertWidget(len(self.buttons), button)
        self.buttons[action.objectName()] = button
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        """Make all buttons as wide as the longest word."""
        font = small(small(self.font()))
        for button in self.buttons.values():
            if button.font() != font:
                button.setFont(font)
        width = max((button.sizeHint().width() for button in self.buttons.values()), default=0)
        for button in self.buttons.values():
            button.setFixedWidth(width)


@final
class _Pages(QStackedWidget):
    """Drawers, of which hidden ones take no room: they change while another one is open."""

    def minimumSizeHint(self) -> QSize:
        page = self.currentWidget()
        return super().minimumSizeHint() if page is None else page.minimumSizeHint()

    def sizeHint(self) -> QSize:
        page = self.currentWidget()
        return super().sizeHint() if page is None else page.sizeHint()


@final
class DrawerSplitter(QSplitter):
    """Drawers at the left of the plots, at most one open, each with its own width."""

    def __init__(self, plots: QWidget, width: int, parent: QWidget | None = None) -> None:
        """Drawers are `width` pixels wide until the user resizes them."""
        super().__init__(Qt.Orientation.Horizontal, parent, childrenCollapsible=False)
        self._usual = width
        self.widths: dict[str, int] = {}  # set by the user
        self._pages: dict[str, tuple[QWidget, int]] = {}
        self.open_drawer = ""
        self._stack = _Pages(self)
        self._stack.hide()
        plots.setMinimumWidth(LEAST_PAGE)
        for place, part in enumerate((self._stack, plots)):
            self.addWidget(part)
            self.setStretchFactor(place, place)
        self.splitterMoved.connect(self._on_moved)

    def add(self, key: str, page: QWidget, width: int = 0) -> None:
        """Add a closed drawer, with its own default width if needed."""
        self._pages[key] = page, width or self._usual
        self._stack.addWidget(page)

    def show_drawer(self, key: str) -> None:
        """Open a drawer in place of another; "" closes it."""
        self.open_drawer = key
        self._stack.setVisible(key in self._pages)
        if key in self._pages:
            page, usual = self._pages[key]
            self._stack.setCurrentWidget(page)
            width = self.widths.get(key, usual)
            self.setSizes([width, max(self.width() - width, LEAST_PAGE)])

    def _on_moved(self) -> None:
        self.widths[self.open_drawer] = self._stack.width()
