"""A tool bar that drops texts before buttons, and shows how to get at what does not fit."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QToolBar, QToolButton, QWidget

from app.qt_workarounds import extension_button

MORE = "More tools"
AIR = 8  # pixels between an icon and its text, with some to spare
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
        """A button whose icon may do."""
        self._texts.append(button)

    @property
    def extension(self) -> QToolButton | None:
        """The button that shows what does not fit."""
        return extension_button(self)

    def set_extension_icon(self, icon: QIcon) -> None:
        """Qt's own is dark on dark."""
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
    return button.fontMetrics().horizontalAdvance(button.text()) + AIR
