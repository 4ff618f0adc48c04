"""Keys of buttons, and of plots with the keyboard focus."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.style import shades

if TYPE_CHECKING:  # loads pyqtgraph, which must not delay the start
    from app.widgets.plot_item import Plot

RETURNS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@final
class ButtonKeyActivation(QObject):
    """Event filter of buttons: Space and Return press the focused button."""

    def add(self, button: QWidget) -> None:
        """Let Space and Return press a button."""
        button.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent):
            return False
        if event.type() is QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Space:
            event.accept()  # not a shortcut: the button gets the key
            return True
        pressed = event.type() is QEvent.Type.KeyPress and event.key() in RETURNS
        if pressed and isinstance(watched, QAbstractButton) and watched.isEnabled():
            watched.click()
            return True
        return False


Key = Qt.Key
# Direction of each arrow in pixels, downwards positive.
WAYS = {Key.Key_Left: (-1, 0), Key.Key_Right: (1, 0), Key.Key_Up: (0, -1), Key.Key_Down: (0, 1)}
PRESSES = (Key.Key_Space, *RETURNS)
BY_KEY = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
# Reasons by which the focus returns to an unchanged plot.
PASSING = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)


@final
class PlotFocus(QObject):
    """Keyboard focus of a plot.

    `has_keys`: arrows, Space and Return act on the plot, not as shortcuts, while it has the focus
    by a key.

    moved(x, y): an arrow, as in WAYS. enter_pressed: Space or Return. left: the plot lost the
    focus. menu_requested: Shift+F10.
    """

    arrow_pressed = Signal(int, int)
    enter_pressed = Signal()
    focus_left = Signal()
    menu_requested = Signal()

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot)
        self.has_keys = False
        self._plot, self._ring = plot, _FocusRing(plot)
        plot.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        plot.installEventFilter(self)

    @property
    def is_visible(self) -> bool:
        """True if the plot has the focus by a key, and so the ring."""
        return not self._ring.isHidden()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QFocusEvent):
            self._focus(event)
        elif isinstance(event, QKeyEvent):
            if _is_menu_key(event):
                self.menu_requested.emit()
                return True
            return self.has_keys and self.is_visible and self._key(event)
        elif event.type() is QEvent.Type.Resize:
            self._ring.setGeometry(self._plot.rect())
        return False

    def _focus(self, event: QFocusEvent) -> None:
        if event.reason() in PASSING:
            return
        is_shown = event.gotFocus() and event.reason() in BY_KEY
        if self.is_visible and not is_shown:
            self.focus_left.emit()
        self._ring.setVisible(is_shown)
        self._ring.raise_()

    def _key(self, event: QKeyEvent) -> bool:
        """Handle an arrow or press on the plot; return True if the key was used."""
        plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        key = Key(event.key())
        if plain != Qt.KeyboardModifier.NoModifier or not (key in WAYS or key in PRESSES):
            return False
        if event.type() is QEvent.Type.ShortcutOverride:
            event.accept()  # not a shortcut: the plot gets the key
        elif event.type() is QEvent.Type.KeyPress and key in WAYS:
            self.arrow_pressed.emit(*WAYS[key])
        elif event.type() is QEvent.Type.KeyPress and not event.isAutoRepeat():
            self.enter_pressed.emit()
        return True


def _is_menu_key(event: QKeyEvent) -> bool:
    """Return True for Shift+F10, which is a context menu event of Qt only on Windows."""
    if sys.platform == "win32" or event.type() is not QEvent.Type.KeyPress:
        return False
    return event.key() == Key.Key_F10 and event.modifiers() == Qt.KeyboardModifier.ShiftModifier


@final
class _FocusRing(QWidget):
    """Frame around a plot that ignores the mouse."""

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot)
        self._plot = plot
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(shades(self._plot.palette_of_plot)["accent"]), 2.0))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1.0, 1.0, -1.0, -1.0), 4.0, 4.0)
        painter.end()


def order_before(widgets: Sequence[QWidget], final: QWidget) -> None:
    """Set the Tab order of some widgets, followed by `final`."""
    last: QWidget = final.previousInFocusChain() or final
    for widget in widgets:
        if widget is not last:
            QWidget.setTabOrder(last, widget)
        last = widget
