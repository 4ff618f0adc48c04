"""Nodes in weight space: |a_j| v_j on two coordinates, with trails and the data."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QWidget

from app.state.display import DisplayData, Indices, Singles
from app.views.examples import example_entries, shaded, show_examples
from app.views.node_view import NO_INNER, NOWHERE, NodeView, absence_of_nodes
from app.widgets.items import CurveStack, Markers, Style, path_of, pen_of
from app.widgets.plot_item import Drag, Home
from app.widgets.screen_text import raised
from core.figures.numbers import number_text
from core.figures.palette import Palette

LEVELS = 4  # shades of trails for each class; the nodes themselves have more
SHADES = 12
MOST_MARKED_TRAILS = 24
TITLE = "nodes |a\u2c7c| v\u2c7c"
STEPS_OF_RANGE = 20.0  # a growing range grows in steps of 10^(1/20)


@final
class NeuronsView(NodeView):
    """Trails of at most 128 points up to a frame, coloured by the present sign and norm; for more
    than two classes by the class of the node's largest outer weight. `power`: positions are drawn
    in units of 10^power, as the axes say."""

    shows = ("positions",)
    on_coordinates = True

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(
            palette,
            TITLE,
            parent,
            horizontal="coordinate 1",
            vertical="coordinate 2",
            equal=True,
            drag=Drag.BOX,
        )
        self.power = 0
        self._shown_examples: tuple[float, tuple[int, int], Palette] | None = None
        self.plot.add_zero_line()
        self.plot.add_zero_line(vertical=True)
        self.examples = self.plot.add(Markers(), -5.0)
        self.trails = self.plot.add(CurveStack(), 0.0)
        self.marked_trails = self.plot.add(CurveStack(), 1.0)
        self.nodes = self.plot.add(Markers(), 2.0)
        self._recolour()
        self.plot.boxed.connect(self._select)

    # --------------------------------------------------------------------------------- content

    def _clear(self) -> None:
        self._points = NOWHERE
        for curves in (self.trails, self.marked_trails):
            curves.set_curves(())
        for markers in (self.nodes, self.examples, self.rings):
            markers.show_at(NOWHERE)
        self._shown_examples = None
        self._recolour()

    def _absence(self, data: DisplayData) -> str:
        return absence_of_nodes(data) or ("" if data.has_inner else NO_INNER)

    def refit(self, data: DisplayData) -> None:
        """The range, the scale of the data and the axes' names, from all frames read so far."""
        from core.figures.neurons import DATA_REACH, projected

        log10_extent = data.log10_extent(data.known_frames(self._kept(data.frames - 1)))
        if math.isfinite(log10_extent) and not data.complete:
            log10_extent = math.ceil(STEPS_OF_RANGE * log10_extent) / STEPS_OF_RANGE
        power = math.floor(log10_extent) if math.isfinite(log10_extent) else 0
        # As in the figures: numbers between these have short ticks without a power.
        self.power = power = power if power >= 4 or power <= -3 else 0
        extent = 10.0 ** (log10_extent - power)
        reach = float(np.abs(projected(data.run.dataset.x, data.coordinates)).max(initial=0.0))
        factor = 1.0
        if reach > 0.0 and extent > 0.0:
            factor = float(f"{DATA_REACH * extent / reach:.3g}")
        half = 1.1 * max(extent, factor * reach) or 1.0
        self.plot.set_home(Home(-half, half, -half, half))
        examples = (factor, data.coordinates, self._palette)
        if examples != self._shown_examples:
            self._shown_examples = examples
            show_examples(self.examples, data, factor, data.coordinates, self._palette)
        self._show_names(data)
        times = f"data \u00d7 {raised(number_text(factor * 10.0**power))}"
        self.header.set_key(*example_entries(data.classes, times, self._palette))

    def _show_names(self, data: DisplayData) -> None:
        unit = raised(f" (10^{self.power})") if self.power else ""
        for axis, c in zip((self.plot.bottom, self.plot.side), data.coordinates, strict=True):
            exists = c < data.run.dataset.d
            axis.set_label(f"coordinate {c + 1}{unit}" if exists else f"no coordinate {c + 1}")

    def _recolour(self) -> None:
        data, palette = self.data, self._palette
        classes = 2 if data is None else data.classes
        crowd = min(1.0, 4.0 / math.sqrt(1 if data is None else data.m))
        levels = ((np.arange(LEVELS) + 0.5) / LEVELS) ** 2
        shades = np.arange(SHADES) / (SHADES - 1)
        sizes = (5.0 + 4.0 * crowd) * (0.75 + 0.5 * shades)
        self._kinds = classes + 1
        self._pens = [
            pen_of(colour)
            for kind in range(self._kinds)
            for colour in shaded(kind, classes, levels, palette)
        ]
        self.nodes.set_styles(
            *(
                Style(colour, size, edge=palette.background)
                for kind in range(self._kinds)
                for colour, size in zip(
                    shaded(kind, classes, shades**2, palette), sizes, strict=True
                )
            )
        )

    # ----------------------------------------------------------------------------------- frame

    def _kept(self, frame: int) -> Indices:
        """The frames of a trail."""
        from core.figures.neurons import longest_trail

        data = self.data
        assert data is not None
        # By the frames that are planned, not by those that are there: else all trails would be read
        # anew, and would change, whenever a growing run has so many more.
        stride = math.ceil(data.run.planned / max(longest_trail(data.m) - 1, 1))
        return np.append(np.arange(0, frame, stride, dtype=np.int64), frame)

    def _show(self, data: DisplayData, frame: int) -> None:
        """Trails up to a frame, and the nodes where they are then."""
        trails = np.ascontiguousarray(
            data.positions(self._kept(frame), self.power).transpose(1, 0, 2)
        )
        self._points = trails[:, -1]
        strength = np.sqrt(np.nan_to_num(data.values("relative_norm", frame)))
        kinds = data.kinds(frame)
        self._show_trails(trails, kinds, strength)
        self._show_nodes(kinds, strength)
        self._draw_marked(trails[self._marked_nodes()])
        self._show_marks(data)

    def _show_trails(self, trails: Singles, kinds: Indices, strength: Singles) -> None:
        bands = kinds * LEVELS + np.minimum((strength * LEVELS).astype(np.int64), LEVELS - 1)
        order = np.argsort(bands, kind="stable")
        ends = np.searchsorted(bands[order], np.arange(self._kinds * LEVELS + 1))
        trails = trails[order]
        length = trails.shape[1]
        connect = np.ones((trails.shape[0], length), dtype=np.bool_)
        connect[:, -1] = False
        curves = []
        for level in range(LEVELS):  # the strongest nodes of every class on top
            for band in range(level, self._kinds * LEVELS, LEVELS):
                part = slice(ends[band], ends[band + 1])
                if ends[band] < ends[band + 1]:
                    lines = trails[part].reshape(-1, 2)
                    path = path_of(lines[:, 0], lines[:, 1], connect[part].ravel())
                    curves.append((path, self._pens[band]))
        self.trails.set_curves(curves)

    def _show_nodes(self, kinds: Indices, strength: Singles) -> None:
        order = np.argsort(strength, kind="stable")  # the strongest on top
        shade = np.rint(strength * (SHADES - 1)).astype(np.int64)
        self.nodes.show_at(self._points[order], (kinds * SHADES + shade)[order])

    # ----------------------------------------------------------------------------------- marks

    def _mark_nodes(self, data: DisplayData) -> None:
        """Mark nodes: rings, labels, and their trails in the foreground."""
        nodes = self._marked_nodes()
        trails = data.positions(self._kept(self.frame), self.power)[:, nodes]
        self._draw_marked(np.ascontiguousarray(trails.transpose(1, 0, 2)))
        self._show_marks(data)

    def _marked_nodes(self) -> list[int]:
        chosen = self._pinned_nodes()[:MOST_MARKED_TRAILS]
        if 0 <= self._hovered < len(self._points) and self._hovered not in self._pinned:
            chosen.append(self._hovered)
        return chosen

    def _draw_marked(self, trails: Singles) -> None:
        connect = np.ones(trails.shape[:2], dtype=np.bool_)
        connect[:, -1] = False
        lines = trails.reshape(-1, 2)
        path = path_of(lines[:, 0], lines[:, 1], connect.ravel())
        self.marked_trails.set_curves(
            [(path, pen_of(self._palette.foreground))] if lines.size else ()
        )

    def _numbers(self, x: float, y: float) -> str:
        unit = 10.0**self.power
        return f"({', '.join(raised(number_text(value * unit, 2)) for value in (x, y))})"

    def _emptiness(self, data: DisplayData) -> str:
        reach = data.log10_extent(np.array([self.frame]))
        return "" if math.isfinite(reach) else "all nodes are 0"

    def _select(self, box: QRectF) -> None:
        x, y = self._points[:, 0], self._points[:, 1]
        inside = (x >= box.left()) & (x <= box.right()) & (y >= box.top()) & (y <= box.bottom())
        self.nodes_selected.emit(frozenset(np.flatnonzero(inside).tolist()))
