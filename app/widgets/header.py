"""Title and key above a plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QLinearGradient,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from app.style import shades, small
from app.widgets.labels import plain_tip
from core.figures.palette import Palette

Sign = Literal["none", "line", "dashed", "dotted", "plus", "cross"]
SIGN_WIDTHS: dict[Sign, float] = {
    "none": 0,
    "line": 11,
    "dashed": 11,
    "dotted": 11,
    "plus": 9,
    "cross": 9,
}
DASHES: dict[Sign, list[float]] = {"line": [], "dashed": [4.0, 2.5], "dotted": [1.0, 2.0]}
GRADIENT = 64.0
BETWEEN = 5.0
EDGE = 8
HINT = "Click to fill the window with this view; drag to move it"


@final
@dataclass(frozen=True, slots=True)
class HeaderEntry:
    """Coloured mark and its text; either may be missing.

    `short` is the text for a key that would not fit otherwise.
    """

    text: str
    colour: str = ""
    sign: Sign = "none"
    short: str = ""

    def width(self, metrics: QFontMetricsF, short: bool) -> float:
        """Return the width of the entry, with the space to the next one."""
        text = self.words(short)
        return (
            SIGN_WIDTHS[self.sign]
            + (4.0 if SIGN_WIDTHS[self.sign] and text else 0.0)
            + metrics.horizontalAdvance(text)
            + (BETWEEN if text else 4.0)
        )

    def words(self, short: bool) -> str:
        """Return the text, or the short one if there is one."""
        return self.short or self.text if short else self.text


@final
@dataclass(frozen=True, slots=True, eq=False)
class TimeColours:
    """Colours (k, 4) of moments from the earliest to the latest, and the texts at both ends."""

    first: str
    last: str
    colours: NDArray[np.uint8]

    def is_equivalent_to(self, other: TimeColours | None) -> bool:
        """Return True if both would look the same."""
        if other is None or (self.first, self.last) != (other.first, other.last):
            return False
        return np.array_equal(self.colours, other.colours)


@final
class ViewHeader(QWidget):
    """Title and, below it, key; both are elided if they do not fit.

    In a lower row of runs only the key is shown, unless it is that of the header above. A `movable`
    header can be clicked and dragged; one that is not `keyed` has no room for a key.
    """

    clicked = Signal()
    dragged = Signal(QPoint)
    """Pointer on the screen while the header is dragged."""
    dropped = Signal(QPoint)
    """Pointer on the screen where a drag ended."""
    menu_requested = Signal(QPoint)
    """Place on the screen."""
    key_changed = Signal()

    def __init__(
        self,
        palette: Palette,
        title: str,
        parent: QWidget | None = None,
        movable: bool = False,
        keyed: bool = True,
    ) -> None:
        super().__init__(parent)
        self._palette, self._title = palette, title
        self._entries: tuple[HeaderEntry, ...] = ()
        self._time: TimeColours | None = None
        self._titled, self._keyed = True, keyed
        self._above: ViewHeader | None = None
        self._movable, self._is_target = movable, False
        self._pressed: QPoint | None = None
        self._dragging = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        if movable:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._set_tip()

    # ----------------------------------------------------------------------------------- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._movable and event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._dragging = event.globalPosition().toPoint(), False

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()  # the first click counts already, and a double click would toggle twice

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        position = event.globalPosition().toPoint()
        if self._pressed is None:
            return
        way = (position - self._pressed).manhattanLength()
        if self._dragging or way >= QApplication.startDragDistance():
            self._dragging = True
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.dragged.emit(position)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        self._pressed = None
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        if self._dragging:
            self.dropped.emit(event.globalPosition().toPoint())
        elif self.rect().contains(event.position().toPoint()):
            self.clicked.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        event.accept()
        self.menu_requested.emit(event.globalPos())

    # --------------------------------------------------------------------------------- content

    @property
    def text(self) -> str:
        """Title and key, for tests and screen readers."""
        words = [self._title, *(entry.text for entry in self._entries)]
        if self._time is not None:
            words += [self._time.first, self._time.last]
        return "  ".join(words)

    @property
    def title(self) -> str:
        return self._title

    @property
    def key(self) -> str:
        """Texts of the key's entries."""
        return ", ".join(entry.text for entry in self._entries if entry.text)

    def set_title(self, title: str) -> None:
        self._title = title
        self.setAccessibleName(self.text)
        self._set_tip()
        self.update()

    def set_key(self, *entries: HeaderEntry, time: TimeColours | None = None) -> None:
        if entries == self._entries and time is self._time:
            return
        self._entries, self._time = entries, time
        self.setAccessibleName(self.text)
        self._set_tip()
        self.update()
        self.key_changed.emit()

    def _set_tip(self) -> None:
        self.setToolTip(plain_tip("\n".join([self.text, *([HINT] if self._movable else [])])))

    def set_row(self, titled: bool, above: ViewHeader | None) -> None:
        """Show or hide the title; hide the key if the header above has the same."""
        if above is not self._above:
            if self._above is not None:
                self._above.key_changed.disconnect(self.update)
            if above is not None:
                above.key_changed.connect(self.update)
            self._above = above
            self.update()
        if titled != self._titled:
            self._titled = titled
            self.updateGeometry()
            self.update()

    def set_keyed(self, keyed: bool) -> None:
        """Show the key, or leave it to screen readers and the tooltip."""
        self._keyed = keyed
        self.updateGeometry()
        self.update()

    def set_target(self, target: bool) -> None:
        """Mark the header as the drop position of a dragged one."""
        if target != self._is_target:
            self._is_target = target
            self.update()

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.update()

    def sizeHint(self) -> QSize:
        lines = float(self._titled + self._keyed)
        return QSize(120, round(lines * QFontMetricsF(small(self.font())).height() + 4.0 * lines))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), QColor(self._palette.background))
        font = small(self.font())
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        line = metrics.height()
        space = QRectF(EDGE, 2.0, self.width() - 2.0 * EDGE, line)
        if self._titled:
            space.translate(0.0, 2.0)
            painter.setPen(QColor(self._palette.foreground))
            self._write(painter, space, self._title)
            space.translate(0.0, line + 1.0)
        if not self._keyed:
            pass
        elif self._time is not None and self._is_own_key:
            self._paint_time(painter, space, metrics, self._time)
        elif self._is_own_key:
            self._paint_entries(painter, space, metrics)
        if self._is_target:
            painter.setPen(QPen(QColor(shades(self._palette)["accent"]), 2.0))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(2.0, 1.0, -2.0, -1.0), 4.0, 4.0)
        painter.end()

    @property
    def _is_own_key(self) -> bool:
        """True if the header above has another key, or none."""
        above = self._above
        if above is None or self._entries != above._entries:
            return True
        return self._time is not None and not self._time.is_equivalent_to(above._time)

    def _write(self, painter: QPainter, space: QRectF, text: str) -> None:
        metrics = QFontMetricsF(painter.font())
        # One pixel more, so that rounding does not shorten a text that just fits.
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(space.width(), 0.0) + 1.0)
        painter.drawText(space, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_entries(self, painter: QPainter, space: QRectF, metrics: QFontMetricsF) -> None:
        x = space.left()
        # All texts short or none: a key with some shortened entries looks like a mistake.
        short = sum(entry.width(metrics, False) for entry in self._entries) > space.width()
        for entry in self._entries:
            if x >= space.right() - 12.0:
                break
            width = SIGN_WIDTHS[entry.sign]
            self._paint_sign(painter, entry, QRectF(x, space.top(), width, space.height()))
            text, end = entry.words(short), x + entry.width(metrics, short)
            x += width + (4.0 if width and text else 0.0)
            painter.setPen(QColor(self._palette.muted))
            self._write(painter, QRectF(x, space.top(), space.right() - x, space.height()), text)
            x = end

    def _paint_sign(self, painter: QPainter, entry: HeaderEntry, space: QRectF) -> None:
        if entry.sign == "none":
            return
        pen = QPen(QColor(entry.colour), 1.5)
        middle = space.center()
        if entry.sign in DASHES:
            if DASHES[entry.sign]:
                pen.setDashPattern(DASHES[entry.sign])
                pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            painter.drawLine(QPointF(space.left(), middle.y()), QPointF(space.right(), middle.y()))
            return
        painter.setPen(pen)
        reach = 3.5
        if entry.sign == "plus":
            painter.drawLine(middle - QPointF(reach, 0.0), middle + QPointF(reach, 0.0))
            painter.drawLine(middle - QPointF(0.0, reach), middle + QPointF(0.0, reach))
        else:
            reach = 2.8
            painter.drawLine(middle - QPointF(reach, reach), middle + QPointF(reach, reach))
            painter.drawLine(middle - QPointF(reach, -reach), middle + QPointF(reach, -reach))

    def _paint_time(
        self, painter: QPainter, space: QRectF, metrics: QFontMetricsF, key: TimeColours
    ) -> None:
        first = metrics.horizontalAdvance(key.first)
        last = metrics.horizontalAdvance(key.last)
        painter.setPen(QColor(self._palette.muted))
        self._write(painter, space, key.first)
        x = space.left() + first + 5.0
        width = min(GRADIENT, space.right() - x - last - 5.0)
        if width < 12.0:
            return
        gradient = QLinearGradient(x, 0.0, x + width, 0.0)
        count = max(len(key.colours) - 1, 1)
        for position, colour in enumerate(key.colours.tolist()):
            gradient.setColorAt(position / count, QColor(*colour))
        painter.fillRect(QRectF(x, space.center().y() - 3.0, width, 6.0), gradient)
        strip = QRectF(x + width + 5.0, space.top(), last + 2.0, space.height())
        self._write(painter, strip, key.last)
