"""The 255 colours of a GIF: those that the drawings use, and their blends at antialiased edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.figures.palette import Palette, node_colours, rgb, time_colours

SHADES = 14
MOST = 255


def film_colours(palette: Palette) -> NDArray[np.uint8]:
    """At most 255 RGB rows: pure colours first, then three blends of each with the background."""
    norms = np.linspace(0.0, 1.0, SHADES) ** 2
    names = ("background", "foreground", "muted", "grid", "negative", "positive")
    pure = [rgb(getattr(palette, name)) for name in names]
    pure += [rgb(colour) for colour in palette.references[:2]]
    pure += [*node_colours(-np.ones(SHADES), norms, palette)[:, :3].astype(np.float64)]
    pure += [*node_colours(np.ones(SHADES), norms, palette)[:, :3].astype(np.float64)]
    pure += [
        *time_colours(np.linspace(0.0, 1.0, 2 * SHADES - 6), palette)[:, :3].astype(np.float64)
    ]
    colours = np.array(pure)
    background = rgb(palette.background)
    blends = [background + share * (colours[1:] - background) for share in (0.75, 0.5, 0.25)]
    greys = [
        background + share * (rgb(palette.foreground) - background)
        for share in (0.125, 0.375, 0.875)
    ]
    rounded = np.rint(np.concatenate([colours, *blends, greys])).astype(np.uint8)
    unique, first = np.unique(rounded, axis=0, return_index=True)
    ordered: NDArray[np.uint8] = unique[np.argsort(first)]
    return ordered[:MOST]
