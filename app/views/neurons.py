"""Neurons in weight space: |a_j| v_j, or v_j/|v_j|, on a plane, with trails and the data."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QWidget

from app.state.display import DisplayData
from app.state.intent import NEURON_POINTS, NEURON_RANGES, Intent
from app.state.node_values import Indices, Singles
from app.views.layers import RayLayer, example_entries, node_colours, show_points
from app.views.node_view import NO_INNER, NodeView, absence_of_nodes
from app.views.pixels import pixel_width, resolved_text
from app.views.view import Numbers
from app.widgets.axis import plain, rooted
from app.widgets.items import CurveStack, Markers, Style, ZeroLine, path_of, pen_of
from app.widgets.overlay import HoverReadout
from app.widgets.plot_item import NO_POINTS, Drag, Home
from core.figures.camera import sample_frames, signed_root, signed_square, smooth_reach, unit_power
from core.figures.palette import Palette, dim_colours
from core.numbers import number_text, raise_powers

LEVELS = 4  # shades of trails per class; the neurons have more
SHADES = 12
TITLES = {"weights": "neurons |a\u2c7c| v\u2c7c", "directions": "directions v\u2c7c / |v\u2c7c|"}
# Appended to the title, except for the range of the moment.
REACHES = {"moment": "", "run": ", whole run", "root": ", signed roots"}
STEPS_OF_RANGE = 20.0  # steps of 10^(1/20) by which a growing range grows
EDGE = 1.1  # range as a multiple of its contents
SHORT = {"coordinate": "coord.", "component": "comp.", "class means": "means"}  # for narrow axes
LARGEST_DOT = 14.0  # pixels; a direction's dot has an area proportional to |a_j v_j|


@final
class NeuronsView(NodeView):
    """Trails of at most 128 points up to a frame, coloured by the present sign and norm.

    With more than two classes the colour is that of the neuron's largest outer weight. `power`:
    positions are drawn in units of 10^power, as the axes say.
    """

    shows = ("positions",)
    on_plane = True

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        super().__init__(
            palette,
            TITLES["weights"],
            parent,
            horizontal="coordinate 1",
            vertical="coordinate 2",
            equal=True,
            drag=Drag.BOX,
        )
        self.power = 0
        self._range, self._shows_points = "moment", "weights"
        # Data in their own units, and their extent.
        self._examples: tuple[NDArray[np.float64], float] = NO_POINTS, 0.0
        self._examples_of: tuple[object, bool, Palette] | None = None
        self.plot.add_lines(ZeroLine())
        self.plot.add_lines(ZeroLine(vertical=True))
        self.circle = self.plot.add(CurveStack(), -8.0)
        self.rays = RayLayer(self.plot)
        self.examples = self.plot.add(Markers(), -5.0)
        self.trails = self.plot.add(CurveStack(), 0.0)
        self.marked_trails = self.plot.add(CurveStack(), 1.0)
        self.nodes = self.plot.add(Markers(), 2.0)
        self._recolour()
        self.plot.box_drawn.connect(self._select)

    def set_options(self, options: Intent) -> None:
        super().set_options(options)
        self.set_picture(options.neuron_range, options.shown_points)

    def set_picture(self, reach: str, points: str) -> None:
        """Set the range, and the symbol of a neuron.

        Raises ValueError for what is not in NEURON_RANGES or NEURON_POINTS.
        """
        if reach not in NEURON_RANGES or points not in NEURON_POINTS:
            raise ValueError(f"{reach} of {points} is not a range of the neuron view")
        if (reach, points) == (self._range, self._shows_points):
            return
        self._range, self._shows_points = reach, points
        for axis in (self.plot.bottom, self.plot.side):
            axis.set_ticks(rooted if self._shows_roots else plain)
        self.header.set_title(TITLES[points] + ("" if self._shows_directions else REACHES[reach]))
        self.plot.reset_range()  # a zoom belonged to another picture
        self._recolour()
        self.redraw()

    @property
    def _shows_directions(self) -> bool:
        """True if v_j/|v_j| is drawn on the unit circle."""
        return self._shows_points == "directions"

    @property
    def _shows_roots(self) -> bool:
        """True if both axes are of signed square roots."""
        return self._range == "root" and not self._shows_directions

    def region(self) -> tuple[float, float, float, float]:
        """Return the shown range, without the power of ten of the axes."""
        unit = math.sqrt(10.0**self.power) if self._shows_roots else 10.0**self.power
        left, right, bottom, top = super().region()
        return unit * left, unit * right, unit * bottom, unit * top

    # --------------------------------------------------------------------------------- content

    def _clear(self) -> None:
        self.plot.points = NO_POINTS
        for curves in (self.trails, self.marked_trails, self.circle):
            curves.set_curves(())
        for markers in (self.nodes, self.examples):
            markers.show_at(NO_POINTS)
        self._examples_of = None
        self.rays.show(None, self._palette)
        self._recolour()

    def _absence(self, data: DisplayData) -> str:
        return absence_of_nodes(data) or ("" if data.has_inner else NO_INNER)

    def refit(self, data: DisplayData) -> None:
        """Update the range, the scale of the data and the axes' names."""
        data.set_directions(self._shows_directions)
        self._find_examples(data)
        self._draw_circle()
        self.rays.show(data.projection if self._shows_directions else None, self._palette)
        self._reach(data, max(self.frame, 0))

    def _find_examples(self, data: DisplayData) -> None:
        """Place the data on the plane; the range sets their factor."""
        from core.observables.node_coordinates import unit_rows

        key = (data.projection, self._shows_directions, self._palette)
        if key != self._examples_of:
            x = data.run.dataset.x
            places = data.projection.inputs(unit_rows(x)[0] if self._shows_directions else x)
            show_points(self.examples, np.round(places, 9), data, self._palette)
            reach = float(np.fmax.reduce(np.abs(places), axis=None, initial=0.0))
            self._examples, self._examples_of = (self.examples.points, reach), key

    def _draw_circle(self) -> None:
        """Draw the circle on which directions within the plane lie."""
        turn = np.linspace(0.0, 2.0 * np.pi, 181)
        path = path_of(np.cos(turn), np.sin(turn))
        self.circle.set_curves(
            [(path, pen_of(self._palette.grid))] if self._shows_directions else ()
        )

    def _extent(self, data: DisplayData, frame: int) -> float:
        """Return log10 of the extent of neurons to be in the range; -inf if all are 0."""
        if self._shows_directions:
            return 0.0
        if self._range == "moment":
            frames = np.append(sample_frames(frame, data.frames, data.run.planned_frames), frame)
            extents = data.log10_extents(frames)
            return smooth_reach(extents[:-1], float(extents[-1]))
        extent = data.log10_extent(data.known_frames(self._trail_frames(data.frames - 1)))
        if math.isfinite(extent) and not data.complete:
            extent = math.ceil(STEPS_OF_RANGE * extent) / STEPS_OF_RANGE
        return extent

    def _reach(self, data: DisplayData, frame: int) -> None:
        """Set the range that the neurons need at a frame, with the data of equal size."""
        from core.figures.neurons import DATA_REACH
        from core.figures.rays import TIP

        log10_extent = self._extent(data, frame)
        self.power = power = unit_power(log10_extent)
        extent = 10.0 ** (log10_extent - power)
        points, reach = self._examples
        factor = 1.0
        if reach > 0.0 and extent > 0.0 and not self._shows_directions:
            factor = DATA_REACH * extent / reach
            # As in the figures; with the range of the moment rounding would make the points
            # tremble.
            if self._range != "moment":
                factor = float(f"{factor:.3g}")
        half = EDGE * max(extent, factor * reach, TIP if self.rays.rays else 0.0) or 1.0
        half = float(self._spread(np.array(half)))
        self.plot.set_home(Home(-half, half, -half, half))
        self.examples.show_at(self._spread(factor * points), self.examples.which)
        self._show_names(data)
        times = "data / |x|"
        if not self._shows_directions:
            times = f"data \u00d7 {raise_powers(number_text(float(f'{factor:.3g}') * 10.0**power))}"
        entries = example_entries(data.classes, times, self._palette)
        self.header.set_key(*entries, *self.rays.entries(self._palette))

    def _spread(self, points: NDArray[Any]) -> NDArray[Any]:
        """Return positions of points on the axes."""
        return signed_root(points) if self._shows_roots else points

    def _show_names(self, data: DisplayData) -> None:
        unit = raise_powers(f" (10^{self.power})") if self.power else ""
        labels = data.projection.labels
        for axis, label in zip((self.plot.bottom, self.plot.side), labels, strict=True):
            if label.startswith("no "):
                axis.set_label(label)
            else:
                axis.set_label(f"{label}{unit}", f"{shorten_label(label)}{unit}")

    def _recolour(self) -> None:
        data, palette = self.data, self._palette
        classes = 2 if data is None else data.classes
        crowd = min(1.0, 4.0 / math.sqrt(1 if data is None else data.m))
        levels = ((np.arange(LEVELS) + 0.5) / LEVELS) ** 2
        shades = np.arange(SHADES) / (SHADES - 1)
        sizes = (5.0 + 4.0 * crowd) * (0.75 + 0.5 * shades)
        if self._shows_directions:
            # Shades are square roots of relative norms, so areas are proportional to norms.
            sizes = np.maximum(LARGEST_DOT * shades, 2.0)
        self._kinds = classes + 1
        pens, discs = (
            np.concatenate(
                [node_colours(kind, classes, shade_set, palette) for kind in range(self._kinds)]
            )
            for shade_set in (levels, shades**2)
        )
        disc_colours = np.concatenate([discs, dim_colours(discs, palette)])
        self._pens = [pen_of(colour) for colour in (*pens, *dim_colours(pens, palette))]
        self.nodes.set_styles(
            *(
                Style(colour, size, edge=palette.background)
                for colour, size in zip(disc_colours, np.tile(sizes, 2 * self._kinds), strict=True)
            )
        )

    # ----------------------------------------------------------------------------------- frame

    def _trail_frames(self, frame: int) -> Indices:
        """Return the frames of a trail."""
        from core.figures.tracks import longest_trail

        data = self.data
        assert data is not None
        # By planned frames, not by those recorded: otherwise all trails of a growing run would
        # change, and be read again, at each new stride.
        stride = math.ceil(data.run.planned_frames / max(longest_trail(data.m) - 1, 1))
        return np.append(np.arange(0, frame, stride, dtype=np.int64), frame)

    def _show(self, data: DisplayData, frame: int) -> None:
        """Draw trails up to a frame, and the neurons at it."""
        if self._range == "moment" and not self._shows_directions:
            self._reach(data, frame)
        positions = self._spread(data.positions(self._trail_frames(frame), self.power))
        trails = np.ascontiguousarray(positions.transpose(1, 0, 2))
        self.plot.points = trails[:, -1]
        strength = np.sqrt(np.nan_to_num(data.values("relative_norm", frame)))
        kinds = data.kinds(frame) + self._kinds * ~self._select_mask(data.m)
        self._show_trails(trails, kinds, strength)
        self._show_nodes(kinds, strength)
        self._draw_marked(trails[self._marked_nodes()])
        self._show_marks(data)

    def _show_trails(self, trails: Singles, kinds: Indices, strength: Singles) -> None:
        bands = kinds * LEVELS + np.minimum((strength * LEVELS).astype(np.int64), LEVELS - 1)
        order = np.argsort(bands, kind="stable")
        half = self._kinds * LEVELS
        ends = np.searchsorted(bands[order], np.arange(2 * half + 1))
        trails, connect = self._connect_trails(trails[order])
        curves = []
        # Dimmed trails first, then the others; within both, the strongest neurons of each class on
        # top.
        bands_of = np.arange(2 * half).reshape(2, self._kinds, LEVELS)[::-1]
        for band in bands_of.transpose(0, 2, 1).flat:
            part = slice(ends[band], ends[band + 1])
            if ends[band] < ends[band + 1]:
                lines = trails[part].reshape(-1, 2)
                path = path_of(lines[:, 0], lines[:, 1], connect[part].ravel())
                curves.append((path, self._pens[band]))
        self.trails.set_curves(curves)

    def _connect_trails(self, trails: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return trails (k, T, 2), and True where a line leads to the next point, (k, T)."""
        connect = np.ones(trails.shape[:2], dtype=np.bool_)
        if self._shows_directions:
            # A neuron of length 0 has no direction, and Qt's paths hold no NaN: its trail has a
            # gap.
            is_known = np.isfinite(trails).all(axis=2)
            connect = is_known & np.roll(is_known, -1, axis=1)
            trails = np.where(is_known[:, :, None], trails, 0.0)
        connect[:, -1] = False
        return trails, connect

    def _show_nodes(self, kinds: Indices, strength: Singles) -> None:
        """Draw the neurons: colours by `kinds`, opacity by `strength` in [0, 1]."""
        # The strongest on top, dimmed ones below all others.
        order = np.argsort(strength - 2.0 * (kinds >= self._kinds), kind="stable")
        shade = np.rint(strength * (SHADES - 1)).astype(np.int64)
        self.nodes.show_at(self.plot.points[order], (kinds * SHADES + shade)[order])

    # ----------------------------------------------------------------------------------- marks

    def _mark_nodes(self, data: DisplayData) -> None:
        """Mark neurons by rings, labels and trails in front; or dim the others."""
        if self._has_new_selection():
            self._show(data, self.frame)
            return
        nodes = self._marked_nodes()
        trails = self._spread(data.positions(self._trail_frames(self.frame), self.power)[:, nodes])
        self._draw_marked(np.ascontiguousarray(trails.transpose(1, 0, 2)))
        self._show_marks(data)

    def _marked_nodes(self) -> list[int]:
        """Return the pinned neurons, unless a selection dims the others, and the hovered one."""
        chosen = [] if self._selects else self._pinned_nodes()
        if 0 <= self._hovered < len(self.plot.points) and self._hovered not in self._pinned:
            chosen.append(self._hovered)
        return chosen

    def _draw_marked(self, trails: Singles) -> None:
        """Draw the trails (k, frames, 2) of the marked neurons in the foreground."""
        trails, connect = self._connect_trails(trails)
        lines = trails.reshape(-1, 2)
        path = path_of(lines[:, 0], lines[:, 1], connect.ravel())
        self.marked_trails.set_curves(
            [(path, pen_of(self._palette.foreground))] if lines.size else ()
        )

    def _to_coordinates(self, places: NDArray[Any]) -> NDArray[Any]:
        """Return coordinates of positions on the axes."""
        return 10.0**self.power * (signed_square(places) if self._shows_roots else places)

    def _drawn_numbers(self, data: DisplayData) -> Numbers:
        nodes, *_ = super()._drawn_numbers(data)
        points = self._to_coordinates(self.plot.points.astype(np.float64))
        return (nodes, *zip(data.projection.labels, points.T, strict=True))

    def _numbers(self, x: float, y: float) -> str:
        """Return a point as text, to the digits that a pixel resolves."""
        # One pixel up to its ends, whose distance differs from place to place on axes of roots.
        grains = (pixel_width(self.plot), self.plot.pixel_height())
        texts = []
        for value, grain in zip((x, y), grains, strict=True):
            ends = np.array([value, value - 0.5 * grain, value + 0.5 * grain])
            middle, low, high = self._to_coordinates(ends)
            texts.append(resolved_text(float(middle), float(high - low)))
        return f"({', '.join(texts)})"

    def _readout_at(self, x: float, y: float) -> HoverReadout | None:
        return self.rays.readout_at(x, y, self.plot.points)

    def _hover(self, x: float, y: float) -> None:
        # Aligned neurons lie beside the tips of rays: the nearer one is meant.
        if self._readout_at(x, y) is not None:
            self._leave()
        else:
            super()._hover(x, y)

    def _corner(self, data: DisplayData) -> tuple[str, ...]:
        """Return the sentence in the corner: why the chosen plane is not shown; or none."""
        return (data.plane_problem,) if data.plane_problem else ()

    def _emptiness(self, data: DisplayData) -> str:
        reach = data.log10_extent(np.array([self.frame]))
        return "" if math.isfinite(reach) else "all neurons are zero"

    def _select(self, box: QRectF) -> None:
        x, y = self.plot.points[:, 0], self.plot.points[:, 1]
        is_inside = (x >= box.left()) & (x <= box.right()) & (y >= box.top()) & (y <= box.bottom())
        self.nodes_selected.emit(frozenset(np.flatnonzero(is_inside).tolist()))


def shorten_label(label: str) -> str:
    """Return a short name of an axis.

    >>> shorten_label("coordinate 2"), shorten_label("motion 1")
    ('coord. 2', 'motion 1')
    """
    for word, short in SHORT.items():
        label = label.replace(word, short)
    return label
