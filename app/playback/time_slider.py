"""One slider for all views, in the coordinate of the schedule, with times below it.

The available part is a stronger line, as in video players. The handle moves only by `set_value`;
the mouse requests moments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QMoveEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from app.playback.note_marks import NoteMarks
from app.state.resolve import TimeSpan
from app.widgets.labels import show_rich_tip, show_tip
from core.figures.palette import Palette
from core.numbers import power_text, raise_powers, time_text, whole_text
from core.problem.schedule import coordinate, inverse_coordinate

if TYPE_CHECKING:  # loads the numerical libraries
    from core.observables.alarms import Alarm

MARGIN = 16
MIDDLE = 12.0  # pixels from the top to the middle of the groove
GROOVE = 6
FAINTEST = 0.25  # opacity of the stripe with the fewest theorems
RADIUS = 7
MOST_TICKS = 12
CLOSE = 0.02  # fraction of the slider's length
NEAR = 6.0  # pixels around an alarm that count as it
ALARM = 13.0  # pixels from the top within which alarms react to clicks


def alarm_text(alarm: Alarm, steps: bool = False) -> str:
    """Return an alarm with its step and, unless t counts steps, its time."""
    when = "" if steps else f", {raise_powers(time_text(alarm.log10_time))}"
    return f"{alarm.text}\nstep {whole_text(alarm.step)}{when}"


def ticks(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Return moments with labels: both ends, and whole powers of ten, at most MOST_TICKS of them.

    >>> ticks(-1.2, 1.5)
    ((-1.2, '.063'), (-1.0, '.1'), (0.0, '1'), (1.0, '10'), (1.5, '45'))
    """
    first, last = (float(inverse_coordinate(moment)) for moment in (low, high))
    # Mark powers of ten of log10 t: in this coordinate powers of ten of t crowd together.
    if last > 20.0:
        # A file with log10 t beyond 1e200 is not opened (docs/decisions/0002).
        exponents = [float(x) for k in range(0, 210) if (x := 10.0**k) <= last * (1 + 1e-9)]
        exponents = [0.0, *exponents] if first <= 0.0 else exponents
    else:
        step = max(1, math.ceil((last - first) / MOST_TICKS))
        exponents = [float(x) for x in range(math.ceil(first), math.floor(last + 1e-6) + 1)]
        exponents = [x for x in exponents if x % step == 0]
    exponents = exponents[:: max(1, math.ceil(len(exponents) / MOST_TICKS))]
    labels = [(float(coordinate(x)), raise_powers(power_text(x))) for x in exponents]
    inner = [(place, text) for place, text in labels if low <= place <= high + 1e-6]
    close = CLOSE * (high - low)  # a closer power of ten is labelled by the end itself
    start = [(low, _limit_text(first))] if not inner or inner[0][0] > low + close else []
    end = [(high, _limit_text(last))] if not inner or inner[-1][0] < high - close else []
    return (*start, *inner, *end)


def _limit_text(log10_time: float) -> str:
    """Return the time at an end of the slider, as short as the labels of powers of ten."""
    return raise_powers(power_text(log10_time, 2))


@final
class TimeSlider(QWidget):
    """Slider over the moments of a span; those after its edge do not exist yet."""

    time_requested = Signal(float)
    interval_requested = Signal(float, float)
    bookmark_requested = Signal(str)
    note_clicked = Signal(int)
    note_menu_requested = Signal(int, QPoint)  # number of a note, position on the screen
    interval_refused = Signal()  # Shift+click, which gives no interval
    axis_changed = Signal()  # the positions of moments on the axis changed
    value_changed = Signal()

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = palette
        self._span = TimeSpan(0.0, 1.0, 0.0, False)
        self._value = 0.0
        self._empty = True
        self._steps = False
        self._ticks: tuple[tuple[float, str], ...] = ()
        self._alarms: tuple[tuple[float, str], ...] = ()
        self._calm: frozenset[float] = frozenset()  # moments whose alarms are no warnings
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Time")
        self._bookmarks: tuple[tuple[float, str], ...] = ()
        self.notes = NoteMarks(self.position_of)
        self._theorems: tuple[tuple[float, float, int, bool], ...] = ()
        self._interval: tuple[float, float] | None = None
        self._from: float | None = None  # start of the interval being drawn
        self._clicked_mark: QPointF | None = None  # where a mark was pressed, until it is dragged
        self.setToolTip(
            "Drag to change the time; press the arrow keys to step by frames. Shift-drag to "
            "loop over an interval. Blue marks times at which theorems hold, darker for more "
            "theorems; red marks a violation."
        )

    def sizeHint(self) -> QSize:
        return QSize(320, 24 + self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    @property
    def value(self) -> float:
        """Moment at the handle."""
        return self._value

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.update()

    def set_span(self, span: TimeSpan) -> None:
        """Set the ends of the slider, and the last moment that it can seek."""
        if (span.low, span.high) != (self._span.low, self._span.high):
            self._ticks = ticks(span.low, span.high)
        if span != self._span:
            self._span = span
            self.axis_changed.emit()
            self.update()

    def set_steps(self, steps: bool) -> None:
        """Set whether t counts steps."""
        self._steps = steps

    def set_empty(self, empty: bool) -> None:
        """Set whether there is no run, and so no time to show."""
        if empty != self._empty:
            self._empty = empty
            self.update()

    def set_alarms(self, alarms: Sequence[Alarm]) -> None:
        """Show marks where runs are unreliable, grey ones for information. A click seeks one."""
        self._alarms = tuple(
            (float(coordinate(a.log10_time)), alarm_text(a, self._steps)) for a in alarms
        )
        loud = {float(coordinate(a.log10_time)) for a in alarms if not a.calm}
        self._calm = frozenset(moment for moment, _ in self._alarms) - loud
        self.update()

    def set_interval(self, interval: tuple[float, float] | None) -> None:
        """Set the moments between which playback loops; None for none."""
        if interval != self._interval:
            self._interval = interval
            self.update()

    def set_bookmarks(self, marks: Sequence[tuple[str, float]]) -> None:
        """Show flags at moments, by name and log10 t; a click on a flag requests its moment."""
        self._bookmarks = tuple(
            (float(coordinate(when)) if math.isfinite(when) else -math.inf, name)
            for name, when in marks
        )
        self.update()

    def set_theorems(self, counts: Sequence[tuple[float, float, int, bool]]) -> None:
        """Colour the groove by (first moment, last moment, number of theorems, violated)."""
        if tuple(counts) != self._theorems:
            self._theorems = tuple(counts)
            self.update()

    def bookmark_at(self, pixels: float) -> str:
        """Return the name of the bookmark nearest to a position in pixels; "" if none is near."""
        near = [(abs(self.position_of(moment) - pixels), name) for moment, name in self._bookmarks]
        distance, name = min(near, default=(math.inf, ""))
        return name if distance <= NEAR else ""

    def alarm_at(self, pixels: float) -> tuple[float, str] | None:
        """Return moment and text of the alarm near a position in pixels, or None."""
        near = [one for one in self._alarms if abs(self.position_of(one[0]) - pixels) <= NEAR]
        return min(near, key=lambda one: abs(self.position_of(one[0]) - pixels), default=None)

    def set_value(self, value: float) -> None:
        """Move the handle to a moment."""
        if value != self._value:
            self._value = value
            self.value_changed.emit()
            self.update()

    # ----------------------------------------------------------------------------- geometry

    def position_of(self, moment: float) -> float:
        """Return the position of a moment, in pixels from the left."""
        return MARGIN + self._span.share(moment) * max(self.width() - 2 * MARGIN, 1)

    def moment_at(self, pixels: float) -> float:
        """Return the moment at a position, in pixels from the left."""
        return self._span.moment((pixels - MARGIN) / max(self.width() - 2 * MARGIN, 1))

    # ------------------------------------------------------------------------------- events

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        self._clicked_mark = None
        if (number := self.notes.note_at(event.position())) >= 0 and not event.modifiers():
            self._clicked_mark = event.position()
            self.note_clicked.emit(number)
            return
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._from = event.position().x()
        else:
            # Below the triangles a click goes to the groove, however near an alarm is.
            is_above = event.position().y() < ALARM
            alarm = self.alarm_at(event.position().x()) if is_above else None
            name = self.bookmark_at(event.position().x()) if is_above and alarm is None else ""
            self._clicked_mark = event.position() if name or alarm is not None else None
            if name:
                self.bookmark_requested.emit(name)
                return
            place = self.moment_at(event.position().x())
            self.time_requested.emit(place if alarm is None else alarm[0])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        moment = self.moment_at(event.position().x())
        if self._from is not None:
            self._draw_interval(event.position().x())
        elif event.buttons() & Qt.MouseButton.LeftButton:
            if self._is_dragged(event.position()):
                self.time_requested.emit(moment)
        elif (number := self.notes.note_at(event.position())) >= 0:
            show_rich_tip(event.globalPosition().toPoint(), self.notes.text(number), self)
        elif not self._empty:
            alarm = self.alarm_at(event.position().x())
            log10_time = float(inverse_coordinate(moment))
            words = raise_powers(time_text(log10_time, self._steps, padded=True))
            words = words if alarm is None else alarm[1]
            if alarm is None and (name := self.bookmark_at(event.position().x())):
                words = f"{name}\n{words}"
            show_tip(event.globalPosition().toPoint(), words, self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._clicked_mark = None
        if self._from is not None and event.button() is Qt.MouseButton.LeftButton:
            if abs(event.position().x() - self._from) <= NEAR:
                self.interval_refused.emit()
            self._from = None

    def _is_dragged(self, point: QPointF) -> bool:
        """Return True once a press has become a drag: a hand is never quite still."""
        pressed = self._clicked_mark
        if pressed is not None:
            if (point - pressed).manhattanLength() < QApplication.startDragDistance():
                return False
            self._clicked_mark = None
        return True

    def _draw_interval(self, pixels: float) -> None:
        assert self._from is not None
        if abs(pixels - self._from) > NEAR:
            first, last = sorted((self._from, pixels))
            self.interval_requested.emit(self.moment_at(first), self.moment_at(last))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if (number := self.notes.note_at(QPointF(event.pos()))) >= 0:
            self.note_menu_requested.emit(number, event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()  # the window's shortcuts move the cursor

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.axis_changed.emit()

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self.axis_changed.emit()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() is QEvent.Type.FontChange:
            self.updateGeometry()
        super().changeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = MIDDLE
        painter.setPen(Qt.PenStyle.NoPen)
        self._paint_groove(painter, middle, self._span.high, self._palette.grid)
        self._paint_groove(painter, middle, self._span.edge, self._palette.muted)
        self._paint_theorems(painter, middle)
        self._paint_interval(painter, middle)
        if self._empty:
            painter.end()
            return
        self._paint_labels(painter)
        self._paint_bookmarks(painter, middle)
        self.notes.paint(painter, self._palette)
        self._paint_alarms(painter, middle)
        centre = QPointF(self.position_of(self._value), middle)
        colour = QColor(self._palette.foreground if self.isEnabled() else self._palette.muted)
        painter.setPen(QPen(QColor(self._palette.background), 2.0))
        painter.setBrush(colour)
        painter.drawEllipse(centre, RADIUS, RADIUS)
        if self.hasFocus():
            painter.setPen(QPen(colour, 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(centre, RADIUS + 2.5, RADIUS + 2.5)
        painter.end()

    def _paint_groove(self, painter: QPainter, middle: float, until: float, colour: str) -> None:
        """Paint the groove up to a moment; `middle` is its height in pixels."""
        painter.setBrush(QColor(colour))
        left, right = self.position_of(self._span.low), self.position_of(until)
        box = QRectF(left, middle - GROOVE / 2, max(right - left, 0.0), GROOVE)
        painter.drawRoundedRect(box, GROOVE / 2, GROOVE / 2)

    def _paint_theorems(self, painter: QPainter, middle: float) -> None:
        """Paint the stripe in the groove: stronger where more theorems hold, red at violations."""
        if self._empty:
            return
        max_count = max((count for *_, count, _ in self._theorems), default=0)
        for start, end, count, violated in self._theorems:
            left, right = self.position_of(start), self.position_of(end)
            colour = QColor(self._palette.negative if violated else self._palette.positive)
            if not violated:
                colour.setAlphaF(FAINTEST + (1.0 - FAINTEST) * count / max_count if count else 0.0)
            painter.setBrush(colour)
            painter.drawRect(QRectF(left, middle - GROOVE / 2, right - left, GROOVE))

    def _paint_interval(self, painter: QPainter, middle: float) -> None:
        """Paint a band on the groove, with a bracket at each end."""
        if self._interval is None or self._empty:
            return
        left, right = (self.position_of(moment) for moment in self._interval)
        colour = QColor(self._palette.foreground)
        painter.setBrush(colour)
        painter.drawRect(QRectF(left, middle - GROOVE / 2, right - left, GROOVE))
        for x in (left, right):
            painter.drawRect(QRectF(x - 1.0, middle - 7.0, 2.0, 14.0))

    def _paint_bookmarks(self, painter: QPainter, middle: float) -> None:
        """Paint small ribbons from the top edge to the groove."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._palette.muted))
        for moment, _ in self._bookmarks:
            x = self.position_of(moment)
            top, foot = middle - 11.0, middle - 3.0
            ribbon = [(x - 4.0, top), (x + 4.0, top), (x + 4.0, foot), (x, foot - 3.5)]
            corners = [QPointF(*place) for place in (*ribbon, (x - 4.0, foot))]
            painter.drawPolygon(QPolygonF(corners))

    def _paint_alarms(self, painter: QPainter, middle: float) -> None:
        """Paint small triangles on the groove."""
        painter.setPen(Qt.PenStyle.NoPen)
        for moment, _ in self._alarms:
            calm = moment in self._calm
            painter.setBrush(QColor(self._palette.muted if calm else self._palette.references[2]))
            x = self.position_of(moment)
            top, foot = middle - 11.0, middle - 3.0
            corners = [QPointF(x - 4.5, top), QPointF(x + 4.5, top), QPointF(x, foot)]
            painter.drawPolygon(QPolygonF(corners))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def shown_labels(self) -> tuple[tuple[float, str, QRectF], ...]:
        """Return the labels that have room: position, text and box in pixels, both ends first."""
        metrics = self.fontMetrics()
        labels: list[tuple[float, str, QRectF]] = []
        for place, text in (*self._ticks[:1], *self._ticks[:0:-1]):
            x, width = self.position_of(place), metrics.horizontalAdvance(text)
            # Shift the end labels inwards: the edges would cut them.
            x_of_label = min(max(x - width / 2, 0.0), self.width() - width)
            box = QRectF(x_of_label, MIDDLE + 9.0, width, metrics.height())
            if not any(box.adjusted(-8.0, 0.0, 8.0, 0.0).intersects(one) for *_, one in labels):
                labels.append((x, text, box))
        return tuple(labels)

    def _paint_labels(self, painter: QPainter) -> None:
        """Paint ticks and their times below the groove."""
        painter.setPen(QColor(self._palette.muted))
        for x, text, box in self.shown_labels():
            painter.drawLine(QPointF(x, MIDDLE + 5.0), QPointF(x, MIDDLE + 8.0))
            painter.drawText(QPointF(box.left(), box.top() + self.fontMetrics().ascent()), text)
