"""The card of the tour, and the ring around what it speaks of."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.widgets.inputs import heading_label, push_button, quiet_label
from app.widgets.layouts import filled, laid
from app.widgets.pressed import PressedByKeys

WIDTH = 340
APART = 16  # from the edges of the window
RING = 3


@final
class TourCard(QFrame):
    """moved(step): to the step before or after. left(): the tour is over."""

    moved = Signal(int)
    left = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("tourCard")
        self.setFrameShape(QFrame.Shape.Box)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.setAccessibleName("Tour")
        self._ring = _Ring(window)
        self.place = quiet_label("", self)
        self.title = heading_label("", self)
        self.text = QLabel(self, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.end = push_button("End the tour", self)
        self.back = push_button("Back", self)
        self.next = QPushButton("Next", self)
        self.next.setProperty("primary", True)
        self._pressed = PressedByKeys(self)
        for button in (self.end, self.back, self.next):
            self._pressed.add(button)
        self.end.clicked.connect(self.left)
        self.back.clicked.connect(self._on_back)
        self.next.clicked.connect(self._on_next)
        buttons = filled(laid(QHBoxLayout(), spacing=8), self.end, 1, self.back, self.next)
        column = laid(QVBoxLayout(self), (16, 12, 16, 16), 8)
        filled(column, self.place, self.title, self.text, buttons)

    def show_step(self, number: int, count: int, title: str, text: str) -> None:
        """One step of so many; `number` counts from 0."""
        self.place.setText(f"{number + 1} of {count}")
        self.title.setText(title)
        self.text.setText(text)
        self.back.setEnabled(number > 0)
        self.next.setText("Next" if number + 1 < count else "Done")
        self.end.setVisible(number + 1 < count)
        # Wider where the type is so large that the buttons have no room.
        buttons = sum(one.sizeHint().width() + 8 for one in (self.end, self.back, self.next))
        width = max(WIDTH, buttons + 34)
        self.setFixedWidth(width)
        self.text.setFixedHeight(self.text.heightForWidth(width - 34))
        self.setAccessibleDescription(f"{title}. {text}")
        self.adjustSize()

    def point_at(self, target: QWidget | None, room: QRect) -> None:
        """Stand in that corner of some room in the window that hides the least of a widget, with a
        ring round it; None for no widget, or one that is folded away."""
        window = self._window
        room = room.adjusted(APART, APART, -APART, -APART)
        around = QRect()
        if target is not None and target.isVisible():
            around = QRect(target.mapTo(window, QPoint(0, 0)), target.size())
        size = self.sizeHint().expandedTo(QSize(self.minimumWidth(), 0))
        corners = [QRect(QPoint(0, 0), size) for _ in range(4)]
        corners[0].moveBottomRight(room.bottomRight())
        corners[1].moveBottomLeft(room.bottomLeft())
        corners[2].moveTopRight(room.topRight())
        corners[3].moveTopLeft(room.topLeft())
        hidden = [_area(corner.intersected(around)) for corner in corners]
        self.setGeometry(corners[hidden.index(min(hidden))])
        self._ring.show_around(around)
        self.show()
        self.raise_()

    def close_tour(self) -> None:
        """Take card and ring away."""
        self._ring.hide()
        self.hide()

    def _on_back(self) -> None:
        self.moved.emit(-1)

    def _on_next(self) -> None:
        self.moved.emit(1)

    def event(self, event: QEvent) -> bool:
        # Else Escape is the window's, where it lets go of pinned nodes.
        override = event.type() is QEvent.Type.ShortcutOverride
        if override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


def _area(rect: QRect) -> int:
    return max(rect.width(), 0) * max(rect.height(), 0)


@final
class _Ring(QWidget):
    """A frame over the window that takes no clicks."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_around(self, around: QRect) -> None:
        """Stand around a part of the window, inside of it; nowhere for an empty one."""
        self.setVisible(not around.isEmpty())
        self.setGeometry(around.adjusted(-RING, -RING, RING, RING))
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), RING))
        half = RING / 2.0
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(half, half, -half, -half), 6, 6)
        painter.end()
