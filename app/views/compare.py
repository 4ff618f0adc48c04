"""Plot of several runs as lines, with bands where they are repetitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import final

import numpy as np
from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QColor, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.state.node_values import Floats
from app.style import LEAST_PLOT
from app.views.compare_axes import RANKS, ComparedAxis, padded_range
from app.views.pixels import (
    TOLERANCE,
    nearest_point,
    pixel_width,
    points_to_draw,
    resolved_text,
)
from app.views.view import Numbers, render_widget
from app.widgets.end_labels import EndLabel, EndLabels
from app.widgets.header import ViewHeader
from app.widgets.items import Areas, CurveStack, Markers, Style, ZeroLine, path_of, pen_of
from app.widgets.keyboard import PlotFocus
from app.widgets.labels import rich_tip
from app.widgets.layouts import add_all, space
from app.widgets.levels import DASHES, NEAR, LevelLine
from app.widgets.overlay import HoverReadout, Overlay
from app.widgets.plot_item import Drag, Home, Plot
from app.widgets.screen_text import greek
from core.comparison.alignment import interpolate
from core.comparison.comparison import ComparedLine, Comparison
from core.comparison.question import CompareQuestion
from core.figures.palette import Palette, rgba, run_colour
from core.numbers import raise_powers

FAINT, SHADE = 0.4, 0.16  # opacity: a line beyond the cursor, a band
STRONG, STRONGER, DOT = 1.5, 3.0, 7.0  # pixels: line, emphasised line, dot
BESIDE = 0.35  # opacity of the other lines while some are emphasised
REACH = 2.5  # a reference line may raise the range to this multiple of the highest line
ROOM = 0.06  # above and below the lines, as a share of their range
NOTHING = "no data yet"


@final
class CompareView(QWidget):
    """Lines of a comparison: strong up to their runs' present place, then faint."""

    place_requested = Signal(float)
    """Place of the axis (core.comparison.alignment) to seek."""
    menu_requested = Signal(QPoint)
    """Place on the screen."""

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = palette
        self._comparison: Comparison | None = None
        self._places: tuple[float, ...] = ()  # position of each line at the cursor
        self._levels: tuple[LevelLine, ...] = ()
        self._emphasised: frozenset[int] = frozenset()  # numbers of lines
        self.axis, self._thinned_for = ComparedAxis(), 0.0
        self._reach = (math.inf, -math.inf)  # over all moments of the neurons shown
        self._range = Home(0.0, 1.0, 0.0, 1.0)  # range of the lines, without their labels
        self._common: tuple[float, float] | None = None  # range of time of all plots
        self.header = ViewHeader(palette, "", movable=True, keyed=False)
        self.plot = Plot(palette, drag=Drag.SCRUB)
        self.plot.setMinimumSize(*LEAST_PLOT)
        self.plot.setAcceptDrops(False)  # a file dropped there is the page's
        self.focus = PlotFocus(self.plot)
        self.focus.menu_requested.connect(self.plot.request_menu)
        self.plot.add_lines(ZeroLine())
        self.bands = self.plot.add(Areas(), -2.0)
        self.faint = self.plot.add(CurveStack())
        self.strong = self.plot.add(CurveStack(), 1.0)
        self.dots = self.plot.add(Markers(), 2.0)
        self.level_lines = self.plot.add(CurveStack(), -1.0)
        self.labels = self.plot.add(EndLabels(), 3.0)
        self.plot.plot_dragged.connect(self._request_moment)
        self.plot.hovered.connect(self._point)
        self.plot.pointer_left.connect(self._point_nowhere)
        self.plot.view.sigRangeChanged.connect(self._scale_changed)
        self.plot.view.sigResized.connect(self._scale_changed)
        for part in (self.header, self.plot):
            part.menu_requested.connect(self.menu_requested)
        add_all(space(QVBoxLayout(self), spacing=0), self.header, (self.plot, 1))

    # --------------------------------------------------------------------------------- content

    def colours(self) -> tuple[str, ...]:
        """Return the colour of each line: that of its run."""
        shades = self._comparison.line_shades if self._comparison is not None else ()
        return tuple(run_colour(shade, self._palette) for shade in shades)

    def show_comparison(self, comparison: Comparison, levels: Sequence[LevelLine] = ()) -> None:
        """Show other lines, with reference levels; keep a zoom for the same question."""
        before, self._comparison = self._comparison, comparison
        self._levels = tuple(levels)
        if before is None or before.question != comparison.question:
            self.plot.reset_range()
            self._reach = (math.inf, -math.inf)
        self._places = ()
        from core.figures.comparison import words_for

        words = (words_for(comparison.question), comparison.moment)
        self.header.set_title(greek(", ".join(filter(None, words))))
        self.plot.setAccessibleName(f"{self.header.title}, compared runs")
        self._redraw()

    @property
    def question(self) -> CompareQuestion | None:
        """Question that the lines answer."""
        return self._comparison.question if self._comparison is not None else None

    @property
    def extent(self) -> tuple[float, float]:
        """Ends of the horizontal axis that the lines need."""
        return self._range.left, self._range.right

    def set_common(self, extent: tuple[float, float] | None, widest_label: float) -> None:
        """Share the range of the horizontal axis, and room for labels, with adjacent plots."""
        self._common = extent
        self.labels.set_room(widest_label)
        self._set_home()

    def set_colours(self, palette: Palette) -> None:
        self._palette = palette
        self.plot.set_colours(palette)
        self.header.set_colours(palette)
        self._redraw()

    def emphasise(self, lines: frozenset[int]) -> None:
        """Draw some lines wide and the others pale; all alike if there are none."""
        if lines != self._emphasised:
            self._emphasised = lines
            self._show_strong()

    def _redraw(self) -> None:
        comparison = self._comparison
        lines = comparison.lines if comparison is not None else ()
        colours = self.colours()
        pairs = list(zip(lines, colours, strict=True))
        self._show_labels()
        self.dots.set_styles(*(Style(one, DOT, edge=self._palette.background) for one in colours))
        known_lines = [line for line in lines if np.isfinite(line.values).any()]
        self._fit(known_lines)
        self.bands.set_areas([(self._area(x), _shade(one)) for x, one in pairs if x.has_band])
        self._show_faint()
        self._show_strong()

    def _show_labels(self) -> None:
        """Write the name of each line and level at its end."""
        labels = []
        lines = self._comparison.lines if self._comparison is not None else ()
        for line, colour in zip(lines, self.colours(), strict=True):
            x = self.axis.to_axis(line.places)
            is_known = np.isfinite(x) & np.isfinite(line.values)
            if is_known.any():
                labels.append(
                    EndLabel(raise_powers(line.label), colour, x[is_known], line.values[is_known])
                )
        nowhere = np.empty(0)
        labels += [
            EndLabel(level.label, level.colour, nowhere, np.array([level.value]))
            for level in self._levels
        ]
        self.labels.set_labels(labels, self.plot.lettering()[1], self._palette)

    def _show_faint(self) -> None:
        """Draw the whole lines, with as few points as they need at this scale."""
        self._thinned_for = self.plot.pixel_height()
        lines = self._comparison.lines if self._comparison is not None else ()
        self.faint.set_curves(
            [
                (self._path(line.places, line.values), pen_of(rgba(colour, FAINT)))
                for line, colour in zip(lines, self.colours(), strict=True)
            ]
        )

    def _scale_changed(self) -> None:
        """Redraw the lines for another zoom or size, which separates other points."""
        # The axes change their width with the font.
        if self.labels.font != self.plot.lettering()[1]:
            self._show_labels()
        self._set_home()
        if not math.isclose(self._thinned_for, self.plot.pixel_height()):
            self._show_faint()
            self._show_strong()

    def _fit(self, lines: Sequence[ComparedLine]) -> None:
        """Set the range of all lines, and the name of the horizontal axis."""
        places = np.concatenate([np.empty(0), *(line.places for line in lines)])
        if self._comparison is not None:
            self.axis = ComparedAxis.from_comparison(
                self._comparison, float(places.max(initial=-math.inf))
            )
        self.plot.bottom.set_ticks(self.axis.ticks)
        self.plot.set_labels(self.axis.name, "")  # the title names the values
        x = self.axis.to_axis(places)
        parts = [part for line in lines for part in (line.values, line.low, line.high)]
        left, right = padded_range(x, 0.02)
        values = np.concatenate([np.empty(0), *parts])
        bottom, top = padded_range(np.append(values, self._near_levels(values)), ROOM)
        if self.axis.against == "rank":  # one range for all moments, without jumps in playback
            bottom, top = padded_range(values, ROOM, ROOM)  # at t = 0 all rotations are 1
            self._reach = min(bottom, self._reach[0]), max(top, self._reach[1])
            (left, right), (bottom, top) = RANKS, self._reach
        self._range = Home(left, right, bottom, top)
        self._set_home()

    def _set_home(self) -> None:
        """Leave room for the labels at the right of the lines."""
        home = self._range
        if self._common is not None:
            home = replace(home, left=self._common[0], right=self._common[1])
        label_share = self.labels.share(self.plot.plot_area().width())
        right = home.left + (home.right - home.left) / (1.0 - label_share)
        self.plot.set_home(replace(home, right=right))
        ends = np.array([home.left, right])
        self.level_lines.set_curves(
            [
                (path_of(ends, np.full(2, level.value)), pen_of(level.colour, 1.0, DASHES))
                for level in self._levels
            ]
        )

    def _near_levels(self, values: Floats) -> list[float]:
        """Return the levels near enough to the lines to be shown in place."""
        top = float(np.nanmax(values, initial=0.0))
        return [level.value for level in self._levels if 0.0 < level.value <= REACH * top]

    def _path(self, places: Floats, values: Floats) -> QPainterPath:
        """Return the path of a line's finite points, thinned to the pixels of the plot."""
        x = self.axis.to_axis(places)
        is_known = np.isfinite(x) & np.isfinite(values)
        x, y = x[is_known], values[is_known]
        mask = points_to_draw(x, y[None, :], TOLERANCE * self.plot.pixel_height())[0]
        return path_of(x[mask], y[mask])

    def _area(self, line: ComparedLine) -> QPainterPath:
        """Return the path around the band of a line."""
        x = self.axis.to_axis(line.places)
        is_known = np.isfinite(x) & np.isfinite(line.low) & np.isfinite(line.high)
        x, low, high = x[is_known], line.low[is_known], line.high[is_known]
        path = path_of(np.append(x, x[::-1]), np.append(low, high[::-1]))
        path.closeSubpath()
        return path

    # ---------------------------------------------------------------------------------- cursor

    def show_places(self, places: Sequence[float]) -> None:
        """Show each line's place at the cursor; NaN for none."""
        if not _are_equal(places, self._places):
            self._places = tuple(places)
            self._show_strong()

    def value(self, number: int) -> float:
        """Return the value of a line at the cursor, or its last one before it; NaN for none."""
        if self._comparison is None or number >= len(self._places):
            return math.nan
        line = self._comparison.lines[number]
        place = min(self._places[number], float(line.places[-1])) if line.places.size else math.nan
        return float(interpolate(line.places, line.values, np.array([place]))[0])

    def _show_strong(self) -> None:
        """Draw the lines up to the cursor, with a dot there; by rank, draw them whole."""
        comparison, colours = self._comparison, self.colours()
        pens = [self._pen(k, colour) for k, colour in enumerate(colours)]
        # The whole plot depends on the moment.
        if comparison is not None and comparison.question.is_by_rank:
            self.strong.set_curves(
                [
                    (self._path(line.places, line.values), pen)
                    for line, pen in zip(comparison.lines, pens, strict=True)
                ]
            )
            self.dots.show_at(np.empty((0, 2)), np.empty(0, dtype=np.int64))
            self._show_cursor()
            return
        curves, points, colour_indices = [], [], []
        if comparison is not None and len(self._places) == len(comparison.lines):
            for k, (line, pen) in enumerate(zip(comparison.lines, pens, strict=True)):
                value, place = self.value(k), self._places[k]
                if not line.places.size or not line.places[0] <= place:
                    continue
                place = min(place, float(line.places[-1]))
                passed = line.places <= place
                part, values = line.places[passed], line.values[passed]
                if math.isfinite(value) and part[-1] < place:
                    part, values = np.append(part, place), np.append(values, value)
                curves.append((self._path(part, values), pen))
                points.append((float(self.axis.to_axis(np.array([place]))[0]), value))
                colour_indices.append(k)
        self.strong.set_curves(curves)
        self.dots.show_at(np.array(points).reshape(-1, 2), np.array(colour_indices, dtype=np.int64))
        self._show_cursor()

    def _pen(self, line: int, colour: str) -> QPen:
        wide = line in self._emphasised
        width = (STRONGER if wide else STRONG) * self.plot.devicePixelRatioF()
        return pen_of(rgba(colour, BESIDE if self._emphasised and not wide else 1.0), width)

    def _show_cursor(self) -> None:
        """Draw a line at the moment, where the axis shows moments."""
        comparison, cursor = self._comparison, None
        empty = comparison is None or not any(np.isfinite(x.values).any() for x in comparison.lines)
        known_places = [place for place in self._places if math.isfinite(place)]
        if known_places and self.axis.shows_moments:
            cursor = float(self.axis.to_axis(np.array([max(known_places)]))[0])
        pointed = self.plot.overlay.pointed
        note = NOTHING if empty else ""
        self.plot.set_overlay(Overlay(cursor=cursor, note=note, pointed=pointed))

    # ----------------------------------------------------------------------------------- mouse

    def _point(self, x: float, y: float) -> None:
        """Show the nearest line's run, value and place, or the facts of a level."""
        lines = self._comparison.lines if self._comparison is not None else ()
        curves = [(self.axis.to_axis(line.places), line.values) for line in lines]
        self.plot.setToolTip(rich_tip(self._level_facts(y)))
        number, point = nearest_point(self.plot, curves, x, y)
        if number < 0:
            self._set_readout(None)
            return
        x_value, value = (float(part[point]) for part in curves[number])
        value_text = resolved_text(value, self.plot.pixel_height())
        where = self._place_text(float(lines[number].places[point]))
        text = f"{raise_powers(lines[number].label)}\n{value_text}\n{where}"
        self._set_readout(HoverReadout(x_value, value, text, self.colours()[number]))

    def _level_facts(self, y: float) -> str:
        """Return the facts of the level at a height in pixels."""
        for level in self._levels:
            height = self.plot.pixels(np.array([[0.0, level.value]]))[0, 1]
            if abs(height - y) <= NEAR:
                return level.tip
        return ""

    def _place_text(self, place: float) -> str:
        """Return a place of the axis in words."""
        return self.axis.place_text(place, min(pixel_width(self.plot), 0.01))

    def _point_nowhere(self) -> None:
        self._set_readout(None)

    def _set_readout(self, pointed: HoverReadout | None) -> None:
        if pointed != self.plot.overlay.pointed:
            self.plot.set_overlay(replace(self.plot.overlay, pointed=pointed))

    def _request_moment(self, x: float, y: float) -> None:
        """Emit the place of the axis under a point in pixels."""
        if self._comparison is not None:
            self.place_requested.emit(self.axis.place_of(self.plot.place(x, y)[0]))

    # ------------------------------------------------------------------------------------ menu

    def help_topics(self) -> tuple[str, ...]:
        """Return the names of the observables shown (core.observables.registry)."""
        if self._comparison is None:
            return ()
        from core.observables.registry import full_name

        return (full_name(self._comparison.question.observable),)

    def numbers(self) -> Numbers:
        """Return two columns for each line: places of the axis, and values."""
        lines = self._comparison.lines if self._comparison is not None else ()
        n_rows = max((line.places.size for line in lines), default=0)
        name, columns = str(self.plot.bottom.labelText), []
        for line in lines:
            for title, column in (
                (f"{name}, {line.label}", self.axis.to_axis(line.places)),
                (line.label, line.values),
            ):
                padding = np.full(n_rows - column.size, math.nan)
                columns.append((title, np.concatenate([column, padding])))
        return columns

    def render_picture(self, scale: float) -> QPixmap:
        """Return the plot with its title and axes, at `scale` pixels to one of the screen."""
        return render_widget(self, scale)


def _are_equal(first: Sequence[float], second: Sequence[float]) -> bool:
    return np.array_equal(np.array(first), np.array(second), equal_nan=True)


def _shade(colour: str) -> QColor:
    shade = QColor(colour)
    shade.setAlphaF(SHADE)
    return shade
