"""Base of the views of curves over a run: the axis, the cursor, and scrubbing."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainterPath, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from app.state.display import DisplayData
from app.state.intent import MARGIN_AXES, Intent
from app.state.node_values import Floats, with_finite_first
from app.views.curve_notes import draft_at, note_marks
from app.views.pixels import (
    TOLERANCE,
    log10_text,
    nearest_point,
    pixel_width,
    points_to_draw,
    resolved_text,
)
from app.views.view import Bound, Numbers, RunView
from app.widgets.axis import NORM_SQUARED, far_times, plain, powers
from app.widgets.header import Sign
from app.widgets.items import CurveStack, PlotLines, ZeroLine, path_of, pen_of
from app.widgets.labels import rich_tip
from app.widgets.levels import LevelLine, Traces, end_of_curve, level_at
from app.widgets.overlay import HoverReadout, Overlay
from app.widgets.plot_item import Drag, Home
from core.figures.palette import Palette, rgba
from core.figures.ticks import needs_logarithm
from core.library.entry import MomentNote
from core.numbers import LOG10
from core.problem.schedule import PLAIN_HORIZON, coordinate, inverse_coordinate

DASHES: dict[Sign, tuple[float, ...]] = {"dashed": (5.0, 3.0), "dotted": (1.5, 2.5)}
FAINT, PAST = 0.3, 0.45  # opacity
# Pixels. Qt takes twenty times as long per point of a line wider than 1 (docs/decisions/0015).
STRONG = 1.5
MOST_DASHED = 512  # points; of 2,000 all of two dashed lines take 9 ms a redraw, and thinned ones 4


@final
@dataclass(frozen=True, slots=True, eq=False)
class TraceCurve:
    """One curve: a value for each frame read so far (T,), NaN where it has none.

    `plain` are the values themselves where `values` are transformed for the axis.
    """

    values: Floats
    colour: str
    sign: Sign = "line"
    name: str = ""
    plain: Floats | None = None

    @property
    def dashes(self) -> tuple[float, ...]:
        """Dash pattern of the curve up to the cursor; () for a solid line."""
        return DASHES.get(self.sign, ())


class TraceView(RunView):
    """Part of each curve up to the current frame strong, the rest faint."""

    links = True

    def __init__(
        self, palette: Palette, title: str, parent: QWidget | None = None, vertical: str = ""
    ) -> None:
        axes = {"horizontal": "time t", "vertical": vertical}
        super().__init__(palette, title, parent, **axes, drag=Drag.SCRUB)
        self._axis = "log10_time"
        self._far = self._wide = False
        self._lines: tuple[TraceCurve, ...] = ()
        self._obstacles: Traces | None = None  # the lines, as obstacles for labels
        self._levels: tuple[LevelLine, ...] = ()
        self._traced = -1  # known values among those requested; -1 without a request
        self.places: Floats = np.empty(0)  # position of each frame on the axis
        self.plot.add_lines(self._make_lines())
        self.past = self.plot.add(CurveStack())
        self.faint = self.plot.add(CurveStack())
        self.strong = self.plot.add(CurveStack(), 1.0)
        self._bounds: tuple[Bound, ...] = ()
        self.plot.plot_dragged.connect(self._request_moment)
        self.plot.hovered.connect(self._explain)
        self._thinned_for = 0.0
        self.plot.view.sigRangeChanged.connect(self._scale_changed)
        self.plot.view.sigResized.connect(self._scale_changed)

    def _make_lines(self) -> PlotLines:
        return ZeroLine()

    @property
    def shown_lines(self) -> tuple[TraceCurve, ...]:
        return self._lines

    @abstractmethod
    def lines(self, data: DisplayData) -> tuple[TraceCurve, ...]:
        """Return the curves."""

    @abstractmethod
    def limits(self, data: DisplayData, lines: tuple[TraceCurve, ...]) -> tuple[float, float]:
        """Return the vertical range."""

    @abstractmethod
    def words(self, data: DisplayData, frame: int) -> Overlay:
        """Return the texts at a frame; the caller adds the cursor."""

    def levels(self) -> tuple[LevelLine, ...]:
        """Return the names of the bounds at the ends of their curves, the last of the lines."""
        bounds, labels = self._shown_bounds(), []
        for line, bound in zip(self._lines[len(self._lines) - len(bounds) :], bounds, strict=True):
            if bound.name and np.isfinite(line.values).any():
                style = (bound.name, line.colour, bound.tip, self._room_of(bound))
                labels.append(end_of_curve(self.places, line.values, *style))
        return tuple(labels)

    def _room_of(self, bound: Bound) -> tuple[float, float]:
        return -math.inf, math.inf  # heights between which its name stays

    def _shown_bounds(self) -> Sequence[Bound]:
        return self._bounds

    def region(self) -> tuple[float, float, float, float]:
        """Return the shown range; horizontally as log10 of time, steps or |W|^2."""
        left, right, bottom, top = super().region()
        if self._axis == "log10_time" and self._far:
            left, right = (float(x) for x in inverse_coordinate(np.array([left, right])))
        elif self._axis == "norm_squared" and not self._wide:
            left, right = (math.log10(max(x, 1e-300)) for x in (left, right))
        return left, right, bottom, top

    # ---------------------------------------------------------------- what takes a while

    def _traces(self, data: DisplayData, names: tuple[str, ...]) -> tuple[Floats, ...]:
        """Return the known part of some traces, (T, width) each, and request the rest."""
        data.background.request_traces(type(self).__name__, names, data.frames)
        if data.background.pending:
            self.values_requested.emit()
        self._traced = data.background.traced
        return tuple(data.background.trace(name, data.frames) for name in names)

    def _withdraw_requests(self, data: DisplayData) -> None:
        data.background.request_traces(type(self).__name__, (), 0)

    def on_values(self) -> bool:
        if self._traced < 0 or self.data is None or self.data.background.traced == self._traced:
            return False
        self.redraw()
        return True

    # --------------------------------------------------------------------------------- content

    def set_bounds(self, bounds: Sequence[Bound]) -> None:
        """Show the bounds of some statements beside the curves."""
        if tuple(bounds) != self._bounds:
            self._bounds = tuple(bounds)
            self.redraw()

    def _absence(self, data: DisplayData) -> str:
        return (
            "" if data.has_nodes else "a kernel predictor is fitted in one step and has no curves"
        )

    def _clear(self) -> None:
        self.places, self._lines, self._obstacles, self._levels = np.empty(0), (), None, ()
        for curves in (self.past, self.faint, self.strong):
            curves.set_curves(())

    def set_options(self, options: Intent) -> None:
        super().set_options(options)
        self.set_axis(options.margin_axis)

    def set_axis(self, name: str) -> None:
        """Set the quantity of the horizontal axis, one of MARGIN_AXES."""
        if name not in MARGIN_AXES:
            raise ValueError(f"{name} is not one of {', '.join(MARGIN_AXES)}")
        if name != self._axis:
            self._axis = name
            self.plot.reset_range()
            self.redraw()

    def refit(self, data: DisplayData) -> None:
        """Update the range and the faint curves from all frames read so far."""
        left, right = self._place_frames(data)
        self._lines, part = self.lines(data), slice(self.first(data), None)
        if self._lines:
            values = np.array([line.values[part] for line in self._lines])
            self._obstacles = Traces(self.places[part], values)
        self._levels = self.levels()
        bottom, top = self.limits(data, self._lines)
        left = self._draw_past(data, left, right)
        self.plot.set_home(Home(left, right, bottom, top))
        self._draw_faint(data)

    def past_lines(self, data: DisplayData) -> tuple[TraceCurve, ...]:
        """Return the curves before the run's own first frame, if it continues another run."""
        return ()

    def _draw_past(self, data: DisplayData, left: float, right: float) -> float:
        """Draw the curves of the parent run up to the branch; return the left end."""
        lines = self.past_lines(data)
        if not lines:
            self.past.set_curves(())
            return left
        # Up to the run's own first frame, so that no gap remains.
        places = np.append(self._places_of_past(data), self.places[0])
        heights = np.full((len(self._lines), places.size), np.nan)  # bounds have no past
        curves, width = [], STRONG * self.plot.devicePixelRatioF()
        for row, line, own in zip(heights, lines, self._lines, strict=False):
            row[:] = np.append(line.values, own.values[0])
            is_shown = np.isfinite(places) & np.isfinite(row)
            pen = pen_of(rgba(line.colour, PAST), width, line.dashes)
            curves.append((path_of(places[is_shown], row[is_shown]), pen))
        self.past.set_curves(curves)
        own_part = self._obstacles
        if own_part is not None:
            joined = np.concatenate([heights[:, :-1], own_part.values], axis=1)
            self._obstacles = Traces(np.concatenate([places[:-1], own_part.places]), joined)
        least = float(np.fmin.reduce(np.where(np.isfinite(places), places, np.nan)))
        return min(left, least - 0.02 * (right - least))

    def _places_of_past(self, data: DisplayData) -> Floats:
        """Return the places of the parent run's frames; t = 0 is not on a logarithmic axis."""
        past = data.past
        if self._axis == "log10_time":
            return coordinate(past.log10_time) if self._far else past.log10_time
        if self._axis == "step":
            with np.errstate(divide="ignore"):
                return np.log10(past.steps)
        logarithms = past.log10_norm_squared
        return logarithms if self._wide else 10.0**logarithms

    def _draw_faint(self, data: DisplayData) -> None:
        self._thinned_for = self.plot.pixel_height()
        pens = [pen_of(rgba(line.colour, FAINT)) for line in self._lines]
        self.faint.set_curves(self._curves(data, data.frames, pens))

    def _draw_strong(self, data: DisplayData, frame: int) -> None:
        width = STRONG * self.plot.devicePixelRatioF()
        pens = [pen_of(line.colour, width, line.dashes) for line in self._lines]
        self.strong.set_curves(self._curves(data, frame + 1, pens))

    def _curves(
        self, data: DisplayData, until: int, pens: list[QPen]
    ) -> list[tuple[QPainterPath, QPen]]:
        if not self._lines:
            return []
        part = slice(self.first(data), until)
        places = self.places[part]
        values = np.array([line.values[part] for line in self._lines])
        mask = points_to_draw(places, values, TOLERANCE * self.plot.pixel_height())
        if places.size <= MOST_DASHED:  # dashes depend on the length of the line and would shift
            mask[[bool(pen.dashPattern()) for pen in pens]] = True
        mask &= np.isfinite(values)
        return [
            (path_of(places[is_known], row[is_known]), pen)
            for row, is_known, pen in zip(values, mask, pens, strict=True)
        ]

    def _scale_changed(self) -> None:
        """Redraw the curves for another zoom or size, which separates other points."""
        data, scale = self.data, self._thinned_for
        height = self.plot.pixel_height()
        if data is None or self.frame < 0 or not self._lines or math.isclose(scale, height):
            return
        self._draw_faint(data)
        self._draw_strong(data, self.frame)

    def first(self, data: DisplayData) -> int:
        """Return the first frame with a place of its own: t = 0 is not on a logarithmic axis."""
        return 0 if self._axis == "norm_squared" or math.isfinite(data.log10_time[0]) else 1

    def _place_frames(self, data: DisplayData) -> tuple[float, float]:
        """Set the place of each frame; return the ends of the axis."""
        axis = self.plot.bottom
        if self._axis == "log10_time":
            end = float(data.log10_time[-1]) if data.complete else data.planned_end
            self._far = max(end, float(data.log10_time[-1])) > PLAIN_HORIZON
            times = with_finite_first(data.log10_time)
            self.places = coordinate(times) if self._far else times
            axis.set_ticks(far_times if self._far else powers)
            unit = "steps" if data.run.counts_steps else "t" if self._far else "time t"
            axis.set_label(f"{LOG10} {unit}" if self._far else unit)
            last = float(coordinate(end)) if self._far else end
        elif self._axis == "step":
            with np.errstate(divide="ignore"):
                self.places = with_finite_first(np.log10(data.steps))
            axis.set_ticks(powers)
            axis.set_label("step")
            last = float(self.places[-1])
        else:
            logarithms = data.log10_norm_squared
            if data.past.is_complete:
                logarithms = np.append(data.past.log10_norm_squared, logarithms)
            ends = float(logarithms.min()), float(logarithms.max())
            self._wide = wide = needs_logarithm(*ends)
            logarithms = data.log10_norm_squared
            self.places = logarithms if wide else 10.0**logarithms
            axis.set_ticks(powers if wide else plain)
            axis.set_label(NORM_SQUARED)
            last = float(self.places.max())
        left, right = float(self.places.min()), max(last, float(self.places.max()))
        pad = 0.02 * (right - left) or 0.5
        return left - pad, right + pad

    # ----------------------------------------------------------------------------------- frame

    def _show(self, data: DisplayData, frame: int) -> None:
        self._draw_strong(data, frame)
        self._mark_nodes(data)

    def _mark_nodes(self, data: DisplayData) -> None:
        words, cursor = self.words(data, self.frame), float(self.places[self.frame])
        levels, curves, pointed = self._levels, self._obstacles, self.plot.overlay.pointed
        marks = (*words.marks, *note_marks(self.notes, self._lines, self.places, data))
        words = replace(words, marks=marks, pointed=pointed)
        self.plot.set_overlay(replace(words, cursor=cursor, levels=levels, curves=curves))

    def _drawn_numbers(self, data: DisplayData) -> Numbers:
        until, times = self.frame + 1, data.log10_time
        if data.run.counts_steps:
            first = ("step", data.steps.astype(np.float64))
        elif data.planned_end > PLAIN_HORIZON:
            first = (f"{LOG10} t", times)
        else:
            first = ("t", 10.0**times)
        lines = [(one.name, one.values if one.plain is None else one.plain) for one in self._lines]
        return tuple((name, values[:until]) for name, values in (first, *lines))

    # ----------------------------------------------------------------------------------- mouse

    def _readout_at(self, x: float, y: float) -> HoverReadout | None:
        data, lines = self.data, self._lines
        assert data is not None
        part = slice(self.first(data), min((line.values.size for line in lines), default=0))
        curves = [(self.places[part], line.values[part]) for line in lines]
        number, frame = nearest_point(self.plot, curves, x, y)
        if number < 0:
            return None
        line, frame = lines[number], frame + self.first(data)
        value = float((line.values if line.plain is None else line.plain)[frame])
        value_text = resolved_text(value, self._grain(line, value))
        text = f"{line.name} {value_text}\n{self._moment_text(data, frame)}".lstrip()
        return HoverReadout(float(self.places[frame]), float(line.values[frame]), text, line.colour)

    def _grain(self, line: TraceCurve, value: float) -> float:
        height = self.plot.pixel_height()
        return height if line.plain is None else abs(value) * math.log(10.0) * height

    def _moment_text(self, data: DisplayData, frame: int) -> str:
        grain = pixel_width(self.plot)
        if self._axis == "step" or (self._axis == "log10_time" and data.run.counts_steps):
            return f"step {int(data.steps[frame])}"
        if self._axis == "log10_time":
            # The coordinate of late frames spreads them, so a pixel means another time there.
            return f"t = {log10_text(float(data.log10_time[frame]), min(grain, 0.01))}"
        logarithm = float(data.log10_norm_squared[frame])
        if self._wide:
            return f"{NORM_SQUARED} = {log10_text(logarithm, grain)}"
        return f"{NORM_SQUARED} = {resolved_text(10.0**logarithm, grain)}"

    def _explain(self, x: float, y: float) -> None:
        level = level_at(self.plot.drawn_levels, x, y)
        if level is not None and level.tip:
            position = self.plot.viewport().mapToGlobal(QPoint(round(x), round(y)))
            QToolTip.showText(position, rich_tip(level.tip), self.plot)
        elif QToolTip.isVisible():
            QToolTip.hideText()

    def draft_note(self, place: QPoint) -> MomentNote | None:
        return draft_at(self.plot, self._lines, self.places, self.data, place)

    def _request_moment(self, x: float, y: float) -> None:
        data = self.data
        if data is None or data.frames == 0 or self.places.size == 0:
            return
        place = self.plot.place(x, y)[0]
        known_places = data.coordinate
        if self._axis == "log10_time":
            moment = place if self._far else float(coordinate(place))
        else:
            moment = float(known_places[int(np.argmin(np.abs(self.places - place)))])
        self.moment_clicked.emit(float(np.clip(moment, known_places[0], known_places[-1])))


def pad_trace(values: Floats, frames: int) -> Floats:
    """Return a trace of any length with one value a frame: cut, or filled up with NaN."""
    result = np.full(frames, np.nan)
    n_known = min(frames, values.size)
    result[:n_known] = values[:n_known]
    return result
