"""Layouts: the views, the panels and how they look, for one purpose, by name.

A layout is a part of a scene (app.state.scene), written as all scenes are (app.state.fields), and
put over the one that is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.state.fields import OF_LAYOUT, read, written
from app.state.scene import Scene
from core.errors import InputError

MOST_LAYOUTS, LONGEST_NAME = 50, 60

Layout = Mapping[str, Sequence[str]]

LAYOUTS: Mapping[str, Layout] = {
    "Paper": {
        "views": ("neurons", "rotations", "norms", "margins"),
        "panels": ("form", "inspector"),
    },
    "Lecture": {"views": ("neurons", "margins"), "panels": ("lecture",)},
    "Four-up": {"views": ("neurons",), "panels": ("none",)},
}


def layout_of(scene: Scene) -> dict[str, tuple[str, ...]]:
    """The layout that is shown."""
    # All of its parts, also those that are as in a new window: it is put over any other one.
    return written(scene, OF_LAYOUT, always=True)


def laid_out(scene: Scene, layout: Layout) -> Scene:
    """A scene in a layout. Raises InputError for what is no layout."""
    return read(layout, scene, OF_LAYOUT, "the layout")


def checked_name(name: str, taken: Mapping[str, Layout]) -> str:
    """A name for a layout of the user's own. Raises InputError."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME:
        raise InputError(f"A layout needs a name of at most {LONGEST_NAME} letters.")
    if name in LAYOUTS:
        raise InputError(f"{name} is a layout of the program; choose another name.")
    if len(taken) >= MOST_LAYOUTS and name not in taken:
        raise InputError(f"There are {MOST_LAYOUTS} layouts already; remove one first.")
    return name
