"""Panel of the tangent kernel: cosines between the gradients of the examples, as an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.figures.palette import Palette, rgb, rgba
from core.figures.primitives import (
    Axis,
    Box,
    Colours,
    Curves,
    Key,
    Panel,
    PanelContent,
    Raster,
    TimeKey,
)
from core.figures.ticks import with_range
from core.numbers import MINUS
from core.observables.kernel_matrix import (
    MOST,
    ExampleOrder,
    example_order,
    kernel_cosines,
    thin_order,
    why_no_kernel,
)
from core.runs import Run

Floats = NDArray[np.float64]
KIND, TITLE, UPRIGHT = "kernel", "tangent kernel", "examples"
BORDER = 0.6  # points
RAMP = 17  # colours of the key


def cosine_colours(cosines: Floats, palette: Palette) -> Floats:
    """Return colours of cosines: the ground at 0, deeper in the colour of the sign for more.

    Parameters
    ----------
    cosines : array (rows, columns)
        Numbers in [-1, 1].
    palette : Palette
        Colours.

    Returns
    -------
    array (rows, columns, 3)
        RGB, 0 to 255.
    """
    ground = rgb(palette.background)
    ink = np.where(cosines[..., None] > 0.0, rgb(palette.positive), rgb(palette.negative))
    return np.asarray(ground + np.abs(cosines)[..., None] * (ink - ground))


def cosine_ramp(palette: Palette) -> Colours:
    """Return the colours of the key, of evenly spaced cosines from -1 to 1.

    Parameters
    ----------
    palette : Palette
        Colours.

    Returns
    -------
    array (RAMP, 4) of uint8
        RGBA rows.
    """
    ramp = cosine_colours(np.linspace(-1.0, 1.0, RAMP)[None, :], palette)[0]
    return np.asarray(np.rint(np.c_[ramp, np.full(RAMP, 255.0)]).astype(np.uint8))


def axis_label(run: Run, order: ExampleOrder | None = None) -> str:
    """Return the horizontal axis's name: how examples are sorted, and how many are shown."""
    count, n = (order or example_order(run)).examples.size, run.dataset.n
    key = "target" if run.dataset.real else "class"
    return f"{f'{count} of {n} ' if count < n else ''}examples, by {key}"


def border_segments(order: ExampleOrder) -> Floats:
    """Return the lines between classes, the upright ones first.

    Parameters
    ----------
    order : ExampleOrder
        Examples in order, with the places of the borders among them.

    Returns
    -------
    array (s, 2, 2)
        Ends (x, y) of each segment, in examples from the corner of the image.
    """
    count = float(order.examples.size)
    places = [float(place) for place in order.borders]
    lines = [((place, 0.0), (place, count)) for place in places]
    lines += [((0.0, place), (count, place)) for place in places]
    return np.asarray(lines, dtype=np.float64).reshape(-1, 2, 2)


@final
@dataclass(frozen=True, slots=True, eq=False)
class KernelPanel:
    """Panel of a run's tangent kernel, with at most `limit` examples."""

    run: Run
    palette: Palette
    last: int
    limit: int = MOST

    @property
    def order(self) -> ExampleOrder:
        """Shown examples, of a run with a tangent kernel."""
        return thin_order(example_order(self.run), self.limit)

    def panel(self, row: int, letter: str, box: Box) -> Panel:
        """Build the panel at the last frame.

        Parameters
        ----------
        row : int
            Row of the run.
        letter : str
            Letter, "" for none.
        box : Box
            Box in millimetres.

        Returns
        -------
        Panel
            With a note in place of the image for a run without a tangent kernel.
        """
        x, y = self.axes()
        key: Key = ()
        if not why_no_kernel(self.run):
            ramp = cosine_ramp(self.palette)
            texts = [""] * RAMP
            texts[0], texts[RAMP // 2], texts[-1] = f"{MINUS}1", "0", "1"
            key = TimeKey("cosine", tuple(texts), ramp)
        return Panel(KIND, row, letter, TITLE, box, x, y, self.ink(self.last), key=key)

    def axes(self) -> tuple[Axis, Axis]:
        """Return two axes of examples."""
        has_kernel = not why_no_kernel(self.run)
        count = float(self.order.examples.size) if has_kernel else 1.0
        label = axis_label(self.run, self.order) if has_kernel else "examples"
        names = label, UPRIGHT
        x, y = (with_range(Axis(0.0, count, (), name, "whole"), 0.0, count) for name in names)
        return x, y

    def ink(self, index: int) -> PanelContent:
        """Return what the panel shows at a frame."""
        if missing := why_no_kernel(self.run):
            return PanelContent(note=missing)
        order = self.order
        colours = cosine_colours(kernel_cosines(self.run, index, order), self.palette)
        pixels = np.rint(colours).astype(np.uint8)
        count = order.examples.size
        if count == 1:  # two points at least are evenly spaced
            pixels = np.repeat(np.repeat(pixels, 2, axis=0), 2, axis=1)
        half = 0.5 * count / pixels.shape[0]
        raster = Raster(half, count - half, half, count - half, pixels, smooth=False)
        segments = border_segments(order)
        inks = np.tile(rgba(self.palette.foreground), (len(segments), 1))
        widths = np.full(len(segments), BORDER)
        borders = Curves("borders", segments[..., 0], segments[..., 1], inks, widths)
        return PanelContent((borders,) if len(segments) else (), rasters=(raster,))
