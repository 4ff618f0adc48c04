"""The normalised margins against time, steps or |W|^2, with a cursor at the current frame."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtGui import QPainterPath, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.state.display import DisplayData, Floats, with_stand_in
from app.views.header import Entry, Header, Sign
from app.views.items import CurveStack, path_of, pen_of
from app.views.overlay import Overlay
from app.views.plot_item import Drag, Home, Plot
from app.views.ticks import LOG10, NORM_SQUARED, far_times, plain, powers, screen_text
from core.figures.numbers import number_text
from core.figures.palette import Palette, rgba
from core.schedule import PLAIN_HORIZON, coordinate

AXES = ("log10_time", "step", "norm_squared")
# text, column of DisplayData.margins, factor, sign in the key, dashes. l1 / 2 and not l1, so that
# hard <= l1 / 2 are directly comparable, as in the figures.
CURVES: tuple[tuple[str, int, float, Sign, tuple[float, ...]], ...] = (
    ("hard", 0, 1.0, "line", ()),
    ("smoothed", 1, 1.0, "dashed", (5.0, 3.0)),
    ("\u2113\u2081/2", 2, 0.5, "dotted", (1.5, 2.5)),
)
BOUNDED = (0, 2)  # hard and l1 stay within limits of the data; the smoothed margin starts far below
FAINT = 0.3  # opacity
STRONG = 1.5  # pixels: dear for thousands of lines, not for three
LARGE_RATIO = 2.0  # decades of |W|^2 beyond which its axis is logarithmic


@final
class MarginsView(QWidget):
    """The part up to the current frame strong, the rest faint."""

    moment_clicked = Signal(float)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = palette
        self._data: DisplayData | None = None
        self._frame = -1
        self._axis = "log10_time"
        self._far = False
        self._places: Floats = np.empty(0)
        self._node = -1
        self.header = Header(palette, "normalised margins")
        self.plot = Plot(palette, horizontal="time t", drag=Drag.SCRUB)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.plot, 1)
        self.plot.add_zero_line()
        self._faint = self.plot.add(CurveStack())
        self._strong = self.plot.add(CurveStack(), 1.0)
        self.plot.pulled.connect(self._ask)
        self._show_key()

    # --------------------------------------------------------------------------------- content

    def set_data(self, data: DisplayData | None) -> None:
        """Another run, or none."""
        self._data, self._frame = data, -1
        self._places = np.empty(0)
        self.plot.reset_range()
        for curves in (self._faint, self._strong):
            curves.set_curves(())
        self.plot.set_overlay(Overlay())
        self.refit()

    def set_axis(self, name: str) -> None:
        """What the horizontal axis shows: one of AXES."""
        if name not in AXES:
            raise ValueError(f"{name} is not one of {', '.join(AXES)}")
        if name != self._axis:
            self._axis = name
            self.plot.reset_range()
            self.redraw()

    def set_colours(self, palette: Palette) -> None:
        """Another palette."""
        self._palette = palette
        self.plot.set_colours(palette)
        self.header.set_colours(palette)
        self._show_key()
        self.redraw()

    def redraw(self) -> None:
        """The ranges, and the same frame once more: new frames may have moved its place."""
        frame, self._frame = self._frame, -1
        self.refit()
        if frame >= 0:
            self.show_frame(frame)

    def _colour(self, position: int) -> str:
        palette = self._palette
        return (palette.foreground, palette.references[0], palette.references[1])[position]

    def _show_key(self) -> None:
        self.header.set_key(
            *(Entry(curve[0], self._colour(k), curve[3]) for k, curve in enumerate(CURVES))
        )

    def refit(self) -> None:
        """The range and the faint curves, from all frames read so far."""
        data = self._data
        if data is None or data.frames == 0:
            return
        left, right = self._place_frames(data)
        bottom, top = self._limits(data.margins)
        self.plot.set_home(Home(left, right, bottom, top))
        pens = [pen_of(rgba(self._colour(k), FAINT)) for k in range(len(CURVES))]
        self._faint.set_curves(self._curves(data.frames, pens))

    def _curves(self, until: int, pens: list[QPen]) -> list[tuple[QPainterPath, QPen]]:
        """The curves over the frames before `until`."""
        assert self._data is not None
        part = slice(self._first, until)
        columns = [(column, factor) for _, column, factor, _, _ in CURVES]
        return [
            (path_of(self._places[part], factor * self._data.margins[part, column]), pen)
            for (column, factor), pen in zip(columns, pens, strict=True)
        ]

    @property
    def _first(self) -> int:
        """The first frame with a place of its own: t = 0 is not on a logarithmic axis."""
        data = self._data
        assert data is not None
        return 0 if self._axis == "norm_squared" or math.isfinite(data.log10_time[0]) else 1

    def _place_frames(self, data: DisplayData) -> tuple[float, float]:
        """Set where each frame stands; returns the ends of the axis."""
        axis = self.plot.bottom
        if self._axis == "log10_time":
            until = float(data.run.experiment.dynamics.until_log10_time)
            end = float(data.log10_time[-1]) if data.complete else until
            self._far = max(end, float(data.log10_time[-1])) > PLAIN_HORIZON
            times = with_stand_in(data.log10_time)
            self._places = coordinate(times) if self._far else times
            axis.set_ticks(far_times if self._far else powers)
            axis.set_label(f"{LOG10} t" if self._far else "time t")
            last = float(coordinate(np.array(end))) if self._far else end
        elif self._axis == "step":
            with np.errstate(divide="ignore"):
                self._places = with_stand_in(np.log10(data.steps))
            axis.set_ticks(powers)
            axis.set_label("step")
            last = float(self._places[-1])
        else:
            logarithms = data.log10_norm_squared
            wide = float(np.ptp(logarithms)) > LARGE_RATIO
            self._places = logarithms if wide else 10.0**logarithms
            axis.set_ticks(powers if wide else plain)
            axis.set_label(NORM_SQUARED)
            last = float(self._places.max())
        left, right = float(self._places.min()), max(last, float(self._places.max()))
        pad = 0.02 * (right - left) or 0.5
        return left - pad, right + pad

    def _limits(self, margins: Floats) -> tuple[float, float]:
        """The vertical range: to the largest value, and as far below 0 as it reaches above.

        The smoothed margin starts at values as low as -44 / |W|^2; a range that held them would
        show nothing else, and one that followed it would jump while the run is recorded.
        """
        shown = np.array([factor for _, _, factor, _, _ in CURVES]) * margins
        top = float(np.fmax.reduce(shown, axis=None, initial=0.0))
        low = float(np.fmin.reduce(shown[:, BOUNDED], axis=None, initial=0.0))
        bottom = max(low, -max(top, -0.5 * low))
        if not top > bottom or not math.isfinite(top - bottom):
            bottom, top = -0.01, 0.01
        pad = 0.06 * (top - bottom)
        return bottom - pad, top + pad

    # ----------------------------------------------------------------------------------- frame

    def show_frame(self, frame: int) -> None:
        """The curves strong up to a frame, and the cursor there."""
        data = self._data
        if data is None or frame == self._frame or not 0 <= frame < data.frames:
            return
        self._frame = frame
        width = STRONG * self.plot.devicePixelRatioF()
        pens = [pen_of(self._colour(k), width, CURVES[k][4]) for k in range(len(CURVES))]
        self._strong.set_curves(self._curves(frame + 1, pens))
        self._show_overlay()

    def set_marked(self, hovered: int, pinned: frozenset[int]) -> None:
        """A node has no margin of its own: its weights are told in a corner."""
        data = self._data
        chosen = hovered if hovered >= 0 else next(iter(pinned), -1) if len(pinned) == 1 else -1
        self._node = chosen
        if data is not None and self._frame >= 0:
            self._show_overlay()

    def _show_overlay(self) -> None:
        data = self._data
        assert data is not None
        corner = self._weights(data) if 0 <= self._node < data.m else ()
        shown = np.isfinite(data.margins[: self._frame + 1]).any()
        note = "" if shown else "no margin: the network is 0"
        cursor = float(self._places[self._frame])
        self.plot.set_overlay(Overlay(cursor=cursor, corner=corner, note=note))

    def _weights(self, data: DisplayData) -> tuple[str, ...]:
        facts = data.node(self._frame, self._node)
        numbers = (facts.outer_weight, facts.inner_norm, facts.angle)
        a, v, angle = (screen_text(number_text(value)) for value in numbers)
        short = f"a {a}, |v| {v}"
        return (
            f"node {facts.index}: {short}, turned {angle}\u00b0",
            f"{short}, {angle}\u00b0",
            short,
        )

    # ----------------------------------------------------------------------------------- mouse

    def _ask(self, x: float, y: float) -> None:
        data = self._data
        if data is None or data.frames == 0:
            return
        place = self.plot.place(x, y)[0]
        known = data.coordinate
        if self._axis == "log10_time":
            wanted = place if self._far else float(coordinate(np.array(place)))
        else:
            wanted = float(known[int(np.argmin(np.abs(self._places - place)))])
        self.moment_clicked.emit(float(np.clip(wanted, known[0], known[-1])))
