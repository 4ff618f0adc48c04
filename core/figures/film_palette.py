"""Palette of a film in the format GIF, whose pictures have at most 256 colours."""

from __future__ import annotations

import numpy as np

from core.figures.palette import Colours, Palette, node_colours, rgb, time_colours

FILM_COLOURS, FILM_SHADES = 255, 14  # of a GIF: colours at most, and shades per class


def film_colours(palette: Palette) -> Colours:
    """Return the colours of a GIF.

    Parameters
    ----------
    palette : Palette
        Colours of the film.

    Returns
    -------
    array (k, 3) of uint8
        RGB rows, each once, k <= FILM_COLOURS: pure colours, and then three blends of each with the
        background, for antialiased edges.
    """
    # Squared, as shades depend on the square root of the norm: evenly spaced shades.
    norms = np.linspace(0.0, 1.0, FILM_SHADES) ** 2
    names = ("background", "foreground", "muted", "grid", "negative", "positive")
    pure = [rgb(getattr(palette, name)) for name in names]
    # Colours of margin curves and reference margins.
    pure += [rgb(colour) for colour in (*palette.references[:2], *palette.lines)]
    pure += [*node_colours(-np.ones(FILM_SHADES), norms, palette)[:, :3].astype(np.float64)]
    pure += [*node_colours(np.ones(FILM_SHADES), norms, palette)[:, :3].astype(np.float64)]
    pure += [
        *time_colours(np.linspace(0.0, 1.0, 2 * FILM_SHADES - 6), palette)[:, :3].astype(np.float64)
    ]
    colours = np.array(pure)
    background = rgb(palette.background)
    blends = [background + share * (colours[1:] - background) for share in (0.75, 0.5, 0.25)]
    # Finer steps to the background for letters, which consist of edges.
    greys = [
        background + share * (rgb(palette.foreground) - background)
        for share in (0.125, 0.375, 0.875)
    ]
    rounded = np.rint(np.concatenate([colours, *blends, greys])).astype(np.uint8)
    unique, first = np.unique(rounded, axis=0, return_index=True)
    ordered: Colours = unique[np.argsort(first)]
    return ordered[:FILM_COLOURS]
