"""What the views of rotations and of norms share: sorted values at moments of the run."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
from PySide6.QtWidgets import QWidget

from app.state.display import DisplayData, Floats, Indices
from app.views.view import RunView
from app.widgets.header import TimeColours
from app.widgets.items import CurveStack, Markers, Style, Symbol, path_of, pen_of
from app.widgets.overlay import NodeMark, Overlay
from app.widgets.plot_item import Home
from app.widgets.screen_text import raised
from app.widgets.ticks import LOG10
from core.figures.numbers import number_text, time_text
from core.figures.palette import Palette, time_colours

MOST_MOMENTS = 40
MOST_POINTS = 512  # of a curve; more than a screen has pixels for
MOST_DOTS = 64  # nodes up to which each gets a dot on the current curve
MOST_LABELS = 6
CURRENT = 2.0  # pixels: dear for thousands of lines, not for one
NOWHERE: Floats = np.empty((0, 2))
NO_INNER = "this network has no inner weight vectors"
NOTES = {"rotation": "no node has a direction", "relative_norm": "all nodes are 0"}


def absence_of_nodes(data: DisplayData) -> str:
    """A sentence about runs without nodes."""
    return "" if data.has_nodes else "a kernel predictor has no nodes"


@final
class SortedView(RunView):
    """Curves against rank / m, one a moment, coloured by time, the current one on top."""

    def __init__(
        self, palette: Palette, kind: str, title: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(palette, title, parent, horizontal="rank / m")
        self._kind = kind
        self._paths: list[Any] = []
        self._points = NOWHERE
        self.plot.add_zero_line()
        self._past = self.plot.add(CurveStack())
        self._current = self.plot.add(CurveStack(), 1.0)
        self._dots = self.plot.add(Markers(), 2.0)
        self._rings = self.plot.add(Markers(), 3.0)
        self.plot.hovered.connect(self._hover)
        self.plot.left.connect(self._leave)
        self.plot.clicked.connect(self._click)

    # --------------------------------------------------------------------------------- content

    def explained(self) -> tuple[str, ...]:
        """What is sorted, and the observable itself."""
        return ("rotations" if self._kind == "rotation" else "norms", self._kind)

    def _clear(self) -> None:
        self._paths, self._points = [], NOWHERE
        for curves in (self._past, self._current):
            curves.set_curves(())
        for markers in (self._dots, self._rings):
            markers.show_at(NOWHERE)

    def _absence(self, data: DisplayData) -> str:
        if self._kind == "rotation" and not data.has_inner:
            return absence_of_nodes(data) or NO_INNER
        return absence_of_nodes(data)

    def refit(self, data: DisplayData) -> None:
        """The range, the moments and their key, from all frames read so far."""
        low = 0.0
        if self._kind == "rotation":
            least = data.least(self._kind)
            low = max(-1.0, min(math.floor(10.0 * least) / 10.0, 0.9))
        pad = 0.025 * (1.0 - low)
        self.plot.set_home(Home(0.0, 1.02, low - pad, 1.0 + pad))
        for frame in self._moments(data.frames)[len(self._paths) :].tolist():
            shown = self._thinned()
            values = data.sorted_nodes(self._kind, frame).values[shown]
            self._paths.append(path_of((shown + 1) / data.m, values))
        self._show_key(data)
        self._show_past()

    def _moments(self, until: int) -> Indices:
        """The frames of the moments before a frame; they do not depend on how far the run is."""
        assert self._data is not None
        stride = math.ceil(self._data.run.planned / (MOST_MOMENTS - 1))
        return np.arange(0, until, stride, dtype=np.int64)

    def _thinned(self) -> Indices:
        assert self._data is not None
        m = self._data.m
        if m <= MOST_POINTS:
            return np.arange(m)
        return np.unique(np.linspace(0, m - 1, MOST_POINTS).round().astype(np.int64))

    def _colours(self, frames: Indices) -> Any:
        assert self._data is not None
        return time_colours(frames / max(self._data.planned - 1, 1), self._palette)

    def _show_key(self, data: DisplayData) -> None:
        times = data.log10_time
        last = float(times[-1])
        if not data.complete:
            last = max(last, data.until)
        first = "t = 0" if math.isinf(times[0]) else raised(time_text(float(times[0])))
        text = raised(time_text(last)).replace("log10", LOG10)
        colours = time_colours(np.linspace(0.0, 1.0, 17), self._palette)
        self.header.set_key(time=TimeColours(first, text.removeprefix("t = "), colours))

    def _show_past(self) -> None:
        if self._data is None:
            return
        moments = self._moments(self._data.frames)
        pens = [pen_of(colour) for colour in self._colours(moments)]
        shown = int(np.searchsorted(moments, max(self._frame, 0)))
        self._past.set_curves(list(zip(self._paths, pens, strict=True)), shown)

    # ----------------------------------------------------------------------------------- frame

    def _show(self, data: DisplayData, frame: int) -> None:
        """The moments before a frame, and the frame itself."""
        nodes = data.sorted_nodes(self._kind, frame)
        ranks = np.arange(1, data.m + 1) / data.m
        self._points = np.stack([ranks, nodes.values], axis=1)
        self._past.show_first(int(np.searchsorted(self._moments(data.frames), frame)))
        colour = self._colours(np.array([frame]))[0]
        shown = self._thinned()
        path = path_of(ranks[shown], nodes.values[shown])
        width = CURRENT * self.plot.devicePixelRatioF()
        self._current.set_curves([(path, pen_of(colour, width))])
        self._dots.set_styles(Style(colour, 5.0))
        self._dots.show_at(self._points if data.m <= MOST_DOTS else NOWHERE)
        self._mark_nodes(data)

    def _mark_nodes(self, data: DisplayData) -> None:
        """Mark nodes at their rank."""
        place = data.sorted_nodes(self._kind, self._frame).place
        pinned = [j for j in sorted(self._pinned) if j < data.m]
        marks = []
        if len(pinned) <= MOST_LABELS:
            marks = [self._mark(j, int(place[j])) for j in pinned if j != self._hovered]
        self._rings.set_styles(Style(self._palette.foreground, 10.0, Symbol.RING))
        self._rings.show_at(self._points[place[pinned]] if len(pinned) > MOST_LABELS else NOWHERE)
        if 0 <= self._hovered < data.m:
            marks.append(self._mark(self._hovered, int(place[self._hovered]), True))
        empty = not np.isfinite(self._points[:, 1]).any()
        self.plot.set_overlay(Overlay(tuple(marks), note=NOTES[self._kind] if empty else ""))

    def _mark(self, j: int, place: int, hovered: bool = False) -> NodeMark:
        x, y = (float(value) for value in self._points[place])
        return NodeMark(x, y, f"node {j}", f" {raised(number_text(y, 3))}", hovered)

    # ----------------------------------------------------------------------------------- mouse

    def _at(self, x: float, y: float) -> int:
        place = self.plot.nearest(self._points, x, y)
        if place < 0 or self._data is None:
            return -1
        return int(self._data.sorted_nodes(self._kind, self._frame).order[place])

    def _hover(self, x: float, y: float) -> None:
        self.node_hovered.emit(self._at(x, y))

    def _leave(self) -> None:
        self.node_hovered.emit(-1)

    def _click(self, x: float, y: float) -> None:
        self.node_clicked.emit(self._at(x, y))
