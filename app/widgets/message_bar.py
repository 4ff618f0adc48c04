"""Thin bar with one sentence: an error or a notice.

It covers the top or the foot of another widget, so that nothing moves when it appears.
"""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from app.widgets.layouts import add_all, space

NOTICE_MS = 9000  # how long it says what was done


@final
class MessageBar(QWidget):
    """Thin bar with one sentence and a button that hides it.

    Escape hides it too, unless the focused widget uses Escape.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messageBar")
        # What it lies over must not be seen through it.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self._words = QLabel(self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._words.setObjectName("messageBarText")
        # A sentence may name a path or a value that somebody wants to copy.
        self._words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        close = QToolButton(self, autoRaise=True)
        close.setText("\u00d7")
        close.setProperty("inline", True)
        close.setToolTip("Hide this message")
        close.setAccessibleName("Hide this message")
        close.clicked.connect(self.clear)
        self._over: QWidget | None = None
        self._at_foot = False
        self._controls: QWidget | None = None
        self._instead: QWidget | None = None
        self._notice_timer = QTimer(self, singleShot=True, interval=NOTICE_MS)
        self._notice_timer.timeout.connect(self.clear)
        layout = add_all(space(QHBoxLayout(self), (16, 3, 8, 2), 8), (self._words, 1))
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    @property
    def text(self) -> str:
        """Sentence that is shown, or ""."""
        return self._words.text()

    def show_message(self, sentence: str) -> None:
        """Show a sentence until the next one; an empty sentence hides the bar."""
        self._notice_timer.stop()
        self._words.setText(sentence)
        self._settle()
        self.setVisible(bool(sentence))
        if sentence:
            self.raise_()
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def show_notice(self, sentence: str) -> None:
        """Show for a few seconds what was done."""
        self.show_message(sentence)
        self._notice_timer.start()

    def clear(self) -> None:
        self.show_message("")

    def float_over(self, widget: QWidget, at_foot: bool = False) -> None:
        """Cover the top of a widget, or its foot; its parent is that widget or an ancestor."""
        self._over, self._at_foot = widget, at_foot
        self.setProperty("foot", at_foot)
        widget.installEventFilter(self)

    def keep_off(self, controls: QWidget, instead: QWidget) -> None:
        """Cover the foot of `instead` if the sentence is so long that it would cover `controls`."""
        self._controls, self._instead = controls, instead
        instead.installEventFilter(self)

    def _settle(self) -> None:
        """Fit the bar to the covered widget's width and the sentence's height."""
        over, parent = self._over, self.parentWidget()
        if over is None or parent is None:
            return
        box = self._box_over(over, parent)
        controls, instead = self._controls, self._instead
        if controls is not None and instead is not None:
            foot = controls.mapTo(parent, QPoint(0, controls.height())).y()
            if box.top() < foot:
                box = self._box_over(instead, parent)
        self.setGeometry(box)

    def _box_over(self, widget: QWidget, parent: QWidget) -> QRect:
        """Return the bar's place over a widget, in coordinates of its parent."""
        width = widget.width()
        height = max(self.heightForWidth(width), self.minimumSizeHint().height())
        down = widget.height() - height if self._at_foot else 0
        return QRect(widget.mapTo(parent, QPoint(0, down)), QSize(width, height))

    def showEvent(self, event: QEvent) -> None:
        self.window().installEventFilter(self)

    def hideEvent(self, event: QEvent) -> None:
        self.window().removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched in (self._over, self._instead):
            if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
                self._settle()
            return False
        if not isinstance(event, QKeyEvent) or event.key() != Qt.Key.Key_Escape:
            return False
        if event.type() is QEvent.Type.ShortcutOverride:
            event.accept()  # no shortcut: the key comes here
        elif event.type() is QEvent.Type.KeyPress:
            self.clear()
        return True
