"""Keys that belong to a part of the window and cannot be changed, for the page of all keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from app.data.drawing_window import DEEDS as OF_DRAWING
from app.library.panel import ACTIONS as OF_LIBRARY
from app.state.shortcuts import native, portable


class FixedKeys(NamedTuple):
    """What is done, and by which keys, as they are shown."""

    name: str
    keys: str


IN_PLOTS = (
    FixedKeys("Mark the next node of the plot that has the focus", "Arrows"),
    FixedKeys("Pin the marked node, or let go of it", "Space, Return"),
    FixedKeys("Select the nodes in a box", "Pull over the neurons"),
    FixedKeys("Zoom, and show all again", "Wheel, double click"),
    FixedKeys("Play an interval", "Shift and pull on the time line"),
)


def library_holder(text: str) -> str:
    """Return the name of what keys do in the library; empty if they do nothing there.

    The library is a part of the main window: Qt carries out neither of two equal shortcuts in it.
    Data are drawn in a window of their own.

    >>> library_holder("f2"), library_holder("Ctrl+Alt+F2")
    ('Rename', '')
    """
    wanted = portable(text)
    names = (name for _, name, keys, _ in OF_LIBRARY if wanted and portable(keys) == wanted)
    return _plain(next(names, ""))


def fixed_keys() -> dict[str, tuple[FixedKeys, ...]]:
    """Those of each part, by its heading."""
    library = [(text, (keys,)) for _, text, keys, _ in OF_LIBRARY if keys]
    drawing = [(deed.text, deed.keys) for deed in OF_DRAWING if deed.keys]
    return {
        "In plots": IN_PLOTS,
        "In the library of runs": _listed(library),
        "Where data are drawn": _listed(drawing),
    }


def _listed(deeds: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[FixedKeys, ...]:
    return tuple(
        FixedKeys(_plain(text), ", ".join(native(one) for one in keys)) for text, keys in deeds
    )


def _plain(text: str) -> str:
    """Return a menu's text as a name."""
    return text.replace("&", "").removesuffix(" ...")
