"""Nodes in weight space: |a_j| v_j on two coordinates, with trails and the data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, final

import numpy as np
from PySide6.QtCore import QRectF, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.state.display import DisplayData, Floats, Indices, Singles
from app.views.header import Entry, Header
from app.views.items import CurveStack, Markers, Style, Symbol, path_of, pen_of
from app.views.overlay import Mark, Overlay
from app.views.plot_item import Drag, Home, Plot
from app.views.ticks import screen_text
from core.figures.numbers import number_text
from core.figures.palette import Palette, node_colours

LEVELS = 4  # shades of trails for each sign; the nodes themselves have more
SHADES = 12
SIGNS = (-1, 1, 0)
MOST_LABELS = 6
MOST_MARKED_TRAILS = 24
TITLE = "nodes |a\u2c7c| v\u2c7c"
NOWHERE: Floats = np.empty((0, 2))
STEPS_OF_RANGE = 20.0  # a growing range grows in steps of 10^(1/20)


@final
class NeuronsView(QWidget):
    """Trails of at most 128 points up to a frame, coloured by the present sign and norm."""

    node_hovered = Signal(int)
    node_clicked = Signal(int)
    nodes_selected = Signal(object)

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = palette
        self._data: DisplayData | None = None
        self._frame = -1
        self._power = 0
        self._shown_examples: tuple[float, tuple[int, int], Palette] | None = None
        self._hovered, self._pinned = -1, frozenset[int]()
        self._points: Singles = np.empty((0, 2), np.float32)
        self.header = Header(palette, TITLE)
        self.plot = Plot(
            palette, horizontal="coordinate 1", vertical="coordinate 2", equal=True, drag=Drag.BOX
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.plot, 1)
        self.plot.add_zero_line()
        self.plot.add_zero_line(vertical=True)
        self._examples = self.plot.add(Markers(), -5.0)
        self._trails = self.plot.add(CurveStack(), 0.0)
        self._marked = self.plot.add(CurveStack(), 1.0)
        self._nodes = self.plot.add(Markers(), 2.0)
        self._rings = self.plot.add(Markers(), 3.0)
        self._make_styles(1)
        self.plot.hovered.connect(self._hover)
        self.plot.left.connect(self._leave)
        self.plot.clicked.connect(self._click)
        self.plot.boxed.connect(self._select)

    # --------------------------------------------------------------------------------- content

    def set_data(self, data: DisplayData | None) -> None:
        """Another run, or none."""
        self._data, self._frame = data, -1
        self._points = np.empty((0, 2), np.float32)
        self.plot.reset_range()
        self._clear()
        if data is not None:
            self._make_styles(data.m)
        self.refit()

    def _clear(self) -> None:
        for curves in (self._trails, self._marked):
            curves.set_curves(())
        for markers in (self._nodes, self._examples, self._rings):
            markers.show_at(NOWHERE)
        self._shown_examples = None
        self.plot.set_overlay(Overlay())
        self.header.set_key()

    def refit(self) -> None:
        """The range, the scale of the data and the axes' names, from all frames read so far."""
        data = self._data
        if data is None or data.frames == 0:
            return
        from core.figures.neurons import DATA_REACH, data_dots, projected

        log10_extent = data.log10_extent(data.known_frames(self._kept(data.frames - 1)))
        if math.isfinite(log10_extent) and not data.complete:
            log10_extent = math.ceil(STEPS_OF_RANGE * log10_extent) / STEPS_OF_RANGE
        power = math.floor(log10_extent) if math.isfinite(log10_extent) else 0
        power = power if power >= 4 or power <= -3 else 0
        self._power = power
        extent = 10.0 ** (log10_extent - power)
        reach = float(np.abs(projected(data.run.dataset.x, data.coordinates)).max(initial=0.0))
        factor = 1.0
        if reach > 0.0 and extent > 0.0:
            factor = float(f"{DATA_REACH * extent / reach:.3g}")
        half = 1.1 * max(extent, factor * reach) or 1.0
        self.plot.set_home(Home(-half, half, -half, half))
        wanted = (factor, data.coordinates, self._palette)
        if wanted != self._shown_examples:
            self._shown_examples = wanted
            self._show_examples(data_dots(data.run, *wanted))
        self._show_names(data)
        times = f"data \u00d7 {screen_text(number_text(factor * 10.0**power))}"
        self.header.set_key(
            Entry("", self._palette.positive, "plus"),
            Entry(times, self._palette.negative, "cross"),
        )

    def _show_names(self, data: DisplayData) -> None:
        unit = screen_text(f" (10^{self._power})") if self._power else ""
        for axis, c in zip((self.plot.bottom, self.plot.side), data.coordinates, strict=True):
            exists = c < data.run.dataset.d
            axis.set_label(f"coordinate {c + 1}{unit}" if exists else f"no coordinate {c + 1}")

    def _show_examples(self, kinds: Iterable[Any]) -> None:
        from core.figures.primitives import Marker

        points, styles = [NOWHERE], []
        for dots in kinds:
            points.append(np.stack([dots.x, dots.y], axis=1))
            symbol = Symbol.CROSS if dots.marker is Marker.CROSS else Symbol.PLUS
            sizes = np.rint(1.4 * np.sqrt(dots.areas) + 3.0).tolist()
            styles += [
                Style(colour, size, symbol)
                for colour, size in zip(dots.colours, sizes, strict=True)
            ]
        self._examples.set_styles(*styles)
        self._examples.show_at(np.concatenate(points), np.arange(len(styles)))

    def set_colours(self, palette: Palette) -> None:
        """Another palette."""
        self._palette = palette
        self.plot.set_colours(palette)
        self.header.set_colours(palette)
        self._make_styles(1 if self._data is None else self._data.m)
        self.redraw()

    def redraw(self) -> None:
        """The ranges, and the same frame once more: new frames may have changed its scale."""
        frame, self._frame = self._frame, -1
        self.refit()
        if frame >= 0:
            self.show_frame(frame)

    def _make_styles(self, m: int) -> None:
        palette, crowd = self._palette, min(1.0, 4.0 / math.sqrt(m))
        levels = ((np.arange(LEVELS) + 0.5) / LEVELS) ** 2
        shades = np.arange(SHADES) / (SHADES - 1)
        sizes = (5.0 + 4.0 * crowd) * (0.75 + 0.5 * shades)
        self._pens = [
            pen_of(colour)
            for sign in SIGNS
            for colour in node_colours(np.full(LEVELS, sign), levels, palette)
        ]
        self._nodes.set_styles(*(
            Style(colour, size, edge=palette.background)
            for sign in SIGNS
            for colour, size in zip(
                node_colours(np.full(SHADES, sign), shades**2, palette), sizes, strict=True
            )
        ))  # fmt: skip
        self._rings.set_styles(Style(palette.foreground, 10.0, Symbol.RING))

    # ----------------------------------------------------------------------------------- frame

    def _kept(self, frame: int) -> Indices:
        """The frames of a trail; which ones does not depend on how far the run has come."""
        from core.figures.neurons import longest_trail

        data = self._data
        assert data is not None
        stride = math.ceil(data.run.planned / max(longest_trail(data.m) - 1, 1))
        return np.append(np.arange(0, frame, stride, dtype=np.int64), frame)

    def show_frame(self, frame: int) -> None:
        """Trails up to a frame, and the nodes where they are then."""
        data = self._data
        if data is None or frame == self._frame or not 0 <= frame < data.frames:
            return
        self._frame = frame
        trails = np.ascontiguousarray(
            data.positions(self._kept(frame), self._power).transpose(1, 0, 2)
        )
        self._points = trails[:, -1]
        strength = np.sqrt(np.nan_to_num(data.relative_norms(frame), nan=0.0))
        signs = data.signs(frame)
        kinds = np.where(signs < 0, 0, np.where(signs > 0, 1, 2))
        self._show_trails(trails, kinds, strength)
        self._show_nodes(kinds, strength)
        self._show_marked_trails(trails)
        self._show_marks()

    def _show_trails(self, trails: Singles, kinds: Indices, strength: Singles) -> None:
        bands = kinds * LEVELS + np.minimum((strength * LEVELS).astype(np.int64), LEVELS - 1)
        order = np.argsort(bands, kind="stable")
        ends = np.searchsorted(bands[order], np.arange(len(SIGNS) * LEVELS + 1))
        trails = trails[order]
        length = trails.shape[1]
        connect = np.ones((trails.shape[0], length), dtype=np.bool_)
        connect[:, -1] = False
        curves = []
        for level in range(LEVELS):  # the strongest nodes of either sign on top
            for band in range(level, len(SIGNS) * LEVELS, LEVELS):
                part = slice(ends[band], ends[band + 1])
                if ends[band] < ends[band + 1]:
                    lines = trails[part].reshape(-1, 2)
                    path = path_of(lines[:, 0], lines[:, 1], connect[part].ravel())
                    curves.append((path, self._pens[band]))
        self._trails.set_curves(curves)

    def _show_nodes(self, kinds: Indices, strength: Singles) -> None:
        order = np.argsort(strength, kind="stable")  # the strongest on top
        shade = np.rint(strength * (SHADES - 1)).astype(np.int64)
        self._nodes.show_at(self._points[order], (kinds * SHADES + shade)[order])

    # ----------------------------------------------------------------------------------- marks

    def set_marked(self, hovered: int, pinned: frozenset[int]) -> None:
        """Mark nodes: rings, labels, and their trails in the foreground."""
        self._hovered, self._pinned = hovered, pinned
        data = self._data
        if data is None or self._frame < 0:
            return
        nodes = self._marked_nodes()
        trails = data.positions(self._kept(self._frame), self._power)[:, nodes]
        self._draw_marked(np.ascontiguousarray(trails.transpose(1, 0, 2)))
        self._show_marks()

    def _marked_nodes(self) -> list[int]:
        count = self._points.shape[0]
        chosen = sorted(self._pinned)[:MOST_MARKED_TRAILS]
        if self._hovered >= 0 and self._hovered not in self._pinned:
            chosen.append(self._hovered)
        return [j for j in chosen if j < count]

    def _show_marked_trails(self, trails: Singles) -> None:
        self._draw_marked(trails[self._marked_nodes()])

    def _draw_marked(self, trails: Singles) -> None:
        connect = np.ones(trails.shape[:2], dtype=np.bool_)
        connect[:, -1] = False
        lines = trails.reshape(-1, 2)
        path = path_of(lines[:, 0], lines[:, 1], connect.ravel())
        self._marked.set_curves([(path, pen_of(self._palette.foreground))] if lines.size else ())

    def _show_marks(self) -> None:
        count = self._points.shape[0]
        pinned = [j for j in sorted(self._pinned) if j < count]
        marks = []
        if len(pinned) <= MOST_LABELS:
            marks = [self._mark(j) for j in pinned if j != self._hovered]
        self._rings.show_at(self._points[pinned] if len(pinned) > MOST_LABELS else NOWHERE)
        if 0 <= self._hovered < count:
            marks.append(self._mark(self._hovered, True))
        assert self._data is not None
        empty = not math.isfinite(self._data.log10_extent(np.array([self._frame])))
        self.plot.set_overlay(Overlay(tuple(marks), note="all nodes are 0" if empty else ""))

    def _mark(self, j: int, hovered: bool = False) -> Mark:
        x, y = (float(value) for value in self._points[j])
        unit = 10.0**self._power
        texts = [screen_text(number_text(value * unit, 2)) for value in (x, y)]
        return Mark(x, y, f"node {j}", f"({', '.join(texts)})", hovered, outward=True)

    # ----------------------------------------------------------------------------------- mouse

    def _hover(self, x: float, y: float) -> None:
        self.node_hovered.emit(self.plot.nearest(self._points, x, y))

    def _leave(self) -> None:
        self.node_hovered.emit(-1)

    def _click(self, x: float, y: float) -> None:
        self.node_clicked.emit(self.plot.nearest(self._points, x, y))

    def _select(self, box: QRectF) -> None:
        x, y = self._points[:, 0], self._points[:, 1]
        inside = (x >= box.left()) & (x <= box.right()) & (y >= box.top()) & (y <= box.bottom())
        self.nodes_selected.emit(frozenset(np.flatnonzero(inside).tolist()))
