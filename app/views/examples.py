"""The data inside a plot, and the colours of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.state.display import DisplayData
from app.widgets.header import HeaderEntry
from app.widgets.items import Markers, Style, Symbol
from core.figures.palette import Palette, class_colours, kind_colours, rgba

MOST_EXAMPLES = 4000
CROWD = 24  # examples of a class beyond which their markers are small and faint
Colours = NDArray[np.uint8]


def shaded(kind: int, classes: int, levels: NDArray[Any], palette: Palette) -> Colours:
    """RGBA rows of nodes of a class (kind < classes) or of none, by relative norm."""
    return kind_colours(np.full(len(levels), kind), levels, classes, palette)


def example_entries(classes: int, text: str, palette: Palette) -> tuple[HeaderEntry, ...]:
    """The key of the data: a sign for each class, and a text."""
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
) -> None:
    """Show the training data times a factor: a marker for each distinct place and label, larger
    where more examples lie; crosses for -1, pluses for +1 and for the classes of several."""
    x = data.run.dataset.x
    places = np.zeros((len(x), 2))
    for place, column in enumerate(coordinates):
        if column < x.shape[1]:
            places[:, place] = np.round(x[:, column], 9)
    show_points(markers, factor * places, data, palette)


def show_points(
    markers: Markers, points: NDArray[np.float64], data: DisplayData, palette: Palette
) -> None:
    """Show the examples at points (n, 2)."""
    labels = data.labels
    styles: list[Style] = []
    shown, which = [np.empty((0, 2))], [np.empty(0, dtype=np.int64)]
    for number, colour in enumerate(class_colours(data.classes, palette)):
        mine = points[labels == number][: MOST_EXAMPLES // data.classes]
        places, counts = np.unique(mine, axis=0, return_counts=True)
        if not places.size:
            continue
        crowded = places.shape[0] > CROWD
        # As large as in the figures (core.figures.neurons), whose markers go by their areas.
        areas = np.clip((6.0 if crowded else 14.0) * np.sqrt(counts), 6.0, 60.0)
        sizes, kinds = np.unique(np.rint(1.4 * np.sqrt(areas) + 3.0), return_inverse=True)
        symbol = Symbol.CROSS if data.classes == 2 and number == 0 else Symbol.PLUS
        ink = rgba(colour, 0.55 if crowded else 0.9)
        shown.append(places)
        which.append(len(styles) + kinds.astype(np.int64))
        styles += [Style(ink, float(size), symbol) for size in sizes]
    markers.set_styles(*styles)
    markers.show_at(np.concatenate(shown), np.concatenate(which))
