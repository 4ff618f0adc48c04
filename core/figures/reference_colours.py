"""Colours of the lines of reference margins."""

from __future__ import annotations

from zlib import crc32

from core.figures.palette import Palette

# Positions in `Palette.lines`; margins that occur together have different ones.
REFERENCE_PLACES = {
    "gamma_gl": 0,
    "gamma_linear": 1,
    "parity_population": 2,
    "wei19_population": 2,
    "l1_path": 3,
    "gamma_nc": 4,
    "leaky_optimum": 4,
    "gamma_l1": 5,
    "gamma_star": 0,
    "gamma_diagonal": 0,
    "gamma_deep": 0,
}
OTHER_PLACES = (3, 4, 5)  # for registered kinds: none of the three that most runs have


def reference_colour(name: str, palette: Palette) -> str:
    """Return the colour of a reference margin's line; an unknown name always has the same.

    >>> from core.figures.palette import LIGHT
    >>> reference_colour("gamma_gl", LIGHT)
    '#9a6400'
    """
    # Not hash(), which differs between processes.
    place = REFERENCE_PLACES.get(name, OTHER_PLACES[crc32(name.encode()) % len(OTHER_PLACES)])
    return palette.lines[place]
