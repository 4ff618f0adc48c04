"""View of the predictor f: over a line of 1-D inputs, or on a plane through the inputs.

Real targets are the colours of the data on a plane, and the ends of stems on a line.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainterPath
from PySide6.QtWidgets import QWidget

from app.state.background_values import PredictorAnswer, PredictorQuestion
from app.state.display import DisplayData
from app.state.node_values import Floats
from app.views.layers import example_entries, show_examples, show_points, show_targets
from app.views.pixels import pixel_width, resolved_text
from app.views.view import Numbers, RunView
from app.widgets.header import HeaderEntry
from app.widgets.items import CurveStack, Markers, Picture, ZeroLine, path_of, pen_of
from app.widgets.overlay import HoverReadout, Overlay
from app.widgets.plot_item import NO_POINTS, Home
from core.figures.level_lines import contour
from core.figures.palette import Palette
from core.figures.predictor import (
    LEVELS,
    LINE_POINTS,
    grid_count,
    label_colours,
    range_around,
    round_up,
    sign_colours,
)
from core.network.recorded_network import why_no_output
from core.numbers import MINUS, number_text, raise_powers

TITLE = "predictor f"
LINE = 1.5  # pixels
REACH = 6.0  # pixels from the pointer within which an example is read


@final
class PredictorView(RunView):
    """Sign of f in the colours of the classes, deeper for larger |f|, and the line f = 0."""

    shows = ("predictor",)
    on_plane = True

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(palette, TITLE, parent, equal=True)
        self._drawn: PredictorAnswer | None = None
        self.plot.add_lines(ZeroLine())
        self.picture = self.plot.add(Picture(), -5.0)
        self.level_lines = self.plot.add(CurveStack(), 0.0)
        self.line = self.plot.add(CurveStack(), 3.0)  # never hidden by many examples
        self.stems = self.plot.add(CurveStack(), 0.5)
        self.examples = self.plot.add(Markers(), 2.0)
        self.plot.view.sigRangeChanged.connect(self._range_changed)

    # --------------------------------------------------------------------------------- content

    def _clear(self) -> None:
        self._drawn = None
        self.picture.show_nothing()
        for curves in (self.level_lines, self.line, self.stems):
            curves.set_curves(())
        self.examples.show_at(NO_POINTS)
        if self.data is not None:
            self.plot.set_equal(self.data.run.dataset.d > 1)

    def _absence(self, data: DisplayData) -> str:
        if words := why_no_output(data.run.experiment.network):
            return words
        d = data.run.dataset.d
        missing = [c + 1 for c in data.coordinates if c >= d and d > 1]
        return f"the inputs have no coordinate {missing[0]}" if missing else ""

    def refit(self, data: DisplayData) -> None:
        """Set the range around the data, the same for all frames, the axes and the data."""
        x = data.run.dataset.x
        if x.shape[1] == 1:
            left, right = range_around(x[:, 0])
            self.plot.set_labels("x", "f(x)" if data.run.network.k == 1 else "class")
            self.plot.set_home(Home(left, right, *self._heights()))
            self._show_on_line(data)
        else:
            columns = [range_around(x[:, c]) for c in data.coordinates]
            self.plot.set_home(Home(*columns[0], *columns[1]))
            first, second = data.coordinates
            self.plot.set_labels(f"coordinate {first + 1}", f"coordinate {second + 1}")
            if not data.run.dataset.real:
                show_examples(self.examples, data, 1.0, data.coordinates, self._palette, True)
        self._show_key(data)

    def _show_on_line(self, data: DisplayData) -> None:
        """Draw examples at their labels if f is fitted to them, else on the line f = 0."""
        x = data.run.dataset.x[:, 0]
        fitted = data.run.loss.fits
        heights = data.run.dataset.y if fitted else np.zeros(x.size)
        show_points(self.examples, np.stack([x, heights], axis=1), data, self._palette)

    def _show_key(self, data: DisplayData) -> None:
        entries = [*example_entries(data.classes, "data", self._palette)]
        if self._has_targets(data):
            entries = [HeaderEntry("data coloured by y", short="data: y")]
        if data.run.network.k == 1 and data.run.dataset.d > 1:
            entries.append(HeaderEntry("f = 0", self._palette.foreground, "line"))
        if data.run.dataset.d > 2:
            entries.append(HeaderEntry("\u00b7 slice: other coordinates 0", short="\u00b7 slice"))
        if self._drawn is not None and data.run.network.k == 1:
            largest = float(np.abs(self._drawn.values).max(initial=0.0))
            if largest > 0.0:
                text = _physical(largest, self._drawn.log10_scale)
                entries.append(HeaderEntry(f"\u00b7 max |f| {text}"))
        self.header.set_key(*entries)

    @staticmethod
    def _has_targets(data: DisplayData) -> bool:
        """Return True if points on a plane are coloured by real targets."""
        return data.run.dataset.real and data.run.dataset.d > 1 and data.run.network.k == 1

    def _recolour(self) -> None:
        self._drawn = None

    # ----------------------------------------------------------------------------------- frame

    def _show(self, data: DisplayData, frame: int) -> None:
        """Request the predictor of the frame, and draw the last one computed."""
        self._request_predictor()
        self.on_values()

    def _range_changed(self) -> None:
        if self.data is not None and self.frame >= 0 and not self._absent:
            self._request_predictor()

    def _request_predictor(self) -> None:
        """Request the predictor at the frame, over the visible range."""
        data = self.data
        assert data is not None
        view_range = self.plot.visible_range()
        first, second = (
            (view_range.left(), view_range.right()),
            (view_range.top(), view_range.bottom()),
        )
        if data.run.dataset.d == 1:
            question = PredictorQuestion(self.frame, (0, 0), (*first, LINE_POINTS), (0.0, 0.0, 0))
        else:
            count = grid_count(data.run.dataset.d, data.m)
            question = PredictorQuestion(
                self.frame, data.coordinates, (*first, count), (*second, count)
            )
        data.background.prediction.request(question)
        if data.background.pending:
            self.values_requested.emit()

    def on_values(self) -> bool:
        """Draw the latest answer, perhaps of an earlier frame: the next one is coming."""
        data = self.data
        answer = data.background.answer if data is not None else None
        if data is None or answer is None or answer is self._drawn or self._absent:
            return False
        if data.run.dataset.d > 1 and answer.question.axes != data.coordinates:
            return False
        self._drawn = answer
        if data.run.dataset.d == 1:
            self._draw_line(data, answer)
        elif data.run.network.k > 1:
            self._draw_classes(data, answer)
        else:
            self._draw_levels(data, answer)
        self._show_key(data)
        return True

    def _draw_line(self, data: DisplayData, answer: PredictorAnswer) -> None:
        home = range_around(data.run.dataset.x[:, 0])
        self.plot.set_home(Home(*home, *self._heights()))
        # 300: double precision ends near 2e308. Class numbers have no scale.
        exponent = min(answer.log10_scale, 300.0) if data.run.network.k == 1 else 0.0
        values = answer.values * 10.0**exponent
        path = path_of(np.linspace(*answer.question.first), values)
        width = LINE * self.plot.devicePixelRatioF()
        self.line.set_curves([(path, pen_of(self._palette.foreground, width))])
        if answer.fitted is not None:
            x, y = data.run.dataset.x[:, 0], data.run.dataset.y
            ends = np.stack([y, answer.fitted * 10.0**exponent], axis=1).ravel()
            stems = path_of(np.repeat(x, 2), ends, np.arange(ends.size) % 2 == 0)
            self.stems.set_curves([(stems, pen_of(self._palette.muted))])

    def _heights(self) -> tuple[float, float]:
        """Return the range of f on the line: a round number, at least 1.2."""
        answer, data = self._drawn, self.data
        assert data is not None
        if data.run.network.k > 1:
            return -0.5, data.classes - 0.5
        largest = 1.0 if data.run.loss.fits else 0.0
        if data.run.dataset.real:
            largest = max(largest, float(np.abs(data.run.dataset.y).max()))
        if answer is not None:
            largest_flat = float(np.abs(answer.values).max(initial=0.0))
            largest = max(largest, largest_flat * 10.0 ** min(answer.log10_scale, 300.0))
        reach = 1.15 * round_up(largest or 1.0)
        return -reach, reach

    def _draw_classes(self, data: DisplayData, answer: PredictorAnswer) -> None:
        self.picture.smooth = False
        self._show_picture(label_colours(answer.values, data.classes, self._palette), answer)

    def _draw_levels(self, data: DisplayData, answer: PredictorAnswer) -> None:
        """Draw f of one output as colours, its contours, and the lines f = 0."""
        palette, values = self._palette, answer.values
        largest = float(np.abs(values).max(initial=0.0))
        share = values / largest if largest > 0.0 else np.zeros(values.shape)
        self.picture.smooth = True
        depth = 1.0
        if self._has_targets(data):
            depth = self._show_targets(data, largest, answer.log10_scale)
        self._show_picture(sign_colours(depth * share, palette), answer)
        faint = pen_of(palette.muted)
        self.level_lines.set_curves(
            [(_path(share, sign * level, answer), faint) for level in LEVELS for sign in (1, -1)]
        )
        width = LINE * self.plot.devicePixelRatioF()
        pen = pen_of(palette.foreground, width)
        line = _path(share, 0.0, answer)
        if answer.zero is not None:
            line = path_of(*answer.zero.T)
        self.line.set_curves([(line, pen)])

    def _show_targets(self, data: DisplayData, largest: float, log10_scale: float) -> float:
        """Show the data by their targets; return the share of the colours used by f."""
        columns = list(data.coordinates)
        targets = data.run.dataset.y * 10.0 ** -min(max(log10_scale, -300.0), 300.0)
        reach = max(largest, float(np.abs(targets).max(initial=0.0)))
        points = data.run.dataset.x[:, columns]
        show_targets(self.examples, points, targets, reach or 1.0, self._palette)
        return largest / reach if reach > 0.0 else 1.0

    def _show_picture(self, colours: Floats, answer: PredictorAnswer) -> None:
        """Show colours (rows, columns, 3), 0 to 255, with a pixel around each point of the grid."""
        (left, right, columns), (low, high, rows) = answer.question.first, answer.question.second
        dx, dy = (right - left) / (columns - 1), (high - low) / (rows - 1)
        place = QRectF(left - dx / 2, low - dy / 2, dx * columns, dy * rows)
        opaque = np.full((*colours.shape[:2], 1), 255.0)
        rounded = np.rint(np.concatenate([colours, opaque], axis=2)).astype(np.uint8)
        self.picture.show_colours(rounded, place)

    def _drawn_numbers(self, data: DisplayData) -> Numbers:
        """Return inputs, and the predictor there."""
        answer = self._drawn
        if answer is None:
            return ()
        scale = 10.0 ** min(answer.log10_scale, 300.0) if data.run.network.k == 1 else 1.0
        values, first = scale * answer.values, np.linspace(*answer.question.first)
        if data.run.dataset.d == 1:
            return (("x", first), ("f", values))
        x, y = np.meshgrid(first, np.linspace(*answer.question.second))
        names = (str(axis.labelText) for axis in (self.plot.bottom, self.plot.side))
        columns = (x.ravel(), y.ravel(), values.ravel())
        return tuple(zip((*names, "f"), columns, strict=True))

    # --------------------------------------------------------------------------------- pointer

    def _readout_at(self, x: float, y: float) -> HoverReadout | None:
        """Return the predictor at the grid point nearest to the pointer."""
        answer, data = self._drawn, self.data
        if answer is None or data is None or not self.plot.plot_area().contains(x, y):
            return None
        if pointed := self._pointed_target(data, answer, x, y):
            return pointed
        point = self.plot.place(x, y)
        column, first = _on_grid(point[0], answer.question.first)
        row, second = (0, point[1])
        if data.run.dataset.d > 1:
            row, second = _on_grid(point[1], answer.question.second)
        value = float(np.atleast_2d(answer.values)[row, column])
        first_text = resolved_text(first, pixel_width(self.plot))
        if data.run.dataset.d > 1:
            first_text += f", {resolved_text(second, self.plot.pixel_height())}"
        if data.run.network.k > 1:
            return HoverReadout(first, second, f"({first_text})\nclass {value:.0f}")
        if data.run.dataset.d == 1:
            second = value * 10.0 ** min(answer.log10_scale, 300.0)
            text = resolved_text(second, self.plot.pixel_height())
        else:
            text = _physical(abs(value), answer.log10_scale) if value else "0"
            text = f"{MINUS}{text}" if value < 0.0 else text
        return HoverReadout(first, second, f"({first_text})\nf = {text}")

    def _pointed_target(
        self, data: DisplayData, answer: PredictorAnswer, x: float, y: float
    ) -> HoverReadout | None:
        """Return target, value and misfit of the example under the pointer."""
        points = self.examples.points
        place = self.plot.find_nearest(points, x, y, REACH) if answer.fitted is not None else -1
        if answer.fitted is None or not 0 <= place < answer.fitted.size:
            return None
        if data.run.dataset.d == 1:  # points on a line are sorted
            own = np.stack([data.run.dataset.x[:, 0], data.run.dataset.y], axis=1)
            place = int(np.argmin(np.abs(own - points[place]).sum(axis=1)))
            points = own
        target = float(data.run.dataset.y[place])
        f = float(answer.fitted[place]) * 10.0 ** min(answer.log10_scale, 300.0)
        numbers = (number_text(value, 3) for value in (target, f, target - f))
        text = "y = {}, f = {}\ny \u2212 f = {}".format(*map(raise_powers, numbers))
        place_on_axis, height = points[place].tolist()
        return HoverReadout(place_on_axis, height, text)

    def _mark_nodes(self, data: DisplayData) -> None:
        self.plot.set_overlay(Overlay())


def _on_grid(place: float, axis: tuple[float, float, int]) -> tuple[int, float]:
    """Return number and place of the nearest point of a grid."""
    low, high, count = axis
    step = (high - low) / (count - 1)
    number = int(np.clip(round((place - low) / step), 0, count - 1))
    return number, low + number * step


def _path(share: Floats, level: float, answer: PredictorAnswer) -> QPainterPath:
    """Return the level line in the axes' units."""
    (left, right, columns), (low, high, rows) = answer.question.first, answer.question.second
    points = contour(share, level).reshape(-1, 2)
    x = left + points[:, 0] * (right - left) / (columns - 1)
    y = low + points[:, 1] * (high - low) / (rows - 1)
    return path_of(x, y, np.arange(x.size) % 2 == 0)


def _physical(value: float, log10_scale: float) -> str:
    """Return a value times a power of ten as text, even if it overflows."""
    exponent = math.log10(value) + log10_scale
    if abs(exponent) > 300.0:
        return raise_powers(f"10^{exponent:.0f}")
    return raise_powers(number_text(10.0**exponent, 3))
