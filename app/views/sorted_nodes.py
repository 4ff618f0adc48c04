"""Rotations and relative norms, sorted, at moments of the run (telgarsky22, Figure 1c and 1d)."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from app.state.display import DisplayData
from app.state.node_values import Indices
from app.views.node_view import NO_INNER, NodeView, absence_of_nodes
from app.views.pixels import resolved_text
from app.views.view import Numbers
from app.widgets.header import TimeColours
from app.widgets.items import CurveStack, Markers, Style, ZeroLine, path_of, pen_of
from app.widgets.plot_item import NO_POINTS, Home
from core.figures.palette import Palette, dim_colours, time_colours
from core.numbers import LOG10, raise_powers, time_text

MOST_MOMENTS = 40
MOST_POINTS = 512  # of a curve; a screen has fewer pixels
MOST_DOTS = 64  # neurons up to which each has a dot on the current curve
FAINT = 0.25  # opacity of earlier moments while neurons are selected
CURRENT = 2.0  # pixels; wide lines are slow by the thousand, not singly
FIXED = "this network does not train its inner weights"
LABELS = {"rotation": "rotation", "relative_norm": "relative norm"}
SHORT = {"rotation": "rotation", "relative_norm": "norm"}
NOTES = {"rotation": "no neuron has a direction", "relative_norm": "all neurons are zero"}


def rotations_view(palette: Palette, parent: QWidget | None = None) -> SortedView:
    """Return the view of sorted cosines of the angle between v_j(0) and v_j(t)."""
    return SortedView(palette, "rotation", "rotations, sorted", parent)


def norms_view(palette: Palette, parent: QWidget | None = None) -> SortedView:
    """Return the view of sorted |a_j v_j| / max_k |a_k v_k|."""
    return SortedView(palette, "relative_norm", "relative norms, sorted", parent)


@final
class SortedView(NodeView):
    """Curves against rank / m, one per moment, coloured by time, the current one on top."""

    links = True

    def __init__(
        self, palette: Palette, kind: str, title: str, parent: QWidget | None = None
    ) -> None:
        axes = {"horizontal": "rank / m", "vertical": LABELS[kind]}
        super().__init__(palette, title, parent, **axes)
        self.plot.side.set_label(axes["vertical"], SHORT[kind])
        self._kind = kind
        self._paths: list[Any] = []
        self._ramp: NDArray[Any] = np.empty((0, 4))  # colour of each frame
        self._ramp_of: tuple[int, Palette] | None = None
        self.plot.add_lines(ZeroLine())
        self.past = self.plot.add(CurveStack())
        self.current = self.plot.add(CurveStack(), 1.0)
        self.dots = self.plot.add(Markers(), 2.0)

    # --------------------------------------------------------------------------------- content

    def help_topics(self) -> tuple[str, ...]:
        """Return the sorted quantity, and the observable itself."""
        return ("rotations" if self._kind == "rotation" else "norms", self._kind)

    def _clear(self) -> None:
        self._paths, self.plot.points = [], NO_POINTS
        for curves in (self.past, self.current):
            curves.set_curves(())
        self.dots.show_at(NO_POINTS)

    def _absence(self, data: DisplayData) -> str:
        absence = absence_of_nodes(data)
        if absence or self._kind != "rotation":
            return absence
        if not data.has_inner:
            return NO_INNER
        return FIXED if data.run.network.fixed_features else ""

    def refit(self, data: DisplayData) -> None:
        """Update the range, the moments and their key from all frames read so far."""
        low = 0.0
        if self._kind == "rotation":
            least = data.least_value(self._kind)
            low = max(-1.0, min(math.floor(10.0 * least) / 10.0, 0.9))
        pad = 0.025 * (1.0 - low)
        self.plot.set_home(Home(0.0, 1.02, low - pad, 1.0 + pad))
        for frame in self._moments(data.frames)[len(self._paths) :].tolist():
            thinned_ranks = self._thin_ranks()
            values = data.sorted_nodes(self._kind, frame).values[thinned_ranks]
            self._paths.append(path_of((thinned_ranks + 1) / data.m, values))
        self._show_key(data)
        self._show_past()

    def _moments(self, until: int) -> Indices:
        """Return the frames of the moments before a frame."""
        assert self.data is not None
        # By planned frames, so that a drawn curve remains as the run grows.
        stride = math.ceil(self.data.run.planned_frames / (MOST_MOMENTS - 1))
        return np.arange(0, until, stride, dtype=np.int64)

    def _thin_ranks(self) -> Indices:
        assert self.data is not None
        m = self.data.m
        if m <= MOST_POINTS:
            return np.arange(m)
        return np.unique(np.linspace(0, m - 1, MOST_POINTS).round().astype(np.int64))

    def _colours(self, frames: Indices) -> Any:
        """Return the time ramp's colours of these frames, out of all planned ones."""
        assert self.data is not None
        key = (self.data.planned_frames, self._palette)
        if key != self._ramp_of:  # computed for all frames at once, since each shows one colour
            places = np.arange(self.data.planned_frames) / max(self.data.planned_frames - 1, 1)
            self._ramp, self._ramp_of = time_colours(places, self._palette), key
        return self._ramp[frames]

    def _show_key(self, data: DisplayData) -> None:
        """Put the colours of the moments, from the first time to the last, into the header."""
        times = data.log10_time
        last = float(times[-1])
        if not data.complete:
            last = max(last, data.planned_end)
        steps = data.run.counts_steps
        first = raise_powers(time_text(float(times[0]), steps))
        text = raise_powers(time_text(last, steps)).replace("log10", LOG10)
        colours = time_colours(np.linspace(0.0, 1.0, 17), self._palette)
        self.header.set_key(
            time=TimeColours(first, text.removeprefix("t = ").removeprefix("step "), colours)
        )

    def _show_past(self) -> None:
        if self.data is None:
            return
        moments = self._moments(self.data.frames)
        pens = [pen_of(colour) for colour in self._colours(moments)]
        n_moments = int(np.searchsorted(moments, max(self.frame, 0)))
        self.past.set_curves(list(zip(self._paths, pens, strict=True)), n_moments)

    # ----------------------------------------------------------------------------------- frame

    def _show(self, data: DisplayData, frame: int) -> None:
        """Draw the moments before a frame, and the frame itself."""
        nodes = data.sorted_nodes(self._kind, frame)
        ranks = np.arange(1, data.m + 1) / data.m
        values = data.values(self._kind, frame)
        self.plot.points = np.stack([ranks[nodes.place], values], axis=1)
        self.past.show_first(int(np.searchsorted(self._moments(data.frames), frame)))
        colour = self._colours(np.array([frame]))[0]
        thinned_ranks = self._thin_ranks()
        path = path_of(ranks[thinned_ranks], nodes.values[thinned_ranks])
        width = CURRENT * self.plot.devicePixelRatioF()
        faint = dim_colours(colour[None], self._palette)[0]
        chosen = self._select_mask(data.m)
        self.current.set_curves([(path, pen_of(faint if self._selects else colour, width))])
        self.past.setOpacity(FAINT if self._selects else 1.0)
        # A curve cannot be dimmed for some neurons: selected ones are dots on it.
        dots = data.m <= MOST_DOTS
        self.dots.set_styles(Style(faint, 5.0), Style(colour, 5.0))
        order = np.argsort(chosen, kind="stable")[0 if dots else np.count_nonzero(~chosen) :]
        order = order if dots or self._selects else order[:0]
        self.dots.show_at(self.plot.points[order], chosen[order].astype(np.int64))
        self._show_marks(data)

    def _neighbour(self, node: int, nodes: Indices, x: int, y: int) -> int:
        """Return the next neuron along the rank; arrows up lead to larger values."""
        order = nodes[np.argsort(self.plot.points[nodes, 0], kind="stable")]
        values = self.plot.points[order, 1]
        way = x or (-y if values[-1] >= values[0] else y)
        if node < 0:
            return int(order[0 if way > 0 else -1])
        place = int(np.flatnonzero(order == node)[0]) + way
        return int(order[min(max(place, 0), order.size - 1)])

    def _mark_nodes(self, data: DisplayData) -> None:
        if self._has_new_selection():
            self._show(data, self.frame)
        else:
            self._show_marks(data)

    def _drawn_numbers(self, data: DisplayData) -> Numbers:
        nodes = data.sorted_nodes(self._kind, self.frame)
        ranks = np.arange(1, data.m + 1, dtype=np.float64)
        values = nodes.values.astype(np.float64)
        return (
            ("rank", ranks),
            (LABELS[self._kind], values),
            ("neuron", nodes.order.astype(float)),
        )

    def _numbers(self, x: float, y: float) -> str:
        assert self.data is not None
        rank = round(x * self.data.m)
        return f"{resolved_text(y, self.plot.pixel_height())} (rank {rank})"

    def _emptiness(self, data: DisplayData) -> str:
        return "" if np.isfinite(self.plot.points[:, 1]).any() else NOTES[self._kind]
