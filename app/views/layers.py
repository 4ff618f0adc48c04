"""Layers of plots of space: the data, and the rays of neurons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from app.state.display import DisplayData
from app.widgets.header import HeaderEntry
from app.widgets.items import CurveStack, Markers, Style, Symbol, path_of, pen_of
from app.widgets.overlay import HoverReadout
from app.widgets.plot_item import Plot
from core.figures.palette import (
    Palette,
    class_colours,
    kind_colours,
    mark_areas,
    mark_colour,
    rgba,
)
from core.figures.predictor import sign_colours

if TYPE_CHECKING:
    from core.figures.rays import Rays
    from core.observables.projection import Projection


MOST_EXAMPLES = 4000
Colours = NDArray[np.uint8]


def node_colours(kind: int, classes: int, levels: NDArray[Any], palette: Palette) -> Colours:
    """Return RGBA rows of neurons of a class (kind < classes) or of none, by relative norm."""
    return kind_colours(np.full(len(levels), kind), levels, classes, palette)


def example_entries(classes: int, text: str, palette: Palette) -> tuple[HeaderEntry, ...]:
    """Return the key of the data: a mark for each class, and a text."""
    colours = class_colours(classes, palette)
    if classes == 2:
        return HeaderEntry("", colours[1], "plus"), HeaderEntry(text, colours[0], "cross")
    signs = [HeaderEntry("", colour, "plus") for colour in colours[:6]]
    return *signs[:-1], HeaderEntry(text, colours[len(signs) - 1], "plus")


def show_examples(
    markers: Markers,
    data: DisplayData,
    factor: float,
    coordinates: tuple[int, int],
    palette: Palette,
    on_map: bool = False,
) -> None:
    """Show the training data times a factor, with a marker for each distinct place and label.

    Markers of more examples are larger; crosses for -1, pluses for +1 and for several classes.
    They are deeper in colour `on_map`, where the ground has the colours of the classes itself.
    """
    x = data.run.dataset.x
    places = np.zeros((len(x), 2))
    for place, column in enumerate(coordinates):
        if column < x.shape[1]:
            places[:, place] = np.round(x[:, column], 9)
    show_points(markers, factor * places, data, palette, on_map)


def show_points(
    markers: Markers,
    points: NDArray[np.float64],
    data: DisplayData,
    palette: Palette,
    on_map: bool = False,
) -> None:
    """Show the examples at points (n, 2)."""
    labels = data.labels
    styles: list[Style] = []
    point_arrays, colour_indices = [np.empty((0, 2))], [np.empty(0, dtype=np.int64)]
    for number, colour in enumerate(class_colours(data.classes, palette)):
        mine = points[labels == number][: MOST_EXAMPLES // data.classes]
        places, counts = np.unique(mine, axis=0, return_counts=True)
        if not places.size:
            continue
        # As large as in the figures, which size markers by area.
        areas = mark_areas(counts)
        sizes, kinds = np.unique(np.rint(1.4 * np.sqrt(areas) + 3.0), return_inverse=True)
        symbol = Symbol.CROSS if data.classes == 2 and number == 0 else Symbol.PLUS
        ink = mark_colour(colour, palette, on_map)
        point_arrays.append(places)
        colour_indices.append(len(styles) + kinds.astype(np.int64))
        styles += [Style(ink, float(size), symbol) for size in sizes]
    markers.set_styles(*styles)
    markers.show_at(np.concatenate(point_arrays), np.concatenate(colour_indices))


TARGET = 9.0  # pixels, a point whose colour shows its target
STEPS = 8  # colours of each sign


def show_targets(
    markers: Markers,
    points: NDArray[np.float64],
    targets: NDArray[np.float64],
    reach: float,
    palette: Palette,
) -> None:
    """Show points (n, 2) in the colours of f's map at their targets (n,).

    Where f fits, a point differs from its ground by its edge alone. `reach` is the value of the
    deepest colour.
    """
    colours = sign_colours(np.linspace(-1.0, 1.0, 2 * STEPS + 1), palette)
    edge = palette.foreground
    markers.set_styles(*(Style((*colour, 255), TARGET, edge=edge) for colour in colours.tolist()))
    colour_indices = (
        np.clip(np.rint(STEPS * targets / reach), -STEPS, STEPS).astype(np.int64) + STEPS
    )
    markers.show_at(points[:MOST_EXAMPLES], colour_indices[:MOST_EXAMPLES])


BORDER, RAY, TIP = 1.0, 1.6, 7.0  # pixels: two line widths, and the size of a tip
DASHES = (4.0, 2.5)
NEAR = 9.0  # pixels from the pointer within which a tip is read


@final
class RayLayer:
    """Layer of rays below the neurons of a plot of directions; empty without rays."""

    def __init__(self, plot: Plot) -> None:
        self.rays: Rays | None = None
        self._missing = ""  # reason why data with rays have none here
        self.lines = plot.add(CurveStack(), -7.0)
        self.tips = plot.add(Markers(), -4.0)
        self._plot = plot
        self._drawn: tuple[Projection | None, Palette] | None = None

    def show(self, projection: Projection | None, palette: Palette) -> None:
        """Draw the rays of the data on a plane, or none."""
        if (projection, palette) == self._drawn:
            return
        if projection is None:
            self.rays, self._missing = None, ""
        elif self._drawn is None or self._drawn[0] is not projection:
            from core.figures.rays import rays_of, why_no_rays

            self.rays, self._missing = rays_of(projection), why_no_rays(projection.run)
        self._drawn = projection, palette
        self._draw(palette)

    def _draw(self, palette: Palette) -> None:
        rays = self.rays
        if rays is None:
            self.lines.set_curves(())
            self.tips.show_at(np.empty((0, 2)))
            return
        grey, curves = pen_of(rgba(palette.muted, 0.55), BORDER), []
        for x, y in rays.borders.tolist():
            curves.append((path_of(np.array([-x, x]), np.array([-y, y])), grey))
        colours = self._colours(palette)
        for (x, y), colour, dashed in zip(
            rays.tips.tolist(), colours, rays.saddles().tolist(), strict=True
        ):
            pen = pen_of(colour, RAY, DASHES if dashed else ())
            curves.append((path_of(np.array([0.0, x]), np.array([0.0, y])), pen))
        self.lines.set_curves(curves)
        distinct = list(dict.fromkeys(colours))
        self.tips.set_styles(*(Style(rgba(one), TIP, edge=palette.background) for one in distinct))
        self.tips.show_at(rays.tips, np.array([distinct.index(colour) for colour in colours]))

    def entries(self, palette: Palette) -> tuple[HeaderEntry, ...]:
        """Return the key of the rays, or why none are drawn; empty without a reason."""
        if self.rays is None:
            return (HeaderEntry(self._missing, short="no rays"),) if self._missing else ()
        colours, dashed = self._colours(palette), self.rays.saddles()
        distinct = list(dict.fromkeys(reversed(colours)))
        ways = {palette.positive: "G > 0", palette.negative: "G < 0"}
        entries = [HeaderEntry(ways[colour], colour, "line") for colour in distinct]
        if dashed.any():
            colour = colours[int(np.argmax(dashed))]
            entries.append(HeaderEntry("saddle", colour, "dashed"))
        return tuple(entries)

    def _colours(self, palette: Palette) -> list[str]:
        from core.figures.rays import ray_colours

        assert self.rays is not None
        return ray_colours(self.rays, palette)

    def readout_at(self, x: float, y: float, nodes: NDArray[Any]) -> HoverReadout | None:
        """Return the meaning of the tip near the pixel (x, y), unless a neuron is nearer.

        `nodes` (m, 2) are positions of neurons in the plot's coordinates.
        """
        if self.rays is None:
            return None
        place = self._plot.find_nearest(self.rays.tips, x, y, NEAR)
        if place < 0:
            return None
        candidates = np.concatenate([self.rays.tips[place : place + 1], nodes])
        distances = np.square(self._plot.pixels(candidates) - (x, y)).sum(axis=1)
        if np.fmin.reduce(distances[1:], initial=np.inf) < distances[0]:
            return None
        tip = self.rays.tips[place].tolist()
        return HoverReadout(tip[0], tip[1], self.rays.words(place))
