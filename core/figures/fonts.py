"""The fonts that matplotlib keeps open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import Any

from matplotlib import font_manager, mathtext

# Fonts by file and thread; formulas; and, for ever, the fonts of each formula with a root.
# None of these is of matplotlib's interface: what another version does not have is passed over.
KEPT: tuple[tuple[Any, str], ...] = (
    (font_manager, "_get_font"),
    (mathtext, "MathTextParser._parse_cached"),
    (mathtext, "_mathtext.StixFonts.get_sized_alternatives_for_symbol"),
)


@contextmanager
def borrowed_fonts() -> Iterator[None]:
    """Drawing, after which no font stays open, whether it succeeds or not."""
    try:
        yield
    finally:
        release_fonts()


def release_fonts() -> None:
    """Let go of the fonts that matplotlib keeps, with their open files.

    It keeps the last 64 for each thread that has drawn, also when that thread has ended, and no
    function of its interface gives them back; a test counts open files. They are read again within
    a millisecond or two.
    """
    for owner, names in KEPT:
        with suppress(AttributeError):
            attrgetter(f"{names}.cache_clear")(owner)()
