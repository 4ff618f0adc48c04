"""Neurons as waves, on addition modulo p: their power at each frequency, and their phases."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, final

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QWidget

from app.state.display import DisplayData
from app.views.node_view import NodeView
from app.views.pixels import resolved_text
from app.widgets.axis import whole
from app.widgets.header import HeaderEntry, TimeColours
from app.widgets.items import CurveStack, Markers, Picture, Style, path_of, pen_of
from app.widgets.plot_item import NO_POINTS, Home
from core.figures.palette import Palette
from core.figures.wave_panel import (
    FAINT,
    MISSING,
    NOTHING,
    TITLES,
    NodeWaves,
    frequency_colours,
    node_waves,
    wave_colours,
)
from core.observables.fourier import is_modular_addition

SIZES = 6  # sizes of points, from the smallest |theta_j| to the largest
THETA, PI = "\u03b8", "\u03c0"


class FourierView(NodeView):
    """Base of both views: runs without waves, the frame's waves, and the key."""

    _found: NodeWaves | None = None

    def _absence(self, data: DisplayData) -> str:
        return "" if is_modular_addition(data.run) else MISSING

    def _show(self, data: DisplayData, frame: int) -> None:
        self._found = node_waves(data.run, frame)
        self._draw(data, self._found)
        self._show_marks(data)

    @abstractmethod
    def _draw(self, data: DisplayData, node_waves: NodeWaves) -> None:
        """Draw the waves of a frame, and set the neurons' places."""

    def _mark_nodes(self, data: DisplayData) -> None:
        if self._has_new_selection():
            self._show(data, self.frame)
        else:
            self._show_marks(data)

    def _emptiness(self, data: DisplayData) -> str:
        return NOTHING if self._found is None or self._found.empty else ""

    def _show_key(self, data: DisplayData) -> None:
        count = (data.classes - 1) // 2
        ramp = frequency_colours(max(count, 2), self._palette)
        if count > 1:
            self.header.set_key(time=TimeColours("frequency 1", str(count), ramp))
        else:
            colour = "#{:02x}{:02x}{:02x}".format(*ramp[0, :3].tolist())
            self.header.set_key(HeaderEntry("frequency 1", colour, "line"))


@final
class WavesView(FourierView):
    """Matrix of neurons, sorted by frequency, and frequencies.

    The colour is deeper where the neuron has more of the frequency. Neurons are at their own
    frequencies.
    """

    shows = ("waves", "frequency", "purity")

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        axes: dict[str, Any] = {"horizontal": "neurons, by frequency", "vertical": "frequency k"}
        super().__init__(palette, TITLES["waves"], parent, **axes, vertical_ticks=whole)
        self.picture = self.plot.add(Picture(), -5.0)
        self.picture.smooth = False

    def _clear(self) -> None:
        self.plot.points, self._found = NO_POINTS, None
        self.picture.show_nothing()

    def refit(self, data: DisplayData) -> None:
        self.plot.set_home(Home(0.0, float(data.m), -0.5, (data.classes - 1) // 2 + 0.5))
        self._show_key(data)

    def _draw(self, data: DisplayData, node_waves: NodeWaves) -> None:
        place = np.empty(data.m)
        place[node_waves.order] = np.arange(data.m)
        self.plot.points = np.stack([place + 0.5, node_waves.frequency.astype(np.float64)], axis=1)
        weight = np.where(self._select_mask(data.m), 1.0, FAINT)
        colours = wave_colours(node_waves, self._palette, weight)
        opaque = np.full((*colours.shape[:2], 1), 255.0)
        pixels = np.rint(np.concatenate([colours, opaque], axis=2)).astype(np.uint8)
        self.picture.show_colours(pixels, QRectF(0.0, -0.5, data.m, colours.shape[0]))

    def _numbers(self, x: float, y: float) -> str:
        assert self._found is not None
        node = int(self._found.order[min(int(x), len(self._found.order) - 1)])
        column = self._found.strength[:, node] ** 2
        total = float(column.sum())
        share = column[round(y)] / total if total > 0.0 else 0.0
        return f"frequency {y:.0f}, {100.0 * share:.0f} % of its power"


@final
class PhasesView(FourierView):
    """th_u + th_v against th_w of each neuron at its frequency.

    The margin is largest on the line. Points are larger for larger |theta_j|.
    """

    shows = ("phases", "phase_relation")

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        axes: dict[str, Any] = {
            "horizontal": f"{THETA}w / {PI}",
            "vertical": f"({THETA}u + {THETA}v) / {PI}",
            "equal": True,
        }
        super().__init__(palette, TITLES["phases"], parent, **axes)
        self.line = self.plot.add(CurveStack())
        self.nodes = self.plot.add(Markers(), 1.0)

    def _clear(self) -> None:
        self.plot.points, self._found = NO_POINTS, None
        self.line.set_curves(())
        self.nodes.show_at(NO_POINTS)

    def refit(self, data: DisplayData) -> None:
        """Set the fixed range, the diagonal, the colours by frequency, and the key."""
        self.plot.set_home(Home(-1.1, 1.1, -1.1, 1.1))
        ends = np.array([-1.0, 1.0])
        self.line.set_curves([(path_of(ends, ends), pen_of(self._palette.muted))])
        ramp = frequency_colours((data.classes - 1) // 2, self._palette)
        edge = self._palette.background
        strong = [Style(one, 4.0 + size, edge=edge) for one in ramp for size in range(SIZES)]
        faint = np.concatenate([ramp[:, :3], np.full((len(ramp), 1), 64, np.uint8)], axis=1)
        weak = [Style(one, 4.0 + size) for one in faint for size in range(SIZES)]
        self.nodes.set_styles(*strong, *weak)
        self._show_key(data)

    def _draw(self, data: DisplayData, node_waves: NodeWaves) -> None:
        self.plot.points = node_waves.points
        chosen = self._select_mask(data.m)
        sizes = np.rint((SIZES - 1) * node_waves.size).astype(np.int64)
        colour_indices = SIZES * (node_waves.frequency - 1) + sizes
        colour_indices += np.where(chosen, 0, SIZES * ((data.classes - 1) // 2))
        # The largest on top, and above them the selected ones.
        order = np.lexsort((node_waves.size, chosen))
        self.nodes.show_at(node_waves.points[order], colour_indices[order])

    def _numbers(self, x: float, y: float) -> str:
        pixel = self.plot.pixel_height()
        outer, inner = (f"{resolved_text(value, pixel)} {PI}" for value in (x, y))
        return f"{THETA}w = {outer}, {THETA}u + {THETA}v = {inner}"
