"""Choice among a few words, all visible as buttons side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QToolButton, QWidget

from app.widgets.inputs import line_height
from app.widgets.labels import menu_text, plain_tip
from app.widgets.layouts import space


@final
class SegmentedChoice(QWidget):
    """Row of buttons, one of them pressed; arrow keys move to the next."""

    chosen = Signal(str)
    """Key of the button that the user pressed."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self._row = space(QHBoxLayout(self), spacing=0)
        self._group = QButtonGroup(self, exclusive=True)
        self._group.buttonClicked.connect(self._on_clicked)
        self.buttons: dict[str, QToolButton] = {}

    def offer(self, texts: Mapping[str, str], tips: Mapping[str, str]) -> None:
        """Offer words by key, with their tool tips."""
        if list(texts) == list(self.buttons):
            return
        for button in self.buttons.values():
            self._group.removeButton(button)
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = {key: self._button(key, text, tips[key]) for key, text in texts.items()}

    def _button(self, key: str, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setCheckable(True)
        button.setText(menu_text(text))
        button.setToolTip(plain_tip(tip))
        button.setAccessibleName(tip)
        button.setProperty("key", key)
        button.setProperty("inline", True)  # the letters use the whole height
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setFixedHeight(line_height(self))
        button.installEventFilter(self)
        self._group.addButton(button)
        self._row.addWidget(button)
        return button

    @property
    def key(self) -> str:
        """Key of the pressed button; "" if none is."""
        button = self._group.checkedButton()
        return "" if button is None else str(button.property("key"))

    def set_key(self, key: str) -> None:
        """Press the button of a key."""
        if key in self.buttons:
            self.buttons[key].setChecked(True)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Otherwise the window's shortcuts would take the arrows to step through the frames.
        if event.type() == QEvent.Type.ShortcutOverride and _is_arrow(event):
            event.accept()
            return True
        return super().eventFilter(watched, event)

    def _on_clicked(self) -> None:
        self.chosen.emit(self.key)


def _is_arrow(event: QEvent) -> bool:
    return isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right)
