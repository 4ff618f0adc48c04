"""Undo history of scenes: differences between scenes by name, and one reducer.

The selections of neurons are a trail in it, like pages in a browser: back and forward go through
them, and can be undone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import final

from app.scenes.scene import PANELS, Scene, Zoom, with_transient_of
from app.state.intent import VIEW_OPTIONS
from app.state.view_options import Mark, shorten, title_of
from app.training.fields import labels
from app.training.study_edits import Edits
from core.study_file.words import kind_words


@final
@dataclass(frozen=True, slots=True)
class Difference:
    """Difference by name. Changes of the same `subject` in a row are one step; `words` name it."""

    subject: str
    words: str


def find_differences(before: Scene, after: Scene) -> tuple[Difference, ...]:
    """Return the differences, the most important first, without transient fields."""
    differences = [*_run_differences(before, after), *_form_differences(before.form, after.form)]
    for option in VIEW_OPTIONS.values():
        if option.name == "pinned" and before.runs != after.runs:
            continue  # closing a run unpins its neurons
        if getattr(before.intent, option.name) != getattr(after.intent, option.name):
            differences.append(
                Difference(option.name, option.describe(before.intent, after.intent))
            )
    zooms = {_place(zoom) for zoom in set(before.zooms) ^ set(after.zooms)}
    # Closing a run removes its zooms.
    if zooms and before.runs == after.runs:
        words = "Zoom" if set(after.zooms) - set(before.zooms) else "Show whole range"
        titles = sorted({title_of(view) for _, view in zooms})
        differences.append(
            Difference(f"zoom {sorted(zooms)}", f"{words} of {', '.join(titles).lower()}")
        )
    opened, closed = sorted(after.panels - before.panels), sorted(before.panels - after.panels)
    # Opening a drawer closes another; name only the opening.
    for verb, panel in [("Show", one) for one in opened] or [("Hide", one) for one in closed]:
        differences.append(Difference(f"panel {panel}", f"{verb} {PANELS.get(panel, panel)}"))
    return tuple(differences)


def name_differences(differences: Collection[Difference]) -> str:
    """Return one name for simultaneous differences: that of the first.

    >>> name_differences([Difference("palette", "Dark"), Difference("views", "Show spectrum")])
    'Dark and 1 more'
    """
    first = next(iter(differences)).words
    return first if len(differences) == 1 else f"{first} and {len(differences) - 1} more"


def _place(zoom: Zoom) -> tuple[int, str]:
    return zoom.place, zoom.view


def _run_differences(before: Scene, after: Scene) -> list[Difference]:
    if before.runs == after.runs:
        return []
    new = [path for path in after.runs if path not in before.runs]
    closed = [path for path in before.runs if path not in after.runs]
    if new:
        words = f"Open {shorten(new[0].stem)}"
        words += f" and {len(new) - 1} more" if len(new) > 1 else ""
    elif len(closed) == 1 and after.runs:  # runs closed one after the other are one step each
        return [Difference(f"close {closed[0]}", f"Close {shorten(closed[0].stem)}")]
    elif len(after.runs) == len(before.runs):
        return [Difference("order", "Move a run")]
    else:
        words = "Close runs"
    return [Difference("runs", words)]


def _form_differences(before: Edits | None, after: Edits | None) -> list[Difference]:
    if before == after or after is None:
        return []
    if before is None or before.base != after.base:
        return [Difference("study", f"Choose {shorten(after.base.title)}")]
    differences = []
    for section, kind in _changed_entries(before.kinds, after.kinds).items():
        words = f"{section} = {kind_words(section, kind)}" if kind else section
        differences.append(Difference(f"form {section}", words))
    for key, text in _changed_entries(before.texts, after.texts).items():
        name = labels().get(key, key.rpartition(".")[2])
        words = f"Reset {name}" if text is None else f"{name} = {shorten(text) or 'nothing'}"
        differences.append(Difference(f"form {key}", words))
    return differences


def _changed_entries(
    before: tuple[tuple[str, str], ...], after: tuple[tuple[str, str], ...]
) -> dict[str, str | None]:
    """Return changed entries: name -> new value, or None if removed."""
    earlier, new = dict(before), dict(after)
    names = dict.fromkeys((*new, *earlier))
    return {name: new.get(name) for name in names if earlier.get(name) != new.get(name)}


MOST_STEPS = 200
MOST_SELECTIONS = 100
# Seconds within which a change of the same subject continues the step, as when a wheel turns or a
# number is typed.
PAUSE_S = 1.0

Pins = frozenset[Mark]


@final
@dataclass(frozen=True, slots=True)
class SceneStep:
    """Named change; `scene`: the one before it for past steps, after it for future ones."""

    words: str
    subject: tuple[str, ...]
    scene: Scene


@final
@dataclass(frozen=True, slots=True)
class SceneHistory:
    """Present scene, steps that led to it, and undone steps, the next one first.

    `at`: time of the latest change, in seconds of any clock.
    """

    scene: Scene
    past: tuple[SceneStep, ...] = ()
    future: tuple[SceneStep, ...] = ()
    trail: tuple[Pins, ...] = (frozenset(),)
    place: int = 0
    at: float = float("-inf")

    @property
    def has_previous(self) -> bool:
        return self.place > 0

    @property
    def has_next(self) -> bool:
        return self.place + 1 < len(self.trail)


@final
@dataclass(frozen=True, slots=True)
class UserChange:
    """Change by the user.

    `words` name it in place of the difference; `joins`: it extends the latest step if that has the
    same words.
    """

    scene: Scene
    at: float
    words: str = ""
    joins: bool = False


@final
@dataclass(frozen=True, slots=True)
class ExternalChange:
    """Change of the scene that is not a step: undo does not revert it."""

    scene: Scene


@final
@dataclass(frozen=True, slots=True)
class ThemeChange:
    """Change of the system's theme, which changes the window's palette and is not a step.

    Scenes next to the present one that have its palette change, too: undo and redo of other
    changes then leave the palette alone.
    """

    palette: str


@final
@dataclass(frozen=True, slots=True)
class Undo:
    """Return to the scene before the latest step."""


@final
@dataclass(frozen=True, slots=True)
class Redo:
    """Repeat the step that was undone last."""


@final
@dataclass(frozen=True, slots=True)
class Select:
    """Move to a selection so many before (negative) or after the present one."""

    by: int
    at: float


Event = UserChange | ExternalChange | ThemeChange | Undo | Redo | Select


def reduce(history: SceneHistory, event: Event) -> SceneHistory:
    """Return the history after an event; the same history if the event has no effect."""
    match event:
        case UserChange():
            return _with_trail(_apply_change(history, event), history)
        case ExternalChange():
            return _with_trail(replace(history, scene=event.scene), history)
        case ThemeChange():
            return _apply_theme(history, event.palette)
        case Undo():
            return _with_trail(_undo(history), history)
        case Redo():
            return _with_trail(_redo(history), history)
        case Select():
            return _apply_selection(history, event)


def _apply_change(history: SceneHistory, event: UserChange) -> SceneHistory:
    if event.scene == history.scene:
        return history
    differences = find_differences(history.scene, event.scene)
    if not differences:
        return replace(history, scene=event.scene)
    subject = tuple(one.subject for one in differences)
    past, latest = history.past, history.past[-1] if history.past else None
    before = history.scene
    words = event.words or name_differences(differences)
    goes_on = not history.future and event.at - history.at < PAUSE_S and not event.words
    if latest is not None and not history.future and event.joins and latest.words == event.words:
        step = replace(latest, subject=subject)
        return replace(history, scene=event.scene, past=(*past[:-1], step), at=event.at)
    if latest is not None and goes_on and latest.subject == subject:
        past, before = past[:-1], latest.scene
        differences = find_differences(before, event.scene)
        if not differences:  # the whole step changed nothing in the end
            return replace(history, scene=event.scene, past=past, at=event.at)
        words = name_differences(differences)
    past = (*past, SceneStep(words, subject, before))[-MOST_STEPS:]
    return replace(history, scene=event.scene, past=past, future=(), at=event.at)


def _apply_theme(history: SceneHistory, palette: str) -> SceneHistory:
    before = history.scene.intent.palette
    return replace(
        history,
        scene=_with_palette(history.scene, palette),
        past=_repaint_steps(history.past[::-1], before, palette)[::-1],
        future=_repaint_steps(history.future, before, palette),
    )


def _repaint_steps(
    steps: tuple[SceneStep, ...], before: str, palette: str
) -> tuple[SceneStep, ...]:
    """Change the palette of the first steps, up to one with another palette than `before`."""
    steps_ = tuple(takewhile(lambda step: step.scene.intent.palette == before, steps))
    changed = tuple(replace(step, scene=_with_palette(step.scene, palette)) for step in steps_)
    return (*changed, *steps[len(steps_) :])


def _with_palette(scene: Scene, palette: str) -> Scene:
    return replace(scene, intent=replace(scene.intent, palette=palette))


def _undo(history: SceneHistory) -> SceneHistory:
    if not history.past:
        return history
    *past, step = history.past
    later = SceneStep(step.words, step.subject, history.scene)
    scene = with_transient_of(step.scene, history.scene)
    return replace(
        history,
        scene=scene,
        past=tuple(past),
        future=(later, *history.future),
        at=float("-inf"),
    )


def _redo(history: SceneHistory) -> SceneHistory:
    if not history.future:
        return history
    step, *future = history.future
    earlier = SceneStep(step.words, step.subject, history.scene)
    scene = with_transient_of(step.scene, history.scene)
    past = (*history.past, earlier)
    return replace(history, scene=scene, past=past, future=tuple(future), at=float("-inf"))


def _with_trail(history: SceneHistory, before: SceneHistory) -> SceneHistory:
    """Return the history with the trail of a new scene; a new selection removes those ahead."""
    if history.scene.runs != before.scene.runs:  # pinned neurons of other runs
        return replace(history, trail=(history.scene.intent.pinned,), place=0)
    pinned = history.scene.intent.pinned
    if pinned == history.trail[history.place]:
        return history
    trail = (*history.trail[: history.place + 1], pinned)[-MOST_SELECTIONS:]
    return replace(history, trail=trail, place=len(trail) - 1)


def _apply_selection(history: SceneHistory, event: Select) -> SceneHistory:
    place = history.place + event.by
    if not 0 <= place < len(history.trail):
        return history
    scene = history.scene
    scene = replace(scene, intent=replace(scene.intent, pinned=history.trail[place]))
    words = "Previous selection" if event.by < 0 else "Next selection"
    changed = _apply_change(history, UserChange(scene, event.at, words))
    return replace(changed, place=place)
