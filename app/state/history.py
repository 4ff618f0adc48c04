"""What was done, to be undone and done again: one reducer over frozen scenes.

The selections of nodes are a trail of their own in it, as pages are in a browser: back and forward
go through them, and are changes that can be undone like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile
from typing import final

from app.state.differences import differences, named
from app.state.scene import Scene, with_transient_of
from app.state.value_kinds import Mark

MOST_STEPS = 200
MOST_SELECTIONS = 100
# A change of the same subject within this time goes on with the one before: a wheel that turns, a
# number that is typed.
PAUSE_S = 1.0

Pins = frozenset[Mark]


@final
@dataclass(frozen=True, slots=True)
class Step:
    """A change by name. `scene` is the one to go to: before it in the past, after it in the
    future."""

    words: str
    subject: tuple[str, ...]
    scene: Scene


@final
@dataclass(frozen=True, slots=True)
class History:
    """The present scene, the steps that led to it, the latest last, and those that were undone,
    the next one first. `at`: when the latest change was made, in seconds of any clock."""

    scene: Scene
    past: tuple[Step, ...] = ()
    future: tuple[Step, ...] = ()
    trail: tuple[Pins, ...] = (frozenset(),)
    place: int = 0
    at: float = float("-inf")

    @property
    def can_go_back(self) -> bool:
        """Whether there is a selection before the present one."""
        return self.place > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a selection after the present one."""
        return self.place + 1 < len(self.trail)


@final
@dataclass(frozen=True, slots=True)
class Changed:
    """The user has changed something; `words` name it where the difference would not. `joins`: the
    latest step goes on, if it has the same words."""

    scene: Scene
    at: float
    words: str = ""
    joins: bool = False


@final
@dataclass(frozen=True, slots=True)
class ExternalChange:
    """Change of the scene that is no step: undo does not take it back."""

    scene: Scene


@final
@dataclass(frozen=True, slots=True)
class Recoloured:
    """Change of the system's theme, which changes the window's palette and is no undo step.

    Scenes next to the present one that have its palette change, too: undo and redo of other
    changes then leave the palette alone.
    """

    palette: str


@final
@dataclass(frozen=True, slots=True)
class Undo:
    """Back to before the latest step."""


@final
@dataclass(frozen=True, slots=True)
class Redo:
    """The step that was undone last once more."""


@final
@dataclass(frozen=True, slots=True)
class Select:
    """The selection so many before (negative) or after the present one."""

    by: int
    at: float


Event = Changed | ExternalChange | Recoloured | Undo | Redo | Select


def reduce(history: History, event: Event) -> History:
    """The history after an event; the same where the event means nothing."""
    match event:
        case Changed():
            return _trailed(_changed(history, event), history)
        case ExternalChange():
            return _trailed(replace(history, scene=event.scene), history)
        case Recoloured():
            return _recoloured(history, event.palette)
        case Undo():
            return _trailed(_undone(history), history)
        case Redo():
            return _trailed(_redone(history), history)
        case Select():
            return _selected(history, event)


def _changed(history: History, event: Changed) -> History:
    if event.scene == history.scene:
        return history
    found = differences(history.scene, event.scene)
    if not found:
        return replace(history, scene=event.scene)
    subject = tuple(one.subject for one in found)
    past, latest = history.past, history.past[-1] if history.past else None
    before = history.scene
    words = event.words or named(found)
    goes_on = not history.future and event.at - history.at < PAUSE_S and not event.words
    if latest is not None and not history.future and event.joins and latest.words == event.words:
        step = replace(latest, subject=subject)
        return replace(history, scene=event.scene, past=(*past[:-1], step), at=event.at)
    if latest is not None and goes_on and latest.subject == subject:
        past, before = past[:-1], latest.scene
        found = differences(before, event.scene)
        if not found:  # it is as it was before the whole of it
            return replace(history, scene=event.scene, past=past, at=event.at)
        words = named(found)
    past = (*past, Step(words, subject, before))[-MOST_STEPS:]
    return replace(history, scene=event.scene, past=past, future=(), at=event.at)


def _recoloured(history: History, palette: str) -> History:
    before = history.scene.intent.palette
    return replace(
        history,
        scene=_with_palette(history.scene, palette),
        past=_repainted(history.past[::-1], before, palette)[::-1],
        future=_repainted(history.future, before, palette),
    )


def _repainted(steps: tuple[Step, ...], before: str, palette: str) -> tuple[Step, ...]:
    """Change the palette of the first steps, up to one with another palette than `before`."""
    same = tuple(takewhile(lambda step: step.scene.intent.palette == before, steps))
    changed = tuple(replace(step, scene=_with_palette(step.scene, palette)) for step in same)
    return (*changed, *steps[len(same) :])


def _with_palette(scene: Scene, palette: str) -> Scene:
    return replace(scene, intent=replace(scene.intent, palette=palette))


def _undone(history: History) -> History:
    if not history.past:
        return history
    *past, step = history.past
    later = Step(step.words, step.subject, history.scene)
    scene = with_transient_of(step.scene, history.scene)
    return replace(
        history,
        scene=scene,
        past=tuple(past),
        future=(later, *history.future),
        at=float("-inf"),
    )


def _redone(history: History) -> History:
    if not history.future:
        return history
    step, *future = history.future
    earlier = Step(step.words, step.subject, history.scene)
    scene = with_transient_of(step.scene, history.scene)
    past = (*history.past, earlier)
    return replace(history, scene=scene, past=past, future=tuple(future), at=float("-inf"))


def _trailed(history: History, before: History) -> History:
    """The trail after another scene: a new selection ends what lay ahead of the one before."""
    if history.scene.runs != before.scene.runs:  # nodes of other runs
        return replace(history, trail=(history.scene.intent.pinned,), place=0)
    pinned = history.scene.intent.pinned
    if pinned == history.trail[history.place]:
        return history
    trail = (*history.trail[: history.place + 1], pinned)[-MOST_SELECTIONS:]
    return replace(history, trail=trail, place=len(trail) - 1)


def _selected(history: History, event: Select) -> History:
    place = history.place + event.by
    if not 0 <= place < len(history.trail):
        return history
    scene = history.scene
    scene = replace(scene, intent=replace(scene.intent, pinned=history.trail[place]))
    words = "Back to a selection" if event.by < 0 else "Forward to a selection"
    changed = _changed(history, Changed(scene, event.at, words))
    return replace(changed, place=place)
