"""State of the window that undo, sessions, links and layouts restore, as one frozen value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from app.state.intent import AT_REST, TRANSIENT, Intent
from app.training.study_edits import Edits


@final
@dataclass(frozen=True, slots=True)
class Zoom:
    """Zoomed range of a view of the run at a position from the left."""

    place: int
    view: str
    left: float
    right: float
    bottom: float
    top: float


@final
@dataclass(frozen=True, slots=True)
class Scene:
    """Open files, form, options, zooms and open panels.

    `intent` names runs by their place from the left: reopened runs have other keys.
    `panels` are keys of app.actions.
    """

    runs: tuple[Path, ...] = ()
    form: Edits | None = None
    intent: Intent = AT_REST
    zooms: tuple[Zoom, ...] = ()
    panels: frozenset[str] = frozenset()


def by_position(intent: Intent, keys: Sequence[int]) -> Intent:
    """Return an intent that refers to runs by position, without neurons of closed runs.

    >>> by_position(Intent(pinned=frozenset({(7, 3), (2, 1)})), [5, 7]).pinned
    frozenset({(1, 3)})
    >>> by_position(Intent(current=7), [5, 7]).current
    1
    """
    places = {key: place for place, key in enumerate(keys)}
    return replace(
        intent,
        hovered=None,
        current=places.get(intent.current) if intent.current is not None else None,
        pinned=frozenset((places[key], node) for key, node in intent.pinned if key in places),
    )


def by_key(intent: Intent, keys: Sequence[int]) -> Intent:
    """Return an intent that refers to runs by key: the inverse of `by_position`.

    >>> by_key(Intent(pinned=frozenset({(1, 3), (4, 0)})), [5, 7]).pinned
    frozenset({(7, 3)})
    """
    marks = {(keys[place], node) for place, node in intent.pinned if place < len(keys)}
    place = intent.current
    current = keys[place] if place is not None and place < len(keys) else None
    return replace(intent, hovered=None, current=current, pinned=frozenset(marks))


def renumber_runs(scene: Scene, places: Sequence[int]) -> Scene:
    """Return a scene with neurons and zooms of the run at place k moved to `places[k]`.

    >>> renumber_runs(Scene(intent=Intent(pinned=frozenset({(1, 3)}))), [1, 0]).intent.pinned
    frozenset({(0, 3)})
    """
    places_ = range(len(places))
    pinned = frozenset((places[k], node) for k, node in scene.intent.pinned if k in places_)
    zooms = tuple(
        replace(one, place=places[one.place]) for one in scene.zooms if one.place in places_
    )
    return replace(scene, zooms=zooms, intent=replace(scene.intent, pinned=pinned))


def with_transient_of(scene: Scene, present: Scene) -> Scene:
    """Return a scene with the transient fields of another scene's intent.

    Of other runs another one is the current.
    """
    transient = {name: getattr(present.intent, name) for name in TRANSIENT}
    if scene.runs != present.runs:
        transient["current"] = scene.intent.current
    return replace(scene, intent=replace(scene.intent, **transient))


PANELS = {
    "form": "settings",
    "inspector": "theory",
    "numbers": "numbers",
    "result": "study result",
    "library": "library",
    "times": "theorem timeline",
    "lecture": "lecture",
}
