"""View of the tangent kernel: cosines between the gradients of the examples, as an image."""

from __future__ import annotations

from typing import final

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QWidget

from app.state.display import DisplayData
from app.views.view import Numbers, RunView
from app.widgets.axis import whole
from app.widgets.header import TimeColours
from app.widgets.items import CurveStack, Picture, path_of, pen_of
from app.widgets.overlay import HoverReadout
from app.widgets.plot_item import Home
from app.widgets.screen_text import shown_number
from core.figures.kernel_panel import (
    TITLE,
    UPRIGHT,
    axis_label,
    border_segments,
    cosine_colours,
    cosine_ramp,
)
from core.figures.palette import Palette
from core.figures.ticks import Ticks
from core.numbers import MINUS
from core.observables.kernel_matrix import example_order, kernel_cosines, why_no_kernel
from core.observables.tangent_kernel import Array


@final
class ExampleTicks:
    """Ticks at the examples alone: squares leave a plot room beyond them."""

    def __init__(self) -> None:
        self.count = 0.0

    def __call__(self, low: float, high: float, max_ticks: int) -> Ticks:
        low, high = max(low, 0.0), min(high, self.count)
        return whole(low, high, max_ticks) if low <= high else ()


@final
class KernelView(RunView):
    """Matrix of the examples, sorted by class: deeper where their gradients are more alike."""

    shows = ("kernel", "kernel_alignment", "kernel_distance", "kernel_rank")

    def __init__(self, palette: Palette, parent: QWidget | None = None) -> None:
        ticks = ExampleTicks()
        super().__init__(
            palette, TITLE, parent, equal=True, horizontal_ticks=ticks, vertical_ticks=ticks
        )
        self._ticks = ticks
        self._cosines: Array | None = None
        self.picture = self.plot.add(Picture(), -5.0)
        self.picture.smooth = False
        self.borders = self.plot.add(CurveStack(), 1.0)

    def _absence(self, data: DisplayData) -> str:
        return why_no_kernel(data.run)

    def _clear(self) -> None:
        self._cosines = None
        self.picture.show_nothing()
        self.borders.set_curves(())

    def refit(self, data: DisplayData) -> None:
        order = example_order(data.run)
        count = self._ticks.count = float(order.examples.size)
        self.plot.set_labels(axis_label(data.run), UPRIGHT)
        self.plot.set_home(Home(0.0, count, 0.0, count))
        pen = pen_of(self._palette.foreground, self.plot.devicePixelRatioF())
        self.borders.set_curves([(path_of(*line.T), pen) for line in border_segments(order)])
        ramp = cosine_ramp(self._palette)
        self.header.set_key(time=TimeColours(f"cosine {MINUS}1", "1", ramp))

    def _show(self, data: DisplayData, frame: int) -> None:
        self._cosines = kernel_cosines(data.run, frame)
        colours = cosine_colours(self._cosines, self._palette)
        opaque = np.full((*colours.shape[:2], 1), 255.0)
        pixels = np.rint(np.concatenate([colours, opaque], axis=2)).astype(np.uint8)
        count = float(len(self._cosines))
        self.picture.show_colours(pixels, QRectF(0.0, 0.0, count, count))

    def _drawn_numbers(self, data: DisplayData) -> Numbers:
        """Return pairs of examples, and their cosines."""
        if self._cosines is None:
            return ()
        examples = example_order(data.run).examples.astype(np.float64)
        first, second = np.meshgrid(examples, examples)
        columns = (first.ravel(), second.ravel(), self._cosines.ravel())
        return tuple(zip(("example", "and example", "cosine"), columns, strict=True))

    def _readout_at(self, x: float, y: float) -> HoverReadout | None:
        """Return the pair of examples at the pointer, with their labels."""
        data, cosines = self.data, self._cosines
        if data is None or cosines is None or not self.plot.plot_area().contains(x, y):
            return None
        across, up = self.plot.place(x, y)
        column, row = int(np.floor(across)), int(np.floor(up))
        if not (0 <= column < len(cosines) and 0 <= row < len(cosines)):
            return None
        order, dataset = example_order(data.run), data.run.dataset
        i, k = int(order.examples[column]), int(order.examples[row])
        labels = (shown_number(float(dataset.y[one]), 3) for one in (i, k))
        text = "examples {} and {}\ny = {} and {}\ncosine {}".format(
            i, k, *labels, shown_number(float(cosines[row, column]), 3)
        )
        return HoverReadout(column + 0.5, row + 0.5, text)
