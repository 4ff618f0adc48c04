"""A column that is higher than its panel, to be scrolled."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.widgets.layouts import add_all, space


@final
class Column(QScrollArea):
    """Scrolled up and down alone, and so never narrower than what it holds, in any size of type."""

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
            self.updateGeometry()  # Qt's own keeps to a size of its own
        return super().eventFilter(watched, event)


def fill_scrolled(panel: QWidget, content: QWidget) -> QScrollArea:
    """Let a panel show its content, as wide as the panel, in a scroll area without a frame."""
    area = Column(content, panel)
    add_all(space(QVBoxLayout(panel)), area)
    return area
