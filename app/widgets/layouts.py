"""Layouts in the line that makes them, scrolled columns and stacked pages."""

from __future__ import annotations

from typing import TypeVar, final

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QGridLayout,
    QLayout,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

Layout = TypeVar("Layout", bound=QBoxLayout | QGridLayout)
Box = TypeVar("Box", bound=QBoxLayout)
Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int]
NONE = (0, 0, 0, 0)


def space(
    layout: Layout,
    margins: tuple[int, int, int, int] = NONE,
    spacing: int | tuple[int, int] | None = None,
) -> Layout:
    """Set margins (left, top, right, bottom) and spacing (of a grid: across, down) of a layout.

    Without a spacing the layout has that of the style. Return the layout.
    """
    layout.setContentsMargins(*margins)
    if isinstance(layout, QGridLayout) and isinstance(spacing, tuple):
        layout.setHorizontalSpacing(spacing[0])
        layout.setVerticalSpacing(spacing[1])
    elif isinstance(spacing, int):
        layout.setSpacing(spacing)
    return layout


def add_all(layout: Box, *parts: Part) -> Box:
    """Add parts to a row or column, and return it.

    A part is a widget or a layout, alone or with its share of the room that is left, or a number:
    empty room of such a share.
    """
    for part in parts:
        if isinstance(part, int):
            layout.addStretch(part)
            continue
        item, share = part if isinstance(part, tuple) else (part, 0)
        if isinstance(item, QLayout):
            layout.addLayout(item, share)
        else:
            layout.addWidget(item, share)
    return layout


@final
class ScrolledColumn(QScrollArea):
    """Area that scrolls vertically only, and is at least as wide as its content."""

    def __init__(self, content: QWidget, panel: QWidget) -> None:
        super().__init__(panel)
        self._content = content
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(content)

    def minimumSizeHint(self) -> QSize:
        bar = self.verticalScrollBar().sizeHint().width()
        width = self._content.minimumSizeHint().width() + bar
        return QSize(width, super().minimumSizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._content and event.type() is QEvent.Type.LayoutRequest:
            self.updateGeometry()  # QScrollArea does not follow its content
            # Before the content's own layout: Qt resizes it one turn of the event loop later, and
            # until then all rows are squeezed into the old height.
            super().event(event)
        return super().eventFilter(watched, event)


def fill_scrolled(panel: QWidget, content: QWidget) -> QScrollArea:
    """Let a panel show its content in a scroll area without a frame."""
    area = ScrolledColumn(content, panel)
    add_all(space(QVBoxLayout(panel)), area)
    return area


@final
class PageStack(QStackedWidget):
    """Shows the window's page, or the page that covers it, such as comparisons."""

    def __init__(self, page: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.addWidget(page)
        self._page = page
        self._over: QWidget | None = None

    def set_page(self, page: QWidget) -> None:
        """Go to a page; a covering page hides it."""
        self._page = page
        self._show(self._over or page)

    def set_over(self, page: QWidget | None) -> None:
        """Cover the page with another one, or with none."""
        self._over = page
        self._show(page or self._page)

    def _show(self, page: QWidget) -> None:
        if self.indexOf(page) < 0:
            self.addWidget(page)
        self.setCurrentWidget(page)


# Pixels beside the title in a title bar: icon, buttons and margins of common window managers.
AROUND_TITLE = 220


def widen_for_title(dialog: QWidget) -> None:
    """Give a dialog the least width at which its title bar shows the whole title."""
    title = f"{dialog.windowTitle()} - {QApplication.applicationDisplayName()}"
    dialog.setMinimumWidth(dialog.fontMetrics().horizontalAdvance(title) + AROUND_TITLE)
