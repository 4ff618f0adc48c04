"""Live plot of a whole study: a column over an axis, a line for each value of the others.

Means with one standard deviation each way; hollow points have runs that did not fit. A click opens
the run of a point, or asks which one where it is a mean.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QPainterPath, QPen
from PySide6.QtWidgets import QLabel, QMenu, QToolTip, QVBoxLayout, QWidget

from app.study.cell_table import short_key
from app.study.sweep_lines import WIDE_X, WIDE_Y, Floats, SweepLine, SweepLines, spans_decades
from app.widgets.axis import logarithmic, plain
from app.widgets.items import CurveStack, Markers, Style, Symbol, path_of, pen_of
from app.widgets.keyboard import PlotFocus
from app.widgets.labels import menu_text, show_tip
from app.widgets.layouts import add_all, space
from app.widgets.overlay import Overlay
from app.widgets.plot_item import Home, Plot
from app.widgets.screen_text import shown_number
from core.figures.palette import LIGHT, Palette, rgba, time_colours
from core.figures.ticks import Ticks
from core.studies.tables import value_text

if TYPE_CHECKING:
    from core.studies.cell_table import Point

MARKER = 8.0  # pixels
CATEGORICAL = 6  # lines with a colour each; more lines take colours of the time ramp
NOTHING = "Points appear here as runs finish."
PEN = 1.6
WIDEST = "0.00 \u00d7 10\u207b\u2070\u2070"


@final
class WordTicks:
    """Ticks at 0, 1, 2, ... with words."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words

    def __call__(self, low: float, high: float, max_ticks: int) -> Ticks:
        return tuple(
            (float(k), word.replace("_", " "))
            for k, word in enumerate(self._words)
            if low <= k <= high
        )


@final
class SweepPlot(QWidget):
    """Lines of one column over one axis."""

    run_requested = Signal(object, bool)  # path, True to open it beside the shown runs

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = palette
        self.shown = SweepLines()
        self._axis = self._column = ""
        self._log = [False, False]
        self._forced: list[bool | None] = [None, None]
        self._hit: Point | None = None
        self.key = QLabel(self, textFormat=Qt.TextFormat.RichText, wordWrap=True)
        self.key.setAccessibleName("Legend")
        self.key.setContentsMargins(8, 4, 8, 4)
        self.plot = Plot(palette, horizontal=" ", vertical=" ", widest=WIDEST, parent=self)
        self.plot.setAccessibleName("Runs of the study")
        PlotFocus(self.plot)  # the plot owns it
        self.bars = self.plot.add(CurveStack(), 0.0)
        self.means = self.plot.add(CurveStack(), 1.0)
        self.markers = self.plot.add(Markers(), 2.0)
        self.menu = QMenu(self)
        self.menu.triggered.connect(self._on_chosen)
        add_all(space(QVBoxLayout(self), spacing=0), (self.plot, 1), self.key)
        self.plot.clicked.connect(self._on_clicked)
        self.plot.hovered.connect(self._on_hovered)
        self.plot.pointer_left.connect(QToolTip.hideText)
        self.setMouseTracking(True)
        self._draw()

    # --------------------------------------------------------------------------------- showing

    def show_lines(self, lines: SweepLines, axis: str, column: str) -> None:
        """Show lines; keep a zoom while the axes are the same."""
        if (axis, column) != (self._axis, self._column):
            self._axis, self._column = axis, column
            self.plot.reset_range()
        self.shown = lines
        self._draw()

    def set_logarithmic(self, horizontal: bool | None, vertical: bool | None) -> None:
        """Set which axes are logarithmic; None: by the values."""
        self._forced = [horizontal, vertical]
        self.plot.reset_range()
        self._draw()

    @property
    def logarithmic(self) -> tuple[bool, bool]:
        """True for each axis that is logarithmic now."""
        return self._log[0], self._log[1]

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.plot.set_colours(palette)
        self._draw()

    def _draw(self) -> None:
        x, y = self.shown.spans()
        words = self.shown.words
        self._log = [not words and self._scale(0, x, WIDE_X), self._scale(1, y[y > 0.0], WIDE_Y, y)]
        self.plot.bottom.set_ticks(
            WordTicks(words) if words else logarithmic if self._log[0] else plain
        )
        self.plot.side.set_ticks(logarithmic if self._log[1] else plain)
        name = short_key(self._axis) if self._axis else " "
        self.plot.set_labels(name, self._column.replace("_", " ") or " ")
        self.plot.set_overlay(Overlay(note="" if self.shown.lines else NOTHING))
        self.plot.set_home(self._home(x, y))
        self._draw_lines()
        self._show_key()

    def _scale(
        self, axis: int, positive: Floats, ratio: float, all_values: Floats | None = None
    ) -> bool:
        """Return True if an axis is logarithmic: as set, if it can be, or by its values."""
        if positive.size == 0:
            return False
        forced = self._forced[axis]
        if forced is not None:
            # A logarithmic vertical axis may omit values below 0; on the horizontal one they have
            # no place.
            return forced and (axis == 1 or bool(positive.min() > 0.0))
        if axis == 1 and self._column.endswith("error"):
            return False  # these numbers converge to 0
        means = [line.mean for line in self.shown.lines] if all_values is not None else [positive]
        values = np.concatenate(means)
        return spans_decades(values[np.isfinite(values)], ratio)

    def _to_axis(self, values: Floats, axis: int) -> Floats:
        """Return values on the axis; NaN if a logarithm cannot show them."""
        if not self._log[axis]:
            return values
        placed = np.full(values.shape, np.nan)
        positive = values > 0.0
        placed[positive] = np.log10(values[positive])
        return placed

    def _home(self, x: Floats, y: Floats) -> Home:
        """Return the range of axes around points in the units of the data."""
        x_range = _pad_range(self._to_axis(x, 0), 0.06)
        y_range = _pad_range(self._to_axis(y, 1), 0.08)
        return Home(x_range[0], x_range[1], y_range[0], y_range[1])

    # ----------------------------------------------------------------------------------- lines

    def _colours(self) -> list[str]:
        count, palette = len(self.shown.lines), self._palette
        if count <= CATEGORICAL:
            first = palette.positive if palette.name == LIGHT.name else palette.references[3]
            palette_colours = (palette.negative, *palette.references, palette.positive)
            chosen = [first, *(colour for colour in palette_colours if colour != first)]
            return chosen[:count]
        ramp = time_colours(np.linspace(0.0, 1.0, count), palette)[:, :3]
        return ["#" + "".join(f"{channel:02x}" for channel in row) for row in ramp.tolist()]

    def _draw_lines(self) -> None:
        means: list[tuple[QPainterPath, QPen]] = []
        bars: list[tuple[QPainterPath, QPen]] = []
        styles, points, colours = [], [np.empty((0, 2))], [np.empty(0, dtype=np.int64)]
        coloured = zip(self.shown.lines, self._colours(), strict=True)
        for number, (line, colour) in enumerate(coloured):
            x, mean = self._to_axis(line.x, 0), self._to_axis(line.mean, 1)
            # Words have no order along which a line could run.
            if not self.shown.words:
                is_known = np.isfinite(mean) & np.isfinite(x)
                means.append((path_of(x[is_known], mean[is_known]), pen_of(colour, PEN)))
            bars.append((self._bar_path(line, x, mean), pen_of(rgba(colour, 0.6))))
            # Two styles a line, filled and hollow: index 2 k, or 2 k + 1 if runs did not fit.
            styles += [
                Style(colour, MARKER, Symbol.DISC, self._palette.background),
                Style(colour, MARKER, Symbol.RING, self._palette.background),
            ]
            points.append(np.stack([x, mean], axis=1))
            colours.append(2 * number + line.hollow.astype(np.int64))
        self.means.set_curves(means)
        self.bars.set_curves(bars)
        self.markers.set_styles(*styles)
        self.markers.show_at(np.concatenate(points), np.concatenate(colours))

    def _bar_path(self, line: SweepLine, x: Floats, mean: Floats) -> QPainterPath:
        """Return a vertical bar at each point; a decade of it if its logarithm has no lower end."""
        low = self._to_axis(line.low, 1)
        low = np.where(np.isfinite(low), low, mean - 1.0)
        high = self._to_axis(line.high, 1)
        is_finite = np.isfinite(x) & np.isfinite(mean) & (line.high > line.low)
        x, low, high = x[is_finite], low[is_finite], high[is_finite]
        xs = np.repeat(x, 2)
        ys = np.stack([low, high], axis=1).ravel()
        return path_of(xs, ys, np.tile([1, 0], x.size))

    def _show_key(self) -> None:
        keys = [dict(line.key) for line in self.shown.lines]
        varied = [k for k in (keys[0] if keys else ()) if any(o.get(k) != keys[0][k] for o in keys)]
        entries = [
            f"<span style='color:{colour}'>\u25cf</span>\u00a0"
            + html.escape(line_name([(k, key[k]) for k in varied])).replace(" ", "\u00a0")
            for key, colour in zip(keys, self._colours(), strict=True)
            if varied
        ]
        self.key.setText(" &nbsp; ".join(entries))
        self.key.setVisible(bool(entries))

    @property
    def note(self) -> str:
        """Explanation of the points, in a line."""
        max_runs = self.shown.max_runs
        if max_runs == 0:
            return ""
        text = "One run per point."
        if max_runs > 1:
            text = f"Means over up to {max_runs} runs; bars show \u00b1 1 standard deviation."
        return text + (" Hollow: some runs did not fit." if self.shown.any_hollow else "")

    # ----------------------------------------------------------------------------------- mouse

    def _point_at(self, x: float, y: float) -> Point | None:
        """Return the point near a pixel, or None."""
        places = [
            np.stack([self._to_axis(line.x, 0), self._to_axis(line.mean, 1)], axis=1)
            for line in self.shown.lines
        ]
        if not places:
            return None
        nearest = self.plot.find_nearest(np.concatenate(places), x, y)
        points = [point for line in self.shown.lines for point in line.points]
        return None if nearest < 0 else points[nearest]

    def _on_hovered(self, x: float, y: float) -> None:
        point = self._point_at(x, y)
        # The tooltip stays where it appeared instead of following the pointer.
        if point is self._hit:
            return
        self._hit = point
        self.plot.viewport().setCursor(
            Qt.CursorShape.PointingHandCursor if point is not None else Qt.CursorShape.ArrowCursor
        )
        if point is None:
            QToolTip.hideText()
            return
        place = self.plot.viewport().mapToGlobal(QPoint(round(x), round(y)))
        show_tip(place, self.tip_of(point), self.plot.viewport())

    def tip_of(self, point: Point) -> str:
        """Describe a point in words."""
        where = line_name(((self._axis, point.x), *point.line))
        spread = point.spread
        value = f"{self._column.replace('_', ' ')} {shown_number(spread.mean, 4)}"
        if spread.count > 1:
            value += f" \u00b1 {shown_number(spread.sd, 2)} over {spread.count} runs"
        unfit = f"\n{spread.unfit} of {len(point.runs)} did not fit" if spread.unfit else ""
        if spread.unfit and spread.excluded:
            unfit += " and are excluded"
        return f"{where}\n{value}{unfit}"

    def _on_clicked(self, x: float, y: float) -> None:
        point = self._point_at(x, y)
        if point is None:
            return
        QToolTip.hideText()
        if len(point.runs) == 1:
            self._request_run(point.runs[0].path)
            return
        self.menu.clear()
        for run in sorted(point.runs, key=lambda member: member.value):
            seeds = ", ".join(f"{short_key(k)} {value_text(v)}" for k, v in run.seeds)
            fit = "" if run.fit is not False else " (did not fit)"
            action = self.menu.addAction(menu_text(f"{seeds}: {shown_number(run.value, 4)}{fit}"))
            action.setData(str(run.path))
        place = QPointF(x, y).toPoint()
        self.menu.popup(self.plot.viewport().mapToGlobal(place))

    def _on_chosen(self, action: QAction) -> None:
        self._request_run(action.data())

    def _request_run(self, path: object) -> None:
        add = QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier
        self.run_requested.emit(path, bool(add))


def line_name(key: Sequence[tuple[str, object]]) -> str:
    """Name a line by its values of axes.

    >>> line_name((("data.n", 16), ("variant", "normalised_gd")))
    'n = 16, normalised gd'
    """
    parts = []
    for name, value in key:
        text = shown_number(value) if isinstance(value, float) else value_text(value)
        parts.append(text.replace("_", " ") if name == "variant" else f"{short_key(name)} = {text}")
    return ", ".join(parts)


def _pad_range(values: Floats, share: float) -> tuple[float, float]:
    """Return the range of the finite values with some room; (0, 1) without any."""
    values = values[np.isfinite(values)]
    if values.size == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    pad = share * (high - low) or 0.1 * abs(high) or 0.5
    return low - pad, high + pad
