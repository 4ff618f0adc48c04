"""Rows of the theorem timeline: painting, mouse and keyboard.

All rows are painted into one picture, cached until the content, size, axis or colours change. While
a run plays only the line at the cursor moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPixmap,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.playback.time_slider import TimeSlider
from app.theory.statement_lines import StatementLine, Stretch, hue_of_stretch, paint_stretch
from app.widgets.labels import show_tip
from app.widgets.screen_text import greek, short_name
from app.widgets.verdict_mark import VERDICT_STYLES, hue_of, paint_mark
from core.figures.palette import Palette
from core.numbers import raise_powers

TITLE = "Theorem timeline"
SMALL = 0.88  # factor of the font size
SIDE = 16.0  # pixels left of the verdict's mark
MARK = 10.0  # pixels, size of the verdict's mark
GAP = 10.0  # pixels between names and axis
UPPER, LOWER = (0.12, 0.34), (0.46, 0.90)  # upper and lower lane, as fractions of a row's height
# Keys that move the keyboard cursor, and keys that seek.
MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right)
PRESSES = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)


@final
class TimeRows(QWidget):
    """Rows of stretches of time, one for each statement, on the axis of the slider above.

    Each row has two lanes: the hypotheses above the conclusion. A left click seeks the clicked
    time. A left double click seeks the start of the stretch, as do the space bar, Return and Enter
    for the stretch at the keyboard cursor, which the arrow keys move. A vertical line is at the
    slider's value, and a frame around the stretch at the keyboard cursor while the rows have focus.
    """

    moment_requested = Signal(float)
    """Clicked time, or start of the chosen stretch (-inf for t = 0), as a coordinate."""
    row_reached = Signal(int, int)
    """Top and bottom, in pixels, of the row that an arrow key moved the keyboard cursor to."""

    def __init__(self, palette: Palette, slider: TimeSlider, parent: QWidget) -> None:
        super().__init__(parent)
        self._palette, self._slider = palette, slider
        self.lines: tuple[StatementLine, ...] = ()
        self._picture: QPixmap | None = None  # all rows; None until painted again
        self._cursor = -1  # x of the line at the slider's value, as painted last
        # Keyboard cursor: row, True for the upper lane, number of the stretch in the lane.
        self.place = (0, False, 0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(TITLE)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        slider.axis_changed.connect(self.repaint_all)
        slider.value_changed.connect(self._move_cursor)

    # ------------------------------------------------------------------------------------- content

    def show_lines(self, lines: Sequence[StatementLine]) -> None:
        """Show statements, one a row in this order; do nothing if they are equal to the shown ones.

        Move the keyboard cursor to the first stretch of the first row's conclusion.
        """
        if tuple(lines) == self.lines:
            return
        self.lines = tuple(lines)
        self.place = (0, False, 0)
        self.setAccessibleDescription("")
        self.updateGeometry()
        self.repaint_all()

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.repaint_all()

    def repaint_all(self) -> None:
        """Discard the cached picture, and schedule a repaint."""
        self._picture = None
        self.update()

    # -------------------------------------------------------------------------------- geometry

    def row_height(self) -> int:
        """Return the height of a row in pixels."""
        return math.ceil(QFontMetricsF(self._font()).height()) + 2

    def sizeHint(self) -> QSize:
        """Return the size of all rows, at least that of one row."""
        return QSize(320, max(len(self.lines), 1) * self.row_height())

    def _font(self) -> QFont:
        """Return the font of the rows, smaller than the widget's own."""
        font = QFont(self.font())
        font.setPointSizeF(SMALL * font.pointSizeF())
        return font

    def _offset(self) -> float:
        """Return by how many pixels the slider's left edge is to the right of that of the rows."""
        top = self.window()
        origin = QPoint(0, 0)
        return float(self._slider.mapTo(top, origin).x() - self.mapTo(top, origin).x())

    def x_of(self, moment: float) -> float:
        """Return the x of a moment in these rows, below the same moment of the slider.

        Moments outside the slider's span, such as -inf, are at its ends.
        """
        return self._slider.position_of(moment) + self._offset()

    def moment_at(self, x: float) -> float:
        """Return the moment at x in these rows, or the nearer end of the slider's span outside."""
        return self._slider.moment_at(x - self._offset())

    def box_of(self, row: int, upper: bool, stretch: Stretch) -> QRectF:
        """Return the rectangle of a stretch in a lane of a row, at least 2 pixels wide."""
        height = self.row_height()
        start, end = (self.x_of(moment) for moment in (stretch.start, stretch.end))
        top, bottom = UPPER if upper else LOWER
        top, bottom = (row * height + part * height for part in (top, bottom))
        # A stretch of a single frame must be visible too.
        return QRectF(start, top, max(end - start, 2.0), bottom - top)

    def stretch_at(self, x: float, y: float) -> tuple[StatementLine, bool, Stretch] | None:
        """Return line, True for the upper lane, and stretch at a place in pixels.

        The stretch is the last that starts at or before x. None below the rows, and more than 2
        pixels before the first or after the last stretch of the lane.
        """
        height = self.row_height()
        row = int(y // height)
        if not 0 <= row < len(self.lines):
            return None
        line = self.lines[row]
        upper = (y - row * height) / height < 0.5 * (UPPER[1] + LOWER[0])
        lane = line.stretches_of_lane(upper)
        if not lane or not self.x_of(lane[0].start) - 2.0 <= x <= self.x_of(lane[-1].end) + 2.0:
            return None
        stretches = [stretch for stretch in lane if self.x_of(stretch.start) <= x + 1.0]
        return line, upper, (stretches or lane[:1])[-1]

    # ---------------------------------------------------------------------------------- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Seek the clicked time, and move the keyboard cursor to the clicked stretch.

        Only the left button does so, and not on the names or below the rows.
        """
        place = event.position()
        if event.button() is Qt.MouseButton.LeftButton and self._is_time(place):
            self._point_at(place)
            self.moment_requested.emit(self.moment_at(place.x()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Seek the start of the stretch with the left button.

        Any button moves the keyboard cursor to the stretch.
        """
        stretch = self._point_at(event.position())
        if event.button() is Qt.MouseButton.LeftButton and stretch is not None:
            self.moment_requested.emit(stretch.start)

    def _is_time(self, place: QPointF) -> bool:
        """Return True for a place in a row, not left of the axis; right of its end is allowed."""
        row = int(place.y() // self.row_height())
        return 0 <= row < len(self.lines) and place.x() >= self.x_of(-math.inf)

    def _point_at(self, place: QPointF) -> Stretch | None:
        """Move the keyboard cursor to the stretch at a place, if any, and return that stretch."""
        pointed = self.stretch_at(place.x(), place.y())
        if pointed is None:
            return None
        line, upper, stretch = pointed
        self.place = (self.lines.index(line), upper, line.stretches_of_lane(upper).index(stretch))
        self.update()
        return stretch

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show a tip about the stretch, or about the verdict on a name; hide the tip elsewhere."""
        place = event.position()
        pointed = self.stretch_at(place.x(), place.y())
        row = int(place.y() // self.row_height())
        if pointed is not None:
            line, _, stretch = pointed
            show_tip(event.globalPosition().toPoint(), words_of(line, stretch), self)
        elif 0 <= row < len(self.lines) and place.x() < self.x_of(-math.inf):
            line = self.lines[row]
            style = VERDICT_STYLES[line.verdict]
            words = f"{greek(line.key)}: {style.word}.\n{greek(line.text)}\n{style.meaning}"
            show_tip(event.globalPosition().toPoint(), words, self)
        else:
            QToolTip.hideText()

    # ------------------------------------------------------------------------------- keyboard

    def event(self, event: QEvent) -> bool:
        """Claim the keys of `_accepts_key` before the window's shortcuts."""
        # Without the focus here, the arrows and the space bar step and play the run.
        mine = event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if mine and isinstance(event, QKeyEvent) and self._accepts_key(event):
            event.accept()
            return True
        return super().event(event)

    def _accepts_key(self, event: QKeyEvent) -> bool:
        """Return True for a key in MOVES or PRESSES without modifiers; False without rows."""
        return bool(self.lines) and not event.modifiers() and event.key() in (*MOVES, *PRESSES)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Seek the start of the stretch at the keyboard cursor, or move the cursor."""
        if not self._accepts_key(event):
            event.ignore()
            return
        row, upper, number = self.place
        if event.key() in PRESSES:
            self.moment_requested.emit(self.lines[row].stretches_of_lane(upper)[number].start)
            return
        self._move_selection(event.key())

    def _move_selection(self, key: int) -> None:
        """Move the keyboard cursor: up and down through lanes, left and right through stretches.

        Another lane starts at its first stretch; at the ends the cursor remains. Describe the
        reached stretch in a tip and to screen readers, and emit `row_reached`. Nothing is sought.
        """
        row, upper, number = self.place
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            lanes = 2 * len(self.lines)
            lane = 2 * row + (not upper) + (1 if key == Qt.Key.Key_Down else -1)
            lane = min(max(lane, 0), lanes - 1)
            row, upper, number = lane // 2, lane % 2 == 0, 0
        else:
            number += 1 if key == Qt.Key.Key_Right else -1
        line = self.lines[row]
        number = min(max(number, 0), len(line.stretches_of_lane(upper)) - 1)
        self.place = (row, upper, number)
        stretch = line.stretches_of_lane(upper)[number]
        words = words_of(line, stretch)
        self.setAccessibleDescription(words)
        self.row_reached.emit(row * self.row_height(), (row + 1) * self.row_height())
        box = self.box_of(row, upper, stretch)
        show_tip(self.mapToGlobal(box.bottomLeft().toPoint()), words, self)
        self.update()

    # ------------------------------------------------------------------------------- painting

    def _move_cursor(self) -> None:
        """Repaint the line at the slider's value, at its old and new place, if visible."""
        if not self.isVisible():
            return
        before, self._cursor = self._cursor, round(self.x_of(self._slider.value))
        for x in {before, self._cursor}:
            self.update(QRect(x - 2, 0, 5, self.height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cached picture, the line at the slider's value, and the keyboard cursor."""
        painter = QPainter(self)
        if self._picture is None:
            self._picture = self._paint_rows()
        painter.drawPixmap(0, 0, self._picture)
        if self.lines:
            self._cursor = round(self.x_of(self._slider.value))
            colour = QColor(self._palette.foreground)
            colour.setAlpha(150)
            painter.fillRect(QRect(self._cursor, 0, 1, self.height()), colour)
        if self.hasFocus() and self.lines:
            row, upper, number = self.place
            box = self.box_of(row, upper, self.lines[row].stretches_of_lane(upper)[number])
            painter.setPen(QColor(self._palette.foreground))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(-2.0, -1.5, 1.5, 1.5))
        painter.end()

    def _paint_rows(self) -> QPixmap:
        """Paint all rows, without cursors, into a transparent picture of the widget's size."""
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._font())
        for row, line in enumerate(self.lines):
            self._paint_name(painter, row, line)
            for upper in (True, False):
                for stretch in line.stretches_of_lane(upper):
                    box = self.box_of(row, upper, stretch)
                    hue = hue_of(hue_of_stretch(stretch, upper), self._palette)
                    paint_stretch(painter, box, stretch.state, QColor(hue), upper)
        painter.end()
        return picture

    def _paint_name(self, painter: QPainter, row: int, line: StatementLine) -> None:
        """Paint the verdict's mark, the number, and the sentence left of the axis.

        Long texts are elided; less than 60 pixels of room show no sentence.
        """
        height = self.row_height()
        top, right = float(row * height), self.x_of(-math.inf) - GAP
        mark = QRectF(SIDE, top + 0.5 * (height - MARK), MARK, MARK)
        paint_mark(painter, VERDICT_STYLES[line.verdict], mark, self._palette)
        metrics = QFontMetricsF(painter.font())
        x = mark.right() + 6.0
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        name = short_name(line.name)
        elide = Qt.TextElideMode.ElideRight
        room = max(right - x, 0.0)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.drawText(QRectF(x, top, room, height), flags, metrics.elidedText(name, elide, room))
        x += metrics.horizontalAdvance(name) + 10.0
        room = right - x
        if room > 60.0:
            painter.setPen(QColor(self._palette.muted))
            text = metrics.elidedText(greek(line.text), elide, room)
            painter.drawText(QRectF(x, top, room, height), flags, text)


def words_of(line: StatementLine, stretch: Stretch) -> str:
    """Return a sentence about a stretch: its statement's key, its state, and its times."""
    return raise_powers(f"{line.key}: {stretch.words}.")
