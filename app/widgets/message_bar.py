"""Bar with one sentence, an error or a notice, and buttons for next steps.

It covers the lower right corner of another widget, so that nothing moves when it appears.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAction, QKeyEvent, QPalette
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QToolButton, QWidget

from app.widgets.layouts import add_all, space

MOST_RECENT = 20
NOTICE_MS = 9000  # ms for which a confirmation is shown
APART = 12  # pixels from the corner
LEAST, WIDEST = 200, 32  # of its width in a corner: pixels, line heights
AROUND = 44  # pixels around the words and the button


@final
class MessageBar(QWidget):
    """Thin bar with one sentence and a button that hides it.

    Escape hides an error too, unless the focused widget uses Escape.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messageBar")
        # Opaque, since it covers other widgets.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self._words = QLabel(self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._words.setObjectName("messageBarText")
        # Selectable, so that a path or a value can be copied.
        self._words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._close = close = QToolButton(self, autoRaise=True)
        close.setText("\u00d7")
        close.setProperty("inline", True)
        close.setToolTip("Hide this message")
        close.setAccessibleName("Hide this message")
        close.clicked.connect(self.clear)
        self._over: QWidget | None = None
        self._is_held = False
        self._lasting: tuple[str, tuple[QAction, ...]] = "", ()  # message shown until the next one
        self.recent: deque[tuple[str, str]] = deque(maxlen=MOST_RECENT)
        """Latest messages with their times of day, the newest last."""
        self._notice_timer = QTimer(self, singleShot=True, interval=NOTICE_MS)
        self._notice_timer.timeout.connect(self._on_notice_read)
        layout = space(QGridLayout(self), (16, 3, 8, 2), (8, 4))
        layout.addWidget(self._words, 0, 0)
        layout.addWidget(close, 0, 1, Qt.AlignmentFlag.AlignTop)
        layout.setColumnStretch(0, 1)
        self._row = add_all(space(QHBoxLayout(), spacing=8), 1)
        layout.addLayout(self._row, 1, 0, 1, 2)
        self.buttons: list[QToolButton] = []
        self.hide()

    @property
    def text(self) -> str:
        """Shown sentence, or ""."""
        return self._words.text()

    def show_message(self, sentence: str, actions: Sequence[QAction] = ()) -> None:
        """Show a sentence until the next one; an empty sentence hides the bar."""
        self._lasting = sentence, tuple(actions)
        self._show(sentence, actions)

    def _show(self, sentence: str, actions: Sequence[QAction]) -> None:
        self._notice_timer.stop()
        self._words.setText(sentence)
        self._offer(actions)
        self._settle()
        self.setVisible(bool(sentence) and not self._is_held)
        if sentence:
            self.recent.append((time.strftime("%H:%M"), sentence))
            self.raise_()
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def show_notice(self, sentence: str, actions: Sequence[QAction] = ()) -> None:
        """Show a confirmation for a few seconds; an error shown before returns."""
        self._show(sentence, actions)
        self._notice_timer.start()

    def withdraw_notice(self) -> None:
        """Remove a notice that no longer holds."""
        if self._notice_timer.isActive():
            self._on_notice_read()

    def _on_notice_read(self) -> None:
        self._show(*self._lasting)

    def _offer(self, actions: Sequence[QAction]) -> None:
        """Show a button for each action, which also hides the message."""
        for button in self.buttons:
            # Deleted in the next turn of the event loop: its click may be in progress.
            button.hide()
            button.deleteLater()
        self.buttons = []
        for place, action in enumerate(actions):
            button = QToolButton(self)
            button.setText(action.text().replace("&", "").removesuffix(" ..."))
            button.setToolTip(action.toolTip())
            button.setProperty("inline", True)
            button.clicked.connect(self.clear)
            button.clicked.connect(action.trigger)
            self._row.insertWidget(place, button)
            button.show()  # a layout makes room for a new widget once it is visible
            self.buttons.append(button)

    def set_held(self, is_held: bool) -> None:
        """Keep messages back while something else covers their place; then show the last one."""
        self._is_held = is_held
        self.setVisible(bool(self.text) and not is_held)

    def clear(self) -> None:
        self.show_message("")

    def float_in_corner(self, widget: QWidget) -> None:
        """Cover the lower right corner of a widget; the bar's parent is it or an ancestor."""
        self._over = widget
        widget.installEventFilter(self)

    def _settle(self) -> None:
        """Fit the bar to the covered widget's width and the sentence's height."""
        host, parent = self._over, self.parentWidget()
        if host is None or parent is None:
            return
        least = self.minimumSizeHint().height()
        room = host.width() - 2 * APART
        width = min(max(self._words_width(), LEAST), WIDEST * self.fontMetrics().height(), room)
        height = max(self.heightForWidth(width), least)
        corner = QPoint(host.width() - APART - width, host.height() - APART - height)
        self.setGeometry(QRect(host.mapTo(parent, corner), QSize(width, height)))

    def _words_width(self) -> int:
        """Return the width at which the sentence is one line."""
        words = self._words.fontMetrics().horizontalAdvance(self._words.text())
        row = self._row.sizeHint().width()
        return max(words + self._close.sizeHint().width(), row) + AROUND

    def showEvent(self, event: QEvent) -> None:
        self.window().installEventFilter(self)

    def hideEvent(self, event: QEvent) -> None:
        self.window().removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._over:
            if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
                self._settle()
            return False
        if not isinstance(event, QKeyEvent) or event.key() != Qt.Key.Key_Escape:
            return False
        # Confirmations disappear by themselves; leave Escape to others.
        if self._notice_timer.isActive():
            return False
        if event.type() is QEvent.Type.ShortcutOverride:
            event.accept()  # not a shortcut: deliver the key here
        elif event.type() is QEvent.Type.KeyPress:
            self.clear()
        return True
