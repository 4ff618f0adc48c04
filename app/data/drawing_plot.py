"""Plot for drawing points: clicks add, move, flip and select them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.data.sketch import Row, Sketch, move_points
from app.widgets.items import CurveStack, Markers, Style, Symbol, ZeroLine, path_of, pen_of
from app.widgets.layouts import add_all, space
from app.widgets.overlay import Overlay
from app.widgets.plot_item import CLICK_PIXELS, Home, Plot
from core.figures.palette import Palette, class_colours

Floats = NDArray[np.float64]
HIT = 10.0  # pixels within which a click hits a point
MARKER, RING = 11.0, 19.0
HEIGHT = 1.6  # range of labels, for points on a line
EMPTY = Home(-1.2, 1.2, -1.2, 1.2)
NOTE = "Click to add a point with the label chosen above"
STEPS = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Up: (0.0, 1.0),
    Qt.Key.Key_Down: (0.0, -1.0),
}
FAR = 10.0  # steps at once, with Shift
MOST_LINES = 400  # of the grid, whose step is that of the horizontal axis


def nice_step(width: float, parts: int) -> float:
    """Return 1, 2 or 5 times a power of ten, about a part of a width.

    >>> nice_step(2.4, 24), nice_step(3.0, 100)
    (0.1, 0.05)
    """
    raw = max(width, 1e-300) / parts
    power = 10.0 ** math.floor(math.log10(raw))
    digit = next(k for k in (1, 2, 5, 10) if raw <= k * power * (1.0 + 1e-9))
    return float(f"{digit * power:.3g}")


def to_step(value: float, step: float) -> float:
    """Round to the nearest multiple of a step, with at most the digits of the step.

    >>> to_step(0.30000000000000004, 0.1), to_step(-0.01, 0.05)
    (0.3, 0.0)
    """
    digits = max(0, 1 - math.floor(math.log10(step)))
    return round(round(value / step) * step, digits) + 0.0


@final
class DrawingPlot(QWidget):
    """Plot of a sketch that reports edits by mouse and arrow keys.

    point_added(row): a click on an empty place. moved(sketch, gesture): points were dragged; a
    gesture is one step. point_flipped(point): a click with the right button. points_picked(points):
    another selection.
    """

    point_added = Signal(object)
    points_moved = Signal(object, str)
    point_flipped = Signal(int)
    points_picked = Signal(object)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = 1.0
        self.snaps = False
        self._sketch = Sketch()
        self._gestures = 0
        self._pressed: QPointF | None = None
        self._held = -1  # point under the pressed button, or -1
        self._before = Sketch()  # points when the button was pressed
        self._wide = False  # True once the pointer has moved far enough to drag
        self._palette = palette
        self.plot = Plot(palette, horizontal=" ", vertical=" ", equal=True, parent=self)
        self.plot.setAccessibleName("Points")
        self.plot.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.plot.add_lines(ZeroLine())
        self.plot.add_lines(ZeroLine(vertical=True))
        self.grid = self.plot.add(CurveStack(), -9.0)
        self.rings = self.plot.add(Markers(), 0.0)
        self.markers = self.plot.add(Markers(), 1.0)
        add_all(space(QVBoxLayout(self)), (self.plot, 1))
        self.plot.viewport().installEventFilter(self)
        self.plot.installEventFilter(self)
        self.plot.view.sigRangeChanged.connect(self._draw_grid)
        self.set_colours(palette)
        self.fit()

    # --------------------------------------------------------------------------------- showing

    def show_sketch(self, sketch: Sketch) -> None:
        """Draw a sketch; the range changes only with the dimension."""
        has_other_dimension = sketch.d != self._sketch.d
        self._sketch = sketch
        places = self.places(sketch)
        labels = np.array([row[-1] > 0 for row in sketch.points], dtype=np.int64)
        self.markers.show_at(places, labels)
        self.rings.show_at(places[list(sketch.chosen)])
        self.plot.set_overlay(Overlay(note="" if sketch.points else NOTE))
        if has_other_dimension:
            self.fit()

    @staticmethod
    def places(sketch: Sketch) -> Floats:
        """Return the places (n, 2) of points on the axes; on a line the label is the height."""
        return np.array([row[:2] for row in sketch.points], dtype=np.float64).reshape(-1, 2)

    def fit(self) -> None:
        """Set a range with all points in it, and the origin where it is near."""
        on_line = self._sketch.d == 1
        self.plot.set_equal(not on_line)
        names = ("x", "label") if on_line else ("coordinate 1", "coordinate 2")
        self.plot.set_labels(*names)
        places = self.places(self._sketch)
        ranges = [_range_around(places[:, axis]) for axis in (0, 1)] if places.size else None
        if ranges is None:
            ranges = [(EMPTY.left, EMPTY.right), (EMPTY.bottom, EMPTY.top)]
        if on_line:
            ranges[1] = (-HEIGHT, HEIGHT)
        self.plot.reset_range()
        self.plot.set_home(Home(*ranges[0], *ranges[1]))
        self._draw_grid()

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.plot.set_colours(palette)
        low, high = class_colours(2, palette)
        self.markers.set_styles(Style(low, MARKER, Symbol.CROSS), Style(high, MARKER, Symbol.PLUS))
        self.rings.set_styles(Style(palette.foreground, RING, Symbol.RING))
        self._draw_grid()

    def set_snaps(self, snaps: bool) -> None:
        """Turn snapping to a grid on or off."""
        self.snaps = snaps
        self._draw_grid()

    def _draw_grid(self) -> None:
        view_range, curves = self.plot.visible_range(), []
        if self.snaps and view_range.width() > 0.0:
            step, pen = self.steps()[0], pen_of(self._palette.grid)
            spans = (
                (view_range.left(), view_range.right()),
                (view_range.top(), view_range.bottom()),
            )
            for axis in (0,) if self._sketch.d == 1 else (0, 1):
                low, high = spans[axis]
                if (high - low) / step > MOST_LINES:
                    continue
                lines = np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step
                positions, ends = np.repeat(lines, 2), np.tile(spans[1 - axis], lines.size)
                x, y = (positions, ends) if axis == 0 else (ends, positions)
                curves.append((path_of(x, y, np.tile([1, 0], lines.size)), pen))
        self.grid.set_curves(curves)

    # -------------------------------------------------------------------------------- numbers

    def steps(self) -> tuple[float, float]:
        """Return the grid's step, and that of a pixel, a power of ten."""
        view_range, box = self.plot.visible_range(), self.plot.plot_area()
        pixel = view_range.width() / max(box.width(), 1.0)
        return nice_step(view_range.width(), 24), 10.0 ** math.floor(math.log10(max(pixel, 1e-300)))

    def round_coordinate(self, value: float) -> float:
        """Round a coordinate to the grid, or to the digits that pixels can separate."""
        return to_step(value, self.steps()[0 if self.snaps else 1])

    def row_at(self, x: float, y: float) -> Row:
        """Return a new point at a place of the axes, rounded, with its label.

        The label is that chosen for new points; on a line, the sign of y.
        """
        if self._sketch.d == 1:
            return (self.round_coordinate(x), 1.0 if y >= 0.0 else -1.0)
        return (self.round_coordinate(x), self.round_coordinate(y), self.label)

    def middle(self) -> Row:
        """Return a point in the middle of the range, for use without a mouse."""
        centre = self.plot.visible_range().center()
        height = centre.y() if self._sketch.d == 2 else self.label
        return self.row_at(centre.x(), height)

    def shift_selection(self, sketch: Sketch, x: float, y: float) -> Sketch:
        """Return a sketch with its selected points moved; on a line heights set labels."""
        step, places = self.steps()[0 if self.snaps else 1], dict[int, Row]()
        for number in sketch.chosen:
            row = sketch.points[number]
            first = to_step(row[0] + x, step) if x else row[0]
            if sketch.d == 1:
                height = row[-1] + y
                label = row[-1] if not y else (1.0 if height >= 0.0 else -1.0)
                places[number] = (first, label)
            else:
                second = to_step(row[1] + y, step) if y else row[1]
                places[number] = (first, second, row[-1])
        return move_points(sketch, places)

    # ----------------------------------------------------------------------------------- events

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if watched is self.plot:
            return isinstance(event, QKeyEvent) and self._handle_key(event)
        if not isinstance(event, QMouseEvent):
            return super().eventFilter(watched, event)
        # Two quick clicks add two points; a double click does not reset the range here.
        if kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
            return self._press(event)
        if kind == QEvent.Type.MouseMove and self._pressed is not None:
            self._move(event)
            return True
        if kind == QEvent.Type.MouseButtonRelease and self._pressed is not None:
            if event.button() == Qt.MouseButton.LeftButton:
                self._release(event)
            return True
        return super().eventFilter(watched, event)

    def _hit(self, point: QPointF) -> int:
        """Return the number of the point under the pointer; -1 for none."""
        return self.plot.find_nearest(self.places(self._sketch), point.x(), point.y(), HIT)

    def _press(self, event: QMouseEvent) -> bool:
        """Start a press; the right button flips the label of a point. Return True if used."""
        point, hit = event.position(), self._hit(event.position())
        if self._pressed is not None:  # a second button, pressed while the first is held
            return True
        self.plot.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() == Qt.MouseButton.RightButton and hit >= 0:
            self.point_flipped.emit(hit)
            return True
        if event.button() != Qt.MouseButton.LeftButton:
            return False  # the plot pans
        self._pressed, self._held, self._wide = point, hit, False
        several = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        selected = self._sketch.selected
        if hit >= 0 and event.modifiers() & several:
            self.points_picked.emit(selected ^ {hit})
        elif hit >= 0 and hit not in selected:
            self.points_picked.emit(frozenset({hit}))
        self._before = self._sketch
        self._gestures += 1
        return True

    def _move(self, event: QMouseEvent) -> None:
        """Move the held points, or draw a box if none is held, once the press is a drag."""
        assert self._pressed is not None
        point = event.position()
        self._wide = self._wide or (point - self._pressed).manhattanLength() > CLICK_PIXELS
        if not self._wide:
            return
        if self._held < 0:
            box = QRectF(self._pressed, point).normalized()
            self.plot.set_overlay(replace(self.plot.overlay, box=box))
            return
        start = self.plot.place(self._pressed.x(), self._pressed.y())
        now = self.plot.place(point.x(), point.y())
        way = (now[0] - start[0], now[1] - start[1])
        if self._before.d == 1:  # the label flips where the classes meet, not half a step earlier
            way = (way[0], way[1] if now[1] * start[1] < 0.0 else 0.0)
        self.points_moved.emit(self.shift_selection(self._before, *way), f"pull {self._gestures}")

    def _release(self, event: QMouseEvent) -> None:
        """End a press: keep moved points, select those in the box, or add a point at a click."""
        pressed, self._pressed = self._pressed, None
        assert pressed is not None
        point = event.position()
        if self._held >= 0:
            return
        if self._wide:
            self.plot.set_overlay(replace(self.plot.overlay, box=None))
            places = self.plot.pixels(self.places(self._sketch))
            box = QRectF(pressed, point).normalized()
            inside = [k for k, (x, y) in enumerate(places.tolist()) if box.contains(x, y)]
            adds = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.points_picked.emit(
                frozenset(inside) | (self._sketch.selected if adds else frozenset())
            )
        elif self.plot.plot_area().contains(point):
            self.point_added.emit(self.row_at(*self.plot.place(point.x(), point.y())))

    def _handle_key(self, event: QKeyEvent) -> bool:
        """Move the selected points by arrow keys; Escape clears the selection."""
        if event.type() != QEvent.Type.KeyPress or not self._sketch.selected:
            return False
        if event.key() == Qt.Key.Key_Escape:
            self.points_picked.emit(frozenset())
            return True
        if event.key() not in STEPS:
            return False
        x, y = STEPS[Qt.Key(event.key())]
        step = self.steps()[0] if self.snaps else nice_step(self.plot.visible_range().width(), 100)
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            step *= FAR
        height = 2.0 * y if self._sketch.d == 1 else y * step
        numbers = ",".join(map(str, self._sketch.chosen))
        self.points_moved.emit(
            self.shift_selection(self._sketch, x * step, height), f"keys {numbers}"
        )
        return True


def _range_around(values: Floats) -> tuple[float, float]:
    """Return a range around values, with the origin where it is near, and some room."""
    low, high = float(values.min()), float(values.max())
    width = high - low
    if low - width <= 0.0 <= high + width:
        low, high = min(low, 0.0), max(high, 0.0)
    room = 0.2 * (high - low) or max(0.2 * abs(high), 1.0)
    return low - room, high + room
