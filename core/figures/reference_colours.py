"""The colours of reference margins, by their names: the same on the screen and on paper."""

from __future__ import annotations

from zlib import crc32

from core.figures.palette import Palette

# Places in `Palette.lines`. Those that one problem can have together are apart.
PLACES = {
    "gamma_gl": 0,
    "gamma_linear": 1,
    "parity_population": 2,
    "wei19_population": 2,
    "l1_path": 3,
    "gamma_nc": 4,
    "leaky_optimum": 4,
    "gamma_l1": 5,
    "gamma_star": 0,
}
OTHERS = (3, 4, 5)  # for kinds that were added: none of the three that most runs have


def reference_colour(name: str, palette: Palette) -> str:
    """The colour of a reference margin's line; of a name that is not in the table always the same.

    >>> from core.figures.palette import LIGHT
    >>> reference_colour("gamma_gl", LIGHT)
    '#9a6400'
    """
    # Not by hash(), which differs from one start to the next.
    place = PLACES.get(name, OTHERS[crc32(name.encode()) % len(OTHERS)])
    return palette.lines[place]
