"""The two lines above a plot: what it shows, and the key of its colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QLinearGradient,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from app.style import small
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
BUTTON = 20


@final
@dataclass(frozen=True, slots=True)
class HeaderEntry:
    """A sign in a colour and its text; either may be missing. `short` is the text for a key that
    would not fit otherwise."""

    text: str
    colour: str = ""
    sign: Sign = "none"
    short: str = ""

    def width(self, metrics: QFontMetricsF, short: bool) -> float:
        """How much room it takes, with the space to the next one."""
        text = self.words(short)
        return (
            SIGN_WIDTHS[self.sign]
            + (4.0 if SIGN_WIDTHS[self.sign] and text else 0.0)
            + metrics.horizontalAdvance(text)
            + (BETWEEN if text else 4.0)
        )

    def words(self, short: bool) -> str:
        """The text, or the short one if there is one."""
        return self.short or self.text if short else self.text


@final
@dataclass(frozen=True, slots=True, eq=False)
class TimeColours:
    """The colours (k, 4) of moments from the earliest to the latest, and the texts at both ends."""

    first: str
    last: str
    colours: NDArray[np.uint8]


@final
class ViewHeader(QWidget):
    """A title and, below it, a key; what does not fit is cut off with an ellipsis.

    `help_requested`: its button was pressed, or it was clicked with the right button.
    """

    help_requested = Signal()

    def __init__(self, palette: Palette, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette, self._title = palette, title
        self._entries: tuple[HeaderEntry, ...] = ()
        self._time: TimeColours | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.button = QToolButton(self)
        self.button.setText("?")
        self.button.setAutoRaise(True)
        self.button.setProperty("quiet", True)
        self.button.setToolTip(plain_tip(f"What is this? The definitions of {title}"))
        self.button.setAccessibleName(f"What is this: {title}")
        self.button.clicked.connect(self.help_requested)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        """The button in its corner, as large as its sign."""
        side = self._side()
        self.button.setFixedSize(side, side)
        self.button.move(self.width() - side - 4, 2)

    def _side(self) -> int:
        return max(BUTTON, self.fontMetrics().height())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        event.accept()
        self.help_requested.emit()

    @property
    def text(self) -> str:
        """Everything that stands in it, for tests and for readers of the screen."""
        words = [self._title, *(entry.text for entry in self._entries)]
        if self._time is not None:
            words += [self._time.first, self._time.last]
        return "  ".join(words)

    @property
    def title(self) -> str:
        return self._title

    @property
    def key(self) -> str:
        """The texts of the key's entries."""
        return ", ".join(entry.text for entry in self._entries if entry.text)

    def set_title(self, title: str) -> None:
        self._title = title
        self.setAccessibleName(self.text)
        self.update()

    def set_key(self, *entries: HeaderEntry, time: TimeColours | None = None) -> None:
        if entries == self._entries and time is self._time:
            return
        self._entries, self._time = entries, time
        self.setAccessibleName(self.text)
        self.setToolTip(plain_tip(self.text))
        self.update()

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, round(2.0 * QFontMetricsF(small(self.font())).height() + 8.0))

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
        space = QRectF(EDGE, 4.0, self.width() - 2.0 * EDGE, line)
        painter.setPen(QColor(self._palette.foreground))
        self._write(painter, space.adjusted(0.0, 0.0, -self._side(), 0.0), self._title)
        space.translate(0.0, line + 1.0)
        if self._time is not None:
            self._paint_time(painter, space, metrics, self._time)
        else:
            self._paint_entries(painter, space, metrics)
        painter.end()

    def _write(self, painter: QPainter, space: QRectF, text: str) -> None:
        metrics = QFontMetricsF(painter.font())
        # A pixel more than there is: a text that just fits must not be shortened for its rounding.
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(space.width(), 0.0) + 1.0)
        painter.drawText(space, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_entries(self, painter: QPainter, space: QRectF, metrics: QFontMetricsF) -> None:
        x = space.left()
        # All short or none: a key in which only the last entries are shortened looks like a
        # mistake.
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
        left = space.left() + first + 5.0
        width = min(GRADIENT, space.right() - left - last - 5.0)
        if width < 12.0:
            return
        gradient = QLinearGradient(left, 0.0, left + width, 0.0)
        count = max(len(key.colours) - 1, 1)
        for position, colour in enumerate(key.colours.tolist()):
            gradient.setColorAt(position / count, QColor(*colour))
        painter.fillRect(QRectF(left, space.center().y() - 3.0, width, 6.0), gradient)
        rest = QRectF(left + width + 5.0, space.top(), last + 2.0, space.height())
        self._write(painter, rest, key.last)
